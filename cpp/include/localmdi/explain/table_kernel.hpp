// Local MDI of one row where features are few: nothing is written down on the way.
//
// Each of the trees in step (row_steps.hpp) has a line of its own in a table of trees × features,
// and adds what an edge is worth as soon as it meets the node below. Then the lines are added to
// the row's sums, in the order of the trees. The sums of a line are those of RowKernel's path, and
// a feature off the path adds 0, so the bits are the same.
//
// Example: two trees that meet x1, x0, x1 and x2; the edges are worth a, b, c and d.
//
//              x0    x1      x2
//     tree 0   b     a + c   0        the row's x1: (0 + (a + c)) + 0
//     tree 1   0     0       d
//
// Why: paths of unforeseeable length cost a wrong guess each, in every loop over one. Here the only
// loop that ends by chance is that over the trees in step.
#pragma once

#include <algorithm>
#include <vector>

#include "localmdi/explain/row_steps.hpp"
#include "localmdi/explain/sinks.hpp"
#include "localmdi/support/avx2.hpp"

namespace localmdi::explain {

// Adds the lines of a table to `sums`, the first line first, and leaves zeros behind.
inline void take_lines(double* __restrict lines, std::size_t n_lines, std::size_t n_columns,
                       double* __restrict sums) {
    constexpr std::size_t kBlock = 16;  // columns whose sums stay in registers
    std::size_t f = 0;
    for (; f + kBlock <= n_columns; f += kBlock) {
        double sum[kBlock];
        std::copy_n(sums + f, kBlock, sum);
        for (std::size_t k = 0; k < n_lines; ++k) {
            double* const line = lines + k * n_columns + f;
            for (std::size_t j = 0; j < kBlock; ++j) sum[j] += line[j];
            std::fill_n(line, kBlock, 0.0);
        }
        std::copy_n(sum, kBlock, sums + f);
    }
    for (; f < n_columns; ++f)
        for (std::size_t k = 0; k < n_lines; ++k)
            sums[f] += std::exchange(lines[k * n_columns + f], 0.0);
}
#ifdef LOCALMDI_AVX2
__attribute__((target("avx2"),
               flatten)) inline void take_lines_avx2(double* lines, std::size_t n_lines,
                                                     std::size_t n_columns, double* sums) {
    take_lines(lines, n_lines, n_columns, sums);
}
#endif

template <class Value>
class TableKernel {
public:
    // With more features than this, most of a line stays 0, and the table leaves the cache.
    static constexpr std::size_t kMostFeatures = 256;

    explicit TableKernel(const PackedForest<Value>& forest)
        : forest_(forest), lines_(kTreesInStep * forest.n_features) {}

    // Adds the trees first..last to a row's sums.
    void run(std::size_t first, std::size_t last, const OneRow<Value>& x, const RowSums& sums,
             bool simd) {
        const auto p = static_cast<std::uint32_t>(forest_.n_features);
        for (; first < last; first += kTreesInStep) {
            const std::size_t n = std::min(kTreesInStep, last - first);
            std::array<std::uint32_t, kTreesInStep> place;  // where a tree's next edge is added
            for (std::uint32_t k = 0; k < n; ++k) place[k] = k * p;
            const auto end =
                walk_in_step(forest_, first, n, x,
                             [&place, p, lines = lines_.data()](std::uint32_t k, std::uint32_t,
                                                                const PackedNode<Value>& node) {
                                 lines[place[k]] += node.credit;  // i(t) − i(t_x); 0 at a root
                                 place[k] = k * p + (node.split & kFeatureMask);
                             });
            take(n, sums.values, simd);
            for (std::size_t k = 0; k < n; ++k) *sums.residual += forest_.remainder(end[k]);
        }
    }

private:
    void take(std::size_t n, double* values, [[maybe_unused]] bool simd) {
#ifdef LOCALMDI_AVX2
        if (simd && support::has_avx2())
            return take_lines_avx2(lines_.data(), n, forest_.n_features, values);
#endif
        take_lines(lines_.data(), n, forest_.n_features, values);
    }

    const PackedForest<Value>& forest_;
    std::vector<double> lines_;
};

}  // namespace localmdi::explain
