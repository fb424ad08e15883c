// Random node tables and rows, and what the format says about them, node by node, without packing.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "localmdi/forest/packed_forest.hpp"

namespace localmdi::testing {

using forest::ForestView;
using forest::PackedForest;
using forest::SplitKind;

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t n) { return random() % n; }
inline double uniform(Random& random) {
    return std::uniform_real_distribution<double>(0, 1)(random);
}

struct Table {
    std::int64_t n_features = 1;
    std::vector<std::int64_t> tree_offset{0};
    std::vector<std::int32_t> feature;
    std::vector<std::uint8_t> split_kind;
    std::vector<double> threshold;
    std::vector<std::int64_t> child_offset{0};
    std::vector<std::int64_t> child;
    std::vector<std::int32_t> missing_child;
    std::vector<std::int64_t> category_offset{0};
    std::vector<std::uint64_t> category_bits;
    std::vector<double> impurity, tree_weight;

    ForestView view() const {
        return {n_features,   tree_offset, feature,       split_kind,      threshold,
                child_offset, child,       missing_child, category_offset, category_bits};
    }
    template <class Value>
    PackedForest<Value> packed() const {
        std::vector<double> drop(impurity.size());
        edge_drops(view(), impurity, drop.data());
        return pack<Value>(view(), {drop, impurity}, tree_weight);
    }

    void add_node(SplitKind kind, std::int32_t split_feature, double cut,
                  const std::vector<std::int64_t>& children,
                  const std::vector<std::uint64_t>& categories = {}, std::int32_t missing = -1) {
        feature.push_back(split_feature);
        split_kind.push_back(static_cast<std::uint8_t>(kind));
        threshold.push_back(cut);
        child.insert(child.end(), children.begin(), children.end());
        child_offset.push_back(static_cast<std::int64_t>(child.size()));
        missing_child.push_back(missing);
        category_bits.insert(category_bits.end(), categories.begin(), categories.end());
        category_offset.push_back(static_cast<std::int64_t>(category_bits.size()));
        impurity.push_back(0.5);
    }
    void add_leaf() { add_node(SplitKind::leaf, -1, 0, {}); }
    void end_tree(double weight = 1) {
        tree_offset.push_back(static_cast<std::int64_t>(feature.size()));
        tree_weight.push_back(weight);
    }
};

enum class Shape { bushy, chain, single };

// Appends a tree of about n_splits splits by comparison, or of all kinds if `mixed`. The chain of a
// Shape::chain goes on in a second child, so that first children are leaves all the way down.
inline void grow(Table& table, Random& random, Shape shape, std::size_t n_splits,
                 bool mixed = false) {
    if (shape == Shape::single) n_splits = 0;
    auto next = static_cast<std::int64_t>(table.feature.size()) + 1;  // the first free number
    for (auto node = next - 1; node < next; ++node) {
        const bool last_child = node + 1 == next;
        const bool stops =
            shape == Shape::chain ? !last_child : !last_child && below(random, 4) == 0;
        if (n_splits == 0 || stops) {
            table.add_leaf();
        } else {
            --n_splits;
            const auto f = static_cast<std::int32_t>(
                below(random, static_cast<std::size_t>(table.n_features)));
            const auto kind = static_cast<SplitKind>(1 + below(random, mixed ? 4 : 2));
            const std::size_t n = kind == SplitKind::multiway ? 1 + below(random, 3) : 2;
            std::vector<std::int64_t> children(n);
            for (auto& each : children) each = next++;
            std::vector<std::uint64_t> categories;
            if (kind == SplitKind::category_set) categories = {random() & random()};
            if (kind == SplitKind::multiway)
                for (std::size_t k = 0; k < n; ++k) categories.push_back(2 * k + below(random, 2));
            const double cut = std::round((uniform(random) - 0.5) * 8) / 2;
            table.add_node(kind, f, cut, children, categories,
                           static_cast<std::int32_t>(below(random, n)));
        }
        table.impurity.back() = uniform(random);
    }
    table.end_tree();
}

