// Honest values of small random forests, against sums over rows written down as they are defined.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "localmdi/explain/honest.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"

using namespace localmdi::explain;
using namespace localmdi::support;
using localmdi::forest::ForestView;
using localmdi::grow::TreeRandom;

namespace {

constexpr std::size_t kRows = 40, kFeatures = 3, kDepth = 3;
constexpr std::size_t kTrees = 3, kNodes = (std::size_t{2} << kDepth) - 1;

struct Case {
    Criterion criterion;
    std::size_t n_columns, n_entries, min_rows, n_signs;
    bool weighted;
};

// Complete binary trees with any laws, and rows at any leaf.
struct Example {
    std::vector<std::int64_t> tree_offset, child_offset, child, leaf;
    std::vector<std::int32_t> feature, column;
    std::vector<double> law, held, value, n_outputs, tree_weight;
    std::vector<std::int8_t> signs;
    std::vector<std::size_t> parent;
    Case how;

    explicit Example(const Case& c) : how(c) {
        TreeRandom random(11, c.n_columns + 7 * c.min_rows);
        child_offset.push_back(0);
        for (std::size_t t = 0; t <= kTrees; ++t)
            tree_offset.push_back(static_cast<std::int64_t>(t * kNodes));
        for (std::size_t node = 0; node < kTrees * kNodes; ++node) add_node(node, random);
        n_outputs.assign(kTrees, static_cast<double>(c.n_entries));
        for (std::size_t t = 0; t < kTrees; ++t)
            tree_weight.push_back(1 + 0.5 * static_cast<double>(t));
        for (std::size_t i = 0; i < kRows; ++i) add_row(random);
        for (std::size_t k = 0; k < kTrees * kRows; ++k)
            held.push_back(random.below(3) == 0 ? 0 : c.weighted ? 0.5 + random.uniform() : 1);
    }

    void add_node(std::size_t node, TreeRandom& random) {
        const std::size_t root = node / kNodes * kNodes, own = node - root;
        parent.push_back(own == 0 ? node : root + (own - 1) / 2);
        const bool splits = 2 * own + 2 < kNodes;
        feature.push_back(splits ? static_cast<std::int32_t>(random.below(kFeatures)) : -1);
        for (std::size_t side = 1; splits && side <= 2; ++side)
            child.push_back(static_cast<std::int64_t>(root + 2 * own + side));
        child_offset.push_back(static_cast<std::int64_t>(child.size()));
        add_law(random);
    }

    void add_row(TreeRandom& random) {
        constexpr auto kLeaves = static_cast<std::uint32_t>(kNodes / 2 + 1);
        for (std::size_t t = 0; t < kTrees; ++t)
            leaf.push_back(
                static_cast<std::int64_t>(t * kNodes + kNodes / 2 + random.below(kLeaves)));
        for (std::size_t e = 0; e < how.n_entries; ++e) add_response(e, random);
        for (std::size_t r = 0; r < how.n_signs; ++r)
            signs.push_back(random.below(2) == 0 ? -1 : 1);
    }

    bool numbers() const { return how.criterion == Criterion::variance; }

    void add_law(TreeRandom& random) {
        const std::size_t of_output = how.n_columns / how.n_entries;
        for (std::size_t o = 0; o < how.n_entries; ++o) {
            std::vector<double> share;
            double total = 0;
            for (std::size_t k = 0; k < of_output; ++k)
                total += share.emplace_back(0.05 + random.uniform());
            for (const double s : share) law.push_back(numbers() ? 10 + s : s / total);
        }
    }

    void add_response(std::size_t entry, TreeRandom& random) {
        const auto of_output = static_cast<std::uint32_t>(how.n_columns / how.n_entries);
        column.push_back(static_cast<std::int32_t>(entry * of_output + random.below(of_output)));
        value.push_back(numbers() ? 10 + random.uniform() : 1);
    }

    ForestView forest() const {
        return {kFeatures, tree_offset, feature, {}, {}, child_offset, child, {}, {}, {}};
    }
    RoutedRows rows() const { return {leaf, held, {how.n_entries, column, value}, signs}; }
    HonestTrees sums() const {
        HonestTrees trees(forest(), 0, kTrees, law, n_outputs, {how.criterion, how.min_rows},
                          how.n_signs);
        sum(trees);
        return trees;
    }
    void sum(HonestTrees& trees) const {
        Interrupt interrupt;
        trees.add(rows(), Run{2}, interrupt);
        trees.sum_up(Run{2}, interrupt);
        trees.set_forms(Run{2}, interrupt);
    }

