// What becomes of one tree's importances of a row: the place where they enter a result.
// A sink sees the trees in index order, whatever the number of threads, tiles or rows. It says with
// kNeedsPath whether it reads `path`, which costs the kernels a little, and with kBytesPerValue how
// much it keeps of a row and feature if that is more than a sum.
//
// That order must stay. Floating-point addition is not associative: with trees 0, 1, 2, … added in
// the same order for every row, a row alone gets the same bits as among a million, on one thread or
// on sixty-four. Threads therefore share rows among themselves, never trees. A new result, such as
// another statistic over trees, is a new sink; the kernels do not change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/forest/packed_forest.hpp"
#include "localmdi/support/large_vector.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

// One tree's importances, times the tree's weight, shared by all rows that end in one node.
// `values` has an entry per feature, zero off the path; `path` lists the distinct features on it.
struct TreeImportance {
    std::size_t tree;
    std::span<const double> values;
    std::span<const std::uint32_t> path;
    double remainder;
    forest::Place end = 0;  // where the rows end
};

// Where the sums of one row lie.
struct RowSums {
    double* values;  // one per feature
    double* residual;
};

// The sum over trees of Definition 1; rows count from the first row of the tile.
class SumSink {
public:
    static constexpr bool kNeedsPath = true;

    SumSink(double* values, double* residual, std::size_t n_features)
        : values_(values), residual_(residual), n_features_(n_features) {}

    // Asks for the row's memory, because it will soon be added to. Inlined: the compiler would drop
    // a call that changes nothing.
    LOCALMDI_ALWAYS_INLINE void prefetch(std::size_t row) const {
        constexpr std::size_t kLine = 64 / sizeof(double);
        if (n_features_ > kLongRow) return;
        const double* const out = values_ + row * n_features_;
        for (std::size_t f = 0; f < n_features_; f += kLine) LOCALMDI_PREFETCH(out + f);
    }

    RowSums sums_of(std::size_t row) const {
        return {values_ + row * n_features_, residual_ + row};
    }

    // Adding a zero changes no bit, so whichever loop is shorter gives the same result.
    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        if (tree.path.size() * 4 >= n_features_) return add_whole(tree, rows);
        add_remainder(tree, rows);
        for (const std::size_t row : rows) {
            double* const out = values_ + row * n_features_;
            for (const std::uint32_t f : tree.path) out[f] += tree.values[f];
        }
    }

    // The same without a look at the path.
    template <class RowId>
    void add_whole(const TreeImportance& tree, std::span<const RowId> rows) {
        add_remainder(tree, rows);
        for (const std::size_t row : rows) add_all(tree.values.data(), values_ + row * n_features_);
    }

private:
    // Often nothing is left at a leaf, as in trees that were grown to the end.
    template <class RowId>
    void add_remainder(const TreeImportance& tree, std::span<const RowId> rows) {
        if (tree.remainder == 0) return;
        for (const std::size_t row : rows) residual_[row] += tree.remainder;
    }

    // The two do not overlap, which the compiler would otherwise ask before every row.
    void add_all(const double* __restrict values, double* __restrict out) const {
        for (std::size_t f = 0; f < n_features_; ++f) out[f] += values[f];
    }

    // A path touches little of a longer row.
    static constexpr std::size_t kLongRow = 256;

    double* values_;
    double* residual_;
    std::size_t n_features_;
};

// The same sums in memory of its own, for rows whose places in the result are not side by side.
// Where kWhole, rows are added as a whole, and the kernels need not keep the path.
template <bool kWhole>
class OwnSums {
public:
    static constexpr bool kNeedsPath = !kWhole;

    OwnSums(std::size_t n_rows, std::size_t n_features)
        : sums_(n_rows * (n_features + 1), 0.0),
          sink_(sums_.data(), sums_.data() + n_rows * n_features, n_features) {}

    LOCALMDI_ALWAYS_INLINE void prefetch(std::size_t row) const { sink_.prefetch(row); }

    RowSums sums_of(std::size_t row) const { return sink_.sums_of(row); }

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        if constexpr (kWhole) sink_.add_whole(tree, rows);
        else sink_.add(tree, rows);
    }

private:
    support::LargeVector<double> sums_;
    SumSink sink_;
};

// Only where the rows end: places of the packed forest, for one tree.
class PlaceSink {
public:
    static constexpr bool kNeedsPath = false;

    explicit PlaceSink(forest::Place* ends) : ends_(ends) {}

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        for (const std::size_t row : rows) ends_[row] = tree.end;
    }

private:
    forest::Place* ends_;
};

// Only where the rows end: nodes of the table, n_rows × n_trees, from the tree `first` on.
class EndSink {
public:
    static constexpr bool kNeedsPath = false;

    EndSink(std::int64_t* ends, std::size_t first, std::size_t n_trees,
            const forest::NodeNumbers& source)
        : ends_(ends), first_(first), n_trees_(n_trees), source_(source) {}

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        const std::int64_t node = source_[tree.end];
        for (const std::size_t row : rows) ends_[row * n_trees_ + tree.tree - first_] = node;
    }

private:
    std::int64_t* ends_;
    std::size_t first_, n_trees_;
    const forest::NodeNumbers& source_;
};

// SumSink's sum where each row has a weight in each tree (its in-bag weight).
class WeightedSink {
public:
    static constexpr bool kNeedsPath = true;

    // weights: (number of trees from first_tree on) × stride, a row's weight at its own place.
    WeightedSink(double* values, double* residual, std::size_t n_features, const double* weights,
                 std::size_t stride, std::size_t first_tree)
        : values_(values),
          residual_(residual),
          n_features_(n_features),
          weights_(weights),
          stride_(stride),
          first_tree_(first_tree) {}

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        const double* const weights = weights_ + (tree.tree - first_tree_) * stride_;
        for (const std::size_t row : rows) {
            double* const out = values_ + row * n_features_;
            residual_[row] += weights[row] * tree.remainder;
            for (const std::uint32_t f : tree.path) out[f] += weights[row] * tree.values[f];
        }
    }

private:
    double* values_;
    double* residual_;
    std::size_t n_features_;
    const double* weights_;
    std::size_t stride_, first_tree_;
};

// The sum for one row at a time, kept only where a path has been: for more features than fit a
// table.
class SparseSink {
public:
    explicit SparseSink(std::size_t n_features) : values_(n_features), seen_(n_features) {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId>) {
        residual_ += tree.remainder;
        for (const std::uint32_t f : tree.path) {
            if (!seen_[f]) features_.push_back(f);
            seen_[f] = true;
            values_[f] += tree.values[f];
        }
    }

    // Calls take(feature, value) by ascending feature, returns the residual, and starts a new row.
    template <class Take>
    double finish_row(Take take) {
        std::sort(features_.begin(), features_.end());
        for (const std::uint32_t f : features_) {
            take(f, values_[f]);
            values_[f] = 0;
            seen_[f] = false;
        }
        features_.clear();
        return std::exchange(residual_, 0.0);
    }

private:
    std::vector<double> values_;
    std::vector<unsigned char> seen_;
    std::vector<std::uint32_t> features_;
    double residual_ = 0;
};

}  // namespace localmdi::explain
