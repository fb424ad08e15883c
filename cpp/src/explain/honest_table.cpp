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
    for (std::size_t node = root(tree) + 1; node < root(tree + 1); ++node) {
        const Node& below = nodes_[node];
        const Node& above = nodes_[below.parent];
        // A row among fewer than min_rows others reads nothing here.
        if (below.count < least || !(below.weight > weight)) continue;
        const double* const slope = slope_.data() + node * n_columns_;
        double* const out = table_.data() + node * n_columns_;
        for (std::size_t k = 0; k < n_columns_; ++k) {
            const double own = weight * slope[k];
            out[k] = (below.at_child - own) / (below.weight - weight) -
                     (below.at_parent - own) / (above.weight - weight);
        }
    }
}

// As climb_gain, for a row of a class whose edges are tabulated.
void HonestTrees::climb_table(std::size_t leaf, std::size_t column, std::size_t row,
                              double tree_weight, const HonestSums& sums) const {
    double* const values = sums.values + row * static_cast<std::size_t>(forest_.n_features);
    const double least = static_cast<double>(rules_.min_rows) + 1;
    std::size_t node = leaf, parent = nodes_[node].parent;
    // From the first node that counts on, all do.
    while (parent != node && nodes_[node].count < least) {
        node = parent;
        parent = nodes_[node].parent;
    }
    sums.weight[row] += tree_weight;
    for (; parent != node; node = std::exchange(parent, nodes_[parent].parent))
        values[nodes_[parent].feature] += tree_weight * table_[node * n_columns_ + column];
}

// The way from a leaf to the root, written down for all rows that ended there: a row that climbs by
// itself waits for every parent, because only the child knows where it is.
struct HonestTrees::Step {
    std::size_t feature;     // of the split above the node
    const double* by_class;  // what the table has for the node
};

void HonestTrees::follow(std::size_t node, std::vector<Step>& climb) const {
    const double least = static_cast<double>(rules_.min_rows) + 1;
    climb.clear();
    for (std::size_t parent = nodes_[node].parent; parent != node;
         node = std::exchange(parent, nodes_[parent].parent))
        if (nodes_[node].count >= least)
            climb.push_back({static_cast<std::size_t>(nodes_[parent].feature),
                             table_.data() + node * n_columns_});
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
    std::vector<Step> climb;
    std::int64_t leaf = -1;
    for (std::size_t i = begin; i < end; ++i) {
        if (held[i] == 0) continue;
        if (i + kAhead < end) {
            const std::size_t later = rows.listed[i + kAhead];
            LOCALMDI_PREFETCH(sums.weight + later);
            LOCALMDI_PREFETCH(rows.responses.column.data() + later);
            for (std::size_t f = 0; f < n_asked; f += kLine)
                LOCALMDI_PREFETCH(sums.values + later * n_features + f);
        }
        const std::int64_t its_leaf = rows.leaf[i * n_trees() + tree - first_];
        if (leaf != its_leaf) follow(at(static_cast<std::size_t>(leaf = its_leaf)), climb);
        const std::size_t row = rows.listed[i];
        const auto column = static_cast<std::size_t>(rows.responses.column[row]);
        double* const values = sums.values + row * n_features;
        sums.weight[row] += tree_weight;
        for (const auto& [feature, by_class] : climb)
            values[feature] += tree_weight * by_class[column];
    }
}

}  // namespace localmdi::explain