// Appends a complete tree that asks one question per level: comparisons, category sets too if
// `mixed`.
inline void grow_symmetric(Table& table, Random& random, std::size_t depth, bool mixed = false,
                           double weight = 1) {
    const auto root = static_cast<std::int64_t>(table.feature.size());
    for (std::size_t level = 0; level <= depth; ++level) {
        const std::int64_t first = (std::int64_t{1} << level) - 1;
        const auto kind = static_cast<SplitKind>(1 + below(random, mixed ? 3 : 2));
        const auto f =
            static_cast<std::int32_t>(below(random, static_cast<std::size_t>(table.n_features)));
        const double cut = std::round((uniform(random) - 0.5) * 8) / 2;
        const auto missing = static_cast<std::int32_t>(below(random, 2));
        std::vector<std::uint64_t> categories;
        if (kind == SplitKind::category_set) categories = {random() & random()};
        for (std::int64_t node = first; node <= 2 * first; ++node) {
            if (level == depth) table.add_leaf();
            else
                table.add_node(kind, f, cut, {root + 2 * node + 1, root + 2 * node + 2}, categories,
                               missing);
            table.impurity.back() = uniform(random);
        }
    }
    table.end_tree(weight);
}

// Halves, so that many values meet a threshold exactly; some missing and infinite ones.
template <class Value>
std::vector<Value> random_rows(Random& random, std::size_t n_values) {
    std::vector<Value> values(n_values);
    for (Value& value : values) {
        const std::size_t draw = below(random, 20);
        value = static_cast<Value>(std::round((uniform(random) - 0.5) * 16) / 2);
        if (draw == 0) value = std::numeric_limits<Value>::quiet_NaN();
        if (draw == 1) value = std::numeric_limits<Value>::infinity();
        if (draw == 2) value = -std::numeric_limits<Value>::infinity();
        if (draw == 3) value = Value(-0.0);
    }
    return values;
}

// The child that docs/format/forest.md sends x to; the node itself where the row ends.
inline std::size_t plain_child(const ForestView& forest, std::size_t node, double x) {
    const SplitKind kind = forest.kind(node);
    if (kind == SplitKind::leaf) return node;
    if (std::isnan(x))
        return forest.child_of(node, static_cast<std::size_t>(forest.missing_child[node]));
    const double t = forest.threshold[node];
    if (kind == SplitKind::less_equal) return forest.child_of(node, x <= t ? 0 : 1);
    if (kind == SplitKind::less) return forest.child_of(node, x < t ? 0 : 1);
    const auto categories = forest.categories(node);
    const bool is_code = x >= 0 && x < 9007199254740992.0 && x == std::floor(x);
    const auto code = is_code ? static_cast<std::uint64_t>(x) : 0;
    if (kind == SplitKind::category_set) {
        const bool in_set = is_code && code < 64 * categories.size() &&
                            (categories[code / 64] >> (code % 64)) % 2 == 1;
        return forest.child_of(node, in_set ? 0 : 1);
    }
    for (std::size_t k = 0; k < categories.size(); ++k)
        if (is_code && categories[k] == code) return forest.child_of(node, k);
    return node;
}

// The nodes from the root to where the row ends.
template <class Value>
std::vector<std::size_t> plain_path(const ForestView& forest, std::size_t tree, const Value* x) {
    std::vector<std::size_t> path{static_cast<std::size_t>(forest.tree_offset[tree])};
    for (;;) {
        const std::size_t node = path.back();
        if (forest.kind(node) == SplitKind::leaf) return path;
        const auto value = static_cast<double>(x[forest.feature[node]]);
        const std::size_t next = plain_child(forest, node, value);
        if (next == node) return path;
        path.push_back(next);
    }
}

}  // namespace localmdi::testing
