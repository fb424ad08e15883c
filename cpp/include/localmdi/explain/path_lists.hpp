// What rows get in the trees of wide data, written down where they end and added row by row.
//
// Why: a path meets a dozen of thousands of features, and the sums of each lie in a cache line of
// their own. Tiles that are large enough to share nodes have more of these lines than a near cache
// holds, so that almost every addition would fetch a line and push out another. The sums of one row
// do fit. So a leaf writes the list of its path, once for all its rows; when many trees have
// walked, a row takes all its lists in a piece.
//
// Example: two trees. In the first, rows A and C end where x3 has gained 0.5 and x7 0.2, row B
// where x3 has gained 0.1; in the second, all three end where x7 has gained 0.4 and 0.3 is left.
//
//     place       0     1    2      3     4      5     6
//     values_     0    0.5  0.2     0    0.1    0.3   0.4     what is left, then one per feature
//     features_   2     3    7      1     3      1     7      how many there are, then which
//
//     begin_      A  B  C
//     tree 0      0  3  0       row A: x3 gets 0.5, x7 0.2 and then 0.4, 0.3 is left
//     tree 1      5  5  5
//
// A row's sums are those that SumSink and SpreadSink make, to the bit: each feature gets one number
// from each tree, in the order of the trees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "localmdi/explain/sinks.hpp"
#include "localmdi/support/large_vector.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

// Feature: an integer that can hold the number of features. Two bytes, where they suffice, save a
// tenth of the time: what counts is how many bytes a row reads.
template <class Feature>
class PathLists {
public:
    static constexpr bool kNeedsPath = true;

    // Of n_rows rows. The lists are full when they have `most` numbers, or so many trees.
    PathLists(std::size_t n_rows, std::size_t most_trees, std::size_t most)
        : n_rows_(n_rows), most_trees_(most_trees), most_(most), begin_(n_rows * most_trees) {}

    // Forgets all lists; the next are those of this tree and its successors.
    void start(std::size_t tree) {
        first_tree_ = tree;
        n_trees_ = end_ = 0;
    }

    bool full() const { return n_trees_ == most_trees_ || end_ >= most_; }

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        const std::size_t begin = end_, n = tree.path.size();
        end_ = begin + 1 + n;
        if (end_ > values_.size()) grow();
        double* const values = values_.data() + begin;
        Feature* const features = features_.data() + begin;
        values[0] = tree.remainder;
        features[0] = static_cast<Feature>(n);
        for (std::size_t i = 0; i < n; ++i) {
            values[1 + i] = tree.values[tree.path[i]];
            features[1 + i] = static_cast<Feature>(tree.path[i]);
        }
        n_trees_ = tree.tree - first_tree_ + 1;
        std::uint32_t* const begin_of = begin_.data() + (n_trees_ - 1) * n_rows_;
        for (const std::size_t row : rows) begin_of[row] = static_cast<std::uint32_t>(begin);
    }

    // What a row gets in one tree.
    struct List {
        std::size_t tree;
        double left;
        std::span<const Feature> features;
        const double* values;  // of each feature
    };

    // Calls take(list) for the row's list in each tree since start().
    template <class Take>
    void for_each(std::size_t row, Take take) const {
        const std::uint32_t* const begin_in = begin_.data() + row;
        for (std::size_t tree = 0; tree < n_trees_; ++tree) {
            ask_for(begin_in[std::min(tree + kAhead, n_trees_ - 1) * n_rows_]);
            const std::size_t begin = begin_in[tree * n_rows_];
            const double* const values = values_.data() + begin;
            const Feature* const features = features_.data() + begin;
            take(List{first_tree_ + tree, values[0], {features + 1, features[0]}, values + 1});
        }
    }

private:
    static constexpr std::size_t kAhead = 8;  // lists asked for before they are added

    // Inlined: the compiler would drop a call that changes nothing. Twelve numbers and their
    // features, and more of longer lists by the processor itself.
    LOCALMDI_ALWAYS_INLINE void ask_for(std::size_t begin) const {
        LOCALMDI_PREFETCH(values_.data() + begin);
        LOCALMDI_PREFETCH(values_.data() + begin + 8);
        LOCALMDI_PREFETCH(features_.data() + begin);
    }

    void grow() {
        const std::size_t size = std::max(2 * values_.size(), end_ + kSmall);
        values_.resize(size);
        features_.resize(size);
    }

    static constexpr std::size_t kSmall = std::size_t{1} << 14;

    std::size_t n_rows_, most_trees_, most_;
    std::size_t first_tree_ = 0, n_trees_ = 0;
    std::size_t end_ = 0;  // of all lists
    support::LargeVector<std::uint32_t> begin_;
    support::LargeVector<double> values_;
    support::LargeVector<Feature> features_;
};

}  // namespace localmdi::explain
