// Sums over the rows that end in each node: all that statistics of nodes are made of.
#pragma once

#include <cstdint>

#include "localmdi/explain/local_mdi.hpp"

namespace localmdi::explain {

// What rows add to the node where they end. Of classes: their weight, in the column of their class,
// for every output. Of numbers: w in the first column, then wy and wy² for every output.
struct RowTargets {
    std::size_t n_outputs;
    const double* weight;        // n_rows
    const std::int32_t* column;  // n_rows × n_outputs, null: numbers
    const double* value;         // n_rows × n_outputs, null: classes
};

// n_nodes of the table × n_sums × n_parts. With two parts a sum is a DoubleDouble; one is enough
// for whole numbers.
struct NodeSums {
    double* sums;
    std::size_t n_sums, n_parts;
};

// Adds the rows, one after the other, to the nodes where they end. Threads share the trees, so that
// the bits depend neither on their number nor on how rows come in parts.
template <class Value>
void add_end_sums(const PackedForest<Value>& forest, const Rows<Value>& rows,
                  const RowTargets& targets, const NodeSums& out, const Run& run,
                  Interrupt& interrupt);

}  // namespace localmdi::explain
