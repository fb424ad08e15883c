// The kernels of the infinite forest on the exclusive or, on its copies, and against each other.
#include <cmath>
#include <random>

#include "localmdi/infinite/lattice.hpp"
#include "localmdi/infinite/row_dual.hpp"
#include "localmdi/infinite/row_sets.hpp"
#include "localmdi/infinite/sampled_paths.hpp"
#include "localmdi/infinite/shared_partition.hpp"
#include "support/check.hpp"

using namespace localmdi::infinite;
using namespace localmdi::support;

namespace {

// Rows with one class each, all of weight one.
struct Data {
    std::vector<std::int32_t> codes, slot, label;
    std::vector<std::int64_t> offset{0};
    std::vector<double> weight;
    Sample sample;

    Data(std::size_t p, std::vector<std::int32_t> x, std::vector<std::int32_t> y)
        : codes(std::move(x)), slot(y), label(y), weight(y.size(), 1.0), sample{} {
        for (std::size_t i = 0; i < y.size(); ++i)
            offset.push_back(static_cast<std::int64_t>(i + 1));
        sample = {p, 3, Criterion::entropy, codes, offset, slot, weight, label};
    }
};

bool close(double a, double b) { return std::abs(a - b) < 1e-10; }

std::vector<double> block_search(const Sample& sample, std::size_t row, Interrupt& interrupt) {
    const Impurity impurity(sample);
    const LatticeAnswer answer = solve_lattice(sample, impurity, {row, false, true}, 2, interrupt);
    const std::size_t p = answer.features.size();
    const ShapleyWeights weight(p);
    std::vector<double> values(sample.n_features, 0.0);
    for (std::size_t m = 0; m < p; ++m)
        for (std::size_t k = 0; k < p; ++k)
            values[answer.features[m]] +=
                weight.w(k) * (answer.sums.all[k] - answer.sums.member[k * p + m] -
                               answer.sums.member[(k + 1) * p + m]);
    return values;
}

void exclusive_or_is_shared() {
    const Data data(2, {0, 0, 0, 1, 1, 0, 1, 1}, {0, 1, 1, 0});
    Interrupt interrupt;
    for (std::size_t row = 0; row < 4; ++row) {
        const std::vector<double> values = block_search(data.sample, row, interrupt);
        CHECK(close(values[0], 0.5) && close(values[1], 0.5));
    }
}

void all_ways_agree() {
    constexpr std::size_t p = 18;
    constexpr std::size_t n = 11;
    std::mt19937 random(1);
    std::vector<std::int32_t> x, y;
    for (std::size_t i = 0; i < n * p; ++i) x.push_back(static_cast<std::int32_t>(random() % 3));
    for (std::size_t i = 0; i < n; ++i) y.push_back(static_cast<std::int32_t>(random() % 3));
    const Data data(p, x, y);
    const Impurity impurity(data.sample);
    const BitRows rows(data.sample);
    Interrupt interrupt;
    std::vector<double> shared(n * p);
    shared_partition(data.sample, impurity, Measure::drop, shared.data(), 2, interrupt);
    for (std::size_t row = 0; row < n; row += 5) {
        std::vector<double> dual(p), sets(p, 0.0);
        row_dual(data.sample, impurity, row, dual.data(), interrupt);
        const RowSetAnswer answer = forward_row_sets(
            data.sample, rows, {data.sample.row(row), {Unseen::Stop, Measure::drop}, 1e12},
            sets.data(), nullptr, interrupt);
        CHECK(answer.complete && close(answer.support, 1.0) && close(answer.residual, 0.0));
        const std::vector<double> block = block_search(data.sample, row, interrupt);
        for (std::size_t j = 0; j < p; ++j)
            CHECK(close(block[j], dual[j]) && close(block[j], sets[j]) &&
                  close(block[j], shared[row * p + j]));
    }
}

// Rows of weight 1/2 are no whole counts, but their impurities are those of weight 1.
void small_counts_are_a_shortcut(std::size_t p, std::int32_t n_classes, bool copies) {
    constexpr std::size_t n = 90;
    std::mt19937 random(3);
    std::vector<std::int32_t> x, y;
    for (std::size_t i = 0; i < n * p; ++i)
        x.push_back(copies && i >= p && i < 3 * p ? x[i - p]
                                                  : static_cast<std::int32_t>(random() % 2));
    for (std::size_t i = 0; i < n; ++i)
        y.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(n_classes)));
    Data whole(p, x, y), half(p, x, y);
    for (double& weight : half.weight) weight = 0.5;
    whole.sample.n_slots = half.sample.n_slots = static_cast<std::size_t>(n_classes);
    Interrupt interrupt;
    for (std::size_t row = 0; row < n; row += 17) {
        const std::vector<double> a = block_search(whole.sample, row, interrupt);
        const std::vector<double> b = block_search(half.sample, row, interrupt);
        for (std::size_t j = 0; j < p; ++j) CHECK(close(a[j], b[j]));
    }
}

