// Many callers share one packed forest, each with threads of its own: nobody writes to it, and
// everybody gets the bits of a lone caller. Run under ThreadSanitizer too (make test-threads).
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::support;
using namespace localmdi::testing;

namespace {

constexpr std::size_t n_rows = 150, n_features = 5, n_callers = 8;

Table some_table() {
    Random random(11);
    Table table;
    table.n_features = n_features;
    for (std::size_t tree = 0; tree < 30; ++tree)
        grow(table, random, Shape::bushy, 40, tree % 2 == 0);
    CHECK(!validate(table.view()));
    return table;
}

template <class Value>
std::vector<double> explain(const PackedForest<Value>& forest, const std::vector<Value>& x,
                            std::size_t n_threads) {
    std::vector<double> out(n_rows * (2 * n_features + 1));
    double* residual = out.data() + 2 * n_rows * n_features;
    Interrupt interrupt;
    local_mdi(forest, {n_rows, n_features, x}, out.data(), residual,
              out.data() + n_rows * n_features, Run{n_threads, true}, interrupt);
    return out;
}

template <class Value>
std::vector<double> explain_sparse(const PackedForest<Value>& forest, const std::vector<Value>& x,
                                   std::size_t n_threads) {
    Interrupt interrupt;
    auto found = sparse_local_mdi(forest, Rows<Value>{n_rows, n_features, x}, Run{n_threads, true},
                                  interrupt);
    found.data.insert(found.data.end(), found.residual.begin(), found.residual.end());
    return found.data;
}

template <class Value>
void callers_share_a_forest() {
    const auto forest = some_table().packed<Value>();
    Random random(12);
    const auto x = random_rows<Value>(random, n_rows * n_features);
    const auto dense = explain(forest, x, 1), sparse = explain_sparse(forest, x, 1);
    std::atomic<int> right{0};
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < n_callers; ++caller)
        callers.emplace_back([&, caller] {
            for (std::size_t round = 0; round < 4; ++round) {
                const std::size_t n_threads = 1 + (caller + round) % 3;
                right += same_bits(explain(forest, x, n_threads), dense);
                right += same_bits(explain_sparse(forest, x, n_threads), sparse);
            }
        });
    for (auto& caller : callers) caller.join();
    CHECK(right == 2 * 4 * n_callers);
}

// Forests are made and destroyed beside others that are used.
void packing_beside_explaining() {
    const Table table = some_table();
    Random random(13);
    const auto x = random_rows<float>(random, n_rows * n_features);
    const auto expected = explain(table.packed<float>(), x, 1);
    std::atomic<int> right{0};
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < n_callers; ++caller)
        callers.emplace_back(
            [&] { right += same_bits(explain(table.packed<float>(), x, 2), expected); });
    for (auto& caller : callers) caller.join();
    CHECK(right == n_callers);
}

}  // namespace

int main() {
    callers_share_a_forest<float>();
    callers_share_a_forest<double>();
    packing_beside_explaining();
}
