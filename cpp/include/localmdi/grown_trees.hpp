// Grown trees as they come: compact, because most of a forest's table can be derived when it is
// asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "localmdi/forest_view.hpp"
#include "localmdi/large_vector.hpp"

namespace localmdi {

struct GrownNode {
    double weight;
    double impurity;
    float threshold;            // ordered splits
    std::int32_t feature;       // −1 at a leaf
    std::uint32_t first_child;  // in this tree, siblings adjacent; a leaf: its value, see below
    std::uint32_t n_children;
    std::uint32_t code;  // the category that leads here from a multiway split
    SplitKind kind;
    std::int8_t missing_child;
};

// A leaf's value: a class that all its rows have, or kDense and its place in `values`.
inline constexpr std::uint32_t kDense = std::uint32_t{1} << 31;

struct TreeBlock {
    std::vector<std::size_t> end;  // of each tree, among the nodes
    std::vector<GrownNode> nodes;
    std::vector<double> values;  // n_values each: class weights, or sums of w·y
};

// Block after block, as they were grown: none is copied to join the others.
struct GrownTrees {
    std::size_t n_values = 1;
    std::vector<TreeBlock> blocks;
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
