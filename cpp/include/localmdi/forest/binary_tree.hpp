// Copies the node records of binary trees (scikit-learn's layout) into the node table of a Forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace localmdi::forest {

// One field of an array of records: a value every `step` values, wherever the record puts it.
template <class T>
struct Strided {
    const T* data = nullptr;
    std::ptrdiff_t step = 1;

    const T* place(std::size_t at) const { return data + static_cast<std::ptrdiff_t>(at) * step; }
    T operator[](std::size_t at) const {
        T value;  // a packed record may be unaligned
        std::memcpy(&value, place(at), sizeof value);
        return value;
    }
};

// A fitted tree: node 0 is the root, a leaf has no children (-1), x <= threshold goes left.
struct BinaryTree {
    std::size_t n_nodes;
    Strided<std::int64_t> left, right, feature;
    Strided<double> threshold, weight, impurity;
    Strided<std::uint8_t> missing_goes_left;  // no data: a missing value is an error
    std::span<const std::int64_t> column;     // of the tree's features in X; empty: the same
};

// The arrays of the table, allocated for all trees. child_offset has one element more than nodes;
// every node but the roots is a child once.
struct NodeColumns {
    std::span<std::int32_t> feature;
    std::span<std::uint8_t> split_kind;
    std::span<double> threshold;
    std::span<std::int64_t> child_offset, child;
    std::span<std::int32_t> missing_child;
    std::span<double> weight, impurity;
};

// Fills the table tree after tree. The contents of a tree are not trusted: whatever they are,
// nothing outside the arrays is read or written. What else a tree must be is for validate().
class NodeWriter {
public:
    explicit NodeWriter(const NodeColumns& table);  // throws std::invalid_argument: unequal lengths
    void append(const BinaryTree& tree);            // likewise: does not fit, or is no binary tree
    std::size_t n_nodes() const { return n_nodes_; }

private:
    NodeColumns table_;
    std::size_t n_nodes_ = 0, n_children_ = 0;  // written so far
};

}  // namespace localmdi::forest
