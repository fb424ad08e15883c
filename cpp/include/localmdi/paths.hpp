// What else is read off a row's paths: where it ends, how the prediction moves, and sums over
// nodes.
#pragma once

#include <cstdint>
#include <span>

#include "localmdi/local_mdi.hpp"

namespace localmdi {

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

// sums, n_nodes × n_columns, holds what ended in each node; adds to every node what lies below it.
void add_children(const ForestView& forest, double* sums, std::size_t n_columns);

}  // namespace localmdi
