// Rows with many features take their importances from lists; nobody can tell from the result.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "explain/pieces.hpp"
#include "forest/random_forest.hpp"
#include "localmdi/explain/path_lists.hpp"
#include "localmdi/explain/wide_mdi.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::testing;

namespace {

std::pair<std::vector<double>, double> add_up(const PathLists<std::uint16_t>& lists,
                                              std::size_t row) {
    std::pair<std::vector<double>, double> sums(8, 0.0);
    std::size_t last = 0;
    lists.for_each(row, [&](const auto& list) {
        CHECK(list.tree > last);
        last = list.tree;
        sums.second += list.left;
        for (std::size_t i = 0; i < list.features.size(); ++i)
            sums.first[list.features[i]] += list.values[i];
    });
    return sums;
}

// The example of path_lists.hpp, with numbers that have no rounding.
void lists_by_hand() {
    PathLists<std::uint16_t> lists(3, 4, 7);
    std::vector<double> values(8);
    const auto end = [&](std::size_t tree, std::vector<std::uint32_t> path, double left,
                         std::vector<std::uint16_t> rows) {
        lists.add(TreeImportance{tree, values, path, left}, std::span<const std::uint16_t>(rows));
    };
    lists.start(5);
    values[3] = 0.5;
    values[7] = 0.25;
    end(5, {3, 7}, 0, {0, 2});
    values[3] = 0.125;
    values[7] = 0;
    end(5, {3}, 0, {1});
    CHECK(!lists.full());
    values[3] = 0;
    values[7] = 0.75;
    end(6, {7}, 0.375, {0, 1, 2});
    CHECK(lists.full());  // seven numbers
    const std::vector<std::vector<double>> expected{{0.5, 1}, {0.125, 0.75}, {0.5, 1}};
    for (std::size_t row = 0; row < 3; ++row) {
        const auto [sums, left] = add_up(lists, row);
        CHECK(sums[3] == expected[row][0] && sums[7] == expected[row][1] && sums[0] == 0);
        CHECK(left == 0.375);
    }

    // Trees that come after these, of which a single one has no split.
    lists.start(7);
    CHECK(!lists.full());
    for (std::size_t tree = 7; tree < 11; ++tree) {
        CHECK(!lists.full());
        end(tree, {}, 1, {0, 1, 2});
    }
    CHECK(lists.full());  // four trees
    const auto [sums, left] = add_up(lists, 1);
    CHECK((sums == std::vector<double>(8)) && left == 4);
}

Table some_table(std::size_t p, std::size_t n_trees, std::size_t n_splits, bool mixed) {
    Random random(31);
    Table table;
    table.n_features = static_cast<std::int64_t>(p);
    for (std::size_t tree = 0; tree < n_trees; ++tree)
        grow(table, random, tree % 5 == 4 ? Shape::single : Shape::bushy, n_splits, mixed);
    for (std::size_t tree = 0; tree < n_trees; ++tree)
        table.tree_weight[tree] = static_cast<double>((tree + 1) % 4) / 3;  // every fourth has none
    CHECK(!validate(table.view()));
    return table;
}

template <class Value>
void wide_or_not(std::size_t p, std::size_t n_trees, std::size_t n_splits, bool mixed) {
    const std::size_t n = std::max<std::size_t>((std::size_t{1} << 19) / p, 64) + 3, piece = n / 3;
    const auto forest = some_table(p, n_trees, n_splits, mixed).packed<Value>();
    Random random(32);
    const auto x = random_rows<Value>(random, n * p);
    CHECK(is_wide(forest, Rows<Value>{n, p, x}, Run{}));
    CHECK(is_wide(forest, Rows<Value>{n, p, x}, Run{3}));
    CHECK(!is_wide(forest, Rows<Value>{piece, p, x}, Run{}));
    check_pieces<Value>(forest, x, piece);
}

// What is too narrow, too deep, too small or too large for lists.
void not_wide() {
    const auto is = [](std::size_t n, std::size_t p, std::size_t n_trees, Shape shape,
                       std::size_t n_splits) {
        Random random(33);
        Table table;
        table.n_features = static_cast<std::int64_t>(p);
        for (std::size_t tree = 0; tree < n_trees; ++tree) grow(table, random, shape, n_splits);
        const std::vector<float> x(n * p);
        return is_wide(table.packed<float>(), Rows<float>{n, p, x}, Run{});
    };
    CHECK(is(700, 800, 8, Shape::bushy, 60));
    CHECK(!is(700, 780, 8, Shape::bushy, 60));    // 7 levels
    CHECK(!is(700, 800, 7, Shape::bushy, 60));    // trees
    CHECK(!is(600, 800, 8, Shape::bushy, 60));    // results of less than 4 MB
    CHECK(!is(700, 900, 8, Shape::chain, 65));    // deeper than eight times as many levels
    CHECK(!is(700, 1600, 8, Shape::bushy, 900));  // more leaves than rows
}

}  // namespace

int main() {
    lists_by_hand();
    wide_or_not<float>(1200, 12, 60, false);
    wide_or_not<float>(1200, 12, 60, true);
    wide_or_not<double>(1200, 12, 60, true);
    wide_or_not<float>(800, 1100, 3, false);  // more trees than the lists take at once
    wide_or_not<float>(66'000, 8, 20, true);  // features of more than two bytes
    not_wide();
}
