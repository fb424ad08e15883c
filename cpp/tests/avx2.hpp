// Whether the vector forms can be tested here.
#pragma once

#include "localmdi/partition.hpp"

inline bool has_avx2() {
#ifdef LOCALMDI_AVX2
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}
