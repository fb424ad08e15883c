// The kernel of the plain case grows the trees of the general one, bit for bit.
#include <cstdint>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/plain_grower.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"

using namespace localmdi::grow;
using namespace localmdi::support;

namespace {

struct Grown {
    std::vector<double> values, residual, feature, root, held_out;
    ForestArrays table;
};

Grown grow_forest(const TrainingRows& rows, const Target& target, const GrowRules& rules,
                  std::size_t n_threads) {
    const std::size_t p = rows.n_features;
    Grown out{std::vector<double>(rows.n_rows * p), std::vector<double>(rows.n_rows),
              std::vector<double>(3 * p),           std::vector<double>(2),
              std::vector<double>(rows.n_rows),     ForestArrays()};
    double* const f = out.feature.data();
    Interrupt interrupt;
    GrownTrees trees;
    trees.n_values = target.n_values;
    grow(rows, target, rules, {0, 19},
         {out.values.data(), nullptr, out.residual.data(), f, f + p, f + 2 * p, out.root.data(),
          nullptr, out.held_out.data()},
         &trees, n_threads, interrupt);
    out.table = to_arrays(trees);
    return out;
}

void check_same(const Grown& a, const Grown& b) {
    CHECK(a.values == b.values && a.residual == b.residual);
    CHECK(a.feature == b.feature && a.root == b.root && a.held_out == b.held_out);
    CHECK(a.table.tree_offset == b.table.tree_offset && a.table.child == b.table.child);
    CHECK(a.table.feature == b.table.feature && a.table.threshold == b.table.threshold);
    CHECK(a.table.weight == b.table.weight && a.table.impurity == b.table.impurity);
    CHECK(a.table.value == b.table.value);
}

// n_levels different numbers a column, unevenly spaced, the more negative ones first; 0: any.
void check_kernels(std::size_t n, std::size_t p, std::uint32_t n_levels, const GrowRules& rules) {
    TreeRandom random(11, n + p);
    std::vector<float> columns(n * p);
    for (auto& x : columns) {
        const double level = n_levels ? random.below(n_levels) : random.uniform() * 30;
        x = static_cast<float>(level * level / 7 - 5);
    }
    std::fill_n(columns.begin(), n, 2.0f);  // a column that never varies
    std::vector<std::uint32_t> label(n);
    for (std::size_t i = 0; i < n; ++i)
        label[i] = random.below(3) + (columns[(p - 1) * n + i] > 1 ? 1 : 0);
    const std::vector<std::uint8_t> none(p, 0);
    const std::vector<double> weight(n, 1.0);
    const TrainingRows rows{n, p, columns, none, none, weight};
    GrowRules general = rules;
    general.min_weight_leaf = 1e-300;  // changes no tree, but is not plain
    CHECK(is_plain(rows, rules) && !is_plain(rows, general));
    for (const Criterion criterion : {Criterion::entropy, Criterion::gini}) {
        const Target target{criterion, 4, label, {}};
        const Grown plain = grow_forest(rows, target, rules, 1);
        check_same(plain, grow_forest(rows, target, rules, 3));
        check_same(plain, grow_forest(rows, target, general, 1));
    }
}

void test_kernels() {
    for (const std::uint32_t n_levels : {0, 2, 17, 256}) {
        check_kernels(3000, 5, n_levels, GrowRules());
        check_kernels(900, 40, n_levels, GrowRules());  // importances are added densely or sparsely
    }
    check_kernels(3000, 3, 300, GrowRules());
    GrowRules limits;
    limits.max_depth = 6;
    limits.min_samples_split = 9;
    check_kernels(1500, 4, 17, limits);
    check_kernels(17000, 3, 0, limits);
    limits.max_depth = 0;
    check_kernels(1500, 4, 0, limits);
    GrowRules honest;
    honest.honest = true;
    for (const std::uint32_t n_levels : {0, 17}) check_kernels(901, 5, n_levels, honest);
    check_kernels(2, 3, 17, honest);
    honest.max_depth = 6;
    check_kernels(17001, 3, 0, honest);
}

}  // namespace

int main() {
    test_kernels();
    return 0;
}
