// What else is read off a row's paths: where it ends, and how the prediction moves.
#pragma once

#include <cstdint>
#include <span>

#include "localmdi/explain/local_mdi.hpp"

namespace localmdi::explain {

// ends: n_rows × (last − first), the node of the table where each row ends in each tree.
template <class Value>
void find_ends(const PackedForest<Value>& forest, const Rows<Value>& rows, std::size_t first,
               std::size_t last, std::int64_t* ends, const Run& run, Interrupt& interrupt);

// Saabas: out, n_rows × n_features × n_values, is overwritten with the sum over trees of
// scale[tree] × (value of the child − value of the node), by split feature.
template <class Value>
void saabas(const PackedForest<Value>& forest, const Rows<Value>& rows,
            std::span<const double> value, std::span<const double> scale, double* out,
            const Run& run, Interrupt& interrupt);

}  // namespace localmdi::explain
