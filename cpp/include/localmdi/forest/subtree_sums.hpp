// Sums over the nodes below each node: how statistics of rows that ended in the leaves, or where a
// split had no child for them, reach the splits above.
#pragma once

#include <cstddef>

#include "localmdi/forest/forest_view.hpp"
#include "localmdi/support/double_double.hpp"

namespace localmdi::forest {

using support::DoubleDouble;

// The nodes first..last of whole trees.
struct NodeRange {
    std::size_t first, last;
};

// sums, nodes × n_columns, holds what ended in each node; adds to every node what lies below it.
void add_children(const ForestView& forest, NodeRange nodes, double* sums, std::size_t n_columns);
void add_children(const ForestView& forest, NodeRange nodes, DoubleDouble* sums,
                  std::size_t n_columns);

// From sums (Σw, Σwy, Σwy², Σwy, Σwy², …) of one node, a pair for every output, to moments about
// the mean: mean, then Σw, Σw(y − mean), Σw(y − mean)², for every output. Subtracted before they
// are rounded, so that nothing cancels that the data do not cancel.
void center_moments(const DoubleDouble* sums, std::size_t n_outputs, double* moments);

}  // namespace localmdi::forest
