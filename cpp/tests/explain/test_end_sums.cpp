// Sums of rows at the nodes: those of a plain walk, the same bits for any threads and any parts.
#include <cmath>
#include <cstring>
#include <vector>

#include "forest/random_forest.hpp"
#include "localmdi/explain/end_sums.hpp"
#include "localmdi/forest/subtree_sums.hpp"
#include "support/check.hpp"

using namespace localmdi::explain;
using namespace localmdi::forest;
using namespace localmdi::support;
using namespace localmdi::testing;

namespace {

constexpr std::size_t kOutputs = 2;

struct Data {
    std::vector<float> x;
    std::vector<double> weight, value;
    std::vector<std::int32_t> column;
};

Data random_data(Random& random, std::size_t n, std::size_t p) {
    Data data{random_rows<float>(random, n * p), {}, {}, {}};
    for (std::size_t row = 0; row < n; ++row) {
        data.weight.push_back(uniform(random));
        for (std::size_t k = 0; k < kOutputs; ++k) {
            data.value.push_back(1e6 + uniform(random));
            data.column.push_back(static_cast<std::int32_t>(3 * k + below(random, 3)));
        }
    }
    return data;
}

RowTargets targets_of(const Data& data, std::size_t first, bool numbers) {
    return {kOutputs, data.weight.data() + first,
            numbers ? nullptr : data.column.data() + first * kOutputs,
            numbers ? data.value.data() + first * kOutputs : nullptr};
}

// Rows in parts of some size, on some threads.
std::vector<double> sums_of(const PackedForest<float>& forest, const Data& data, bool numbers,
                            std::size_t n_sums, std::size_t n_parts, std::size_t step,
                            const Run& run) {
    const std::size_t p = forest.n_features, n = data.weight.size();
    std::vector<double> sums(forest.n_nodes() * n_sums * n_parts);
    Interrupt interrupt;
    for (std::size_t first = 0; first < n; first += step) {
        const std::size_t m = std::min(step, n - first);
        const Rows<float> rows{m, p, std::span(data.x).subspan(first * p, m * p)};
        add_end_sums(forest, rows, targets_of(data, first, numbers),
                     NodeSums{sums.data(), n_sums, n_parts}, run, interrupt);
    }
    return sums;
}

// What every row adds to every node on its path, in long double.
std::vector<long double> plain_sums(const Table& table, const Data& data, bool numbers,
                                    std::size_t n_sums) {
    const ForestView view = table.view();
    const std::size_t n = data.weight.size(), p = data.x.size() / n;
    std::vector<long double> sums(view.n_nodes() * n_sums);
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t tree = 0; tree < view.n_trees(); ++tree)
            for (const std::size_t node : plain_path(view, tree, &data.x[row * p])) {
                const long double w = data.weight[row];
                if (numbers) sums[node * n_sums] += w;
                for (std::size_t k = 0; k < kOutputs; ++k) {
                    const long double y = data.value[row * kOutputs + k];
                    const auto column = data.column[row * kOutputs + k];
                    if (numbers) {
                        sums[node * n_sums + 1 + 2 * k] += w * y;
                        sums[node * n_sums + 2 + 2 * k] += w * y * y;
                    } else {
                        sums[node * n_sums + static_cast<std::size_t>(column)] += w;
                    }
                }
            }
    return sums;
}

void check_sums(bool mixed, bool numbers, std::size_t n_parts) {
    Random random(5);
    const std::size_t n_sums = numbers ? 1 + 2 * kOutputs : 3 * kOutputs;
    for (const std::size_t n : {1, 63, 64, 300}) {
        Table table;
        table.n_features = 3;
        for (int tree = 0; tree < 9; ++tree)
            grow(table, random, static_cast<Shape>(below(random, 3)), below(random, 40), mixed);
        const auto forest = table.packed<float>();
        const Data data = random_data(random, n, 3);
        auto sums = sums_of(forest, data, numbers, n_sums, n_parts, n, {});
        for (const std::size_t n_threads : {1, 2, 5})
            for (const std::size_t step : {std::size_t{7}, std::size_t{70}, n}) {
                const auto other =
                    sums_of(forest, data, numbers, n_sums, n_parts, step, Run{n_threads});
                CHECK(std::memcmp(sums.data(), other.data(), sums.size() * sizeof(double)) == 0);
            }
        const ForestView view = table.view();
        const NodeRange all{0, view.n_nodes()};
        if (n_parts == 1) add_children(view, all, sums.data(), n_sums);
        else add_children(view, all, reinterpret_cast<DoubleDouble*>(sums.data()), n_sums);
        const auto plain = plain_sums(table, data, numbers, n_sums);
        for (std::size_t i = 0; i < plain.size(); ++i) {
            const double sum = sums[i * n_parts], want = static_cast<double>(plain[i]);
            CHECK(std::abs(sum - want) <= 1e-14 * std::abs(want));
        }
    }
}

// 2^60 + 1 + … − 2^60: a double loses the ones.
void check_digits() {
    DoubleDouble sum{std::ldexp(1.0, 60)};
    for (int i = 0; i < 100; ++i) sum = sum + DoubleDouble{1.0};
    CHECK((sum + DoubleDouble{-std::ldexp(1.0, 60)}).high == 100);
    const double third = 1.0 / 3;
    const DoubleDouble square = exact_product(third, third);
    CHECK(square.low != 0 && square.high == third * third);
    CHECK((square + exact_product(-third, third)).high == 0);
}

void check_moments() {
    // y = 10^9 and 10^9 + 1, of weight 1 and 3: mean 10^9 + 0.75, variance 3/16.
    const double y = 1e9;
    const DoubleDouble sums[3] = {
        {4}, {4 * y + 3}, exact_product(y, y) + exact_product(y + 1, y + 1) * 3};
    double moments[4];
    center_moments(sums, 1, moments);
    CHECK(moments[0] + moments[2] / moments[1] == y + 0.75);
    CHECK(std::abs(moments[3] / 4 - 0.1875) < 1e-15);
    const DoubleDouble none[3] = {};
    center_moments(none, 1, moments);
    CHECK(moments[0] == 0 && moments[1] == 0 && moments[3] == 0);
}

}  // namespace

int main() {
    check_digits();
    check_moments();
    for (const bool mixed : {false, true}) {
        check_sums(mixed, true, 2);
        check_sums(mixed, false, 1);
        check_sums(mixed, false, 2);
    }
}