    // What follows is slow and plain: every mean is taken over the rows themselves.

    bool reaches(std::size_t i, std::size_t tree, std::size_t node) const {
        for (auto at = static_cast<std::size_t>(leaf[i * kTrees + tree]);; at = parent[at]) {
            if (at == node) return true;
            if (at == parent[at]) return false;
        }
    }
    double centre(std::size_t tree, std::size_t k) const {
        return numbers() ? law[tree * kNodes * how.n_columns + k] : 0;
    }
    double weight(std::size_t i, std::size_t tree) const { return held[tree * kRows + i]; }

    // Mean over the held-out rows at a node, without one of them, of f(row).
    template <class F>
    double mean(std::size_t tree, std::size_t node, std::size_t without, F f) const {
        double sum = 0, total = 0;
        for (std::size_t i = 0; i < kRows; ++i) {
            if (i == without || !reaches(i, tree, node)) continue;
            sum += weight(i, tree) * f(i);
            total += weight(i, tree);
        }
        return sum / total;
    }
    std::size_t count(std::size_t tree, std::size_t node, std::size_t without) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < kRows; ++i)
            n += i != without && weight(i, tree) > 0 && reaches(i, tree, node);
        return n;
    }
    template <class G>
    double form(std::size_t i, std::size_t tree, G g) const {
        double sum = 0;
        for (std::size_t e = 0; e < how.n_entries; ++e) {
            const auto k = static_cast<std::size_t>(column[i * how.n_entries + e]);
            sum += g(k) * (value[i * how.n_entries + e] - centre(tree, k));
        }
        return sum / static_cast<double>(how.n_entries);
    }
    double gain(std::size_t tree, std::size_t node, std::size_t without, std::size_t sign) const {
        const auto slope = [&](std::size_t k) {
            return gain_slope(how.criterion, law[parent[node] * how.n_columns + k],
                              law[node * how.n_columns + k]);
        };
        // Without signs a constant cancels; with them it must be the mean at the parent.
        const double all =
            mean(tree, parent[node], kRows, [&](std::size_t i) { return form(i, tree, slope); });
        const auto part = [&](std::size_t i) {
            return (form(i, tree, slope) - all) *
                   (sign < how.n_signs ? signs[i * how.n_signs + sign] : 1);
        };
        return mean(tree, node, without, part) - mean(tree, parent[node], without, part);
    }
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); }

// Sums over trees, of one row or of all.
struct Values {
    std::vector<double> values, squares, with_sign, weight;

    Values(std::size_t n, std::size_t n_signs)
        : values(n * kFeatures),
          squares(n * kFeatures),
          with_sign(n * kFeatures * n_signs),
          weight(n) {}

    HonestSums view(bool with_squares) {
        return {values.data(), with_squares ? squares.data() : nullptr, with_sign.data(),
                weight.data()};
    }
};

// What a row is due in one tree.
void add_expected(const Example& example, std::size_t i, std::size_t t, Values& out) {
    const Case& how = example.how;
    const double w = example.tree_weight[t];
    std::vector<double> tree(kFeatures);
    auto node = static_cast<std::size_t>(example.leaf[i * kTrees + t]);
    while (example.parent[node] != node && example.count(t, node, i) < how.min_rows)
        node = example.parent[node];
    for (; example.parent[node] != node; node = example.parent[node]) {
        const auto f = static_cast<std::size_t>(example.feature[example.parent[node]]);
        tree[f] += example.gain(t, node, i, how.n_signs);
        for (std::size_t r = 0; r < how.n_signs; ++r)
            out.with_sign[f * how.n_signs + r] += w * example.gain(t, node, i, r);
    }
    out.weight[0] += w;
    for (std::size_t f = 0; f < kFeatures; ++f) {
        out.values[f] += w * tree[f];
        out.squares[f] += w * tree[f] * tree[f];
    }
}

void check_near(const std::vector<double>& all, std::size_t row, const std::vector<double>& one) {
    for (std::size_t k = 0; k < one.size(); ++k) CHECK(near(all[row * one.size() + k], one[k]));
}

