// Symmetric forests: what is one, what its tables hold, and the same bits as by the other kernels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/symmetric_mdi.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::testing;

namespace {

// Values and residuals, behind each other.
template <class Value>
std::vector<double> explain(const PackedForest<Value>& forest, const Rows<Value>& rows,
                            const Run& run, bool symmetric) {
    const std::size_t size = rows.n_rows * rows.n_features;
    std::vector<double> out(size + rows.n_rows, -1), spread(size);
    Interrupt interrupt;
    // Standard errors are the business of the other kernels.
    if (symmetric) symmetric_mdi(forest, rows, out.data(), out.data() + size, run, interrupt);
    else local_mdi(forest, rows, out.data(), out.data() + size, spread.data(), run, interrupt);
    return out;
}

template <class Value>
void check_bits(const Table& table, const std::vector<Value>& x, std::size_t n) {
    CHECK(!validate(table.view()));
    const auto forest = table.packed<Value>();
    CHECK(forest.symmetric);
    const Rows<Value> rows{n, x.size() / n, x};
    const auto expected = explain(forest, rows, Run{}, false);
    for (const std::size_t n_threads : {1, 3})
        for (const bool simd : {false, true})
            CHECK(same_bits(explain(forest, rows, Run{n_threads, simd}, true), expected));
}

// Trees of depth 0 to 12, one to 33 features, so that paths ask for a feature once or often.
template <class Value>
void random_forests() {
    Random random(1);
    for (const std::size_t n : {1, 3, 4, 5, 64, 255, 256, 257, 513, 1100})
        for (const std::size_t p : {1, 2, 5, 33})
            for (const bool mixed : {false, true}) {
                Table table;
                table.n_features = static_cast<std::int64_t>(p);
                for (std::size_t tree = 1 + below(random, 6); tree-- > 0;)
                    grow_symmetric(table, random, below(random, 10), mixed,
                                   below(random, 3) ? uniform(random) : 1);
                auto x = random_rows<Value>(random, n * p);
                if (below(random, 2))  // nothing missing: several questions are asked together
                    std::ranges::replace_if(x, [](Value v) { return v != v; }, Value(1));
                check_bits(table, x, n);
            }
    Table deep;
    deep.n_features = 3;
    grow_symmetric(deep, random, kMaxSymmetricDepth);
    check_bits(deep, random_rows<Value>(random, 3 * 700), 700);
}

// Rows at a threshold and on both sides of it, for <= and <, also where float32 does not have it.
template <class Value>
void neighbours_of_thresholds() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const SplitKind kind : {SplitKind::less_equal, SplitKind::less})
        for (const double cut : {0.1, 0.5, 0.0, -0.0, 1e300, -kInfinity, kInfinity})
            for (const std::int32_t missing : {0, 1}) {
                Table table;
                table.add_node(kind, 0, cut, {1, 2}, {}, missing);
                table.add_leaf();
                table.add_leaf();
                table.impurity = {0.5, 0.25, 0.125};
                table.end_tree();
                const auto middle = static_cast<Value>(cut);
                const auto large = std::numeric_limits<Value>::infinity();
                std::vector<Value> x{middle,
                                     std::nextafter(middle, large),
                                     std::nextafter(middle, -large),
                                     large,
                                     -large,
                                     std::numeric_limits<Value>::quiet_NaN()};
                check_bits(table, x, x.size());
                x.pop_back();
                check_bits(table, x, x.size());
                for (std::size_t row = 0; row < x.size(); ++row) {
                    const auto path = plain_path(table.view(), 0, &x[row]);
                    const auto forest = table.packed<Value>();
                    const auto out = explain(forest, Rows<Value>{x.size(), 1, x}, Run{}, true);
                    CHECK(out[row] == 0.5 - table.impurity[path.back()]);
                }
            }
}

