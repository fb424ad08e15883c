// Where all held-out rows of a tree weigh the same, what a row reads on its way up depends on its
// class only: a table of classes by nodes, instead of a division for each row and edge.
#include <utility>

#include "localmdi/explain/honest.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

void HonestTrees::tabulate(std::size_t tree) {
    if (!is_tabulated(tree)) return;
    const double weight = row_weight_[tree - first_];
    const double least = static_cast<double>(rules_.min_rows) + 1;
    for (std::size_t node = root(tree); node < root(tree + 1); ++node) {
        const Node& below = nodes_[node];
        const Node& above = nodes_[below.parent];
        const bool is_root = below.parent == node;
        // A row among fewer than min_rows others reads nothing here.
        if (!is_root && (below.count < least || !(below.weight > weight))) continue;
        const double* const slope = slope_.data() + node * n_columns_;
        double* const out = table_.data() + node * n_columns_;
        for (std::size_t k = 0; k < n_columns_; ++k) {
            const double own = weight * slope[k];
            const double left = (below.at_child - own) / (below.weight - weight);
            if (rules_.measure == Measure::drop) out[k] = below.at_parent + left;
            else out[k] = left - (below.at_parent - own) / (above.weight - weight);
        }
    }
}

// As climb_gain and climb_drop, for a row of a class whose edges are tabulated.
void HonestTrees::climb_table(std::size_t leaf, std::size_t column, std::size_t row,
                              double tree_weight, const HonestSums& sums) const {
    const auto entry = [&](std::size_t node) { return table_[node * n_columns_ + column]; };
    double* const values = sums.values + row * static_cast<std::size_t>(forest_.n_features);
    const double least = static_cast<double>(rules_.min_rows) + 1;
    std::size_t node = leaf, parent = nodes_[node].parent;
    // From the first node that counts on, all do.
    while (parent != node && nodes_[node].count < least) {
        node = parent;
        parent = nodes_[node].parent;
    }
    sums.weight[row] += tree_weight;
    if (rules_.measure == Measure::gain) {
        for (; parent != node; node = std::exchange(parent, nodes_[parent].parent))
            values[nodes_[parent].feature] += tree_weight * entry(node);
        return;
    }
    double below = entry(node);
    sums.residual[row] += tree_weight * below;
    for (; parent != node; node = std::exchange(parent, nodes_[parent].parent)) {
        const double above = entry(parent);
        values[nodes_[parent].feature] += tree_weight * (above - below);
        below = above;
    }
    sums.baseline[row] += tree_weight * below;
}

// The way from a leaf to the root, written down for all rows that ended there: a row that climbs by
// itself waits for every parent, because only the child knows where it is.
struct HonestTrees::Climb {
    struct Step {
        std::size_t feature;     // of the split above the node
        const double* by_class;  // what the table has for the node
    };
    std::vector<Step> steps;  // from the first node that counts on
    const double* root = nullptr;
};

void HonestTrees::follow(std::size_t node, Climb& climb) const {
    const double least = static_cast<double>(rules_.min_rows) + 1;
    climb.steps.clear();
    for (std::size_t parent = nodes_[node].parent; parent != node;
         node = std::exchange(parent, nodes_[parent].parent))
        if (nodes_[node].count >= least)
            climb.steps.push_back({static_cast<std::size_t>(nodes_[parent].feature),
                                   table_.data() + node * n_columns_});
    climb.root = table_.data() + node * n_columns_;
}

// As climb_table; the order of the additions is the same.
void HonestTrees::add_climb(const Climb& climb, std::size_t column, std::size_t row,
                            double tree_weight, const HonestSums& sums) const {
    double* const values = sums.values + row * static_cast<std::size_t>(forest_.n_features);
    sums.weight[row] += tree_weight;
    if (rules_.measure == Measure::gain) {
        for (const auto& [feature, by_class] : climb.steps)
            values[feature] += tree_weight * by_class[column];
        return;
    }
    double below = (climb.steps.empty() ? climb.root : climb.steps[0].by_class)[column];
    sums.residual[row] += tree_weight * below;
    for (std::size_t k = 0; k < climb.steps.size(); ++k) {
        const bool last = k + 1 == climb.steps.size();
        const double above = (last ? climb.root : climb.steps[k + 1].by_class)[column];
        values[climb.steps[k].feature] += tree_weight * (above - below);
        below = above;
    }
    sums.baseline[row] += tree_weight * below;
}

// climb_table for the listed rows from begin on: those of one leaf share its climb, and what is
// added up for rows further down the list, which lie anywhere, is asked for.
void HonestTrees::climb_together(std::size_t tree, const RoutedRows& rows, std::size_t begin,
                                 std::size_t end, double tree_weight,
                                 const HonestSums& sums) const {
    constexpr std::size_t kAhead = 8, kLine = 64 / sizeof(double), kLongRow = 256;
    const auto n_features = static_cast<std::size_t>(forest_.n_features);
    const std::size_t n_asked = n_features <= kLongRow ? n_features : 0;
    const double* const held = rows.held.data() + (tree - first_) * rows.n_rows();
    Climb climb;
    std::int64_t leaf = -1;
    for (std::size_t i = begin; i < end; ++i) {
        if (held[i] == 0) continue;
        if (i + kAhead < end) {
            const std::size_t later = rows.listed[i + kAhead];
            LOCALMDI_PREFETCH(sums.weight + later);
            if (rules_.measure == Measure::drop) {
                LOCALMDI_PREFETCH(sums.residual + later);
                LOCALMDI_PREFETCH(sums.baseline + later);
            }
            LOCALMDI_PREFETCH(rows.responses.column.data() + later);
            for (std::size_t f = 0; f < n_asked; f += kLine)
                LOCALMDI_PREFETCH(sums.values + later * n_features + f);
        }
        const std::int64_t its_leaf = rows.leaf[i * n_trees() + tree - first_];
        if (leaf != its_leaf) follow(at(static_cast<std::size_t>(leaf = its_leaf)), climb);
        const std::size_t row = rows.listed[i];
        add_climb(climb, static_cast<std::size_t>(rows.responses.column[row]), row, tree_weight,
                  sums);
    }
}

}  // namespace localmdi::explain
