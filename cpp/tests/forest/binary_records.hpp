// Binary trees as scikit-learn stores them, and room for them in a node table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "localmdi/forest/binary_tree.hpp"

namespace localmdi::testing {

using forest::BinaryTree;
using forest::NodeColumns;

// As scikit-learn lays a node out: the fields of one node beside each other.
struct Record {
    std::int64_t left, right, feature;
    double threshold, impurity, weight;
    std::uint8_t missing_goes_left;
};
inline constexpr std::ptrdiff_t kStep = sizeof(Record) / 8;

inline BinaryTree tree_of(const std::vector<Record>& nodes) {
    const Record* const first = nodes.data();
    return {.n_nodes = nodes.size(),
            .left = {&first->left, kStep},
            .right = {&first->right, kStep},
            .feature = {&first->feature, kStep},
            .threshold = {&first->threshold, kStep},
            .weight = {&first->weight, kStep},
            .impurity = {&first->impurity, kStep},
            .missing_goes_left = {&first->missing_goes_left, sizeof(Record)},
            .column = {}};
}

inline const std::vector<Record> kStump{{1, 2, 3, 0.5, 1.0, 10.0, 1},
                                        {-1, -1, -2, -2.0, 0.25, 4.0, 0},
                                        {-1, -1, -2, -2.0, 0.75, 6.0, 0}};

// A random tree with n splits; its records in the order in which leaves were split.
inline std::vector<Record> random_tree(std::mt19937_64& random, std::size_t n_splits,
                                       std::size_t n_features) {
    std::uniform_real_distribution<double> number(0, 1);
    std::vector<Record> nodes{{-1, -1, -2, -2, number(random), 1, 0}};
    std::vector<std::size_t> leaves{0};
    for (std::size_t k = 0; k < n_splits; ++k) {
        std::swap(leaves[random() % leaves.size()], leaves.back());
        const std::size_t at = leaves.back();
        leaves.pop_back();
        const auto first = static_cast<std::int64_t>(nodes.size());
        nodes[at].left = first + static_cast<std::int64_t>(random() % 2);
        nodes[at].right = 2 * first + 1 - nodes[at].left;
        nodes[at].feature = static_cast<std::int64_t>(random() % n_features);
        nodes[at].threshold = number(random) - 0.5;
        nodes[at].missing_goes_left = random() % 2;
        for (int child = 0; child < 2; ++child) {
            leaves.push_back(nodes.size());
            nodes.push_back({-1, -1, -2, -2, number(random), number(random), 0});
        }
    }
    return nodes;
}

// The arrays of a node table, without categories.
struct ColumnTable {
    ColumnTable(std::size_t n_nodes, std::size_t n_trees)
        : feature(n_nodes),
          split_kind(n_nodes),
          threshold(n_nodes),
          child_offset(n_nodes + 1),
          child(n_nodes - n_trees),
          missing_child(n_nodes),
          weight(n_nodes),
          impurity(n_nodes) {}

    NodeColumns columns() {
        return {feature, split_kind,    threshold, child_offset,
                child,   missing_child, weight,    impurity};
    }

    std::vector<std::int32_t> feature;
    std::vector<std::uint8_t> split_kind;
    std::vector<double> threshold;
    std::vector<std::int64_t> child_offset, child;
    std::vector<std::int32_t> missing_child;
    std::vector<double> weight, impurity;
};

}  // namespace localmdi::testing
