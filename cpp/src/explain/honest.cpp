#include "localmdi/explain/honest.hpp"

#include <algorithm>
#include <utility>

namespace localmdi::explain {

using support::Criterion;
using support::Interrupt;
using support::parallel_for;

namespace {

// Rows pass all trees of a block in chunks, so that their values stay in the cache.
constexpr std::size_t kChunk = 2048;

double dot(const double* a, const double* b, std::size_t n) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace

HonestTrees::HonestTrees(const forest::ForestView& forest, std::size_t first, std::size_t last,
                         std::span<const double> law, std::span<const double> n_outputs,
                         const HonestRules& rules, std::size_t n_signs)
    : n_signs_(n_signs), rules_(rules) {
    begin(forest, first, last, law, n_outputs);
}

void HonestTrees::begin(const forest::ForestView& forest, std::size_t first, std::size_t last,
                        std::span<const double> law, std::span<const double> n_outputs) {
    forest_ = forest;
    first_ = first;
    last_ = last;
    first_node_ = static_cast<std::size_t>(forest.tree_offset[first]);
    n_nodes_ = static_cast<std::size_t>(forest.tree_offset[last]) - first_node_;
    n_columns_ = law.size() / forest.n_nodes();
    law_ = law;
    n_outputs_ = n_outputs;
    nodes_.assign(n_nodes_, Node());
    sums_.assign(n_nodes_ * n_columns_, 0.0);
    slope_.assign(n_nodes_ * n_columns_, 0.0);
    const bool classes = rules_.criterion != Criterion::variance;
    table_.assign(classes && n_signs_ == 0 ? n_nodes_ * n_columns_ : 0, 0.0);
    row_weight_.assign(last - first, 0.0);
    signed_sums_.assign(n_nodes_ * n_signs_ * (n_columns_ + 1), 0.0);
    signed_child_.assign(n_nodes_ * n_signs_, 0.0);
    signed_parent_.assign(n_nodes_ * n_signs_, 0.0);
    for (std::size_t k = 0; k < n_nodes_; ++k) {
        nodes_[k].parent = static_cast<std::uint32_t>(k);
        nodes_[k].feature = forest.feature[first_node_ + k];
    }
    for (std::size_t k = 0; k < n_nodes_; ++k)
        for (std::size_t c = 0; c < forest.n_children(first_node_ + k); ++c)
            nodes_[at(forest.child_of(first_node_ + k, c))].parent = static_cast<std::uint32_t>(k);
}

// Numbers count from the mean of the root: a large mean in both terms of a difference would cost
// digits.
double HonestTrees::centre(std::size_t tree, std::size_t column) const {
    if (rules_.criterion != Criterion::variance) return 0;
    return law_[(first_node_ + root(tree)) * n_columns_ + column];
}

HonestTrees::Row HonestTrees::row(const RoutedRows& rows, std::size_t i, double weight) const {
    const Responses& of = rows.responses;
    return {weight, of.column.subspan(i * of.n_entries, of.n_entries),
            of.value.subspan(i * of.n_entries, of.n_entries),
            rows.signs.empty() ? rows.signs : rows.signs.subspan(i * n_signs_, n_signs_)};
}

// Sums.

void HonestTrees::add(const RoutedRows& rows, const Run& run, Interrupt& interrupt) {
    parallel_for(n_trees(), run.n_threads, interrupt,
                 [&] { return [&](std::size_t task) { add_tree(first_ + task, rows); }; });
}

void HonestTrees::add_tree(std::size_t tree, const RoutedRows& rows) {
    const std::size_t n_rows = rows.n_rows();
    const double* const held = rows.held.data() + (tree - first_) * n_rows;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (held[i] == 0) continue;
        const Row one = row(rows, rows.number(i), held[i]);
        const auto end = static_cast<std::size_t>(rows.leaf[i * n_trees() + tree - first_]);
        const std::size_t leaf = at(end);
        double& common = row_weight_[tree - first_];
        common = common == 0 || common == one.weight ? one.weight : -1;
        nodes_[leaf].count += 1;
        nodes_[leaf].weight += one.weight;
        double* const sums = sums_.data() + leaf * n_columns_;
        if (!table_.empty() && one.column.size() == 1) {  // one class, and nothing else to add
            sums[one.column[0]] += one.weight * one.value[0];
            continue;
        }
        double* const with_sign = signed_sums_.data() + leaf * n_signs_ * (n_columns_ + 1);
        for (std::size_t r = 0; r < n_signs_; ++r)
            with_sign[r * (n_columns_ + 1) + n_columns_] += one.weight * one.signs[r];
        for (std::size_t e = 0; e < one.column.size(); ++e) {
            const auto column = static_cast<std::size_t>(one.column[e]);
            const double value = one.value[e] - centre(tree, column);
            sums[column] += one.weight * value;
            for (std::size_t r = 0; r < n_signs_; ++r)
                with_sign[r * (n_columns_ + 1) + column] += one.weight * one.signs[r] * value;
        }
    }
}

void HonestTrees::sum_up(const Run& run, Interrupt& interrupt) {
    parallel_for(n_trees(), run.n_threads, interrupt,
                 [&] { return [&](std::size_t task) { sum_up_tree(first_ + task); }; });
}

void HonestTrees::sum_up_tree(std::size_t tree) {
    const auto add_up = [&](std::vector<double>& sums, std::size_t node, std::size_t width) {
        double* const below = sums.data() + node * width;
        double* const above = sums.data() + nodes_[node].parent * width;
        for (std::size_t k = 0; k < width; ++k) above[k] += below[k];
    };
    // A child lies after its parent: backwards, every node is complete before it is added.
    for (std::size_t node = root(tree + 1); node-- > root(tree) + 1;) {
        Node& parent = nodes_[nodes_[node].parent];
        parent.count += nodes_[node].count;
        parent.weight += nodes_[node].weight;
        add_up(sums_, node, n_columns_);
        add_up(signed_sums_, node, n_signs_ * (n_columns_ + 1));
    }
}

// Linear forms.

void HonestTrees::set_forms(const Run& run, Interrupt& interrupt) {
    parallel_for(n_trees(), run.n_threads, interrupt,
                 [&] { return [&](std::size_t task) { set_tree_forms(first_ + task); }; });
}

void HonestTrees::set_tree_forms(std::size_t tree) {
    const Row stranger{};  // whoever is held out, or not, counts no other edges
    for (std::size_t node = root(tree) + 1; node < root(tree + 1); ++node)
        if (is_counted(node, stranger)) gain_forms(tree, node);
    tabulate(tree);
}

void HonestTrees::gain_forms(std::size_t tree, std::size_t node) {
    const std::size_t parent = nodes_[node].parent;
    const double* const before = law_.data() + (first_node_ + parent) * n_columns_;
    const double* const after = law_.data() + (first_node_ + node) * n_columns_;
    double* const slope = slope_.data() + node * n_columns_;
    // The impurity of several outputs is their mean.
    for (std::size_t k = 0; k < n_columns_; ++k)
        slope[k] =
            support::gain_slope(rules_.criterion, before[k], after[k]) / n_outputs_[tree - first_];
    nodes_[node].at_child = dot(slope, sums_.data() + node * n_columns_, n_columns_);
    nodes_[node].at_parent = dot(slope, sums_.data() + parent * n_columns_, n_columns_);
    signed_forms(node);
}

// Σ ± w (g·r − g·q(t)): of the residuals, because what is common to all rows of t cancels in the
// gain, but not after signs.
void HonestTrees::signed_forms(std::size_t node) {
    const std::size_t parent = nodes_[node].parent, width = n_columns_ + 1;
    if (nodes_[parent].weight == 0) return;
    const double mean = nodes_[node].at_parent / nodes_[parent].weight;
    const double* const slope = slope_.data() + node * n_columns_;
    for (std::size_t r = 0; r < n_signs_; ++r) {
        const double* const below = signed_sums_.data() + (node * n_signs_ + r) * width;
        const double* const above = signed_sums_.data() + (parent * n_signs_ + r) * width;
        signed_child_[node * n_signs_ + r] =
            dot(slope, below, n_columns_) - mean * below[n_columns_];
        signed_parent_[node * n_signs_ + r] =
            dot(slope, above, n_columns_) - mean * above[n_columns_];
    }
}

// Rows that are not held out.

void HonestTrees::credits(std::span<double> amount, std::span<double> signed_amount) const {
    const Row stranger{};
    for (std::size_t tree = first_; tree < last_; ++tree)
        for (std::size_t node = root(tree); node < root(tree + 1); ++node) {
            const std::size_t parent = nodes_[node].parent, place = first_node_ + node;
            const bool counted = node != parent && is_counted(node, stranger);
            const auto gain = [&](double at_child, double at_parent) {
                return counted ? at_child / nodes_[node].weight - at_parent / nodes_[parent].weight
                               : 0;
            };
            amount[place] = gain(nodes_[node].at_child, nodes_[node].at_parent);
            for (std::size_t r = 0; r < n_signs_ && !signed_amount.empty(); ++r)
                signed_amount[r * forest_.n_nodes() + place] =
                    gain(signed_child_[node * n_signs_ + r], signed_parent_[node * n_signs_ + r]);
        }
}

// Rows that are held out, each without its own label.

// A tree's values of one row, by feature.
class HonestTrees::Path {
public:
    Path(std::size_t n_features, std::size_t n_signs)
        : n_signs_(n_signs),
          values_(n_features),
          signed_(n_features * n_signs),
          on_path_(n_features) {}

