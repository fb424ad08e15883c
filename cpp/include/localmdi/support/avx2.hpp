// Whether vector code can be compiled (LOCALMDI_AVX2) and may run here (has_avx2).
//
// A wheel must run on every x86-64 processor, so the build does not ask for AVX2. The few functions
// that use it carry __attribute__((target("avx2"))), and every call of them is behind has_avx2().
// Each has a plain twin that gives the same bits; the C++ tests compare the two.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define LOCALMDI_AVX2 1
#include <immintrin.h>
#endif

namespace localmdi::support {

inline bool has_avx2() {
#ifdef LOCALMDI_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

}  // namespace localmdi::support
