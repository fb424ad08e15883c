// Pairwise interactions from random orders (THEORY B.7: path sums in totally randomized trees).
#pragma once

#include "localmdi/bit_rows.hpp"
#include "localmdi/parallel.hpp"

namespace localmdi {

enum class PairIndex : std::uint8_t { Shapley, ShapleyTaylor, FaithShap };

struct PairRange {
    std::uint64_t seed;
    std::uint64_t first;  // order
    std::uint64_t count;
    PairIndex index;
};

// Adds to values and squares (n_features x n_features, entries i > j) the sums over pairs of paths
// of row x, which must be in the sample; a pair is an order and its reverse, and counts as their
// mean.
void sample_pairs(const Sample& sample, std::span<const std::int32_t> x, const PairRange& range,
                  double* values, double* squares, std::size_t n_threads, Interrupt& interrupt);

}  // namespace localmdi
