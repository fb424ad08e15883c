#include "localmdi/forest/subtree_sums.hpp"

namespace localmdi::forest {

void add_children(const ForestView& forest, double* sums, std::size_t n_columns) {
    // A child lies after its parent: backwards, every node is complete before it is added.
    for (std::size_t node = forest.n_nodes(); node-- > 0;)
        for (std::size_t k = 0; k < forest.n_children(node); ++k) {
            const std::size_t child = forest.child_of(node, k);
            for (std::size_t c = 0; c < n_columns; ++c)
                sums[node * n_columns + c] += sums[child * n_columns + c];
        }
}

}  // namespace localmdi::forest
