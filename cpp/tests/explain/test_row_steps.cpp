// Trees are handed over once each and in their order, with all that was met in them, however many
// there are, wherever they begin, and whether one of them keeps the others waiting.
#include "localmdi/explain/row_steps.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/table_kernel.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::testing;

namespace {

constexpr std::size_t kFeatures = 3;

// What a tree adds to the row, found alone.
struct Alone {
    std::array<double, kFeatures> credits{};
    double left = 0;
    std::size_t n_steps = 0;
};

template <class Value>
Alone walk_alone(const PackedForest<Value>& forest, std::size_t tree, const Value* x) {
    Alone out;
    Place at = forest.trees[tree].root;
    while (!is_leaf(at)) {
        const std::size_t f = forest.splits[static_cast<std::size_t>(at)].split & kFeatureMask;
        const Step step = next_step(forest, at, x[f]);
        ++out.n_steps;
        out.credits[f] += step.credit;
        if (step.next == at) break;
        at = step.next;
    }
    out.left = forest.remainder(at);
    return out;
}

// Counts the steps of each slot, and looks at them when its tree is handed over.
template <class Value>
struct Counter {
    const PackedForest<Value>& forest;
    const Value* x;
    std::size_t& next;
    std::array<std::size_t, kTreeSlots>& n_steps;

    void begin(std::size_t slot, Place) { n_steps[slot] = 0; }
    auto visit() {
        return [steps = n_steps.data()](std::size_t slot, const PackedSplit<Value>&, const Step&) {
            ++steps[slot];
        };
    }
    void finish(std::size_t tree, std::size_t n) {
        CHECK(tree == next && n > 0 && tree % kTreeSlots + n <= kTreeSlots);
        for (; next < tree + n; ++next)
            CHECK(n_steps[next % kTreeSlots] == walk_alone(forest, next, x).n_steps);
    }
};

template <class Value>
void check_range(const PackedForest<Value>& forest, const std::vector<Value>& x, TreeRange trees) {
    const bool has_missing = std::ranges::any_of(x, [](Value v) { return v != v; });
    std::size_t next = trees.first;
    std::array<std::size_t, kTreeSlots> n_steps{};
    Counter<Value> counter{forest, x.data(), next, n_steps};
    walk_in_step(forest, trees, OneRow<Value>{x.data(), has_missing}, counter);
    CHECK(next == trees.last);

    std::vector<double> expected(kFeatures + 1), found(kFeatures + 1);
    for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
        const Alone alone = walk_alone(forest, tree, x.data());
        for (std::size_t f = 0; f < kFeatures; ++f) expected[f] += alone.credits[f];
        expected[kFeatures] += alone.left;
    }
    TableKernel<Value> kernel(forest);
    for (const bool simd : {false, true}) {
        std::ranges::fill(found, 0.0);
        kernel.run(trees, OneRow<Value>{x.data(), has_missing}, {found.data(), &found[kFeatures]},
                   simd);
        CHECK(same_bits(found, expected));
    }
}

// Chains of up to 400 splits among small trees and single leaves, of which the first and the last
// of all are chains in turn: more trees end behind them than there are slots.
template <class Value>
void all_in_order(bool mixed, bool pure) {
    Random random(3);
    Table table;
    table.n_features = kFeatures;
    const std::size_t n_trees = 5 * kTreeSlots / 2 + 7;
    for (std::size_t t = 0; t < n_trees; ++t) {
        const bool deep = t % 150 == 0 || t + 1 == n_trees;
        const bool single = t % 5 == 1;
        grow(table, random,
             deep     ? Shape::chain
             : single ? Shape::single
                      : Shape::bushy,
             deep ? 400 : 1 + below(random, 6), mixed);
    }
    if (pure)
        for (std::size_t node = 0; node < table.impurity.size(); ++node)
            if (table.view().n_children(node) == 0) table.impurity[node] = 0;
    const auto forest = table.packed<Value>();
    CHECK(forest.left.empty() == pure);
    for (int row = 0; row < 6; ++row) {
        const auto x = random_rows<Value>(random, kFeatures);
        for (const TreeRange trees : {TreeRange{0, n_trees}, TreeRange{0, 0}, TreeRange{1, 2},
                                      TreeRange{100, 100 + kTreeSlots}, TreeRange{37, n_trees}})
            check_range(forest, x, trees);
    }
}

}  // namespace

int main() {
    for (const bool mixed : {false, true})
        for (const bool pure : {false, true}) {
            all_in_order<float>(mixed, pure);
            all_in_order<double>(mixed, pure);
        }
}
