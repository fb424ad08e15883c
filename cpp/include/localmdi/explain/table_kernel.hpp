// Local MDI of one row where features are few: nothing is written down on the way.
//
// Each of the trees in step (row_steps.hpp) has a line of its own in a table of trees × features,
// and adds what an edge is worth as soon as it takes it. Then the lines are added to
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
        : forest_(forest), lines_(slots_used(forest) * forest.n_features) {}

    // Adds some trees to a row's sums.
    void run(TreeRange trees, const OneRow<Value>& x, const RowSums& sums, bool simd) {
        // Where nothing is left at any leaf, nobody asks which it is.
        if (forest_.left.empty() && forest_.ordered()) walk<false>(trees, x, sums, simd);
        else walk<true>(trees, x, sums, simd);
    }

private:
    template <bool kEnds>
    struct Visitor {
        TableKernel& kernel;
        const RowSums& sums;
        bool simd;
        std::size_t p;
        double* lines;
        std::array<Place, kTreeSlots> end;

        void begin(std::size_t slot, Place root) {
            if (kEnds) end[slot] = root;
        }
        auto visit() {
            return [p = p, lines = lines, end = end.data()](
                       std::size_t slot, const PackedSplit<Value>& split, const Step& step) {
                lines[slot * p + (split.split & kFeatureMask)] += step.credit;  // i(t) − i(t_x)
                if (kEnds) end[slot] = step.next;
            };
        }
        void finish(std::size_t tree, std::size_t n) {
            const std::size_t slot = tree % kTreeSlots;
            kernel.take(lines + slot * p, n, sums.values, simd);
            if (!kEnds) return;
            for (std::size_t k = slot; k < slot + n; ++k)
                *sums.residual += kernel.forest_.remainder(end[k]);
        }
    };

    template <bool kEnds>
    void walk(TreeRange trees, const OneRow<Value>& x, const RowSums& sums, bool simd) {
        Visitor<kEnds> visitor{*this, sums, simd, forest_.n_features, lines_.data(), {}};
        walk_in_step(forest_, trees, x, visitor);
    }

    void take(double* lines, std::size_t n, double* values, [[maybe_unused]] bool simd) const {
#ifdef LOCALMDI_AVX2
        if (simd && support::has_avx2())
            return take_lines_avx2(lines, n, forest_.n_features, values);
#endif
        take_lines(lines, n, forest_.n_features, values);
    }

    const PackedForest<Value>& forest_;
    std::vector<double> lines_;
};

}  // namespace localmdi::explain
