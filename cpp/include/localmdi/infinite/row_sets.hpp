// Forward pass over distinct row sets: "row sets" in docs/theory/algorithms.md, and the one exact
// way that also serves rows that are not in the sample.
//
// Many sets of features leave the same rows, and from there on they have the same future. So the
// states are the row sets themselves, each with the probability of being on the path of x. At a set
// A where r features separate some row from x, each is the next with probability 1/r (a feature
// that separates nothing changes nothing, and is skipped). Exclusive or at x = 00:
//
//     {00 01 10 11}, 1     r = 2   x0 = 0 leaves {00 01}, x1 = 0 leaves {00 10}; nothing is gained
//     {00 01}, 1/2         r = 1   x1 = 0 leaves {00}: feature 1 gains 1/2 · (1 − 0)
//     {00 10}, 1/2         r = 1   x0 = 0 leaves {00}: feature 0 gains 1/2
//     {00}, 1              pure: the end
//
// Larger sets come first, because a set is only reached from larger ones: when its turn comes, its
// probability is complete. An edge's amount may be its gain as well as the drop of the impurity:
// the pass looks at edges, not at sums over sets.
//
// For a profile, a set's probability is kept by the number k of features that were asked before,
// those that were passed over included. Of the p − k that are left, each is the next with
// probability 1/(p − k); one that does not lead away only raises k.
//
// A numeric feature leads to as many sets as there are gaps between its values in A, each with the
// share of its gap in their range; x's own gap, if its value is not in A, leads to both sides.
#pragma once

#include "localmdi/infinite/bit_rows.hpp"

namespace localmdi::infinite {

struct RowSetAnswer {
    bool complete = false;  // false: more than the allowed number of operations
    double residual = 0.0;
    double support = 0.0;  // probability that no node on the path lacks x's value
};

struct RowSetQuestion {
    std::span<const std::int32_t> x;  // codes; -1 is a category of no row
    PathRules rules;
    double budget;                           // operations
    std::span<const double> x_numbers = {};  // where the sample has any
};

// Adds the local importances of x to values (n_features), which must be zero; with a profile
// (n_features x n_features, likewise), to profile[m, k] the part of feature m that is asked after
// k others.
RowSetAnswer forward_row_sets(const Sample& sample, const BitRows& rows,
                              const RowSetQuestion& question, double* values, double* profile,
                              Interrupt& interrupt);

}  // namespace localmdi::infinite
