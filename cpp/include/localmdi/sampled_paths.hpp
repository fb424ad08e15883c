// Local MDI from random orders of the features, followed along the branch of x only.
#pragma once

#include "localmdi/bit_rows.hpp"
#include "localmdi/parallel.hpp"

namespace localmdi {

// Sums over pairs of paths; a pair is an order and its reverse, and counts as their mean.
struct PathSums {
    double* values;    // (n_rows x n_features)
    double* squares;   // likewise, of the squares
    double* residual;  // (n_rows): impurity at the end of the path
    double* support;   // (n_rows): paths that never met a node without x's value
};

struct PathRange {
    std::uint64_t seed;
    std::uint64_t first;  // pair
    std::uint64_t count;
    Unseen unseen;
};

// Adds to the sums of every row of x (n_rows x n_features codes; -1 is a category of no row). All
// rows follow the same orders, so that a row's values do not depend on the rows beside it.
void sample_paths(const Sample& sample, std::span<const std::int32_t> x, const PathRange& range,
                  const PathSums& sums, std::size_t n_threads, Interrupt& interrupt);

}  // namespace localmdi