// The example of forest/symmetric_form.hpp: x7, x2, x7, the edges a … n worth 1, 2, 4, 8, ….
void tables() {
    Table table;
    table.n_features = 9;
    std::int64_t next = 1;
    for (const std::int32_t f : {7, 2, 2, 7, 7, 7, 7}) {
        table.add_node(SplitKind::less_equal, f, 0.5, {next, next + 1}, {}, 0);
        next += 2;
    }
    for (int leaf = 0; leaf < 8; ++leaf) table.add_leaf();
    table.end_tree();
    std::vector<double> worth(15), left(15);
    for (std::size_t node = 1; node < 15; ++node) worth[node] = std::ldexp(1, int(node) - 1);
    for (std::size_t node = 0; node < 15; ++node) left[node] = 100.0 + double(node);
    const auto forest = pack<float>(table.view(), {worth, left}, table.tree_weight);
    const auto& form = forest.symmetric;
    CHECK(form && form.levels.size() == 3 && form.groups.size() == 1);
    CHECK((form.features == std::vector<std::uint32_t>{2, 7}) && form.n_columns() == 3);
    const ColumnGroup& group = form.groups[0];
    CHECK(group.n_levels == 3 && group.n_columns == 3 && form.sums.size() == 8 * kGroupColumns);
    CHECK(group.column[0] == 0 && group.column[1] == 1 && group.column[2] == 2);
    const double* const entry = &form.sums[group.sums + 5 * kGroupColumns];
    CHECK(entry[0] == worth[5]);                                         // e
    CHECK(entry[1] == worth[2] + worth[12]);                             // b + l
    CHECK(entry[2] == left[12]);                                         // L
    CHECK(!pack<float>(table.view(), {}, table.tree_weight).symmetric);  // only routes
}

// A forest is symmetric if all its trees are, to the last question.
void other_forests() {
    Random random(3);
    const auto is_symmetric = [](const Table& table) {
        return bool(table.packed<float>().symmetric);
    };
    Table table;
    table.n_features = 4;
    grow_symmetric(table, random, 3);
    CHECK(is_symmetric(table));
    for (const std::size_t node : {1, 2, 4, 6}) {
        Table other = table;
        other.threshold[node] += 1;
        CHECK(!is_symmetric(other));
        other = table;
        other.feature[node] = (other.feature[node] + 1) % 4;
        CHECK(!is_symmetric(other));
        other = table;
        other.missing_child[node] = 1 - other.missing_child[node];
        CHECK(!is_symmetric(other));
    }
    Table deep = table;
    grow_symmetric(deep, random, kMaxSymmetricDepth + 1);
    CHECK(!is_symmetric(deep));
    Table lopsided = table;  // its second child is a leaf
    lopsided.add_node(SplitKind::less_equal, 0, 0.5, {16, 17}, {}, 0);
    lopsided.add_node(SplitKind::less_equal, 0, 0.25, {18, 19}, {}, 0);
    for (int leaf = 0; leaf < 3; ++leaf) lopsided.add_leaf();
    lopsided.end_tree();
    CHECK(!validate(lopsided.view()));
    CHECK(!is_symmetric(lopsided));
    Table sets = table;  // two sets of categories on one level, then the same one
    sets.add_node(SplitKind::category_set, 0, 0, {16, 17}, {6}, 0);
    for (const std::uint64_t set : {5u, 9u})
        sets.add_node(SplitKind::category_set, 1, 0, {18 + 2 * (set == 9), 19 + 2 * (set == 9)},
                      {set}, 0);
    for (int leaf = 0; leaf < 4; ++leaf) sets.add_leaf();
    sets.end_tree();
    CHECK(!validate(sets.view()));
    CHECK(!is_symmetric(sets));
    sets.category_bits.back() = 5;
    CHECK(is_symmetric(sets));
    Table ways;  // two ways, but rows may stay
    ways.add_node(SplitKind::multiway, 0, 0, {1, 2}, {0, 1}, 0);
    ways.add_leaf();
    ways.add_leaf();
    ways.end_tree();
    CHECK(!is_symmetric(ways));
}

}  // namespace

int main() {
    random_forests<float>();
    random_forests<double>();
    neighbours_of_thresholds<float>();
    neighbours_of_thresholds<double>();
    tables();
    other_forests();
}