void check_rows(const Example& example) {
    const Case& how = example.how;
    const HonestTrees trees = example.sums();
    // With squares the general way is taken, without them that of the tables.
    for (const bool with_squares : {false, true}) {
        Values found(kRows, how.n_signs);
        Interrupt interrupt;
        trees.explain(example.rows(), example.tree_weight, found.view(with_squares), Run{2},
                      interrupt);
        for (std::size_t i = 0; i < kRows; ++i) {
            Values expected(1, how.n_signs);
            for (std::size_t t = 0; t < kTrees; ++t)
                if (example.weight(i, t) > 0) add_expected(example, i, t, expected);
            check_near(found.values, i, expected.values);
            if (with_squares) check_near(found.squares, i, expected.squares);
            check_near(found.with_sign, i, expected.with_sign);
            check_near(found.weight, i, expected.weight);
        }
    }
}

// Listed rows get what they get in their own order, and so do trees in used memory.
void check_list(const Example& example) {
    const Case& how = example.how;
    HonestTrees trees = example.sums();
    const auto explain = [&](const RoutedRows& rows) {
        Values found(kRows, how.n_signs);
        Interrupt interrupt;
        trees.explain(rows, example.tree_weight, found.view(false), Run{2}, interrupt);
        return found;
    };
    const auto same = [](const Values& a, const Values& b) {
        return a.values == b.values && a.weight == b.weight && a.with_sign == b.with_sign;
    };
    const Values expected = explain(example.rows());
    std::vector<std::uint32_t> listed(kRows);
    std::iota(listed.begin(), listed.end(), 0u);
    std::ranges::stable_sort(listed, {}, [&](std::size_t i) { return example.leaf[i * kTrees]; });
    std::vector<std::int64_t> leaf;
    std::vector<double> held;
    for (const std::size_t i : listed)
        for (std::size_t t = 0; t < kTrees; ++t) leaf.push_back(example.leaf[i * kTrees + t]);
    for (std::size_t t = 0; t < kTrees; ++t)
        for (const std::size_t i : listed) held.push_back(example.weight(i, t));
    RoutedRows rows = example.rows();
    rows.leaf = leaf;
    rows.held = held;
    rows.listed = listed;
    CHECK(same(explain(rows), expected));
    trees.begin(example.forest(), 0, kTrees, example.law, example.n_outputs);
    example.sum(trees);
    CHECK(same(explain(example.rows()), expected));
}

// Rows that are not held out meet the means over all held-out rows.
void check_credits(const Example& example) {
    const Case& how = example.how;
    const HonestTrees trees = example.sums();
    std::vector<double> amount(kTrees * kNodes), reached(amount.size());
    trees.credits(amount, {});
    trees.counts(reached);
    for (std::size_t node = 0; node < amount.size(); ++node) {
        const std::size_t tree = node / kNodes, n = example.count(tree, node, kRows);
        const bool counts = example.parent[node] != node && n >= how.min_rows;
        CHECK(reached[node] == static_cast<double>(n));
        if (!counts) CHECK(amount[node] == 0);
        else CHECK(near(amount[node], example.gain(tree, node, kRows, how.n_signs)));
    }
}

// What a row has to do with the edge to a node, as an unseen row and as a row of the bag: sums over
// columns of its residual, times g and times ρ (q(c) − q(t)), with ρ = g / (p(c) − p(t)).
struct Parts {
    double out = 0, in = 0;
};

Parts parts_of(const Example& example, std::size_t i, std::size_t t, std::size_t node) {
    const Case& how = example.how;
    const std::size_t n = how.n_columns, parent = example.parent[node];
    const auto answer = [&](std::size_t row, std::size_t k) {
        double y = 0;
        for (std::size_t e = 0; e < how.n_entries; ++e)
            if (static_cast<std::size_t>(example.column[row * how.n_entries + e]) == k)
                y = example.value[row * how.n_entries + e];
        return y;
    };
    Parts parts;
    for (std::size_t k = 0; k < n; ++k) {
        const auto q = [&](std::size_t at) {
            return example.mean(t, at, kRows, [&](std::size_t row) { return answer(row, k); });
        };
        const double before = example.law[parent * n + k], after = example.law[node * n + k];
        const double g = gain_slope(how.criterion, before, after);
        const double change = g / (after - before) * (q(node) - q(parent));
        parts.out += g * (answer(i, k) - q(parent)) / static_cast<double>(how.n_entries);
        parts.in += change * (answer(i, k) - before) / static_cast<double>(how.n_entries);
    }
    return parts;
}

