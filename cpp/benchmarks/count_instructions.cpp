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

constexpr std::size_t kFeatures = 16;

Table make_table(std::size_t n_trees, std::size_t n_splits, bool mixed) {
    Random random(1);
    Table table;
    table.n_features = kFeatures;
    for (std::size_t t = 0; t < n_trees; ++t) grow(table, random, Shape::bushy, n_splits, mixed);
    return table;
}

struct Workload {
    const char* name;
    std::size_t n_trees, n_splits, n_rows;
    bool mixed = false;
};

// Trees of about n_splits splits: 60 rows go alone (table kernel), above 65,536 nodes the level
// kernel. `sorted` is the smallest for which it pays to sort the rows.
constexpr Workload kExplained[] = {
    {"tile", 40, 300, 1000},           {"row", 40, 300, 60},
    {"level", 1, 40000, 1000},         {"categories", 40, 300, 1000, true},
    {"standard_error", 40, 300, 1000}, {"ends", 40, 300, 1000},
    {"saabas", 40, 300, 200},          {"sorted", 64, 600, 16384},
};

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
    const Table table = make_table(workload.n_trees, workload.n_splits, workload.mixed);
    const auto forest = table.packed<float>();
    const std::size_t n = workload.n_rows, n_classes = 3;
    const auto x = random_rows<float>(random, n * kFeatures);
    Results out{std::vector<double>(n * kFeatures),
                std::vector<double>(n),
                std::vector<double>(n * kFeatures),
                std::vector<double>(n * kFeatures * n_classes),
                std::vector<double>(forest.n_nodes() * n_classes, 0.5),
                std::vector<double>(forest.n_trees(), 1.0),
                std::vector<std::int64_t>(n * forest.n_trees())};
    measured_explain(workload.name, forest, Rows<float>{n, kFeatures, x}, out);
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
        std::printf("pack\n");
        return 0;
    }
    if (name == "pack") return measured_pack(make_table(40, 300, true)) ? 0 : 1;
    for (const Workload& workload : kExplained)
        if (name == workload.name) {
            run(workload);
            return 0;
        }
    std::fprintf(stderr, "unknown workload: %s\n", name.c_str());
    return 2;
}
