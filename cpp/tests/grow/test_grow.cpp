// Grown trees are trees: valid tables, rows that add up, the same bits for any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/forest/validate.hpp"
#include "localmdi/grow/branch.hpp"
#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::grow;
using namespace localmdi::support;

namespace {

struct Sums {
    std::vector<double> values, squares, residual, feature, root, out_of_bag, held_out;

    Sums(std::size_t n, std::size_t p, std::size_t k)
        : values(n * p),
          squares(n * p),
          residual(n),
          feature(3 * p),
          root(2),
          out_of_bag(n * (k + 1)),
          held_out(n) {}

    GrowSums view(std::size_t p) {
        return {values.data(),  squares.data(),     residual.data(),
                feature.data(), feature.data() + p, feature.data() + 2 * p,
                root.data(),    out_of_bag.data(),  held_out.data()};
    }
};

// Five features: numbers, numbers with gaps, few categories, many categories, a constant.
struct Table {
    static constexpr std::size_t n = 300, p = 5;
    std::vector<float> columns = std::vector<float>(n * p);
    std::vector<std::uint8_t> categorical = {0, 0, 1, 1, 0}, missing = {0, 1, 0, 0, 0};
    std::vector<double> weight = std::vector<double>(n);
    std::vector<std::uint32_t> label = std::vector<std::uint32_t>(n);
    std::vector<double> response = std::vector<double>(2 * n);

