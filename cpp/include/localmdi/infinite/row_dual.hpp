// Few distinct rows, any number of features: "row dual" in docs/theory/algorithms.md.
//
// Turn the question round. For a set F of other rows let i(F) be the impurity of F together with x,
// and î its Möbius transform: i(F) = Σ î(G) over G ⊆ F. The term î(G) counts as long as all rows of
// G still agree with x, and ends with the first known feature that separates one of them from x. In
// a random order each of the |D(G)| features that do so is the first with equal chances, hence
//
//     φ_m = Σ î(G) / |D(G)| over the nonempty G with m in D(G).
//
// Exclusive or at x = 00; a = 01, b = 10, c = 11; D(a) = {1}, D(b) = {0}, all others {0, 1}:
//
//     G       a      b      c      ab       ac       bc       abc
//     i(G)    1      1      0      0.918    0.918    0.918    1
//     î(G)    1      1      0      −1.082   −0.082   −0.082   0.245
//
//     φ_0 = î(b) + (0 − 1.082 − 0.082 − 0.082 + 0.245) / 2 = 1 − 1/2 = 1/2
//
// |D(G)| is p minus the features that separate no row of G: a subset sum over the complement. In
// the same way Σ over G with m in D(G) is the sum over all G minus that over the G that m separates
// from nothing. The terms of î alternate and grow, which is why kMaxDualRows exists.
#pragma once

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

// Writes the local MDI of row x of the sample to values (n_features). The Möbius transform runs
// over the 2^(n_rows - 1) sets of other rows, so the cost does not depend on the number of
// features.
void row_dual(const Sample& sample, const Impurity& impurity, std::size_t x, double* values,
              Interrupt& interrupt);

// Most other rows for which the sums of the transform keep ten digits.
inline constexpr std::size_t kMaxDualRows = 20;

}  // namespace localmdi::infinite
