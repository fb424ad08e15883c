// All kernels give one answer, to the last bit, and it is the one of a plain walk over the table.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/level_kernel.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/paths.hpp"
#include "localmdi/explain/row_kernel.hpp"
#include "localmdi/explain/table_kernel.hpp"
#include "localmdi/explain/tile_kernel.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::support;
using namespace localmdi::testing;

namespace {

Table random_table(Random& random, std::size_t n_features, bool mixed) {
    Table table;
    table.n_features = static_cast<std::int64_t>(n_features);
    const std::size_t n_trees = 1 + below(random, 80);  // also more than walk in step
    for (std::size_t t = 0; t < n_trees; ++t)
        grow(table, random, static_cast<Shape>(below(random, 3)), below(random, 40), mixed);
    for (double& weight : table.tree_weight) weight = below(random, 3) ? uniform(random) : 1;
    CHECK(!validate(table.view()));
    return table;
}

struct Result {
    std::vector<double> values, residual, spread;
};

// What the definition says, summed in the order of the contract.
template <class Value>
Result plain_result(const Table& table, const std::vector<Value>& x, std::size_t n) {
    const ForestView view = table.view();
    const std::size_t p = x.size() / n, n_trees = view.n_trees();
    Result out{std::vector<double>(n * p), std::vector<double>(n), {}};
    const double total = std::accumulate(table.tree_weight.begin(), table.tree_weight.end(), 0.0);
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            const auto path = plain_path(view, tree, &x[row * p]);
            const double share = table.tree_weight[tree] / total;
            for (std::size_t k = 1; k < path.size(); ++k)
                out.values[row * p + static_cast<std::size_t>(view.feature[path[k - 1]])] +=
                    share * (table.impurity[path[k - 1]] - table.impurity[path[k]]);
            out.residual[row] += share * table.impurity[path.back()];
        }
    return out;
}

template <class Value>
Rows<Value> dense(const std::vector<Value>& x, std::size_t n) {
    return {n, x.size() / n, x};
}

template <class Value>
Result run(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& how = {}) {
    const std::size_t size = rows.n_rows * rows.n_features;
    Result out{std::vector<double>(size, -1), std::vector<double>(rows.n_rows, -1),
               std::vector<double>(size, -1)};
    Interrupt interrupt;
    std::vector<double> values(size, -2), residual(rows.n_rows, -2);
    local_mdi(forest, rows, values.data(), residual.data(), nullptr, how, interrupt);
    local_mdi(forest, rows, out.values.data(), out.residual.data(), out.spread.data(), how,
              interrupt);
    CHECK(same_bits(values, out.values) && same_bits(residual, out.residual));
    return out;
}

void check_same(const Result& a, const Result& b) {
    CHECK(same_bits(a.values, b.values));
    CHECK(same_bits(a.residual, b.residual));
    CHECK(same_bits(a.spread, b.spread));
}

void check_near(const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-12);
}

// One row at a time: never the tile kernel.
template <class Value>
Result run_alone(const PackedForest<Value>& forest, const std::vector<Value>& x, std::size_t n) {
    const std::size_t p = x.size() / n;
    Result all;
    for (std::size_t row = 0; row < n; ++row) {
        const Result one = run(forest, Rows<Value>{1, p, std::span(x).subspan(row * p, p)});
        all.values.insert(all.values.end(), one.values.begin(), one.values.end());
        all.residual.insert(all.residual.end(), one.residual.begin(), one.residual.end());
        all.spread.insert(all.spread.end(), one.spread.begin(), one.spread.end());
    }
    return all;
}

template <class Value>
void one_answer(bool mixed) {
    Random random(mixed ? 2 : 3);
    for (const std::size_t n : {1, 7, 63, 64, 65, 200, 513}) {
        const std::size_t p = 1 + below(random, 9);
        const Table table = random_table(random, p, mixed);
        const auto forest = table.packed<Value>();
        const auto x = random_rows<Value>(random, n * p);
        const Result all = run(forest, dense(x, n));
        const Result plain = plain_result(table, x, n);
        check_near(all.values, plain.values);
        check_near(all.residual, plain.residual);
        check_same(all, run_alone(forest, x, n));
        for (const std::size_t n_threads : {2, 3, 600})
            check_same(all, run(forest, dense(x, n), Run{n_threads, n_threads == 2}));
        check_same(all, run(forest, dense(x, n), Run{1, false}));
    }
}

