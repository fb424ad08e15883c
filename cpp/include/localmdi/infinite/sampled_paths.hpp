// Local MDI from random orders of the features, followed along the branch of x only: "Sampled
// paths" in docs/theory/algorithms.md.
//
// A random order of all features is a random path of a totally randomized tree: features that split
// nothing are passed over, which is the same as never drawing them. Only x's branch is followed, at
// one AND and one count of bits per split. Each order is followed backwards as well: a feature that
// came late now comes early, so that the errors of the two tend to cancel. Exclusive or at x = 00:
//
//     order 0, 1    known: x0 = 0, nothing gained; then x1 = 0, feature 1 gains 1
//     order 1, 0    the other way round: feature 0 gains 1
//     their mean    1/2 each, which is exact
//
// A pair counts as one observation: the squares for the standard error are those of the means.
#pragma once

#include "localmdi/infinite/bit_rows.hpp"
#include "localmdi/infinite/path_tasks.hpp"

namespace localmdi::infinite {

using support::Interrupt;

// Sums over pairs of paths; a pair is an order and its reverse, and counts as their mean.
struct PathSums {
    double* values;    // (n_rows x n_features)
    double* squares;   // likewise, of the squares
    double* residual;  // (n_rows): impurity at the end of the path
    double* support;   // (n_rows): paths that never met a node without x's value

    // A part: values, squares, residual, support of one row.
    static std::size_t width(std::size_t p) { return 2 * p + 2; }
    void add(std::size_t row, std::size_t p, const double* part) const {
        for (std::size_t j = 0; j < p; ++j) {
            values[row * p + j] += part[j];
            squares[row * p + j] += part[p + j];
        }
        residual[row] += part[2 * p];
        support[row] += part[2 * p + 1];
    }
};

inline constexpr std::uint64_t kPairsPerChunk = 32;

struct PathRange {
    std::uint64_t seed;
    std::uint64_t first;  // pair
    std::uint64_t count;
    PathRules rules;
};

// Adds to the sums of every row of x (n_rows x n_features codes; -1 is a category of no row). All
// rows follow the same orders, so that a row's values do not depend on the rows beside it.
void sample_paths(const Sample& sample, std::span<const std::int32_t> x, const PathRange& range,
                  const PathSums& sums, std::size_t n_threads, Interrupt& interrupt);

}  // namespace localmdi::infinite
