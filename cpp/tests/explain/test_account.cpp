// The account of small random forests, against sums over trees written down as they are defined.
#include "localmdi/explain/account.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

using namespace localmdi::explain;
using namespace localmdi::support;
using localmdi::forest::ForestView;
using localmdi::grow::TreeRandom;
using localmdi::testing::same_bits;

namespace {

// More rows than one chunk has.
constexpr std::size_t kRows = 2100, kFeatures = 3, kTrees = 5, kDepth = 3, kColumns = 4;
constexpr std::size_t kNodes = (std::size_t{2} << kDepth) - 1, kLeaves = kNodes / 2 + 1;

// Complete binary trees with any values, and rows at any leaf, unseen by any trees.
struct Example {
    std::vector<std::int64_t> tree_offset, child_offset{0}, child, leaf;
    std::vector<std::int32_t> feature, column;
    std::vector<double> value, tree_weight, weight, slope;
    std::vector<std::uint8_t> unseen;
    std::size_t n_entries;

    explicit Example(std::size_t entries) : n_entries(entries) {
        TreeRandom random(3, entries);
        for (std::size_t t = 0; t <= kTrees; ++t)
            tree_offset.push_back(static_cast<std::int64_t>(t * kNodes));
        for (std::size_t node = 0; node < kTrees * kNodes; ++node) add_node(node, random);
        for (std::size_t t = 0; t < kTrees; ++t)
            tree_weight.push_back(1 + 0.5 * static_cast<double>(t));
        for (std::size_t i = 0; i < kRows; ++i) add_row(random);
        for (std::size_t k = 0; k < kTrees * kRows; ++k) unseen.push_back(random.below(3) > 0);
        // Rows that all trees have seen, or all but one.
        for (std::size_t t = 0; t < kTrees; ++t) unseen[t * kRows + 7] = 0;
        for (std::size_t t = 0; t < kTrees; ++t) unseen[t * kRows + 8] = t == 2;
    }

    void add_node(std::size_t node, TreeRandom& random) {
        const std::size_t own = node % kNodes;
        const bool splits = 2 * own + 2 < kNodes;
        feature.push_back(splits ? static_cast<std::int32_t>(random.below(kFeatures)) : -1);
        for (std::size_t side = 1; splits && side <= 2; ++side)
            child.push_back(static_cast<std::int64_t>(node + own + side));
        child_offset.push_back(static_cast<std::int64_t>(child.size()));
        for (std::size_t k = 0; k < kColumns; ++k) value.push_back(random.uniform());
    }

    void add_row(TreeRandom& random) {
        for (std::size_t t = 0; t < kTrees; ++t)
            leaf.push_back(
                static_cast<std::int64_t>(t * kNodes + kNodes / 2 + random.below(kLeaves)));
        for (std::size_t e = 0; e < n_entries; ++e) {
            column.push_back(static_cast<std::int32_t>(random.below(kColumns)));
            weight.push_back(random.uniform() - 0.3);
            slope.push_back(-random.uniform());
        }
    }

    ForestView forest() const {
        return {kFeatures, tree_offset, feature, {}, {}, child_offset, child, {}, {}, {}};
    }
    Account account() const { return {forest(), value, tree_weight}; }
    UnseenRows rows() const { return {0, kTrees, leaf, unseen}; }
    Moves moves() const { return {n_entries, column, weight, slope}; }
    double at(std::size_t node, std::size_t k) const { return value[node * kColumns + k]; }