template <class Kernel, bool kWhole = false, class Value>
std::vector<double> by_tile(const PackedForest<Value>& forest, const std::vector<Value>& x,
                            std::size_t n, bool simd) {
    const std::size_t p = x.size() / n;
    Tile<Value> tile(p, n);
    tile.fill(dense(x, n), 0, n);
    Kernel kernel(forest, n);
    OwnSums<kWhole> sink(n, p);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
#ifdef LOCALMDI_AVX2
        if (simd) {
            kernel.template run<Avx2Partition>(tree, tile, n, sink);
            continue;
        }
#endif
        kernel.template run<ScalarPartition>(tree, tile, n, sink);
    }
    std::vector<double> sums(sink.sums_of(0).values, sink.sums_of(0).values + n * p);
    sums.insert(sums.end(), sink.sums_of(0).residual, sink.sums_of(0).residual + n);
    return sums;
}

template <class Value>
std::vector<double> by_row(const PackedForest<Value>& forest, const std::vector<Value>& x,
                           std::size_t n) {
    const std::size_t p = x.size() / n;
    std::vector<double> values(n * p), residual(n);
    RowKernel<Value> kernel(forest);
    SumSink sink(values.data(), residual.data(), p);
    for (std::size_t row = 0; row < n; ++row)
        kernel.run({0, forest.n_trees()}, OneRow<Value>{&x[row * p], true}, row, sink);
    values.insert(values.end(), residual.begin(), residual.end());
    return values;
}

template <class Value>
std::vector<double> by_table(const PackedForest<Value>& forest, const std::vector<Value>& x,
                             std::size_t n, bool simd) {
    const std::size_t p = x.size() / n;
    std::vector<double> values(n * p), residual(n);
    Tile<Value> tile(p, 1);
    TableKernel<Value> kernel(forest);
    const SumSink sink(values.data(), residual.data(), p);
    for (std::size_t row = 0; row < n; ++row) {
        tile.fill(dense(x, n), row, 1);
        kernel.run({0, forest.n_trees()}, tile.only_row(), sink.sums_of(row), simd);
    }
    values.insert(values.end(), residual.begin(), residual.end());
    return values;
}

// The kernels themselves, also where local_mdi would choose another: tiles of one row, the largest
// tile.
template <class Value>
void kernels_agree() {
    Random random(4);
    for (const std::size_t n : {1, 2, 8, 9, 100, 1000, 65536}) {
        const std::size_t p = n > 1000 ? 2 : 1 + below(random, 30);
        for (const bool mixed : {false, true}) {
            const Table table = random_table(random, p, mixed);
            const auto forest = table.packed<Value>();
            const auto x = random_rows<Value>(random, n * p);
            const auto expected = by_row(forest, x, n);
            for (const bool simd : {false, has_avx2()}) {
                CHECK(same_bits(by_table(forest, x, n, simd), expected));
                using OfTile = TileKernel<Value>;
                CHECK(same_bits(by_tile<OfTile>(forest, x, n, simd), expected));
                CHECK(same_bits(by_tile<OfTile, true>(forest, x, n, simd), expected));
                if (mixed) continue;
                using OfLevels = LevelKernel<Value>;
                CHECK(same_bits(by_tile<OfLevels>(forest, x, n, simd), expected));
                CHECK(same_bits(by_tile<OfLevels, true>(forest, x, n, simd), expected));
            }
        }
    }
}

// In large trees hundreds of rows are few: they go alone, on any number of threads.
void few_in_large_trees() {
    Random random(6);
    Table table;
    table.n_features = 20;
    for (std::size_t t = 0; t < 9; ++t) grow(table, random, Shape::bushy, 4000, false);
    const auto forest = table.packed<float>();
    const std::size_t n = 150;
    const auto x = random_rows<float>(random, n * 20);
    const Result all = run(forest, dense(x, n));
    check_near(all.values, plain_result(table, x, n).values);
    check_same(all, run_alone(forest, x, n));
    for (const std::size_t n_threads : {2, 7})
        check_same(all, run(forest, dense(x, n), Run{n_threads}));
    std::vector<double> sums = by_tile<TileKernel<float>>(forest, x, n, false);
    const double total = std::accumulate(table.tree_weight.begin(), table.tree_weight.end(), 0.0);
    for (double& sum : sums) sum /= total;
    CHECK(std::equal(all.values.begin(), all.values.end(), sums.begin()));
}

