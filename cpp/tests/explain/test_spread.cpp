// Standard errors of trees that nearly agree: right to nine digits, and the same bits however the
// rows come.
#include <cmath>
#include <cstring>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::support;
using namespace localmdi::testing;

namespace {

constexpr std::size_t kFeatures = 5;

struct Result {
    std::vector<double> values, residual, error;
};

template <class Value>
Result run(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& how = {}) {
    const std::size_t size = rows.n_rows * rows.n_features;
    Result out{std::vector<double>(size), std::vector<double>(rows.n_rows),
               std::vector<double>(size)};
    Interrupt interrupt;
    local_mdi(forest, rows, out.values.data(), out.residual.data(), out.error.data(), how,
              interrupt);
    return out;
}

// Trees of one shape, whose impurities differ by a share of `noise`, and some that are other trees.
Table nearly_equal(std::size_t n_trees, std::size_t n_others, double noise) {
    Table table;
    table.n_features = kFeatures;
    Random differ(1);
    for (std::size_t t = 0; t < n_trees; ++t) {
        Random same(2);
        const std::size_t first = table.impurity.size();
        grow(table, same, Shape::bushy, 30);
        for (std::size_t i = first; i < table.impurity.size(); ++i)
            table.impurity[i] *= 1 + noise * uniform(differ);
    }
    for (std::size_t t = 0; t < n_others; ++t) grow(table, differ, Shape::bushy, 30);
    return table;
}

// Around the mean, from the values of each tree alone, in long double.
template <class Value>
std::vector<long double> slow_errors(const Table& table, const Rows<Value>& rows) {
    const std::size_t n_trees = table.tree_weight.size(), size = rows.n_rows * kFeatures;
    std::vector<std::vector<double>> of_tree;
    long double total = 0, squares = 0;
    for (std::size_t t = 0; t < n_trees; ++t) {
        Table one = table;
        one.tree_weight.assign(n_trees, 0);
        one.tree_weight[t] = 1;
        of_tree.push_back(run(one.packed<Value>(), rows).values);
        total += table.tree_weight[t];
        squares += static_cast<long double>(table.tree_weight[t]) * table.tree_weight[t];
    }
    std::vector<long double> errors(size);
    for (std::size_t i = 0; i < size; ++i) {
        long double mean = 0, sum = 0;
        for (std::size_t t = 0; t < n_trees; ++t)
            mean += table.tree_weight[t] * static_cast<long double>(of_tree[t][i]) / total;
        for (std::size_t t = 0; t < n_trees; ++t)
            sum += table.tree_weight[t] * (of_tree[t][i] - mean) * (of_tree[t][i] - mean);
        const long double effective = squares / total / total;
        errors[i] = std::sqrt(sum / total * effective / (1 - effective));
    }
    return errors;
}

template <class Value>
void right_and_the_same_bits(double noise, bool powers_of_two) {
    Random random(3);
    const std::size_t n = 150;
    const auto x = random_rows<Value>(random, n * kFeatures);
    for (const std::size_t n_others : {0, 3}) {
        Table table = nearly_equal(20, n_others, noise);
        for (std::size_t t = 0; t < table.tree_weight.size(); ++t) {
            if (powers_of_two) table.tree_weight[t] = std::ldexp(1.0, 5 * static_cast<int>(t % 7));
            if (t % 5 == 4) table.tree_weight[t] = 0;
        }
        const auto forest = table.packed<Value>();
        const Rows<Value> rows{n, kFeatures, x};
        const Result all = run(forest, rows);
        const std::vector<long double> expected = slow_errors<Value>(table, rows);
        for (std::size_t i = 0; i < expected.size(); ++i)
            CHECK(std::abs(all.error[i] - expected[i]) <= 1e-9L * expected[i]);
        for (const Run& how : {Run{2, true}, Run{3, false}, Run{1, false}})
            CHECK(same_bits(run(forest, rows, how).error, all.error));
        for (const std::size_t batch : {1, 7, 70})
            for (std::size_t first = 0; first < n; first += batch) {
                const std::size_t m = std::min(batch, n - first);
                const auto part = std::span(x).subspan(first * kFeatures, m * kFeatures);
                const Result some = run(forest, Rows<Value>{m, kFeatures, part});
                CHECK(std::memcmp(some.error.data(), &all.error[first * kFeatures],
                                  some.error.size() * sizeof(double)) == 0);
            }
    }
}

// Copies of one tree among trees that differ elsewhere: nothing is left at all.
void equal_trees_have_no_spread() {
    Random random(4);
    const auto x = random_rows<float>(random, 300 * kFeatures);
    for (const double weight : {1.0, 0.1, 1e-150, 1e150}) {
        Table table = nearly_equal(50, 0, 0);
        for (double& each : table.tree_weight) each = weight;
        for (const double e : run(table.packed<float>(), Rows<float>{300, kFeatures, x}).error)
            CHECK(e == 0);
    }
}

// One tree has no standard error, and what cannot be squared none that could be trusted.
void no_number_without_vectors_either() {
    Random random(5);
    const auto x = random_rows<float>(random, 40 * kFeatures);
    const Rows<float> rows{40, kFeatures, x};
    const auto check = [&](const Table& table) {
        const auto forest = table.packed<float>();
        const Result out = run(forest, rows, Run{1, true});
        CHECK(same_bits(run(forest, rows, Run{1, false}).error, out.error));
        return out.error;
    };
    for (const double e : check(nearly_equal(1, 0, 0))) CHECK(std::isnan(e));
    Table huge = nearly_equal(3, 2, 1e-3);
    for (double& impurity : huge.impurity) impurity *= 1e200;
    check(huge);
}

}  // namespace

int main() {
    for (const double noise : {1.0, 1e-2, 1e-5, 1e-9, 1e-12})
        for (const bool powers_of_two : {false, true}) {
            right_and_the_same_bits<float>(noise, powers_of_two);
            right_and_the_same_bits<double>(noise, powers_of_two);
        }
    equal_trees_have_no_spread();
    no_number_without_vectors_either();
}
