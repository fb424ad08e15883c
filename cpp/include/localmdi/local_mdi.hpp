// Definition 1 of the paper for many rows, tile by tile.
#pragma once

#include <span>
#include <vector>

#include "localmdi/packed_forest.hpp"
#include "localmdi/parallel.hpp"
#include "localmdi/rows.hpp"

namespace localmdi {

struct Run {
    std::size_t n_threads = 1;
    bool simd = true;  // AVX2, where the processor has it; the bits are the same without
};

// values: n_rows × n_features, residual: n_rows; overwritten with means weighted by tree_weight.
// standard_error: like values, or null.
template <class Value>
void local_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
               double* residual, double* standard_error, const Run& run, Interrupt& interrupt);

// Adds to values and residual, for the trees first..last, each row's importances times its weight in
// the tree; weights: (last − first) × n_rows. Not divided by anything.
template <class Value>
void add_weighted_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, std::size_t first,
                      std::size_t last, const double* weights, double* values, double* residual,
                      const Run& run, Interrupt& interrupt);

// Compressed rows: what local_mdi gives, without its zeros.
struct SparseImportance {
    std::vector<double> data;
    std::vector<std::int64_t> indices, indptr;
    std::vector<double> residual;
};
template <class Value>
SparseImportance sparse_local_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows,
                                  const Run& run, Interrupt& interrupt);

}  // namespace localmdi