struct Bags {
    std::vector<double> weight, node_weight;

    explicit Bags(const Example& example) {
        for (std::size_t t = 0; t < kTrees; ++t)
            for (std::size_t i = 0; i < kRows; ++i)
                weight.push_back(example.weight(i, t) > 0 ? 0 : 1 + static_cast<double>(i % 3));
        for (std::size_t node = 0; node < kTrees * kNodes; ++node)
            node_weight.push_back(2 + static_cast<double>(node % 5));
    }
};

void add_edge(const Example& example, const Bags& bags, std::size_t node, std::vector<double>& out,
              std::vector<double>& in) {
    const std::size_t t = node / kNodes;
    const auto f = static_cast<std::size_t>(example.feature[example.parent[node]]);
    double all = 0, reached = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
        all += example.weight(i, t);
        if (example.reaches(i, t, node)) reached += example.weight(i, t);
    }
    for (std::size_t i = 0; i < kRows; ++i) {
        if (!example.reaches(i, t, node)) continue;
        const Parts parts = parts_of(example, i, t, node);
        const double scale = example.tree_weight[t] / all;
        out[i * kFeatures + f] += scale * example.weight(i, t) * parts.out;
        in[i * kFeatures + f] +=
            scale * bags.weight[t * kRows + i] * reached / bags.node_weight[node] * parts.in;
    }
}

// The mean gain of a tree as a sum over pairs of an unseen row and a row of the bag.
void check_influence(const Example& example) {
    const Bags bags(example);
    std::vector<double> out(kRows * kFeatures), in(out), out_expected(out), in_expected(in);
    for (std::size_t node = 0; node < kTrees * kNodes; ++node)
        if (node % kNodes > 0 && example.count(node / kNodes, node, kRows) >= example.how.min_rows)
            add_edge(example, bags, node, out_expected, in_expected);
    Interrupt interrupt;
    example.sums().influence(example.rows(), {bags.weight, bags.node_weight}, example.tree_weight,
                             {out.data(), in.data()}, Run{2}, interrupt);
    check_near(out, 0, out_expected);
    check_near(in, 0, in_expected);
    // Rows of which no bag is known leave the second part alone.
    std::vector<double> again(out.size()), nothing(out.size());
    example.sums().influence(example.rows(), {{}, bags.node_weight}, example.tree_weight,
                             {again.data(), nothing.data()}, Run{1}, interrupt);
    CHECK(again == out);
    for (const double part : nothing) CHECK(part == 0);
}

// Nothing that a row answers changes its own values.
void check_own_label_left_out(const Case& how) {
    Example example(how);
    const auto values = [&] {
        Values sums(kRows, 0);
        Interrupt interrupt;
        example.sums().explain(example.rows(), example.tree_weight, sums.view(false), Run{1},
                               interrupt);
        return sums.values;
    };
    const std::vector<double> before = values();
    for (std::size_t e = 0; e < how.n_entries; ++e) {
        const std::size_t entry = 5 * how.n_entries + e;
        if (example.numbers()) example.value[entry] += 3;
        else example.column[entry] += example.column[entry] % 2 == 0 ? 1 : -1;
    }
    const std::vector<double> after = values();
    bool others_change = false;
    for (std::size_t cell = 0; cell < after.size(); ++cell) {
        if (cell / kFeatures == 5) CHECK(std::abs(after[cell] - before[cell]) < 1e-12);
        else others_change = others_change || std::abs(after[cell] - before[cell]) > 1e-6;
    }
    CHECK(others_change);
}

}  // namespace

int main() {
    for (const Criterion criterion : {Criterion::entropy, Criterion::gini, Criterion::variance})
        for (const std::size_t n_entries : {1, 2})
            for (const std::size_t min_rows : {1, 4})
                for (const bool weighted : {false, true}) {
                    const bool numbers = criterion == Criterion::variance;
                    const std::size_t n_columns = numbers ? n_entries : 2 * n_entries;
                    const Case how{criterion, n_columns, n_entries, min_rows, 2, weighted};
                    Case plain = how;
                    plain.n_signs = 0;
                    for (const Case& one : {how, plain}) {
                        check_rows(Example(one));
                        check_list(Example(one));
                        check_credits(Example(one));
                    }
                    check_influence(Example(plain));
                    check_own_label_left_out(plain);
                }
    return 0;
}
