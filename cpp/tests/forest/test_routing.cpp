// Packing keeps every decision: rows go where the format of the table says, for all kinds of
// splits, in both row types, at thresholds that the row type cannot hold, and for every odd value.
#include "localmdi/forest/routing.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::testing;

namespace {

// A split of feature 0 with leaves below it.
Table stump(SplitKind kind, double threshold, std::int32_t missing,
            const std::vector<std::uint64_t>& categories = {}) {
    Table table;
    const std::size_t n = kind == SplitKind::multiway ? categories.size() : 2;
    std::vector<std::int64_t> children;
    for (std::size_t k = 1; k <= n; ++k) children.push_back(static_cast<std::int64_t>(k));
    table.add_node(kind, 0, threshold, children, categories, missing);
    for (std::size_t k = 0; k < n; ++k) table.add_leaf();
    table.end_tree();
    CHECK(!validate(table.view()));
    return table;
}

// The node of the table that x reaches from the root, or where it stays.
template <class Value>
std::size_t reached(const PackedForest<Value>& forest, Value x) {
    return forest.source[next_step(forest, forest.trees[0].root, x).next];
}

template <class Value>
std::vector<Value> neighbourhood(double t) {
    using Limits = std::numeric_limits<Value>;
    const Value inf = Limits::infinity();
    const auto near = static_cast<Value>(t);
    return {near,
            std::nextafter(near, inf),
            std::nextafter(near, -inf),
            Limits::quiet_NaN(),
            inf,
            -inf,
            Limits::max(),
            Limits::lowest(),
            Limits::denorm_min(),
            -Limits::denorm_min(),
            Value(0),
            Value(-0.0),
            Value(1),
            Value(-1),
            Value(0.1),
            Value(0.3)};
}

template <class Value>
void ordered_splits() {
    const double inf = HUGE_VAL, tiny = std::numeric_limits<double>::denorm_min();
    const double float_max = std::numeric_limits<float>::max();
    const double float_tiny = std::numeric_limits<float>::denorm_min();
    for (const double t : {0.0,
                           -0.0,
                           0.1,
                           -0.1,
                           0.5,
                           1.0 / 3,
                           16777217.0,
                           -16777217.0,
                           1e300,
                           -1e300,
                           inf,
                           -inf,
                           tiny,
                           -tiny,
                           float_max,
                           -float_max,
                           3.5e38,
                           -3.5e38,
                           float_tiny,
                           -float_tiny,
                           float_tiny / 2,
                           -float_tiny / 2,
                           1e-320})
        for (const SplitKind kind : {SplitKind::less_equal, SplitKind::less})
            for (const std::int32_t missing : {0, 1}) {
                const Table table = stump(kind, t, missing);
                const auto forest = table.packed<Value>();
                for (const Value x : neighbourhood<Value>(t))
                    CHECK(reached(forest, x) ==
                          plain_child(table.view(), 0, static_cast<double>(x)));
            }
}

template <class Value>
void category_splits() {
    const std::vector<std::uint64_t> two_words{0x8000000000000005ull, 1};
    const std::vector<std::uint64_t> codes{0, 1, 7, 63, 64, 1u << 20, kMaxCategoryCode};
    for (const std::int32_t missing : {0, 1}) {
        const Table set = stump(SplitKind::category_set, 0, missing, two_words);
        const Table many = stump(SplitKind::multiway, 0, missing, codes);
        const auto packed_set = set.packed<Value>(), packed_many = many.packed<Value>();
        std::vector<Value> values = neighbourhood<Value>(9007199254740992.0);
        for (const double x : {2.0, 0.5, 6.5, 7.0, 62.0, 63.0, 64.0, 65.0, 127.0, 128.0, 1048576.0,
                               9007199254740991.0, 18446744073709551616.0, 1e30, -63.0, -0.5})
            values.push_back(static_cast<Value>(x));
        for (const Value x : values) {
            const auto wide = static_cast<double>(x);
            CHECK(reached(packed_set, x) == plain_child(set.view(), 0, wide));
            CHECK(reached(packed_many, x) == plain_child(many.view(), 0, wide));
        }
    }
    // No way for a missing value: the row stays, though callers refuse it before.
    const auto stays = stump(SplitKind::multiway, 0, -1, codes).packed<Value>();
    CHECK(reached(stays, std::numeric_limits<Value>::quiet_NaN()) == 0);
}

// Exact doubles tell codes apart that one float stands for.
void codes_beyond_float() {
    const auto forest = stump(SplitKind::multiway, 0, 0, {16777216, 16777217}).packed<double>();
    CHECK(reached(forest, 16777216.0) == 1 && reached(forest, 16777217.0) == 2);
    const auto narrow = stump(SplitKind::multiway, 0, 0, {16777216, 16777217}).packed<float>();
    CHECK(reached(narrow, 16777216.0f) == 1);
}

// The numbers that the next split and the next leaf must have.
struct Places {
    std::size_t split, leaf;
};

template <class Value>
void check_branch(const PackedForest<Value>& forest, const Table& table, std::size_t tree, Place at,
                  std::size_t depth, Places& next, std::size_t& deepest) {
    const ForestView view = table.view();
    const double weight = table.tree_weight[tree];
    const auto node = std::size_t{forest.source[at]};
    deepest = std::max(deepest, depth);
    if (is_leaf(at)) {
        CHECK(leaf_number(at) == next.leaf++ && view.n_children(node) == 0);
        CHECK(forest.remainder(at) == weight * table.impurity[node]);
        return;
    }
    CHECK(static_cast<std::size_t>(at) == next.split++);
    const auto& split = forest.splits[static_cast<std::size_t>(at)];
    const bool multiway = view.kind(node) == SplitKind::multiway;
    if (split.split & kUnordered) CHECK(forest.remainder(at) == weight * table.impurity[node]);
    for (std::size_t k = 0; k < view.n_children(node); ++k) {
        const Edge edge = multiway ? forest.unordered[split.unordered()].edges[k]
                                   : Edge{split.credit[k], split.child[k]};
        const std::size_t child = view.child_of(node, k);
        CHECK(forest.source[edge.child] == child);
        CHECK(edge.credit == weight * (table.impurity[node] - table.impurity[child]));
        check_branch(forest, table, tree, edge.child, depth + 1, next, deepest);
    }
}

// Every node once, in the order of the paths; edges and ends from the impurities times the weight.
template <class Value>
void the_layout(bool mixed) {
    Random random(1);
    for (int round = 0; round < 50; ++round) {
        Table table;
        table.n_features = 3;
        for (const Shape shape : {Shape::bushy, Shape::chain, Shape::single, Shape::bushy})
            grow(table, random, shape, 30, mixed);
        table.tree_weight = {1, 0.5, 0, 3};
        CHECK(!validate(table.view()));
        const auto forest = table.packed<Value>();
        CHECK(forest.n_trees() == 4 && forest.n_nodes() == table.view().n_nodes());
        std::size_t deepest = 0;
        Places next{0, 0};
        for (std::size_t tree = 0; tree < 4; ++tree) {
            const PackedTree& begin = forest.trees[tree];
            CHECK(begin.split == next.split && begin.leaf == next.leaf);
            check_branch(forest, table, tree, begin.root, 0, next, deepest);
        }
        CHECK(forest.trees[4].split == next.split && forest.trees[4].leaf == next.leaf);
        CHECK(forest.max_depth == deepest && forest.ordered() == forest.unordered.empty());
    }
}

void too_many_features() {
    Table table = stump(SplitKind::less_equal, 0, 0);
    table.n_features = std::int64_t{1} << 29;
    bool refused = false;
    try {
        table.packed<float>();
    } catch (const std::length_error&) {
        refused = true;
    }
    CHECK(refused);
    table.n_features -= 1;
    CHECK(reached(table.packed<float>(), 1.0f) == 2);
}

// Any amounts will do: those of edges are taken over as they are, roots have none.
void amounts_of_any_measure() {
    const Table table = stump(SplitKind::less_equal, 0, 0);
    const std::vector<double> amount{7, 0.25, -0.5};
    const std::vector<double> tree_weight{2};
    const auto forest = pack<float>(table.view(), {amount, {}}, tree_weight);
    const auto& root = forest.splits[0];
    CHECK(root.credit[0] == 0.5 && root.credit[1] == -1 && forest.left.empty());
    CHECK(forest.remainder(root.child[0]) == 0 && forest.remainder(root.child[1]) == 0);
}

void without_credits() {
    const Table table = stump(SplitKind::less_equal, 0, 0);
    const auto forest = pack<float>(table.view(), {}, table.tree_weight);
    for (const auto& split : forest.splits) CHECK(split.credit[0] == 0 && split.credit[1] == 0);
    CHECK(reached(forest, -1.0f) == 1);
}

}  // namespace

int main() {
    ordered_splits<float>();
    ordered_splits<double>();
    category_splits<float>();
    category_splits<double>();
    codes_beyond_float();
    for (const bool mixed : {false, true}) {
        the_layout<float>(mixed);
        the_layout<double>(mixed);
    }
    too_many_features();
    amounts_of_any_measure();
    without_credits();
}
