// Impurities from sums: the textbook's values, and one value whatever the type of the counts and
// the length of the table.
#include "localmdi/support/criterion.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "support/check.hpp"

using namespace localmdi::support;

namespace {

bool close(double a, double b) { return std::abs(a - b) < 1e-14; }

void test_entropy() {
    const std::vector<double> counts = {3, 1};
    const std::vector<std::uint32_t> whole = {3, 1};
    const double expected = -(0.75 * std::log2(0.75) + 0.25 * std::log2(0.25));
    for (const auto& log : {WeightedLog(), WeightedLog(4, 100), WeightedLog(4, 2)}) {
        CHECK(close(entropy(log, 4.0, std::span<const double>(counts)), expected));
        CHECK(entropy(log, 4u, std::span<const std::uint32_t>(whole)) ==
              entropy(WeightedLog(), 4.0, std::span<const double>(counts)));
    }
    const std::vector<double> pure = {0, 0.3, 0};
    CHECK(entropy(WeightedLog(), 0.3, std::span<const double>(pure)) == 0);
    const std::vector<double> equal(8, 0.25);
    CHECK(close(entropy(WeightedLog(), 2.0, std::span<const double>(equal)), 3));
}

void test_gini() {
    const std::vector<double> counts = {3, 1};
    CHECK(gini(4.0, std::span<const double>(counts)) == 0.375);
    const std::vector<std::uint32_t> pure = {0, 7};
    CHECK(gini(7u, std::span<const std::uint32_t>(pure)) == 0);
}

void test_variance() {
    // y = −1, 1, 3 with weights 1, 2, 1: the mean is 1, the variance 2.
    const std::vector<double> sums = {4};
    CHECK(close(variance(4, sums, 1 + 2 + 9), 2));
    // A second output that is constant halves the mean over outputs.
    const std::vector<double> two = {4, 20};
    CHECK(close(variance(4, two, 1 + 2 + 9 + 100), 1));
    const std::vector<double> constant = {0.3};
    CHECK(variance(3, constant, 0.03) >= 0);
}

double gain(Criterion criterion, const std::vector<double>& parent,
            const std::vector<double>& child) {
    double sum = 0;
    for (std::size_t k = 0; k < parent.size(); ++k)
        sum += gain_slope(criterion, parent[k], child[k]) * (child[k] - parent[k]);
    return sum;
}

void test_gain() {
    const std::vector<double> parent = {0.5, 0.25, 0.25, 0};
    for (const auto& child : {std::vector<double>{0.75, 0.25, 0, 0},
                              {0, 0, 1, 0},
                              parent,
                              {0.5 + 1e-9, 0.25 - 1e-9, 0.25, 0},
                              {0.5002, 0.2498, 0.25, 0}}) {
        double divergence = 0, distance = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            if (child[k] > 0) divergence += child[k] * std::log2(child[k] / parent[k]);
            distance += (child[k] - parent[k]) * (child[k] - parent[k]);
        }
        CHECK(close(gain(Criterion::entropy, parent, child), divergence));
        CHECK(close(gain(Criterion::gini, parent, child), distance));
        CHECK(gain(Criterion::entropy, parent, child) >= 0);
    }
    CHECK(std::abs(gain_slope(Criterion::entropy, 0.5, 0.75) * 0.25 - 0.0780) < 1e-4);
    // Continuous where the series takes over.
    for (const double sign : {-1.0, 1.0}) {
        const double inside = gain_slope(Criterion::entropy, 0.5, 0.5 * (1 + sign * 0.9999999e-3));
        const double outside = gain_slope(Criterion::entropy, 0.5, 0.5 * (1 + sign * 1.0000001e-3));
        CHECK(std::abs(inside / outside - 1) < 1e-6);
    }
    CHECK(gain_slope(Criterion::variance, 2, 5) == 3);
}

}  // namespace

int main() {
    test_gain();
    test_entropy();
    test_gini();
    test_variance();
}
