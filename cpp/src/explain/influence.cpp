// What each row has to do with the mean gain of the trees over the rows that they have not seen.
#include <algorithm>
#include <cmath>

#include "localmdi/explain/honest.hpp"
#include "localmdi/support/criterion.hpp"

namespace localmdi::explain {

using support::Criterion;
using support::Interrupt;
using support::parallel_for;

namespace {

constexpr std::size_t kChunk = 2048;

// ρ = g / (p(c) − p(t)); where the law does not change, its limit.
double secant(Criterion criterion, double parent, double child) {
    if (criterion != Criterion::entropy) return 1;
    const double d = child - parent;
    if (!(parent > 0)) return 0;
    constexpr double kPerBit = 1.4426950408889634;  // 1 / ln 2
    if (std::abs(d) < 1e-9 * parent) return kPerBit / (2 * parent);
    return support::gain_slope(criterion, parent, child) / d;
}

}  // namespace

// A row that the tree has not seen: w g·(y − q(t)).
void HonestTrees::add_parts(std::size_t tree, std::size_t leaf, const Row& row, double scale,
                            double* parts) const {
    const Row stranger{};
    for (std::size_t node = leaf; nodes_[node].parent != node; node = nodes_[node].parent) {
        if (!is_counted(node, stranger)) continue;
        const std::size_t parent = nodes_[node].parent;
        parts[nodes_[parent].feature] +=
            scale * (own_form(tree, node, row) - nodes_[node].at_parent / nodes_[parent].weight);
    }
}

// A row that the tree has seen: w (y − p(t))·ρ (q(c) − q(t)) M(c) / N(c).
void HonestTrees::add_in_bag_parts(std::size_t tree, std::size_t leaf, const Row& row,
                                   std::span<const double> node_weight, double scale,
                                   double* parts) const {
    const Row stranger{};
    const double n_outputs = n_outputs_[tree - first_];
    for (std::size_t node = leaf; nodes_[node].parent != node; node = nodes_[node].parent) {
        if (!is_counted(node, stranger)) continue;
        const std::size_t parent = nodes_[node].parent;
        const double* const before = law_.data() + (first_node_ + parent) * n_columns_;
        const double* const after = law_.data() + (first_node_ + node) * n_columns_;
        const auto surplus = [&](std::size_t k) {
            return secant(rules_.criterion, before[k], after[k]) *
                   (sums_[node * n_columns_ + k] / nodes_[node].weight -
                    sums_[parent * n_columns_ + k] / nodes_[parent].weight);
        };
        double form = 0;
        for (std::size_t e = 0; e < row.column.size(); ++e)
            form += surplus(static_cast<std::size_t>(row.column[e])) * row.value[e];
        for (std::size_t k = 0; k < n_columns_; ++k) form -= surplus(k) * before[k];
        parts[nodes_[parent].feature] +=
            scale * form / n_outputs * nodes_[node].weight / node_weight[first_node_ + node];
    }
}

void HonestTrees::influence(const RoutedRows& rows, const InBagRows& in_bag,
                            std::span<const double> tree_weight, const Influence& sums,
                            const Run& run, Interrupt& interrupt) const {
    const std::size_t n_rows = rows.n_rows();
    const auto n_features = static_cast<std::size_t>(forest_.n_features);
    parallel_for((n_rows + kChunk - 1) / kChunk, run.n_threads, interrupt, [&] {
        return [&](std::size_t chunk) {
            const std::size_t end = std::min((chunk + 1) * kChunk, n_rows);
            for (std::size_t tree = first_; tree < last_; ++tree) {
                interrupt.check();
                const double all = nodes_[root(tree)].weight;
                if (all == 0) continue;
                for (std::size_t i = chunk * kChunk; i < end; ++i) {
                    const double held = rows.held[(tree - first_) * n_rows + i];
                    const double seen =
                        in_bag.weight.empty() ? 0 : in_bag.weight[(tree - first_) * n_rows + i];
                    if (held == 0 && seen == 0) continue;
                    const std::size_t leaf =
                        at(static_cast<std::size_t>(rows.leaf[i * n_trees() + tree - first_]));
                    const double scale = tree_weight[tree - first_] / all;
                    if (held == 0) {
                        add_in_bag_parts(tree, leaf, row(rows, i, seen), in_bag.node_weight,
                                         scale * seen, sums.in + i * n_features);
                        continue;
                    }
                    add_parts(tree, leaf, row(rows, i, held), scale * held,
                              sums.out + i * n_features);
                }
            }
        };
    });
}

}  // namespace localmdi::explain
