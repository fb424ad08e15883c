// Fixed workloads for a count of instructions, which a busy machine cannot blur as it blurs times:
// `make bench-check` runs each under callgrind, which counts inside functions named measured_….
//
//     count_instructions             the compiler, and whether vectors are used
//     count_instructions WORKLOAD    runs it once
//     count_instructions --list      their names
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "forest/binary_records.hpp"
#include "forest/random_forest.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/paths.hpp"
#include "localmdi/forest/pack_drops.hpp"
#include "localmdi/forest/validate.hpp"
#include "localmdi/grow/grow.hpp"
#include "localmdi/infinite/lattice.hpp"
#include "localmdi/support/avx2.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::testing;
namespace growing = localmdi::grow;
namespace infinite = localmdi::infinite;
using localmdi::support::Criterion;

// Not inlined, and one of each only: callgrind finds them by their names.
#define LOCALMDI_MEASURED __attribute__((noinline)) void

namespace {

// Explaining

struct Shapes {
    std::size_t n_trees, n_splits, n_rows;
    bool mixed = false;
    std::size_t n_features = 16;
};

Table make_table(const Shapes& shapes) {
    Random random(1);
    Table table;
    table.n_features = static_cast<std::int64_t>(shapes.n_features);
    for (std::size_t t = 0; t < shapes.n_trees; ++t)
        grow(table, random, Shape::bushy, shapes.n_splits, shapes.mixed);
    return table;
}

struct Results {
    std::vector<double> values, residual, error, changes, node_values, scale;
    std::vector<std::int64_t> ends;
};

enum class Asked { values, errors, changes, ends };

LOCALMDI_MEASURED measured_explain(Asked asked, const PackedForest<float>& forest,
                                   const Rows<float>& rows, Results& out) {
    Interrupt interrupt;
    if (asked == Asked::ends)
        find_ends(forest, rows, 0, forest.n_trees(), out.ends.data(), Run{}, interrupt);
    else if (asked == Asked::changes)
        saabas(forest, rows, out.node_values, out.scale, out.changes.data(), Run{}, interrupt);
    else
        local_mdi(forest, rows, out.values.data(), out.residual.data(),
                  asked == Asked::errors ? out.error.data() : nullptr, Run{}, interrupt);
}

void explain(const Shapes& shapes, Asked asked = Asked::values) {
    Random random(2);
    const Table table = make_table(shapes);
    const auto forest = table.packed<float>();
    const std::size_t n = shapes.n_rows, p = shapes.n_features, n_classes = 3;
    const auto x = random_rows<float>(random, n * p);
    Results out{std::vector<double>(n * p),
                std::vector<double>(n),
                std::vector<double>(n * p),
                std::vector<double>(n * p * n_classes),
                std::vector<double>(forest.n_nodes() * n_classes, 0.5),
                std::vector<double>(forest.n_trees(), 1.0),
                std::vector<std::int64_t>(n * forest.n_trees())};
    measured_explain(asked, forest, Rows<float>{n, p, x}, out);
}

// Packing: a table, and scikit-learn's records

LOCALMDI_MEASURED measured_pack(const Table& table) {
    if (validate(table.view()) || table.packed<float>().n_trees() != table.tree_weight.size())
        std::abort();
}

LOCALMDI_MEASURED measured_records(const TreeRecords& records) {
    Interrupt interrupt;
    if (!pack_drops(records, 1, interrupt)) std::abort();
}

void pack_records() {
    const Table table = make_table({40, 300, 0});
    std::vector<std::vector<Record>> records;
    for (std::size_t t = 0; t < table.tree_weight.size(); ++t) {
        auto& nodes = records.emplace_back();
        const std::int64_t root = table.tree_offset[t];
        for (std::int64_t node = root; node < table.tree_offset[t + 1]; ++node) {
            const auto at = static_cast<std::size_t>(node);
            const auto first = static_cast<std::size_t>(table.child_offset[at]);
            const bool is_leaf = table.child_offset[at + 1] == table.child_offset[at];
            nodes.push_back({is_leaf ? -1 : table.child[first] - root,
                             is_leaf ? -1 : table.child[first + 1] - root, table.feature[at],
                             table.threshold[at], table.impurity[at], 1, 0});
        }
    }
    std::vector<BinaryTree> trees;
    for (const auto& nodes : records) trees.push_back(tree_of(nodes));
    const std::vector<double> weight(trees.size(), 1.0);
    measured_records({trees, weight, table.n_features});
}

// Growing

LOCALMDI_MEASURED measured_grow(const growing::TrainingRows& rows, const growing::Target& target,
                                const growing::GrowRules& rules, const growing::GrowSums& sums) {
    Interrupt interrupt;
    growing::GrownTrees trees;
    trees.n_values = target.n_values;
    growing::grow(rows, target, rules, {0, 8}, sums, &trees, 1, interrupt);
}

// Whole numbers below n_levels; where the first two are small, there are three classes, else ten.
void grow_trees(std::size_t n, std::size_t n_levels, std::size_t k, bool honest = false) {
    constexpr std::size_t p = 16, n_classes = 10;
    Random random(3);
    std::vector<float> columns(n * p);
    for (float& x : columns) x = static_cast<float>(below(random, n_levels));
    std::vector<std::uint32_t> label(n);
    for (std::size_t i = 0; i < n; ++i) {
        const bool few = columns[i] + columns[n + i] < static_cast<float>(n_levels);
        label[i] = static_cast<std::uint32_t>(below(random, few ? 3 : n_classes));
    }
    const std::vector<std::uint8_t> none(p, 0);
    const std::vector<double> weight(n, 1.0);
    std::vector<double> values(n * p), residual(n), feature(3 * p), root(2), held_out(n);
    growing::GrowRules rules;
    rules.max_features = k;
    rules.honest = honest;
    double* const f = feature.data();
    measured_grow({n, p, columns, none, none, weight}, {Criterion::entropy, n_classes, label, {}},
                  rules,
                  {values.data(), nullptr, residual.data(), f, f + p, f + 2 * p, root.data(),
                   nullptr, held_out.data()});
}

// The infinite forest

LOCALMDI_MEASURED measured_infinite(const infinite::Sample& sample) {
    Interrupt interrupt;
    infinite::solve_lattice(sample, infinite::Impurity(sample), {.row = 0}, 1, interrupt);
}

void search_lattice() {
    constexpr std::size_t n = 300, p = 14, n_classes = 4;
    Random random(4);
    std::vector<std::int32_t> codes(n * p), label(n);
    for (auto& code : codes) code = static_cast<std::int32_t>(below(random, 2));
    for (auto& one : label) one = static_cast<std::int32_t>(below(random, n_classes));
    std::vector<std::int64_t> offset(n + 1);
    for (std::size_t i = 0; i <= n; ++i) offset[i] = static_cast<std::int64_t>(i);
    const std::vector<double> weight(n, 1.0);
    measured_infinite({p, n_classes, Criterion::entropy, codes, offset, label, weight, label});
}

// Trees of about n_splits splits: 60 rows go alone (table kernel), above 65,536 nodes the level
// kernel. `sorted` is the smallest for which it pays to sort the rows, `wide` has few rows for
// lists.
const std::vector<std::pair<std::string, std::function<void()>>> kWorkloads{
    {"tile", [] { explain({40, 300, 1000}); }},
    {"row", [] { explain({40, 300, 60}); }},
    {"level", [] { explain({1, 40000, 1000}); }},
    {"categories", [] { explain({40, 300, 1000, true}); }},
    {"standard_error", [] { explain({40, 300, 1000}, Asked::errors); }},
    {"ends", [] { explain({40, 300, 1000}, Asked::ends); }},
    {"saabas", [] { explain({40, 300, 200}, Asked::changes); }},
    {"sorted", [] { explain({64, 600, 16384}); }},
    {"wide", [] { explain({40, 60, 600, false, 1000}); }},
    {"pack", [] { measured_pack(make_table({40, 300, 0, true})); }},
    {"records", pack_records},
    {"grow", [] { grow_trees(600, 17, 1); }},
    {"grow_numbers", [] { grow_trees(3000, 100000, 1); }},
    {"grow_best", [] { grow_trees(600, 17, 8); }},
    {"grow_honest", [] { grow_trees(600, 17, 1, true); }},
    {"infinite", search_lattice},
};

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (name.empty()) {
        std::printf("%s, %s\n", __VERSION__, localmdi::support::has_avx2() ? "AVX2" : "no AVX2");
        return 0;
    }
    for (const auto& [workload, run] : kWorkloads) {
        if (name == "--list") std::printf("%s\n", workload.c_str());
        if (name != workload) continue;
        run();
        return 0;
    }
    if (name == "--list") return 0;
    std::fprintf(stderr, "unknown workload: %s\n", name.c_str());
    return 2;
}
