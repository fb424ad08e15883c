// Pairwise interactions from random orders: "Interactions" in docs/theory/algorithms.md.
//
// At every node of a random path, every pair of features that split it is looked at: what both
// together gain, minus what each gains alone. The weight of a node makes the mean over paths the
// wanted index; r is the number of features that split the node.
#pragma once

#include "localmdi/infinite/bit_rows.hpp"
#include "localmdi/infinite/path_tasks.hpp"

namespace localmdi::infinite {

using support::Interrupt;

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

}  // namespace localmdi::infinite
