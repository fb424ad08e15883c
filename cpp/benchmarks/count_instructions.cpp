// Fixed workloads for a count of instructions, which a busy machine cannot blur as it blurs times:
// `make bench-check` runs each under callgrind, which counts inside functions named measured_….
//
//     count_instructions             the compiler, and whether vectors are used
//     count_instructions WORKLOAD    runs it once
//     count_instructions --list      their names
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/paths.hpp"
#include "localmdi/forest/validate.hpp"
#include "localmdi/support/avx2.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::testing;

namespace {

struct Workload {
    const char* name;
    std::size_t n_trees, n_splits, n_rows;
    bool mixed = false;
    std::size_t n_features = 16;
};

Table make_table(const Workload& workload) {
    Random random(1);
    Table table;
    table.n_features = static_cast<std::int64_t>(workload.n_features);
    for (std::size_t t = 0; t < workload.n_trees; ++t)
        grow(table, random, Shape::bushy, workload.n_splits, workload.mixed);
    return table;
}

// Trees of about n_splits splits: 60 rows go alone (table kernel), above 65,536 nodes the level
// kernel. `sorted` is the smallest for which it pays to sort the rows, `wide` has few rows for
// lists.
constexpr Workload kExplained[] = {
    {"tile", 40, 300, 1000},
    {"row", 40, 300, 60},
    {"level", 1, 40000, 1000},
    {"categories", 40, 300, 1000, true},
    {"standard_error", 40, 300, 1000},
    {"ends", 40, 300, 1000},
    {"saabas", 40, 300, 200},
    {"sorted", 64, 600, 16384},
    {"wide", 40, 60, 600, false, 1000},
};
constexpr Workload kPacked{"pack", 40, 300, 0, true};

struct Results {
    std::vector<double> values, residual, error, changes, node_values, scale;
    std::vector<std::int64_t> ends;
};

// Not inlined, and one only: callgrind finds it by its name.
__attribute__((noinline)) void measured_explain(const std::string& name,
                                                const PackedForest<float>& forest,
                                                const Rows<float>& rows, Results& out) {
    Interrupt interrupt;
    if (name == "ends")
        find_ends(forest, rows, 0, forest.n_trees(), out.ends.data(), Run{}, interrupt);
    else if (name == "saabas")
        saabas(forest, rows, out.node_values, out.scale, out.changes.data(), Run{}, interrupt);
    else
        local_mdi(forest, rows, out.values.data(), out.residual.data(),
                  name == "standard_error" ? out.error.data() : nullptr, Run{}, interrupt);
}

__attribute__((noinline)) bool measured_pack(const Table& table) {
    return !validate(table.view()) && table.packed<float>().n_trees() == table.tree_weight.size();
}

void run(const Workload& workload) {
    Random random(2);
    const Table table = make_table(workload);
    const auto forest = table.packed<float>();
    const std::size_t n = workload.n_rows, p = workload.n_features, n_classes = 3;
    const auto x = random_rows<float>(random, n * p);
    Results out{std::vector<double>(n * p),
                std::vector<double>(n),
                std::vector<double>(n * p),
                std::vector<double>(n * p * n_classes),
                std::vector<double>(forest.n_nodes() * n_classes, 0.5),
                std::vector<double>(forest.n_trees(), 1.0),
                std::vector<std::int64_t>(n * forest.n_trees())};
    measured_explain(workload.name, forest, Rows<float>{n, p, x}, out);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (name.empty()) {
        std::printf("%s, %s\n", __VERSION__, localmdi::support::has_avx2() ? "AVX2" : "no AVX2");
        return 0;
    }
    if (name == "--list") {
        for (const Workload& workload : kExplained) std::printf("%s\n", workload.name);
        std::printf("%s\n", kPacked.name);
        return 0;
    }
    if (name == kPacked.name) return measured_pack(make_table(kPacked)) ? 0 : 1;
    for (const Workload& workload : kExplained)
        if (name == workload.name) {
            run(workload);
            return 0;
        }
    std::fprintf(stderr, "unknown workload: %s\n", name.c_str());
    return 2;
}
