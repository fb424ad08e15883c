#include "localmdi/forest/credits.hpp"

namespace localmdi::forest {

void edge_drops(const ForestView& forest, std::span<const double> level, double* amount) {
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
        amount[forest.tree_offset[tree]] = 0;
    for (std::size_t node = 0; node < forest.n_nodes(); ++node)
        for (std::size_t k = 0; k < forest.n_children(node); ++k) {
            const std::size_t child = forest.child_of(node, k);
            amount[child] = level[node] - level[child];
        }
}

void edge_gains(const ForestView& forest, std::span<const double> law, support::Criterion criterion,
                double* amount) {
    const std::size_t n_columns = law.size() / forest.n_nodes();
    const auto of = [&](std::size_t node) { return law.subspan(node * n_columns, n_columns); };
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
        amount[forest.tree_offset[tree]] = 0;
    for (std::size_t node = 0; node < forest.n_nodes(); ++node)
        for (std::size_t k = 0; k < forest.n_children(node); ++k) {
            const std::size_t child = forest.child_of(node, k);
            const auto before = of(node), after = of(child);
            double gain = 0;
            for (std::size_t c = 0; c < n_columns; ++c)
                gain +=
                    support::gain_slope(criterion, before[c], after[c]) * (after[c] - before[c]);
            amount[child] = gain;
        }
}

}  // namespace localmdi::forest
