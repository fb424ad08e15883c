// Few distinct rows, any number of features (THEORY: exact local MDI, way d).
#pragma once

#include "localmdi/parallel.hpp"
#include "localmdi/sample.hpp"

namespace localmdi {

// Writes the local MDI of row x of the sample to values (n_features). The Möbius transform runs
// over the 2^(n_rows - 1) sets of other rows, so the cost does not depend on the number of
// features.
void row_dual(const Sample& sample, const Impurity& impurity, std::size_t x, double* values,
              Interrupt& interrupt);

// Most other rows for which the sums of the transform keep ten digits.
inline constexpr std::size_t kMaxDualRows = 20;

}  // namespace localmdi
