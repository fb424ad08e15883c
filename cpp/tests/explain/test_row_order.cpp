// Rows may be sorted on their way through a forest; nobody can tell from the result.
#include "localmdi/explain/row_order.hpp"

#include <algorithm>
#include <span>
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

Table some_table(std::size_t n_features, std::size_t n_trees, std::size_t n_splits, bool mixed) {
    Random random(21);
    Table table;
    table.n_features = static_cast<std::int64_t>(n_features);
    for (std::size_t tree = 0; tree < n_trees; ++tree)
        grow(table, random, Shape::bushy, n_splits, mixed);
    CHECK(!validate(table.view()));
    return table;
}

// The two ends of a tree with the split x ≤ 0: rows of the first end come first, as they came.
void order_of_a_stump() {
    Table table;
    table.tree_offset = {0, 3};
    table.add_node(SplitKind::less_equal, 0, 0, {1, 2});
    table.add_node(SplitKind::leaf, -1, 0, {});
    table.add_node(SplitKind::leaf, -1, 0, {});
    table.impurity = {1, 0, 0};
    table.tree_weight = {1};
    CHECK(!validate(table.view()));
    const std::vector<float> x{3, -1, 5, 0, 2, -7};
    Interrupt interrupt;
    const auto order = order_by_leaf(table.packed<float>(), Rows<float>{6, 1, x}, Run{}, interrupt);
    CHECK((order == std::vector<std::size_t>{1, 3, 5, 0, 2, 4}));
}

template <class Value>
void order_by_the_first_tree() {
    const Table table = some_table(3, 2, 30, false);
    const auto forest = table.packed<Value>();
    Random random(22);
    const std::size_t n = 500, p = 3;
    const auto x = random_rows<Value>(random, n * p);
    Interrupt interrupt;
    const auto order = order_by_leaf(forest, Rows<Value>{n, p, x}, Run{2}, interrupt);
    std::vector<std::size_t> sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t row = 0; row < n; ++row) CHECK(sorted[row] == row);
    const auto end = [&](std::size_t row) {
        return plain_path(table.view(), 0, &x[row * p]).back();
    };
    // A leaf's rows are together, and as they came.
    std::vector<bool> left(table.feature.size());
    for (std::size_t i = 1; i < n; ++i) {
        if (end(order[i]) == end(order[i - 1])) CHECK(order[i - 1] < order[i]);
        else left[end(order[i - 1])] = true;
        CHECK(!left[end(order[i])]);
    }
}

struct Result {
    std::vector<double> values, residual, spread;
    bool operator==(const Result& other) const {
        return same_bits(values, other.values) && same_bits(residual, other.residual) &&
               same_bits(spread, other.spread);
    }
};

// The result for rows from the first on, with and without standard errors, whose means agree.
template <class Value>
void explain(const PackedForest<Value>& forest, const Rows<Value>& rows, std::size_t n_threads,
             std::size_t first, Result& out) {
    const std::size_t p = forest.n_features;
    double* const values = out.values.data() + first * p;
    double* const residual = out.residual.data() + first;
    Interrupt interrupt;
    local_mdi(forest, rows, values, residual, out.spread.data() + first * p, Run{n_threads},
              interrupt);
    const std::vector<double> means(values, values + rows.n_rows * p);
    local_mdi(forest, rows, values, residual, nullptr, Run{n_threads}, interrupt);
    CHECK(same_bits(means, {values, means.size()}));
}

template <class Value>
void sorted_or_not(bool mixed, std::size_t p) {
    const std::size_t n = (std::size_t{1} << 18) / p + 17;
    const Table table = some_table(p, 64, 700, mixed);
    const auto forest = table.packed<Value>();
    Random random(23);
    const auto x = random_rows<Value>(random, n * p);
    const Result empty{std::vector<double>(n * p, -1), std::vector<double>(n, -1),
                       std::vector<double>(n * p, -1)};
    CHECK(pays_to_sort(forest, Rows<Value>{n, p, x}));
    Result sorted = empty, compressed = empty, in_pieces = empty;
    explain(forest, Rows<Value>{n, p, x}, 3, 0, sorted);

    std::vector<std::int64_t> indptr(n + 1), indices(n * p);
    for (std::size_t row = 0; row <= n; ++row) indptr[row] = static_cast<std::int64_t>(row * p);
    for (std::size_t i = 0; i < n * p; ++i) indices[i] = static_cast<std::int64_t>(i % p);
    explain(forest, Rows<Value>{n, p, x, indptr, indices}, 1, 0, compressed);
    CHECK(sorted == compressed);

    const std::size_t piece = n / 5;
    CHECK(!pays_to_sort(forest, Rows<Value>{piece, p, x}));
    for (std::size_t first = 0; first < n; first += piece) {
        const std::size_t count = std::min(piece, n - first);
        explain(forest, Rows<Value>{count, p, std::span(x).subspan(first * p, count * p)}, 1, first,
                in_pieces);
    }
    CHECK(sorted == in_pieces);
}

}  // namespace

int main() {
    order_of_a_stump();
    order_by_the_first_tree<float>();
    order_by_the_first_tree<double>();
    sorted_or_not<float>(false, 20);  // whole rows
    sorted_or_not<float>(true, 64);   // paths
    sorted_or_not<double>(true, 20);
}
