// local_mdi of a symmetric forest.
#pragma once

#include "localmdi/explain/local_mdi.hpp"

namespace localmdi::explain {

// As local_mdi without standard errors, to the bit; the forest must have a symmetric form.
template <class Value>
void symmetric_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
                   double* residual, const Run& run, Interrupt& interrupt);

}  // namespace localmdi::explain
