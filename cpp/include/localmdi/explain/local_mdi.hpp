// Definition 1 of the paper for many rows, tile by tile.
#pragma once

#include <span>
#include <vector>

#include "localmdi/explain/rows.hpp"
#include "localmdi/forest/packed_forest.hpp"
#include "localmdi/support/parallel.hpp"

namespace localmdi::explain {

using forest::PackedForest;
using support::Interrupt;

struct Run {
    std::size_t n_threads = 1;
    bool simd = true;  // AVX2, where the processor has it; the bits are the same without
};

// values: n_rows × n_features, residual: n_rows; overwritten with means weighted by tree_weight.
// standard_error: like values, or null.
template <class Value>
void local_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
               double* residual, double* standard_error, const Run& run, Interrupt& interrupt);

// Each row's weight in some trees: weights is n_trees × n_rows, from tree `first` on.
struct TreeWeights {
    std::size_t first, n_trees;
    const double* weights;
};

// Adds to values and residual each row's importances in these trees, times its weight in the tree.
// Not divided by anything.
template <class Value>
void add_weighted_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows,
                      const TreeWeights& trees, double* values, double* residual, const Run& run,
                      Interrupt& interrupt);

// Compressed rows: what local_mdi gives, without its zeros.
struct SparseImportance {
    std::vector<double> data;
    std::vector<std::int64_t> indices, indptr;
    std::vector<double> residual;
};
template <class Value>
SparseImportance sparse_local_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows,
                                  const Run& run, Interrupt& interrupt);

}  // namespace localmdi::explain
