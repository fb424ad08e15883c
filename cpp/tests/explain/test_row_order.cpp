// Rows may be sorted on their way through a forest; nobody can tell from the result.
#include "localmdi/explain/row_order.hpp"

#include <algorithm>
#include <vector>

#include "explain/pieces.hpp"
#include "forest/random_forest.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"

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

template <class Value>
void sorted_or_not(bool mixed, std::size_t p) {
    const std::size_t n = (std::size_t{1} << 18) / p + 17, piece = n / 5;
    const auto forest = some_table(p, 64, 700, mixed).packed<Value>();
    Random random(23);
    const auto x = random_rows<Value>(random, n * p);
    const auto pays = [&](std::size_t n_rows) {
        return pays_to_sort(forest, Rows<Value>{n_rows, p, x});
    };
    CHECK(pays(n) && !pays(piece));
    check_pieces<Value>(forest, x, piece);
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