std::vector<double> block_search_gain(const Sample& sample, std::size_t row, Interrupt& interrupt) {
    const LatticeGain answer = solve_lattice_gain(sample, {row}, 2, interrupt);
    const std::size_t p = answer.features.size();
    const ShapleyWeights weight(p);
    std::vector<double> values(sample.n_features, 0.0);
    for (std::size_t k = 0; k < p; ++k)
        for (std::size_t m = 0; m < p; ++m)
            values[answer.features[m]] += weight.w(k) * answer.sums.edge[k * p + m];
    return values;
}

void gains_of_the_exclusive_or() {
    const Data data(2, {0, 0, 0, 1, 1, 0, 1, 1}, {0, 1, 1, 0});
    Interrupt interrupt;
    for (std::size_t row = 0; row < 4; ++row)
        for (const double value : block_search_gain(data.sample, row, interrupt))
            CHECK(close(value, 0.5));
}

void all_ways_agree_on_gains() {
    constexpr std::size_t p = 18;
    constexpr std::size_t n = 11;
    std::mt19937 random(2);
    std::vector<std::int32_t> x, y;
    for (std::size_t i = 0; i < n * p; ++i) x.push_back(static_cast<std::int32_t>(random() % 3));
    for (std::size_t i = 0; i < n; ++i) y.push_back(static_cast<std::int32_t>(random() % 3));
    const Data data(p, x, y);
    const Impurity impurity(data.sample);
    const BitRows rows(data.sample);
    Interrupt interrupt;
    std::vector<double> shared(n * p), drops(n * p);
    shared_partition(data.sample, impurity, Measure::gain, shared.data(), 2, interrupt);
    shared_partition(data.sample, impurity, Measure::drop, drops.data(), 2, interrupt);
    for (std::size_t row = 0; row < n; row += 5) {
        std::vector<double> sets(p, 0.0);
        const RowSetAnswer answer = forward_row_sets(
            data.sample, rows, {data.sample.row(row), {Unseen::Skip, Measure::gain}, 1e12},
            sets.data(), nullptr, interrupt);
        CHECK(answer.complete && close(answer.support, 1.0));
        const std::vector<double> block = block_search_gain(data.sample, row, interrupt);
        for (std::size_t j = 0; j < p; ++j)
            CHECK(block[j] >= 0 && close(block[j], sets[j]) &&
                  close(block[j], shared[row * p + j]));
    }
    for (std::size_t j = 0; j < p; ++j) {
        double difference = 0;
        for (std::size_t row = 0; row < n; ++row)
            difference += shared[row * p + j] - drops[row * p + j];
        CHECK(close(difference, 0.0));
    }
}

// Six of one class to four of the other are three to two.
void equal_proportions_gain_exactly_nothing() {
    const Data data(1, {0, 1, 0, 1}, {0, 0, 1, 1});
    const Gain gain(data.sample);
    std::vector<double> parent{6, 4, 0}, child{3, 2, 0};
    gain.to_law(parent.data(), 3);
    gain.to_law(child.data(), 3);
    CHECK(gain(parent.data(), child.data(), 3) == 0.0);
    child = {1, 0, 0};
    CHECK(close(gain(parent.data(), child.data(), 3), std::log2(10.0 / 6.0)));
}

void sampled_gains_are_those_of_both_orders() {
    const Data data(2, {0, 0, 0, 1, 1, 0, 1, 1}, {0, 1, 1, 0});
    Interrupt interrupt;
    std::vector<double> values(8, 0.0), squares(8, 0.0), residual(4, 0.0), support(4, 0.0);
    sample_paths(data.sample, {data.codes, {}}, {7, 0, 10, {Unseen::Skip, Measure::gain}},
                 {values.data(), squares.data(), residual.data(), support.data()}, 2, interrupt);
    for (const double value : values) CHECK(close(value / 10, 0.5));
}

void sampled_paths_add_up_and_ignore_threads() {
    const Data data(3, {0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0}, {0, 1, 2, 0});
    Interrupt interrupt;
    std::vector<double> sums[2];
    for (const std::size_t n_threads : {std::size_t{1}, std::size_t{3}}) {
        std::vector<double> values(12, 0.0), squares(12, 0.0), residual(4, 0.0), support(4, 0.0);
        sample_paths(data.sample, {data.codes, {}}, {7, 0, 100, {Unseen::Skip, Measure::drop}},
                     {values.data(), squares.data(), residual.data(), support.data()}, n_threads,
                     interrupt);
        for (std::size_t i = 0; i < 4; ++i) {
            const double total = values[3 * i] + values[3 * i + 1] + values[3 * i + 2];
            CHECK(close(total / 100, 1.5) && residual[i] == 0.0 && support[i] == 100.0);
        }
        sums[n_threads > 1] = values;
    }
    CHECK(sums[0] == sums[1]);
    std::vector<double> values(9, 0.0), squares(9, 0.0);
    sample_pairs(data.sample, data.sample.row(1), {7, 0, 20, PairIndex::FaithShap}, values.data(),
                 squares.data(), 2, interrupt);
    CHECK(squares[3] >= 0.0);
}

