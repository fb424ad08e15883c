#include "localmdi/forest/subtree_sums.hpp"

namespace localmdi::forest {
namespace {

template <class Sum>
void add_below(const ForestView& forest, NodeRange nodes, Sum* sums, std::size_t n_columns) {
    // A child lies after its parent: backwards, every node is complete before it is added.
    for (std::size_t node = nodes.last; node-- > nodes.first;) {
        Sum* const at = sums + (node - nodes.first) * n_columns;
        for (std::size_t k = 0; k < forest.n_children(node); ++k) {
            const Sum* const child = sums + (forest.child_of(node, k) - nodes.first) * n_columns;
            for (std::size_t c = 0; c < n_columns; ++c) at[c] = at[c] + child[c];
        }
    }
}

}  // namespace

void add_children(const ForestView& forest, NodeRange nodes, double* sums, std::size_t n_columns) {
    add_below(forest, nodes, sums, n_columns);
}

void add_children(const ForestView& forest, NodeRange nodes, DoubleDouble* sums,
                  std::size_t n_columns) {
    add_below(forest, nodes, sums, n_columns);
}

void center_moments(const DoubleDouble* sums, std::size_t n_outputs, double* moments) {
    const DoubleDouble weight = sums[0];
    for (std::size_t k = 0; k < n_outputs; ++k, moments += 4) {
        const DoubleDouble first = sums[1 + 2 * k], second = sums[2 + 2 * k];
        const double mean = weight.high > 0 ? first.high / weight.high : 0.0;
        const DoubleDouble centered = first + weight * -mean;
        moments[0] = mean;
        moments[1] = weight.high;
        moments[2] = centered.high;
        // Σw(y − m)² = Σwy² − m Σwy − m Σw(y − m)
        moments[3] = (second + first * -mean + centered * -mean).high;
    }
}

}  // namespace localmdi::forest
