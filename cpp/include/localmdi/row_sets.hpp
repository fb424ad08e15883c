// Forward pass over distinct row sets (THEORY: exact local MDI, way c): the one that also serves
// rows that are not in the sample.
#pragma once

#include "localmdi/bit_rows.hpp"
#include "localmdi/parallel.hpp"

namespace localmdi {

struct RowSetAnswer {
    bool complete = false;  // false: more than the allowed number of operations
    double residual = 0.0;
    double support = 0.0;  // probability that no node on the path lacks x's value
};

// Adds the local MDI of x (codes; -1 is a category of no row) to values, which must be zero.
RowSetAnswer forward_row_sets(const Sample& sample, const BitRows& rows,
                              std::span<const std::int32_t> x, Unseen unseen, double budget,
                              double* values, Interrupt& interrupt);

}  // namespace localmdi
