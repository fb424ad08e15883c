// Sums over trees become means.
#pragma once

#include <cstddef>
#include <numeric>

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/support/avx2.hpp"

namespace localmdi::explain {

// What the sums are divided by.
template <class Value>
double total_weight(const PackedForest<Value>& forest) {
    return std::accumulate(forest.tree_weight.begin(), forest.tree_weight.end(), 0.0);
}

// The compiler is told that the two do not overlap; it would ask before every row.
inline void divide(const double* __restrict sums, std::size_t n, double by,
                   double* __restrict means) {
    for (std::size_t i = 0; i < n; ++i) means[i] = sums[i] / by;
}
inline void divide_in_place(double* values, std::size_t n, double by) {
    for (std::size_t i = 0; i < n; ++i) values[i] /= by;
}
#ifdef LOCALMDI_AVX2
__attribute__((target("avx2"), flatten)) inline void divide_avx2(const double* __restrict sums,
                                                                 std::size_t n, double by,
                                                                 double* __restrict means) {
    divide(sums, n, by, means);
}
__attribute__((target("avx2"), flatten)) inline void divide_in_place_avx2(double* values,
                                                                          std::size_t n,
                                                                          double by) {
    divide_in_place(values, n, by);
}
#endif

// Writes sums elsewhere, as means.
inline void write_means(const double* sums, std::size_t n, double by, double* means,
                        [[maybe_unused]] const Run& run) {
#ifdef LOCALMDI_AVX2
    if (run.simd && support::has_avx2()) return divide_avx2(sums, n, by, means);
#endif
    divide(sums, n, by, means);
}

inline void become_means(double* sums, std::size_t n, double by, [[maybe_unused]] const Run& run) {
#ifdef LOCALMDI_AVX2
    if (run.simd && support::has_avx2()) return divide_in_place_avx2(sums, n, by);
#endif
    divide_in_place(sums, n, by);
}

}  // namespace localmdi::explain