    // φ of one tree for one feature and column.
    double move(std::size_t i, std::size_t t, std::size_t f, std::size_t k) const {
        double sum = 0;
        const std::size_t root = t * kNodes;
        for (auto node = static_cast<std::size_t>(leaf[i * kTrees + t]); node != root;) {
            const std::size_t parent = root + (node - root - 1) / 2;
            if (static_cast<std::size_t>(feature[parent]) == f) sum += at(node, k) - at(parent, k);
            node = parent;
        }
        return sum;
    }
    double way(std::size_t i, std::size_t t, std::size_t k) const {
        return at(static_cast<std::size_t>(leaf[i * kTrees + t]), k) - at(t * kNodes, k);
    }
    // Weighted mean over the trees that have not seen a row.
    template <class F>
    double mean(std::size_t i, F f) const {
        double sum = 0, total = 0;
        for (std::size_t t = 0; t < kTrees; ++t) {
            if (!unseen[t * kRows + i]) continue;
            sum += tree_weight[t] * f(t);
            total += tree_weight[t];
        }
        return sum / total;
    }
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); }

void check_ends(const Example& example) {
    std::vector<double> start(kRows * kColumns), end(start.size()), weight(kRows);
    Interrupt interrupt;
    // Some trees at a time.
    std::vector<std::int64_t> first, rest;
    for (std::size_t k = 0; k < example.leaf.size(); ++k)
        (k % kTrees < 2 ? first : rest).push_back(example.leaf[k]);
    const std::span<const std::uint8_t> unseen(example.unseen);
    const Account account = example.account();
    account.add_ends({0, 2, first, unseen.first(2 * kRows)}, start, end, weight, Run{2}, interrupt);
    account.add_ends({2, 3, rest, unseen.subspan(2 * kRows)}, start, end, weight, Run{1},
                     interrupt);
    for (std::size_t i = 0; i < kRows; ++i) {
        CHECK(i != 7 || weight[i] == 0);
        for (std::size_t k = 0; k < kColumns && weight[i] > 0; ++k) {
            const double before =
                example.mean(i, [&](std::size_t t) { return example.at(t * kNodes, k); });
            const double way = example.mean(i, [&](std::size_t t) { return example.way(i, t, k); });
            CHECK(near(start[i * kColumns + k] / weight[i], before));
            CHECK(near(end[i * kColumns + k] / weight[i], before + way));
        }
    }
}

void check_credits(const Example& example) {
    std::vector<double> credit(kRows * kFeatures);
    Interrupt interrupt;
    example.account().add_credits(example.rows(), example.moves(), credit, Run{2}, interrupt);
    for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t f = 0; f < kFeatures; ++f) {
            double expected = 0;
            for (std::size_t t = 0; t < kTrees; ++t)
                for (std::size_t e = 0; e < example.n_entries && example.unseen[t * kRows + i]; ++e)
                    expected +=
                        example.tree_weight[t] * example.weight[i * example.n_entries + e] *
                        example.move(
                            i, t, f,
                            static_cast<std::size_t>(example.column[i * example.n_entries + e]));
            CHECK(near(credit[i * kFeatures + f], expected));
        }
}

// The spread over trees of z_b = Σ w φ_b + Σ φ s d_b, and Σ s Cov(φ_b, d_b), with weights that say
// how reliable a tree is.
void check_spread(const Example& example) {
    std::vector<double> variance(kRows * kFeatures), excess(variance.size());
    Interrupt interrupt;
    example.account().measure_spread(example.rows(), example.moves(), variance, excess, Run{2},
                                     interrupt);
    const std::size_t n = example.n_entries;
    for (std::size_t i = 0; i < kRows; ++i) {
        double total = 0, squares = 0;
        for (std::size_t t = 0; t < kTrees; ++t)
            if (example.unseen[t * kRows + i]) {
                total += example.tree_weight[t];
                squares += example.tree_weight[t] * example.tree_weight[t];
            }
        const double share = squares / (total * total);
        for (std::size_t f = 0; f < kFeatures; ++f) {
            if (!(share < 1)) {  // no tree, or one
                CHECK(std::isnan(variance[i * kFeatures + f]));
                CHECK(std::isnan(excess[i * kFeatures + f]));
                continue;
            }
            const auto k = [&](std::size_t e) {
                return static_cast<std::size_t>(example.column[i * n + e]);
            };
            const auto phi = [&](std::size_t e) {
                return example.mean(i, [&](std::size_t t) { return example.move(i, t, f, k(e)); });
            };
            const auto z = [&](std::size_t t) {
                double sum = 0;
                for (std::size_t e = 0; e < n; ++e)
                    sum += example.weight[i * n + e] * example.move(i, t, f, k(e)) +
                           phi(e) * example.slope[i * n + e] * example.way(i, t, k(e));
                return sum;
            };
            const double centre = example.mean(i, z);
            const double spread =
                example.mean(i, [&](std::size_t t) { return std::pow(z(t) - centre, 2); });
            const double scale = share / (1 - share);
            CHECK(near(variance[i * kFeatures + f], scale * spread));
            double covariance = 0;
            for (std::size_t e = 0; e < n; ++e) {
                const auto way = [&](std::size_t t) { return example.way(i, t, k(e)); };
                const double both = example.mean(
                    i, [&](std::size_t t) { return example.move(i, t, f, k(e)) * way(t); });
                covariance += example.slope[i * n + e] * (both - phi(e) * example.mean(i, way));
            }
            CHECK(near(excess[i * kFeatures + f], scale * covariance));
        }
    }
}

