// Asks for memory before it is needed.
#pragma once

#if defined(__GNUC__)
#define LOCALMDI_PREFETCH(place) __builtin_prefetch(place)
#else
#define LOCALMDI_PREFETCH(place) static_cast<void>(place)
#endif