// Chains that go down by second, and by first children; frames and lists are as deep as the tree.
void deep_chains() {
    Random random(5);
    for (const bool first : {false, true}) {
        Table table;
        table.n_features = 2;
        const std::int64_t depth = 3000;
        for (std::int64_t k = 0; k < depth; ++k) {  // node 2k + 1 is a leaf, 2k + 2 goes on
            const std::vector<std::int64_t> children{2 * k + (first ? 2 : 1),
                                                     2 * k + (first ? 1 : 2)};
            table.add_node(SplitKind::less_equal, static_cast<std::int32_t>(k % 2),
                           static_cast<double>(first ? depth - k : k), children, {}, first ? 0 : 1);
            table.impurity.back() = uniform(random);
            table.add_leaf();
            table.impurity.back() = uniform(random);
        }
        table.add_leaf();
        table.end_tree();
        CHECK(!validate(table.view()));
        const auto forest = table.packed<float>();
        CHECK(forest.max_depth == static_cast<std::size_t>(depth));
        std::vector<float> x(2 * 300);
        for (float& value : x) value = static_cast<float>(below(random, 3200)) - 100;
        const auto expected = by_row(forest, x, 300);
        for (const bool simd : {false, has_avx2()}) {
            CHECK(same_bits(by_table(forest, x, 300, simd), expected));
            CHECK(same_bits(by_tile<TileKernel<float>>(forest, x, 300, simd), expected));
            CHECK(same_bits(by_tile<LevelKernel<float>>(forest, x, 300, simd), expected));
        }
        check_near(run(forest, dense(x, 300)).values, plain_result(table, x, 300).values);
    }
}

// Splits of many ways below each other: far more children wait than the tree is deep. Every child
// is a comparison of two leaves, but the last splits many ways again.
void wide_splits() {
    Random random(12);
    enum class Plan { leaf, pair, wide };
    const std::size_t n = 400, n_ways = 50;
    std::size_t n_wide = 4;
    std::vector<std::uint64_t> codes(n_ways);
    std::iota(codes.begin(), codes.end(), std::uint64_t{1});
    Table table;
    table.n_features = 3;
    std::vector<Plan> plans{Plan::wide};
    for (std::size_t node = 0; node < plans.size(); ++node) {
        const Plan plan = plans[node];
        std::vector<std::int64_t> children(plan == Plan::wide ? n_ways : 2);
        std::iota(children.begin(), children.end(), static_cast<std::int64_t>(plans.size()));
        if (plan == Plan::leaf) {
            table.add_leaf();
        } else if (plan == Plan::pair) {
            table.add_node(SplitKind::less_equal, 2, 0.5, children, {}, 1);
            plans.insert(plans.end(), 2, Plan::leaf);
        } else {
            // Missing values go to a child, or stay like those of an unknown category.
            table.add_node(SplitKind::multiway, static_cast<std::int32_t>(n_wide % 2), 0, children,
                           codes, n_wide > 2 ? 3 : -1);
            plans.insert(plans.end(), n_ways, Plan::pair);
            if (--n_wide > 0) plans.back() = Plan::wide;
        }
        table.impurity.back() = uniform(random);
    }
    table.end_tree();
    CHECK(!validate(table.view()));
    std::vector<float> x(3 * n);
    for (float& value : x)  // mostly of the last category, so that many rows go all the way
        value = static_cast<float>(below(random, 3) ? n_ways : below(random, 60));
    for (std::size_t row = 0; row < n; ++row) {
        x[3 * row + 2] = static_cast<float>(below(random, 2));
        if (row % 9 == 0) x[3 * row + row % 2] = std::nanf("");
    }
    const auto forest = table.packed<float>();
    const auto expected = by_row(forest, x, n);
    for (const bool simd : {false, has_avx2()})
        CHECK(same_bits(by_tile<TileKernel<float>>(forest, x, n, simd), expected));
    CHECK(std::equal(expected.begin(), expected.begin() + 3 * 400,
                     run(forest, dense(x, n)).values.begin()));
}

