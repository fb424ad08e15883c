#include "localmdi/explain/account.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace localmdi::explain {

using support::Interrupt;
using support::parallel_for;

namespace {

// Rows pass all trees in chunks, so that their sums stay in the cache.
constexpr std::size_t kChunk = 2048;

template <class Body>
void for_each_chunk(std::size_t n_rows, const Run& run, Interrupt& interrupt, Body body) {
    parallel_for((n_rows + kChunk - 1) / kChunk, run.n_threads, interrupt, [&] {
        return
            [&](std::size_t task) { body(task * kChunk, std::min(n_rows, (task + 1) * kChunk)); };
    });
}

}  // namespace

Account::Account(const forest::ForestView& forest, std::span<const double> value,
                 std::span<const double> tree_weight)
    : n_features_(static_cast<std::size_t>(forest.n_features)),
      n_columns_(value.size() / forest.n_nodes()),
      value_(value),
      tree_weight_(tree_weight),
      root_(forest.tree_offset.begin(), forest.tree_offset.end()),
      steps_(forest.n_nodes(), Step{0, -1}) {
    for (std::size_t node = 0; node < steps_.size(); ++node)
        for (std::size_t c = 0; c < forest.n_children(node); ++c) {
            const std::size_t child = forest.child_of(node, c);
            steps_[child] = {static_cast<std::uint32_t>(child - node), forest.feature[node]};
        }
}

void Account::add_ends(const UnseenRows& rows, std::span<double> start, std::span<double> end,
                       std::span<double> weight, const Run& run, Interrupt& interrupt) const {
    const std::size_t n_rows = weight.size();
    for_each_chunk(n_rows, run, interrupt, [&](std::size_t first, std::size_t last) {
        for (std::size_t tree = 0; tree < rows.n_trees; ++tree) {
            const double t = tree_weight_[rows.first_tree + tree];
            const double* const root =
                value_.data() +
                static_cast<std::size_t>(root_[rows.first_tree + tree]) * n_columns_;
            for (std::size_t i = first; i < last; ++i) {
                if (!rows.unseen[tree * n_rows + i]) continue;
                const double* const leaf =
                    value_.data() +
                    static_cast<std::size_t>(rows.leaf[i * rows.n_trees + tree]) * n_columns_;
                for (std::size_t k = 0; k < n_columns_; ++k) {
                    start[i * n_columns_ + k] += t * root[k];
                    end[i * n_columns_ + k] += t * leaf[k];
                }
                weight[i] += t;
            }
        }
    });
}

void Account::add_credits(const UnseenRows& rows, const Moves& moves, std::span<double> credit,
                          const Run& run, Interrupt& interrupt) const {
    const std::size_t n_rows = rows.unseen.size() / rows.n_trees, n_entries = moves.n_entries;
    for_each_chunk(n_rows, run, interrupt, [&](std::size_t first, std::size_t last) {
        for (std::size_t tree = 0; tree < rows.n_trees; ++tree)
            for (std::size_t i = first; i < last; ++i) {
                if (!rows.unseen[tree * n_rows + i]) continue;
                double* const out = credit.data() + i * n_features_;
                const auto leaf = static_cast<std::size_t>(rows.leaf[i * rows.n_trees + tree]);
                for (std::size_t e = 0; e < n_entries; ++e) {
                    const double* const value =
                        value_.data() + static_cast<std::size_t>(moves.column[i * n_entries + e]);
                    const double w =
                        tree_weight_[rows.first_tree + tree] * moves.weight[i * n_entries + e];
                    double below = value[leaf * n_columns_];
                    std::size_t node = leaf;
                    for (Step step = steps_[node]; step.up > 0; step = steps_[node]) {
                        node -= step.up;
                        const double above = value[node * n_columns_];
                        out[step.feature] += w * (below - above);
                        below = above;
                    }
                }
            }
    });
}

// The moments of one row over its trees. With a_m = Σ_k w_k φ_bmk and u_k = s_k d_bk the spread of
// z_m = a_m + Σ_k φ_mk u_k needs the sums of a², a·u_k and u_k·u_l: a tree that does not split on m
// adds nothing to the first two.
struct Account::Spread {
    Spread(std::size_t n_features, std::size_t n_entries)
        : n(n_entries),
          total(n_features),
          squares(n_features),
          excess(n_features),
          mean(n_features * n),
          cross(n_features * n),
          both(n * n),
          mean_u(n),
          u(n),
          path(n_features * n),
          on_path(n_features) {}

