// Asks for memory before it is needed.
#pragma once

#if defined(__GNUC__)
#define LOCALMDI_PREFETCH(place) __builtin_prefetch(place)
#define LOCALMDI_ALWAYS_INLINE [[gnu::always_inline]]
#else
#define LOCALMDI_PREFETCH(place) static_cast<void>(place)
#define LOCALMDI_ALWAYS_INLINE
#endif