// A balanced tree large enough that local_mdi sends the rows down level by level; every node splits
// one of three features at the middle of what is left of it.
void large_trees() {
    Random random(8);
    Table table;
    table.n_features = 3;
    const std::int64_t n_splits = (std::int64_t{1} << 16) - 1;
    std::vector<std::array<double, 6>> boxes{{0, 1, 0, 1, 0, 1}};
    for (std::int64_t k = 0; k < n_splits; ++k) {
        const std::size_t f = below(random, 3);
        auto first = boxes[static_cast<std::size_t>(k)], second = first;
        const double middle = (first[2 * f] + first[2 * f + 1]) / 2;
        first[2 * f + 1] = second[2 * f] = middle;
        boxes.push_back(first);
        boxes.push_back(second);
        table.add_node(SplitKind::less_equal, static_cast<std::int32_t>(f), middle,
                       {2 * k + 1, 2 * k + 2}, {}, k % 3 == 0 ? 0 : 1);
        table.impurity.back() = uniform(random);
    }
    for (std::int64_t k = 0; k <= n_splits; ++k) {
        table.add_leaf();
        table.impurity.back() = uniform(random);
    }
    table.end_tree();
    CHECK(!validate(table.view()));
    const auto forest = table.packed<float>();
    const std::size_t n = 20000;  // more than a tile
    std::vector<float> x(3 * n);
    for (float& value : x)
        value = below(random, 50) == 0 ? std::nanf("") : static_cast<float>(uniform(random));
    const Result all = run(forest, dense(x, n));
    check_near(all.values, plain_result(table, x, n).values);
    auto expected = by_row(forest, x, n);
    expected.resize(3 * n);
    CHECK(same_bits(all.values, expected));
    check_same(all, run(forest, dense(x, n), Run{2, true}));
    check_same(all, run(forest, dense(x, n), Run{1, false}));
}

// Compressed rows with entries in any order; the last of two for one place counts.
template <class Value>
struct Compressed {
    std::vector<Value> data, dense;
    std::vector<std::int64_t> indptr{0}, indices;

    Compressed(Random& random, std::size_t n, std::size_t p) : dense(n * p) {
        for (std::size_t row = 0; row < n; ++row) {
            for (std::size_t k = below(random, p + 2); k-- > 0;) {
                const std::size_t f = below(random, p);
                const Value value = random_rows<Value>(random, 1)[0];
                data.push_back(value);
                indices.push_back(static_cast<std::int64_t>(f));
                dense[row * p + f] = value;
            }
            indptr.push_back(static_cast<std::int64_t>(data.size()));
        }
    }
    Rows<Value> rows() const {
        const std::size_t n = indptr.size() - 1;
        return {n, dense.size() / n, data, indptr, indices};
    }
};

template <class Value>
void tiles_of_compressed_rows() {
    Random random(7);
    const std::size_t n = 100, p = 5, capacity = 16;
    const Compressed<Value> x(random, n, p);
    Tile<Value> tile(p, capacity);
    // Refilled at random places and sizes: nothing of the rows before may be left.
    for (int round = 0; round < 200; ++round) {
        const std::size_t first = below(random, n), count = std::min(below(random, 17), n - first);
        tile.fill(x.rows(), first, count);
        for (std::size_t r = 0; r < capacity; ++r)
            for (std::size_t f = 0; f < p; ++f) {
                const Value expected = r < count ? x.dense[(first + r) * p + f] : Value(0);
                CHECK(std::memcmp(tile.feature(f) + r, &expected, sizeof(Value)) == 0);
            }
    }
}

