// Sums over the nodes below each node: how statistics of rows that ended in the leaves, or where a
// split had no child for them, reach the splits above.
#pragma once

#include <cstddef>

#include "localmdi/forest/forest_view.hpp"

namespace localmdi::forest {

// sums, n_nodes × n_columns, holds what ended in each node; adds to every node what lies below it.
void add_children(const ForestView& forest, double* sums, std::size_t n_columns);

}  // namespace localmdi::forest
