// What a local measure gives out: an amount for every edge parent → child. Whoever computes the
// amounts, every kernel adds them up along a row's path, by split feature.
#pragma once

#include <span>

#include "localmdi/forest/forest_view.hpp"
#include "localmdi/support/criterion.hpp"

namespace localmdi::forest {

// Per node of the table.
struct Credits {
    // The amount that a row on the edge parent → node gives to the parent's split feature; not read
    // at roots. Empty for kernels that only route: every amount is 0.
    std::span<const double> amount;
    // What is left at a node, if the amounts telescope: on every path they sum to the root's
    // remainder minus that of the end. Empty if they do not; the residuals then mean nothing.
    std::span<const double> remainder;
};

// The amounts that make a quantity of the nodes telescope: level(parent) − level(node), 0 at roots.
// With the impurity for a level this is Definition 1 of the paper. Example: a root of impurity .75
// with leaves of 1 and 0 gives 0, −.25 and .75.
void edge_drops(const ForestView& forest, std::span<const double> level, double* amount);

// The gains of all edges, 0 at roots: the divergence of the criterion between the laws of child and
// parent. law: n_nodes × n_columns, the class frequencies or mean responses of the nodes; columns
// of several outputs are added up.
void edge_gains(const ForestView& forest, std::span<const double> law, support::Criterion criterion,
                double* amount);

}  // namespace localmdi::forest
