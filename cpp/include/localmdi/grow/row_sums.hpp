// The importances of the training rows, added up over the trees of a chunk.
//
// A tree adds p numbers to every row, in the order of its leaves, which is as good as random. If
// the sums do not fit a cache, each of these additions would wait for memory. So a leaf only writes
// down what its rows get, and asks for their memory; the numbers are added some leaves later, when
// it has arrived. With room for three:
//
//     leaf 7: rows 812, 40   asks for 812 and 40   adds leaf 4, which leaves its place to leaf 7
//     leaf 8: row 5          asks for 5            adds leaf 5
//     end of the tree                              adds leaves 6, 7, 8
//
// Every row ends once in every tree. So it does not matter when its numbers are added, as long as
// it is before the next tree; and the first tree of a chunk says where the sums begin: they need
// not be zeroed, nor read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/explain/sinks.hpp"
#include "localmdi/grow/row_loops.hpp"
#include "localmdi/support/large_vector.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::grow {

using explain::SumSink;
using explain::TreeImportance;
using support::has_avx2;
using support::LargeVector;

class RowSums {
public:
    RowSums(std::size_t n_rows, std::size_t n_features)
        : n_features_(n_features),
          values_(n_rows * n_features),
          residual_(n_rows),
          leaves_(values_.size() * sizeof(double) > kCache ? kWaiting : 0),
          leaf_values_(leaves_.size() * n_features) {}

    double* values() { return values_.data(); }
    double* residual() { return residual_.data(); }

    // Rows that end in one leaf. Their numbers must stay in their place until the tree ends.
    void add(const TreeImportance& importance, std::span<const std::uint32_t> rows) {
        if (!is_first_ && importance.path.size() * 8 < n_features_)
            return SumSink(values_.data(), residual_.data(), n_features_).add(importance, rows);
        if (leaves_.empty()) return add({rows, importance.values.data(), importance.remainder});
        Leaf& place = leaves_[next_];
        double* const values = leaf_values_.data() + next_ * n_features_;
        add(place);
        std::copy_n(importance.values.data(), n_features_, values);
        place = {rows, values, importance.remainder};
        for (const std::size_t row : rows.first(std::min(rows.size(), kAskedFor))) ask_for(row);
        next_ = (next_ + 1) % kWaiting;
    }

    void end_tree() {
        for (Leaf& leaf : leaves_) add(std::exchange(leaf, {}));
        is_first_ = false;
    }

    // Adds the sums to those of the forest, and their squares to `squares` unless it is null.
    void commit(double* values, double* residual, double* squares) {
        if (squares)
            for (std::size_t i = 0; i < values_.size(); ++i) squares[i] += values_[i] * values_[i];
        add_all(values);
        for (std::size_t i = 0; i < residual_.size(); ++i) residual[i] += residual_[i];
        is_first_ = true;
    }

    // For sums that are not made by add().
    void clear() {
        std::ranges::fill(values_, 0.0);
        std::ranges::fill(residual_, 0.0);
    }

private:
    struct Leaf {
        std::span<const std::uint32_t> rows;
        const double* values;
        double remainder;
    };

    static constexpr std::size_t kCache = std::size_t{1} << 21;
    static constexpr std::size_t kWaiting = 16;
    static constexpr std::size_t kAskedFor = 16;  // rows of a leaf; further ones follow in order

    void add_all(double* to) const {
#ifdef LOCALMDI_AVX2
        if (avx2_) return add_all_avx2(to, values_);
#endif
        for (std::size_t i = 0; i < values_.size(); ++i) to[i] += values_[i];
    }

    void add(const Leaf& leaf) {
        if (is_first_) return set(leaf);
        if (leaf.remainder != 0)
            for (const std::size_t row : leaf.rows) residual_[row] += leaf.remainder;
#ifdef LOCALMDI_AVX2
        if (avx2_) return add_rows_avx2(values_.data(), {leaf.values, n_features_}, leaf.rows);
#endif
        for (const std::size_t row : leaf.rows)
            for (std::size_t f = 0; f < n_features_; ++f)
                values_[row * n_features_ + f] += leaf.values[f];
    }

    // No credit is −0, which 0 + (−0) would turn into 0.
    void set(const Leaf& leaf) {
        for (const std::size_t row : leaf.rows) {
            residual_[row] = leaf.remainder;
            std::copy_n(leaf.values, n_features_, values_.data() + row * n_features_);
        }
    }

    // Inlined: the compiler would drop a call that changes nothing.
    LOCALMDI_ALWAYS_INLINE void ask_for(std::size_t row) const {
        constexpr std::size_t kLine = 64 / sizeof(double), kMostLines = 32;
        const double* const line = values_.data() + row * n_features_;
        for (std::size_t f = 0; f < std::min(n_features_, kLine * kMostLines); f += kLine)
            LOCALMDI_PREFETCH(line + f);
        LOCALMDI_PREFETCH(line + n_features_ - 1);
    }

    std::size_t n_features_;
    LargeVector<double> values_;
    std::vector<double> residual_;
    std::vector<Leaf> leaves_;         // whose rows were asked for; none where all sums fit a cache
    std::vector<double> leaf_values_;  // of each
    std::size_t next_ = 0;             // of the leaves: the one that has waited longest
    bool is_first_ = true;             // no tree since the last commit()
    bool avx2_ = has_avx2();
};

}  // namespace localmdi::grow