    explicit Table(bool whole_weights) {
        TreeRandom random(7, 0);
        for (std::size_t i = 0; i < n; ++i) {
            columns[i] = static_cast<float>(random.uniform());
            columns[n + i] = random.below(4) == 0 ? NAN : static_cast<float>(random.below(9));
            columns[2 * n + i] = static_cast<float>(random.below(3));
            columns[3 * n + i] = static_cast<float>(random.below(200));
            columns[4 * n + i] = 3;
            label[i] = random.below(2) + (columns[i] > 0.5f ? 1 : 0);
            weight[i] = whole_weights ? random.below(3) : 2 * random.uniform();
            response[2 * i] = random.uniform() - 0.5;
            response[2 * i + 1] = columns[i] - 0.5;
        }
    }
    TrainingRows rows() const { return {n, p, columns, categorical, missing, weight}; }
    Target classes(Criterion criterion) const { return {criterion, 3, label, {}}; }
    Target numbers() const { return {Criterion::variance, 2, {}, response}; }
};

void check_valid(const ForestArrays& a, std::size_t n_trees) {
    const ForestView view{static_cast<std::int64_t>(Table::p),
                          a.tree_offset,
                          a.feature,
                          a.split_kind,
                          a.threshold,
                          a.child_offset,
                          a.child,
                          a.missing_child,
                          a.category_offset,
                          a.category_bits};
    CHECK(view.n_trees() == n_trees);
    CHECK(!validate(view));
    for (std::size_t node = 0; node < view.n_nodes(); ++node) {
        double weight = 0;
        for (std::size_t k = 0; k < view.n_children(node); ++k)
            weight += a.weight[view.child_of(node, k)];
        CHECK(view.n_children(node) == 0 || std::abs(weight - a.weight[node]) < 1e-9);
        CHECK(a.impurity[node] >= 0 && a.feature[node] != 4);
    }
}

void check_forest(const Table& table, const Target& target, const GrowRules& rules) {
    constexpr std::size_t n_trees = 21;
    const TrainingRows rows = table.rows();
    Interrupt interrupt;
    Sums one(Table::n, Table::p, target.n_values), three(Table::n, Table::p, target.n_values);
    GrownTrees trees, again;
    trees.n_values = again.n_values = target.n_values;
    grow(rows, target, rules, {0, n_trees}, one.view(Table::p), &trees, 1, interrupt);
    grow(rows, target, rules, {0, n_trees}, three.view(Table::p), &again, 3, interrupt);
    CHECK(one.values == three.values && one.residual == three.residual && one.root == three.root);
    CHECK(one.feature == three.feature && one.out_of_bag == three.out_of_bag);
    const ForestArrays arrays = to_arrays(trees), same = to_arrays(again);
    CHECK(arrays.feature == same.feature && arrays.value == same.value);
    check_valid(arrays, n_trees);
    for (std::size_t i = 0; i < Table::n; ++i) {
        double sum = one.residual[i];
        for (std::size_t f = 0; f < Table::p; ++f) sum += one.values[i * Table::p + f];
        CHECK(rules.honest ? one.residual[i] == 0 : std::abs(sum - one.root[0]) < 1e-9);
        // In ten pairs of trees a row is held out ten times, and once or not in the last tree.
        const double n_held = one.held_out[i], weight = rules.honest ? table.weight[i] : 0;
        CHECK(weight > 0 ? n_held == 10 || n_held == 11 : n_held == 0);
    }
    CHECK(one.held_out == three.held_out);
}

void test_honest() {
    for (const bool whole : {true, false}) {
        const Table table(whole);
        for (const std::size_t k : {1, 3})
            for (const std::size_t min_rows : {1, 10}) {
                GrowRules rules;
                rules.max_features = k;
                rules.honest = true;
                rules.min_rows = min_rows;
                check_forest(table, table.classes(Criterion::entropy), rules);
                check_forest(table, table.classes(Criterion::gini), rules);
                check_forest(table, table.numbers(), rules);
            }
    }
}

void test_forests() {
    for (const bool whole : {true, false}) {
        const Table table(whole);
        for (const std::size_t k : {1, 2, 5})
            for (const Draw draw : {Draw::theory, Draw::sklearn})
                for (const std::size_t n_draws : {0, 200}) {
                    GrowRules rules;
                    rules.max_features = k;
                    rules.draw = draw;
                    rules.n_draws = n_draws;
                    check_forest(table, table.classes(Criterion::entropy), rules);
                    check_forest(table, table.classes(Criterion::gini), rules);
                    check_forest(table, table.numbers(), rules);
                }
    }
}

void test_limits() {
    const Table table(true);
    GrowRules rules;
    rules.max_depth = 4;
    rules.min_samples_leaf = 7;
    rules.min_impurity_decrease = 0.001;
    rules.min_weight_leaf = 0.02;
    check_forest(table, table.classes(Criterion::entropy), rules);
}

void test_balance() {
    for (const bool whole : {true, false}) {
        const Table table(whole);
        GrowRules rules;
        rules.n_draws = 200;
        rules.balance_draws = true;
        check_forest(table, table.classes(Criterion::entropy), rules);
    }
}

void test_random() {
    TreeRandom random(1, 2), same(1, 2), other(1, 3);
    CHECK(random.uniform() == same.uniform() && random.uniform() != other.uniform());
    std::vector<int> seen(6);
    for (int i = 0; i < 60000; ++i) ++seen[random.below(6)];
    for (const int count : seen) CHECK(std::abs(count - 10000) < 500);
}

// A row of weight 0 changes no tree, but then candidates look up the class of every row.
void test_branch() {
    Branch branch(2);
    const auto path = [&] { return std::vector(branch.path().begin(), branch.path().end()); };
    branch.enter(1);
    branch.credit(1) = 0.5;
    branch.enter(0);
    branch.credit(0) = 2;
    branch.enter(1);  // a second time, as numbers may be
    branch.credit(1) = 0.75;
    CHECK(path() == std::vector({1u, 0u}) && branch.n_splits()[1] == 2);
    branch.return_to(2);
    CHECK(branch.credit(0) == 2 && branch.credit(1) == 0.5 && path() == std::vector({1u, 0u}));
    branch.return_to(1);
    CHECK(branch.credit(0) == 0 && branch.credit(1) == 0.5 && path() == std::vector({1u}));
    branch.return_to(0);
    CHECK(branch.credit(1) == 0 && path().empty());
}

void test_candidates() {
    Table table(true);
    std::ranges::fill(table.weight, 1.0);
    std::ranges::fill(table.categorical, std::uint8_t{0});
    const TrainingRows rows = table.rows();
    std::vector<float> columns;
    for (std::size_t f = 0; f < Table::p; ++f) {
        columns.insert(columns.end(), rows.column(f), rows.column(f) + Table::n);
        columns.push_back(0);
    }
    std::vector<double> weight = table.weight;
    weight.push_back(0);
    std::vector<std::uint32_t> label = table.label;
    label.push_back(1);
    const TrainingRows more{Table::n + 1,      Table::p,      columns,
                            table.categorical, table.missing, weight};
    for (const Criterion criterion : {Criterion::entropy, Criterion::gini})
        for (const std::size_t min_samples_leaf : {1, 4}) {
            GrowRules rules;
            rules.max_features = 3;
            rules.min_samples_leaf = min_samples_leaf;
            CHECK(each_row_once(rows, rules) && !each_row_once(more, rules));
            const auto trees = [&](const TrainingRows& from, std::span<const std::uint32_t> y) {
                Sums sums(from.n_rows, Table::p, 3);
                GrownTrees grown{3, {}};
                Interrupt interrupt;
                grow(from, {criterion, 3, y, {}}, rules, {0, 16}, sums.view(Table::p), &grown, 1,
                     interrupt);
                return to_arrays(grown);
            };
            const ForestArrays one = trees(rows, table.label), other = trees(more, label);
            CHECK(one.feature == other.feature && one.threshold == other.threshold);
            CHECK(one.child == other.child && one.missing_child == other.missing_child);
            CHECK(one.weight == other.weight && one.impurity == other.impurity);
            CHECK(one.value == other.value);
        }
}

}  // namespace

int main() {
    test_forests();
    test_limits();
    test_balance();
    test_honest();
    test_branch();
    test_random();
    test_candidates();
    return 0;
}
