// The forest in the order a row meets it: what every kernel walks. Built once from a ForestView.
//
// The node table has a column per field, which suits Python; a walk needs all fields of one node
// and then of one of its children. So the fields of a node are packed together, 20 bytes for rows
// of float32, and the nodes are put in this order: the children of a node side by side, then
// everything below the first child, then everything below the second. A tree of seven nodes, by
// packed index:
//
//          0                 nodes:  0 | 1 2 | 3 4 | 5 6
//        /   \              The children of 0 are 1 and 2, those of 1 are 3 and 4, those of 2
//       1     2              are 5 and 6. One index, `child`, finds both children, and one cache
//      / \   / \             line mostly holds them. All nodes below 1 lie before all nodes
//     3   4 5   6            below 2, which is what LevelKernel needs to find its way back.
//
// Each node carries what the edge from its parent is worth, the tree's weight included. A kernel
// adds that number to the parent's split feature and knows nothing else about the measure.
// docs/kernels.md follows an example through all of this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "localmdi/forest/credits.hpp"
#include "localmdi/forest/forest_view.hpp"
#include "localmdi/forest/symmetric_form.hpp"
#include "localmdi/support/large_vector.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::forest {

using support::LargeVector;

// Value is the type in which a row is compared (the forest's row_dtype). Siblings are adjacent, a
// first child's subtree lies behind them: one cache line mostly serves both children. Packed in
// steps of four bytes, because walks mostly wait for nodes that are in no cache yet; so its numbers
// are copied, never referred to.
#pragma pack(push, 4)
template <class Value>
struct PackedNode {
    double credit;        // tree weight × amount for the edge from the parent; 0 at a root
    std::uint32_t split;  // split feature and the flags below
    Value threshold;      // ordered splits: the first child takes x <= threshold
    std::uint32_t child;  // the first child; of an unordered split its place in `unordered`

    // Of a leaf, tree weight × what is left, in place of threshold and child. It lies in the leaf
    // itself, so that a row that ends there meets no other cache line.
    double remainder() const {
        double left;
        std::memcpy(&left, bytes() + kRemainder, sizeof left);
        return left;
    }
    void set_remainder(double left) {
        std::memcpy(const_cast<std::byte*>(bytes()) + kRemainder, &left, sizeof left);
    }

private:
    static constexpr std::size_t kRemainder = sizeof(double) + sizeof(std::uint32_t);
    const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(this); }
};
#pragma pack(pop)
static_assert(sizeof(PackedNode<float>) == 20 && sizeof(PackedNode<double>) == 24);

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
    double remainder;  // as of a leaf: rows that no child takes end here
    std::span<const std::uint64_t> categories;
    // A multiway split of few children whose categories are small: the child of each category, or
    // kNoChild. Empty for others.
    std::span<const std::uint8_t> child_at;

    static constexpr std::uint8_t kNoChild = 255;
};

template <class Value>
struct PackedForest {
    std::size_t n_features = 0;
    std::size_t max_depth = 0;        // edges on the longest path
    std::vector<std::uint32_t> root;  // one per tree, and the end
    LargeVector<PackedNode<Value>> nodes;
    LargeVector<UnorderedSplit> unordered;
    // What these refer to, in the order of the nodes: memory is read from one end to the other.
    LargeVector<std::uint64_t> categories;
    LargeVector<std::uint8_t> child_at;
    LargeVector<std::uint32_t> source;  // packed node → node of the table; of pack_drops() empty
    std::vector<double> tree_weight;
    SymmetricForm<Value> symmetric;  // if all trees are and there are credits

    PackedForest() = default;
    PackedForest(PackedForest&&) = default;  // not copied: `unordered` refers to its own vectors
    PackedForest& operator=(PackedForest&&) = default;

    std::size_t n_trees() const { return root.size() - 1; }
    std::size_t nodes_per_tree() const {
        return nodes.size() / std::max<std::size_t>(n_trees(), 1);
    }
    bool ordered() const { return unordered.empty(); }

    // Tree weight × what is left where a row ends: at a leaf, or at a split that has no child for
    // it.
    double remainder(std::uint32_t at) const {
        const PackedNode<Value>& node = nodes[at];
        return node.split & kLeaf ? node.remainder() : unordered[node.child].remainder;
    }
};

// Asks for a node. Nodes are not aligned to cache lines: one of four begins in one and ends in the
// next. Inlined: the compiler would drop a call that changes nothing.
template <class Value>
LOCALMDI_ALWAYS_INLINE inline void prefetch_node(const PackedNode<Value>* node) {
    const auto* const place = reinterpret_cast<const std::byte*>(node);
    LOCALMDI_PREFETCH(place);
    LOCALMDI_PREFETCH(place + sizeof(PackedNode<Value>) - 1);
}

// Throws std::length_error when the forest does not fit 32-bit packed indices.
template <class Value>
PackedForest<Value> pack(const ForestView& forest, const Credits& credits,
                         std::span<const double> tree_weight);

}  // namespace localmdi::forest
