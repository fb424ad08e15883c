// The order in which rows go through a forest: those that end together in the first tree follow
// each other.
//
// Why: rows that are alike meet the same nodes in the other trees too. A tile of such rows meets
// fewer nodes, and where it splits them, neighbours mostly go the same way: what a node reads and
// what a leaf adds to lies in fewer cache lines. A row's own sums do not change, because its trees
// come in their order whatever the rows around it are.
//
// Example: six rows end in the leaves 4, 2, 4, 3, 2, 4 of the first tree. Two rows end in leaf 2,
// one in 3, three in 4, so the leaves begin at the places 0, 2 and 3: the order is 1 4 | 3 | 0 2 5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "localmdi/explain/for_each_tile.hpp"

namespace localmdi::explain {

// Whether sorting pays, by measurement. It costs as much as a few trees, and more for wide rows.
// Small trees have all their nodes in a cache, and few rows their results; in trees with many more
// leaves than there are rows, hardly two rows end together.
template <class Value>
bool pays_to_sort(const PackedForest<Value>& forest, const Rows<Value>& rows) {
    constexpr std::size_t kFewestTrees = 64, kFewestNodes = 1024, kMostNodesPerRow = 16;
    constexpr std::size_t kFewestSums = std::size_t{1} << 18;
    const std::size_t nodes_per_tree = forest.nodes_per_tree();
    return forest.n_trees() >= std::max(kFewestTrees, rows.n_features) &&
           nodes_per_tree >= kFewestNodes && rows.n_rows >= nodes_per_tree / kMostNodesPerRow &&
           rows.n_rows >= kFewestSums / rows.n_features;
}

// The rows by the leaf of the first tree where they end, those of a leaf as they came.
template <class Value>
std::vector<std::size_t> order_by_leaf(const PackedForest<Value>& forest, const Rows<Value>& rows,
                                       const Run& run, Interrupt& interrupt) {
    std::vector<Place> end(rows.n_rows);
    for_each_tile(
        forest, rows, {0, 1}, run, interrupt,
        [&](std::size_t first, std::size_t) { return PlaceSink(end.data() + first); },
        [](const PlaceSink&, std::size_t, std::size_t) {});
    // By number: the leaves, then the splits at which a row may end.
    const std::size_t n_leaves = forest.trees[1].leaf, n_splits = forest.trees[1].split;
    const auto number = [=](Place at) {
        return is_leaf(at) ? leaf_number(at) : n_leaves + static_cast<std::size_t>(at);
    };
    std::vector<std::size_t> begin(n_leaves + n_splits + 1);
    for (const Place at : end) ++begin[number(at) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> order(rows.n_rows);
    for (std::size_t row = 0; row < rows.n_rows; ++row) order[begin[number(end[row])]++] = row;
    return order;
}

}  // namespace localmdi::explain