void check_threads(const Example& example) {
    const auto all = [&](std::size_t n_threads) {
        std::vector<double> sums(2 * kRows * kColumns + kRows + 3 * kRows * kFeatures);
        std::span<double> rest(sums);
        const auto next = [&](std::size_t n) {
            const std::span<double> part = rest.first(n);
            rest = rest.subspan(n);
            return part;
        };
        Interrupt interrupt;
        const Account account = example.account();
        const auto start = next(kRows * kColumns), end = next(kRows * kColumns), w = next(kRows);
        account.add_ends(example.rows(), start, end, w, Run{n_threads}, interrupt);
        account.add_credits(example.rows(), example.moves(), next(kRows * kFeatures),
                            Run{n_threads}, interrupt);
        const auto variance = next(kRows * kFeatures), excess = next(kRows * kFeatures);
        account.measure_spread(example.rows(), example.moves(), variance, excess, Run{n_threads},
                               interrupt);
        for (double& sum : sums)
            if (std::isnan(sum)) sum = -1;
        return sums;
    };
    const std::vector<double> one = all(1);
    for (const std::size_t n_threads : {2, 3, 7}) CHECK(same_bits(one, all(n_threads)));
}

// The example of the header: paths ½ → 1 (on a) and ½ → ¼ → ¾ (on b, then a), w = ⅝.
void check_example() {
    const std::vector<std::int64_t> tree_offset{0, 3, 8}, child{1, 2, 4, 5, 6, 7};
    const std::vector<std::int64_t> child_offset{0, 2, 2, 2, 4, 6, 6, 6, 6}, leaf{1, 6};
    const std::vector<std::int32_t> feature{0, -1, -1, 1, 0, -1, -1, -1}, column{0};
    const std::vector<double> value{0.5, 1, 0, 0.5, 0.25, 0.75, 0.75, 0}, tree_weight{1, 1};
    const std::vector<double> weight{0.625 / 2};
    const std::vector<std::uint8_t> unseen{1, 1};
    const ForestView forest{2, tree_offset, feature, {}, {}, child_offset, child, {}, {}, {}};
    std::vector<double> credit(2);
    Interrupt interrupt;
    Account(forest, value, tree_weight)
        .add_credits({0, 2, leaf, unseen}, {1, column, weight, {}}, credit, Run{1}, interrupt);
    CHECK(credit[0] == 5.0 / 16 && credit[1] == -5.0 / 64);
    CHECK(credit[0] + credit[1] == 1.0 / 4 - 1.0 / 64);
}

}  // namespace

int main() {
    check_example();
    for (const std::size_t n_entries : {1, 3}) {
        const Example example(n_entries);
        check_ends(example);
        check_credits(example);
        check_spread(example);
        check_threads(example);
    }
    return 0;
}
