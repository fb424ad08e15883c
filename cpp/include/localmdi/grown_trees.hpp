// Grown trees as they come: compact, because most of a forest's table can be derived when it is
// asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/forest_view.hpp"
#include "localmdi/large_vector.hpp"

namespace localmdi {

struct GrownNode {
    double weight;
    double impurity;
    union {
        float threshold;      // ordered splits
        std::uint32_t codes;  // multiway splits: where the tree's `codes` tell of the children
    };
    std::int32_t feature;       // −1 at a leaf
    std::uint32_t first_child;  // in this tree, siblings adjacent; a leaf: its value, see below
    SplitKind kind;
    std::int8_t missing_child;
};

// A leaf's value: a class that all its rows have, or kDense and its place in `values`.
inline constexpr std::uint32_t kDense = std::uint32_t{1} << 31;

// Room for the nodes of several trees: few large pieces are faster to get than many small ones.
using NodeSlab = LargeVector<GrownNode>;

struct GrownTree {
    std::shared_ptr<const NodeSlab> slab;
    std::span<const GrownNode> nodes;  // in the slab
    std::vector<double> values;        // n_values each: class weights, or sums of w·y
    std::vector<std::uint32_t> codes;  // of a multiway split: number of children, their categories
};

struct GrownTrees {
    std::size_t n_values = 1;
    std::vector<GrownTree> trees;
};

// Tree after tree of one thread.
class TreeWriter {
public:
    // A tree of at most max_nodes nodes.
    void begin(std::size_t max_nodes) {
        if (!slab_ || slab_->size() - used_ < max_nodes) {
            const std::size_t size = slab_ ? std::min(2 * slab_->size(), kSlab) : 0;
            slab_ = std::make_shared<NodeSlab>(std::max(size, max_nodes));
            used_ = 0;
        }
        nodes_ = slab_->data() + used_;
        n_nodes_ = 0;
    }

    // The children of a split must be added one after the other.
    std::uint32_t add(double weight, double impurity) {
        nodes_[n_nodes_] = {.weight = weight,
                            .impurity = impurity,
                            .threshold = 0,
                            .feature = -1,
                            .first_child = 0,
                            .kind = SplitKind::leaf,
                            .missing_child = -1};
        return n_nodes_++;
    }
    std::uint32_t size() const { return n_nodes_; }
    GrownNode& operator[](std::uint32_t node) { return nodes_[node]; }

    // What was written since begin(); the next tree takes its place unless it is kept.
    GrownTree end(bool keep) {
        GrownTree tree{slab_, {nodes_, n_nodes_}, {}, {}};
        std::swap(tree.values, values);
        std::swap(tree.codes, codes);
        if (keep) used_ += n_nodes_;
        return tree;
    }

    std::vector<double> values;
    std::vector<std::uint32_t> codes;

private:
    static constexpr std::size_t kSlab = std::size_t{1} << 16;

    std::shared_ptr<NodeSlab> slab_;
    std::size_t used_ = 0;
    GrownNode* nodes_ = nullptr;
    std::uint32_t n_nodes_ = 0;
};

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

}  // namespace localmdi
