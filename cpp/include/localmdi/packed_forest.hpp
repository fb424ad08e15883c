// The forest in the order a row meets it: what every kernel walks. Built once from a ForestView.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/forest_view.hpp"
#include "localmdi/large_vector.hpp"

namespace localmdi {

// Value is the type in which a row is compared (the forest's row_dtype).
// 24 bytes, siblings adjacent, a left subtree behind its parent: one cache line serves both
// children.
template <class Value>
struct PackedNode {
    double credit;        // tree weight × amount for the edge from the parent; 0 at a root
    Value threshold;      // ordered splits: the first child takes x <= threshold
    std::uint32_t split;  // split feature and the flags below
    std::uint32_t child;  // first child; a leaf: itself; an unordered split: its place in unordered
    std::uint32_t end;    // place in remainder, where a row may end; else 0
};

inline constexpr std::uint32_t kLeaf = 1u << 31;
inline constexpr std::uint32_t kUnordered = 1u << 30;     // category set or multiway
inline constexpr std::uint32_t kMissingFirst = 1u << 29;  // a missing value goes to the first child
inline constexpr std::uint32_t kFeatureMask = kMissingFirst - 1;

// A split that is not a comparison.
struct UnorderedSplit {
    SplitKind kind;
    std::uint32_t first_child;
    std::uint32_t n_children;
    std::int32_t missing_child;
    std::vector<std::uint64_t> categories;
};

template <class Value>
struct PackedForest {
    std::size_t n_features = 0;
    std::size_t max_depth = 0;        // edges on the longest path
    std::vector<std::uint32_t> root;  // one per tree, and the end
    LargeVector<PackedNode<Value>> nodes;
    LargeVector<double> remainder;  // tree weight × what is left where a row may end
    std::vector<UnorderedSplit> unordered;
    LargeVector<std::uint32_t> source;  // packed node → node of the table
    std::vector<double> tree_weight;

    std::size_t n_trees() const { return root.size() - 1; }
    bool ordered() const { return unordered.empty(); }
};

// What a local measure gives out, per node of the table. Whoever computes it, every kernel adds it
// up the same way.
struct Credits {
    // The amount that a row on the edge parent → node gives to the parent's split feature; not read
    // at roots. Empty for kernels that only route: every amount is 0.
    std::span<const double> amount;
    // What is left at a node, if the amounts telescope: on every path they sum to the root's
    // remainder minus that of the end. Empty if they do not; the residuals then mean nothing.
    std::span<const double> remainder;
};

// Throws std::length_error when the forest does not fit 32-bit packed indices.
template <class Value>
PackedForest<Value> pack(const ForestView& forest, const Credits& credits,
                         std::span<const double> tree_weight);

// The amounts that make a quantity of the nodes telescope: level(parent) − level(node), 0 at roots.
// With the impurity for a level this is Definition 1 of the paper.
void edge_drops(const ForestView& forest, std::span<const double> level, double* amount);

}  // namespace localmdi