    void clear() {
        for (auto* sums : {&total, &squares, &excess, &mean, &cross, &both, &mean_u})
            std::ranges::fill(*sums, 0.0);
        weight = weight_squares = 0;
    }

    void step(std::size_t f, std::size_t k, double change) {
        if (!std::exchange(on_path[f], char{1})) features.push_back(f);
        path[f * n + k] += change;
    }

    void end_tree(double t, const double* w) {
        weight += t;
        weight_squares += t * t;
        for (const std::size_t f : features) {
            const double* const phi = path.data() + f * n;
            double a = 0;
            for (std::size_t k = 0; k < n; ++k) a += w[k] * phi[k];
            total[f] += t * a;
            squares[f] += t * a * a;
            for (std::size_t k = 0; k < n; ++k) {
                excess[f] += t * phi[k] * u[k];
                cross[f * n + k] += t * a * u[k];
                mean[f * n + k] += t * phi[k];
            }
            std::fill_n(path.data() + f * n, n, 0.0);
            on_path[f] = 0;
        }
        features.clear();
        for (std::size_t k = 0; k < n; ++k) {
            mean_u[k] += t * u[k];
            for (std::size_t l = 0; l < n; ++l) both[k * n + l] += t * u[k] * u[l];
        }
    }

    void write(double* variance, double* too_much) const {
        const double share = weight > 0 ? weight_squares / (weight * weight) : 1;
        const double scale =
            share < 1 ? share / (1 - share) : std::numeric_limits<double>::quiet_NaN();
        for (std::size_t f = 0; f < total.size(); ++f) {
            double second = squares[f], first = total[f], by_mean = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const double phi = mean[f * n + k] / weight;
                first += phi * mean_u[k];
                second += 2 * phi * cross[f * n + k];
                by_mean += phi * mean_u[k];
                for (std::size_t l = 0; l < n; ++l)
                    second += phi * (mean[f * n + l] / weight) * both[k * n + l];
            }
            const double spread = second / weight - (first / weight) * (first / weight);
            variance[f] = scale * std::max(spread, 0.0);
            too_much[f] = scale * (excess[f] - by_mean) / weight;
        }
    }

    std::size_t n;
    double weight = 0, weight_squares = 0;
    std::vector<double> total, squares, excess;  // Σ a, Σ a², Σ_k φ_k u_k, by feature
    std::vector<double> mean, cross;             // Σ φ_k, Σ a u_k, by feature and column
    std::vector<double> both, mean_u;            // Σ u_k u_l, Σ u_k
    std::vector<double> u;                       // of the tree that is followed, as the next three
    std::vector<double> path;
    std::vector<char> on_path;
    std::vector<std::size_t> features;
};

void Account::measure_spread(const UnseenRows& rows, const Moves& moves, std::span<double> variance,
                             std::span<double> excess, const Run& run, Interrupt& interrupt) const {
    const std::size_t n_rows = rows.unseen.size() / rows.n_trees, n = moves.n_entries;
    for_each_chunk(n_rows, run, interrupt, [&](std::size_t first, std::size_t last) {
        Spread spread(n_features_, n);
        for (std::size_t i = first; i < last; ++i) {
            spread.clear();
            for (std::size_t tree = 0; tree < rows.n_trees; ++tree) {
                if (!rows.unseen[tree * n_rows + i]) continue;
                const auto leaf = static_cast<std::size_t>(rows.leaf[i * rows.n_trees + tree]);
                for (std::size_t e = 0; e < n; ++e) {
                    const double* const value =
                        value_.data() + static_cast<std::size_t>(moves.column[i * n + e]);
                    const double end = value[leaf * n_columns_];
                    double below = end;
                    std::size_t node = leaf;
                    for (Step step = steps_[node]; step.up > 0; step = steps_[node]) {
                        node -= step.up;
                        const double above = value[node * n_columns_];
                        spread.step(static_cast<std::size_t>(step.feature), e, below - above);
                        below = above;
                    }
                    spread.u[e] = moves.slope[i * n + e] * (end - below);
                }
                spread.end_tree(tree_weight_[rows.first_tree + tree], moves.weight.data() + i * n);
            }
            spread.write(variance.data() + i * n_features_, excess.data() + i * n_features_);
        }
    });
}

}  // namespace localmdi::explain
