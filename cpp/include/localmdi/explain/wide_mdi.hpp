// local_mdi of wide data.
#pragma once

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/spread_sinks.hpp"

namespace localmdi::explain {

// Whether a path meets so few of the features, and enough rows share it, that lists pay.
template <class Value>
bool is_wide(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& run);

// As local_mdi without standard errors, to the bit.
template <class Value>
void wide_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
              double* residual, const Run& run, Interrupt& interrupt);

// What SpreadSink writes for each row, to the bit.
template <class Value>
void wide_spread(const PackedForest<Value>& forest, const Rows<Value>& rows,
                 const SpreadScale& scale, const SpreadResult& result, const Run& run,
                 Interrupt& interrupt);

}  // namespace localmdi::explain