// The number 0.5, 1.5, 4.5 and a category that sets the last row apart, classes 0, 1, 1: see
// "Numeric features" in docs/theory/algorithms.md.
void numbers_are_cut_in_proportion_to_their_gaps() {
    Data data(2, {0, 0, 1, 0, 2, 1}, {0, 1, 1});
    const std::vector<double> values{0.5, 1.5, 4.5};
    const std::vector<std::int32_t> column{0, -1};
    data.sample.numbers = {1, values, column};
    const BitRows rows(data.sample);
    Interrupt interrupt;
    const double root = std::log2(3.0) - 2.0 / 3.0;
    std::vector<double> exact(2, 0.0);
    const RowSetAnswer answer = forward_row_sets(
        data.sample, rows,
        {data.sample.row(0), {Unseen::Skip, Measure::drop}, 1e9, {values.data(), 1}}, exact.data(),
        nullptr, interrupt);
    CHECK(answer.complete && close(answer.residual, 0.0) && close(answer.support, 1.0));
    CHECK(close(exact[0], (root + 1) / 2) && close(exact[1], (root - 1) / 2));
    std::vector<double> sums[2];
    for (const std::size_t n_threads : {std::size_t{1}, std::size_t{3}}) {
        std::vector<double> found(6, 0.0), squares(6, 0.0), residual(3, 0.0), support(3, 0.0);
        sample_paths(data.sample, {data.codes, values}, {7, 0, 1000, {Unseen::Skip, Measure::drop}},
                     {found.data(), squares.data(), residual.data(), support.data()}, n_threads,
                     interrupt);
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(close((found[2 * i] + found[2 * i + 1]) / 1000, root) && residual[i] == 0.0);
        CHECK(std::abs(found[0] / 1000 - exact[0]) < 0.05);
        sums[n_threads > 1] = found;
    }
    CHECK(sums[0] == sums[1]);
}

// 0 known: the drop comes second; the profile says so also where x is not in the sample.
void profiles_count_features_that_were_passed_over() {
    const Data data(2, {0, 0, 0, 1, 1, 0, 1, 1}, {0, 1, 1, 0});
    const BitRows rows(data.sample);
    Interrupt interrupt;
    std::vector<double> values(2, 0.0), profile(4, 0.0);
    forward_row_sets(data.sample, rows, {data.sample.row(0), {Unseen::Skip, Measure::drop}, 1e9},
                     values.data(), profile.data(), interrupt);
    CHECK(close(profile[0], 0.0) && close(profile[1], 0.5) && close(profile[3], 0.5));
}

void visits_are_estimated_where_few_rows_have_many_features() {
    constexpr std::size_t p = 40;
    constexpr std::size_t n = 12;
    std::mt19937 random(3);
    std::vector<std::int32_t> x, y;
    for (std::size_t i = 0; i < n * p; ++i) x.push_back(static_cast<std::int32_t>(random() % 6));
    for (std::size_t i = 0; i < n; ++i) y.push_back(static_cast<std::int32_t>(random() % 3));
    const Data data(p, x, y);
    Interrupt interrupt;
    std::vector<double> values(n * p);
    const double counted = shared_partition(data.sample, Impurity(data.sample), Measure::drop,
                                            values.data(), 2, interrupt);
    const double expected = estimate_shared_partition(data.sample, Measure::drop);
    CHECK(counted < 2 * expected && expected < 2 * counted);
}

}  // namespace

int main() {
    exclusive_or_is_shared();
    all_ways_agree();
    for (const std::size_t p : {2, 3, 7, 11})
        for (const std::int32_t n_classes : {2, 8, 20})
            for (const bool copies : {false, true})
                small_counts_are_a_shortcut(p, n_classes, copies);
    gains_of_the_exclusive_or();
    all_ways_agree_on_gains();
    equal_proportions_gain_exactly_nothing();
    sampled_gains_are_those_of_both_orders();
    sampled_paths_add_up_and_ignore_threads();
    numbers_are_cut_in_proportion_to_their_gaps();
    profiles_count_features_that_were_passed_over();
    visits_are_estimated_where_few_rows_have_many_features();
    return 0;
}
