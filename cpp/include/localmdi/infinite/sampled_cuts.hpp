// Local MDI from random paths where some features are numbers: "Numeric features" in
// docs/theory/algorithms.md.
//
// A number can be cut again and again, so that an order of the features says nothing about a path.
// At every node a feature is drawn among those that still vary, and for a number a cut; only the
// branch of x is followed, a list of rows that gets shorter. A feature that was found constant
// stays constant below and is not drawn again. Every path is followed a second time with all random
// bits turned over (a cut near the lower end becomes one near the upper end), so that errors of the
// two tend to cancel; the pair counts as one observation.
#pragma once

#include "localmdi/infinite/numbers.hpp"
#include "localmdi/infinite/sampled_paths.hpp"

namespace localmdi::infinite {

struct MixedRows {
    std::span<const std::int32_t> codes;  // (n_rows x n_features); read for categories
    std::span<const double> numbers;      // (n_rows x n_columns)
};

// Adds to the sums of every row of x, as `sample_paths` does.
void sample_cuts(const Sample& sample, const Numbers& numbers, const MixedRows& x,
                 const PathRange& range, const PathSums& sums, std::size_t n_threads,
                 Interrupt& interrupt);

}  // namespace localmdi::infinite
