// All rows of the sample at once (THEORY: exact local MDI, way e).
#pragma once

#include "localmdi/parallel.hpp"
#include "localmdi/sample.hpp"

namespace localmdi {

// Writes the local MDI of every row of the sample to values (n_rows x n_features). Rows that agree
// on a set S share a group, so one pass over the groups of S serves all of them; a row drops out as
// soon as its group is pure or is the row alone, because nothing below can change its impurity.
void shared_partition(const Sample& sample, const Impurity& impurity, double* values,
                      std::size_t n_threads, Interrupt& interrupt);

// Expected number of row visits, from random sets S of every size with fixed seeds.
double estimate_shared_partition(const Sample& sample);

}  // namespace localmdi
