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

}  // namespace localmdi::forest