template <class Value>
void compressed_rows_and_results() {
    Random random(8);
    for (const std::size_t n : {1, 63, 64, 300}) {
        const std::size_t p = 1 + below(random, 12);
        const auto forest = random_table(random, p, n == 64).packed<Value>();
        const Compressed<Value> x(random, n, p);
        const Result expected = run(forest, dense(x.dense, n));
        check_same(run(forest, x.rows()), expected);
        check_same(run(forest, x.rows(), Run{3, false}), expected);
        for (const std::size_t n_threads : {1, 3}) {
            Interrupt interrupt;
            const auto sparse = sparse_local_mdi(forest, x.rows(), Run{n_threads}, interrupt);
            std::vector<double> values(n * p);
            for (std::size_t row = 0; row < n; ++row)
                for (auto k = sparse.indptr[row]; k < sparse.indptr[row + 1]; ++k) {
                    const auto at = static_cast<std::size_t>(k);
                    const auto f = static_cast<std::size_t>(sparse.indices[at]);
                    CHECK(sparse.data[at] != 0 &&
                          (k == sparse.indptr[row] || sparse.indices[at] > sparse.indices[at - 1]));
                    values[row * p + f] = sparse.data[at];
                }
            CHECK(same_bits(values, expected.values) &&
                  same_bits(sparse.residual, expected.residual));
        }
    }
}

template <class Value>
void ends_and_weighted_sums(bool mixed) {
    Random random(9);
    const std::size_t n = 130, p = 4;
    const Table table = random_table(random, p, mixed);
    const auto forest = table.packed<Value>();
    const auto x = random_rows<Value>(random, n * p);
    const std::size_t n_trees = forest.n_trees(), first = n_trees / 3;
    std::vector<std::int64_t> ends(n * (n_trees - first));
    Interrupt interrupt;
    find_ends(forest, dense(x, n), first, n_trees, ends.data(), Run{2}, interrupt);
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t tree = first; tree < n_trees; ++tree)
            CHECK(static_cast<std::size_t>(ends[row * (n_trees - first) + tree - first]) ==
                  plain_path(table.view(), tree, &x[row * p]).back());
    // Trees in two calls, every row with weight one: the sums that local_mdi divides.
    std::vector<double> values(n * p), residual(n);
    const std::vector<double> weights(n_trees * n, 1);
    for (const auto& [from, to] : {std::pair{std::size_t{0}, first}, std::pair{first, n_trees}})
        add_weighted_mdi(forest, dense(x, n), TreeWeights{from, to - from, weights.data()},
                         values.data(), residual.data(), Run{2}, interrupt);
    const double total = std::accumulate(table.tree_weight.begin(), table.tree_weight.end(), 0.0);
    for (double& value : values) value /= total;
    for (double& value : residual) value /= total;
    const Result expected = run(forest, dense(x, n));
    CHECK(same_bits(values, expected.values) && same_bits(residual, expected.residual));
}

// Equal trees have no spread, one tree has no standard error, whatever the weights.
void standard_errors() {
    for (const double weight : {1.0, 0.1, 1.0 / 3, 1e-200, 1e200}) {
        Random random(10);
        const auto x = random_rows<float>(random, 300);
        Table one;
        grow(one, random, Shape::bushy, 20);
        one.tree_weight = {weight};
        for (const double e : run(one.packed<float>(), dense(x, 300)).spread) CHECK(std::isnan(e));
        Table three;
        for (int k = 0; k < 3; ++k) {
            Random again(11);
            grow(three, again, Shape::bushy, 20);
        }
        three.tree_weight = {weight, weight, weight};
        for (const double e : run(three.packed<float>(), dense(x, 300)).spread) CHECK(e == 0);
        three.tree_weight = {0, weight, 0};
        for (const double e : run(three.packed<float>(), dense(x, 300)).spread)
            CHECK(std::isnan(e));
    }
}

}  // namespace

int main() {
    for (const bool mixed : {false, true}) {
        one_answer<float>(mixed);
        one_answer<double>(mixed);
        ends_and_weighted_sums<float>(mixed);
        ends_and_weighted_sums<double>(mixed);
    }
    kernels_agree<float>();
    kernels_agree<double>();
    few_in_large_trees();
    deep_chains();
    wide_splits();
    large_trees();
    tiles_of_compressed_rows<float>();
    tiles_of_compressed_rows<double>();
    compressed_rows_and_results<float>();
    compressed_rows_and_results<double>();
    standard_errors();
}
