// Grown trees as they come: compact, because most of a forest's table can be derived when it is
// asked for.
//
// 16 bytes per node instead of the table's 60 and more: many forests are grown only for the sums
// over their rows, or predict and are thrown away. Nodes go into slabs of 2 MB, one huge page, that
// several trees share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/forest/forest_view.hpp"
#include "localmdi/support/criterion.hpp"
#include "localmdi/support/large_vector.hpp"

namespace localmdi::grow {

using forest::SplitKind;
using support::Criterion;
using support::LargeAllocator;
using support::LargeVector;

struct GrownNode {
    union {
        float threshold;       // ordered splits
        std::uint32_t codes;   // multiway splits: where the tree's `codes` tell of the children
        std::uint32_t n_rows;  // leaves of a tree without statistics
    };
    std::int32_t feature;       // −1 at a leaf
    std::uint32_t first_child;  // in this tree, siblings adjacent; a leaf: its value, see below
    SplitKind kind;
    std::int8_t missing_child;
};

// A leaf's value: a class that all its rows have, or kDense and its place in `values`.
inline constexpr std::uint32_t kDense = std::uint32_t{1} << 31;

struct NodeStatistics {
    double weight, impurity;
};

// A part of a slab, which lives as long as some tree has a part of it.
template <class T>
struct SlabPart {
    std::shared_ptr<const LargeVector<T>> slab;
    std::span<const T> items;
};

struct GrownTree {
    Criterion criterion;
    SlabPart<GrownNode> nodes;
    // None in the plain case: where every row counts once, they follow from the leaves.
    SlabPart<NodeStatistics> statistics;
    std::vector<double> values;        // n_values each: class weights, or sums of w·y
    std::vector<std::uint32_t> codes;  // of a multiway split: number of children, their categories
};

struct GrownTrees {
    std::size_t n_values = 1;
    std::vector<GrownTree> trees;
};

// Room for the items of several trees: few large pieces are faster to get than many small ones.
template <class T>
class SlabWriter {
public:
    // At most `most` items will follow.
    void begin(std::size_t most) {
        if (!slab_ || slab_->size() - used_ < most) {
            const std::size_t size = slab_ ? std::min(2 * slab_->size(), kSlab) : 0;
            slab_ = std::make_shared<LargeVector<T>>(std::max(size, most));
            used_ = 0;
        }
        items_ = slab_->data() + used_;
        n_items_ = 0;
    }

    std::uint32_t add(const T& item) {
        items_[n_items_] = item;
        return n_items_++;
    }
    std::uint32_t size() const { return n_items_; }
    T& operator[](std::uint32_t item) { return items_[item]; }

    // What was written since begin(); the next items take its place unless it is kept.
    SlabPart<T> end(bool keep) {
        SlabPart<T> part{slab_, {items_, n_items_}};
        if (keep) used_ += n_items_;
        n_items_ = 0;
        return part;
    }

private:
    static constexpr std::size_t kSlab = LargeAllocator<T>::kHugePage / sizeof(T);

    std::shared_ptr<LargeVector<T>> slab_;
    std::size_t used_ = 0;
    T* items_ = nullptr;
    std::uint32_t n_items_ = 0;
};

// Tree after tree of one thread.
class TreeWriter {
public:
    explicit TreeWriter(Criterion criterion) : criterion_(criterion) {}

    // A tree of at most max_nodes nodes.
    void begin(std::size_t max_nodes, bool with_statistics) {
        nodes_.begin(max_nodes);
        if (with_statistics) statistics_.begin(max_nodes);
    }

    // The children of a split must be added one after the other.
    std::uint32_t add(std::uint32_t n_rows) {
        return nodes_.add({.n_rows = n_rows,
                           .feature = -1,
                           .first_child = 0,
                           .kind = SplitKind::leaf,
                           .missing_child = -1});
    }
    std::uint32_t add(const NodeStatistics& statistics) {
        statistics_.add(statistics);
        return add(0u);
    }
    std::uint32_t size() const { return nodes_.size(); }
    GrownNode& operator[](std::uint32_t node) { return nodes_[node]; }
    double impurity(std::uint32_t node) { return statistics_[node].impurity; }

    // What was written since begin(); the next tree takes its place unless it is kept.
    GrownTree end(bool keep) {
        return {criterion_, nodes_.end(keep), statistics_.end(keep), std::exchange(values, {}),
                std::exchange(codes, {})};
    }

    std::vector<double> values;
    std::vector<std::uint32_t> codes;

private:
    Criterion criterion_;
    SlabWriter<GrownNode> nodes_;
    SlabWriter<NodeStatistics> statistics_;
};

std::size_t n_children(const GrownTree& tree, const GrownNode& node);

// Of all nodes: the weights of the classes, or Σ w·y; out has n_values for each node.
void sum_values(const GrownTree& tree, std::size_t n_values, double* out);

// The node table of docs/format/forest.md.
struct ForestArrays {
    std::vector<std::int64_t> tree_offset;
    LargeVector<std::int32_t> feature;
    LargeVector<std::uint8_t> split_kind;
    LargeVector<double> threshold;
    LargeVector<std::int64_t> child_offset, child;
    LargeVector<std::int32_t> missing_child;
    LargeVector<std::int64_t> category_offset;
    LargeVector<std::uint64_t> category_bits;
    LargeVector<double> weight, impurity;
    LargeVector<double> value;  // n_nodes × n_values: shares of the classes, or means
};

ForestArrays to_arrays(const GrownTrees& trees);

}  // namespace localmdi::grow