    double* add(std::int32_t feature, double amount) {
        const auto f = static_cast<std::size_t>(feature);
        if (!std::exchange(on_path_[f], 1)) features_.push_back(f);
        values_[f] += amount;
        return signed_.data() + f * n_signs_;
    }

    void flush(std::size_t row, double tree_weight, const HonestSums& sums) {
        for (const std::size_t f : features_) {
            const std::size_t cell = row * values_.size() + f;
            const double value = std::exchange(values_[f], 0.0);
            sums.values[cell] += tree_weight * value;
            if (sums.squares != nullptr) sums.squares[cell] += tree_weight * value * value;
            for (std::size_t r = 0; r < n_signs_; ++r) {
                const double with_sign = std::exchange(signed_[f * n_signs_ + r], 0.0);
                sums.signed_values[cell * n_signs_ + r] += tree_weight * with_sign;
            }
            on_path_[f] = 0;
        }
        features_.clear();
        sums.weight[row] += tree_weight;
    }

private:
    std::size_t n_signs_;
    std::vector<double> values_, signed_;
    std::vector<unsigned char> on_path_;
    std::vector<std::size_t> features_;
};

bool HonestTrees::is_counted(std::size_t node, const Row& row) const {
    const double others = nodes_[node].count - (row.weight > 0 ? 1 : 0);
    return others >= static_cast<double>(rules_.min_rows) && nodes_[node].weight > row.weight;
}

// The linear form of a node's edge at the row's own response.
double HonestTrees::own_form(std::size_t tree, std::size_t node, const Row& row) const {
    double form = 0;
    for (std::size_t e = 0; e < row.column.size(); ++e) {
        const auto column = static_cast<std::size_t>(row.column[e]);
        form += slope_[node * n_columns_ + column] * (row.value[e] - centre(tree, column));
    }
    return form;
}

void HonestTrees::climb_gain(std::size_t tree, std::size_t leaf, const Row& row, Path& path) const {
    for (std::size_t node = leaf; nodes_[node].parent != node; node = nodes_[node].parent) {
        if (!is_counted(node, row)) continue;
        const std::size_t parent = nodes_[node].parent;
        const double own = row.weight * own_form(tree, node, row);
        const double below = nodes_[node].weight - row.weight,
                     above = nodes_[parent].weight - row.weight;
        double* const with_sign =
            path.add(nodes_[parent].feature, (nodes_[node].at_child - own) / below -
                                                 (nodes_[node].at_parent - own) / above);
        if (n_signs_ == 0) continue;
        const double residual = own - row.weight * nodes_[node].at_parent / nodes_[parent].weight;
        for (std::size_t r = 0; r < n_signs_; ++r) {
            const double taken = residual * row.signs[r];
            with_sign[r] += (signed_child_[node * n_signs_ + r] - taken) / below -
                            (signed_parent_[node * n_signs_ + r] - taken) / above;
        }
    }
}

void HonestTrees::explain(const RoutedRows& rows, std::span<const double> tree_weight,
                          const HonestSums& sums, const Run& run, Interrupt& interrupt) const {
    const std::size_t n_rows = rows.n_rows();
    const auto n_features = static_cast<std::size_t>(forest_.n_features);
    parallel_for((n_rows + kChunk - 1) / kChunk, run.n_threads, interrupt, [&] {
        return [&, path = Path(n_features, n_signs_)](std::size_t chunk) mutable {
            const std::size_t end = std::min((chunk + 1) * kChunk, n_rows);
            for (std::size_t tree = first_; tree < last_; ++tree) {
                interrupt.check();
                const bool by_table =
                    is_tabulated(tree) && rows.responses.n_entries == 1 && sums.squares == nullptr;
                const double* const held = rows.held.data() + (tree - first_) * n_rows;
                // A tree in which nobody else was held out knows nothing about a row.
                if (nodes_[root(tree)].count < 2) continue;
                if (by_table && rows.is_list()) {
                    climb_together(tree, rows, chunk * kChunk, end, tree_weight[tree - first_],
                                   sums);
                    continue;
                }
                for (std::size_t i = chunk * kChunk; i < end; ++i) {
                    if (held[i] == 0) continue;
                    const std::size_t number = rows.number(i);
                    const Row one = row(rows, number, held[i]);
                    const std::size_t leaf =
                        at(static_cast<std::size_t>(rows.leaf[i * n_trees() + tree - first_]));
                    if (by_table) {
                        climb_table(leaf, static_cast<std::size_t>(one.column[0]), number,
                                    tree_weight[tree - first_], sums);
                        continue;
                    }
                    climb_gain(tree, leaf, one, path);
                    path.flush(number, tree_weight[tree - first_], sums);
                }
            }
        };
    });
}

void HonestTrees::counts(std::span<double> reached) const {
    for (std::size_t k = 0; k < n_nodes_; ++k) reached[first_node_ + k] = nodes_[k].count;
}

}  // namespace localmdi::explain
