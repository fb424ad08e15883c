// The forest in the order a row meets it: what every kernel walks. Built once from a ForestView.
//
// The node table has a column per field, which suits Python; a walk needs all fields of one split
// and then of one of its children. So a split has all that it takes to leave it: the question, and
// for each child what the edge is worth and where it leads. Leaves have no record of their own: the
// place of a leaf is a number, and a row that has got there needs nothing more, unless something is
// left there. Splits are put in the order of the paths: a split, then everything below its first
// child, then everything below the second. A tree of seven nodes:
//
//            0            splits   0       1       2
//          /   \          child    1  2    ~0 ~1   ~2 ~3
//        1       2
//       / \     / \       A place is the number of a split, or that of a leaf with all bits turned
//     ~0  ~1  ~2  ~3      round (negative). The first child lies behind its parent, mostly in the
//                         same cache line; all splits below 1 lie before those below 2, which is
//                         what LevelKernel needs to find its way.
//
// An edge's worth includes the weight of the tree. A kernel adds that number to the split's feature
// and knows nothing else about the measure. docs/kernels.md follows an example through all of this.
#pragma once

#include <algorithm>
#include <array>
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

// The number of a split, or ~ the number of a leaf; both count over the whole forest.
using Place = std::int32_t;
inline bool is_leaf(Place at) { return at < 0; }
inline std::size_t leaf_number(Place at) { return static_cast<std::size_t>(~at); }
inline Place place_of_leaf(std::size_t leaf) { return ~static_cast<Place>(leaf); }

// Value is the type in which a row is compared (the forest's row_dtype). Two splits for rows of
// float32 fill a cache line.
template <class Value>
struct PackedSplit {
    std::array<double, 2> credit;  // tree weight × amount for the edge to each child
    Value threshold;               // ordered splits: the first child takes x <= threshold
    std::uint32_t split;           // split feature and the flags below
    std::array<Place, 2> child;    // not of multiway splits

    // Of a split that is no comparison, its place in `unordered`, where the threshold would be.
    std::uint32_t unordered() const {
        std::uint32_t place;
        std::memcpy(&place, &threshold, sizeof place);
        return place;
    }
    void set_unordered(std::uint32_t place) {
        threshold = 0;
        std::memcpy(&threshold, &place, sizeof place);
    }
};
static_assert(sizeof(PackedSplit<float>) == 32 && sizeof(PackedSplit<double>) == 40);

inline constexpr std::uint32_t kUnordered = 1u << 30;     // category set or multiway
inline constexpr std::uint32_t kMissingFirst = 1u << 29;  // a missing value goes to the first child
inline constexpr std::uint32_t kFeatureMask = kMissingFirst - 1;

// The way to a child of a multiway split.
struct Edge {
    double credit;
    Place child;
};

// A split that is not a comparison.
struct UnorderedSplit {
    SplitKind kind;
    std::int32_t missing_child;
    double remainder;             // as of a leaf: rows that no child takes end here
    std::span<const Edge> edges;  // of a multiway split
    std::span<const std::uint64_t> categories;
    // A multiway split of few children whose categories are small: the child of each category, or
    // kNoChild. Empty for others.
    std::span<const std::uint8_t> child_at;

    static constexpr std::uint8_t kNoChild = 255;
};

// Where a tree begins: its splits follow each other, and so do its leaves.
struct PackedTree {
    Place root;
    std::uint32_t split, leaf;
};

// The numbers in the table of splits and leaves.
struct NodeNumbers {
    LargeVector<std::uint32_t> split, leaf;

    bool empty() const { return leaf.empty(); }
    std::uint32_t operator[](Place at) const {
        return is_leaf(at) ? leaf[leaf_number(at)] : split[static_cast<std::size_t>(at)];
    }
};

template <class Value>
struct PackedForest {
    std::size_t n_features = 0;
    std::size_t max_depth = 0;      // edges on the longest path
    std::vector<PackedTree> trees;  // and the end
    LargeVector<PackedSplit<Value>> splits;
    LargeVector<double> left;  // tree weight × what is left at a leaf; empty: nothing at any
    LargeVector<UnorderedSplit> unordered;
    // What these refer to, in the order of the splits: memory is read from one end to the other.
    LargeVector<Edge> edges;
    LargeVector<std::uint64_t> categories;
    LargeVector<std::uint8_t> child_at;
    NodeNumbers source;  // of pack_drops() empty
    std::vector<double> tree_weight;
    SymmetricForm<Value> symmetric;  // if all trees are and there are credits

    PackedForest() = default;
    PackedForest(PackedForest&&) = default;  // not copied: `unordered` refers to its own vectors
    PackedForest& operator=(PackedForest&&) = default;

    std::size_t n_trees() const { return trees.size() - 1; }
    std::size_t n_nodes() const { return std::size_t{trees.back().split} + trees.back().leaf; }
    std::size_t nodes_per_tree() const { return n_nodes() / std::max<std::size_t>(n_trees(), 1); }
    bool ordered() const { return unordered.empty(); }

    // Tree weight × what is left where a row ends: at a leaf, or at a split that has no child for
    // it.
    double remainder(Place at) const {
        if (!is_leaf(at))
            return unordered[splits[static_cast<std::size_t>(at)].unordered()].remainder;
        return left.empty() ? 0.0 : left[leaf_number(at)];
    }
};

// The places that a forest has room for. A tree of n nodes has fewer splits than leaves.
inline constexpr std::size_t kMostPlaces = (std::size_t{1} << 31) - 1;

// Throws std::length_error when the forest does not fit 32-bit places.
template <class Value>
PackedForest<Value> pack(const ForestView& forest, const Credits& credits,
                         std::span<const double> tree_weight);

}  // namespace localmdi::forest
