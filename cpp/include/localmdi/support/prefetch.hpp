// Asks for memory before it is needed.
#pragma once

#if defined(__GNUC__)
#define LOCALMDI_PREFETCH(place) __builtin_prefetch(place)
#define LOCALMDI_ALWAYS_INLINE [[gnu::always_inline]]
#define LOCALMDI_NOINLINE [[gnu::noinline]]
#else
#define LOCALMDI_PREFETCH(place) static_cast<void>(place)
#define LOCALMDI_ALWAYS_INLINE
#define LOCALMDI_NOINLINE
#endif
