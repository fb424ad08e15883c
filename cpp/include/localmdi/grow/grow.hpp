// Growing totally randomized trees (K = 1) and the best of K random splits, with the local
// importances of the training rows added up on the way: a row's path is known while its tree grows.
//
// Where to look: `grow` (grow.cpp) hands chunks of trees to threads. A tree is grown by PlainGrower
// in the case that most forests are, else by TreeGrower, which asks SplitChooser for splits and
// RowLists to divide rows. Both keep the Branch they are on, draw from TreeRandom, and add to a
// GrowChunk. HonestRows explains the rows that a tree was not grown on. docs/kernels.md grows a
// tree by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "localmdi/explain/honest.hpp"
#include "localmdi/grow/grown_trees.hpp"
#include "localmdi/support/parallel.hpp"

namespace localmdi::grow {

using support::Interrupt;

struct TrainingRows {
    std::size_t n_rows, n_features;
    std::span<const float> columns;             // feature-major; categories as codes 0, 1, …
    std::span<const std::uint8_t> categorical;  // per feature
    std::span<const std::uint8_t> missing;      // per feature: NaN occurs (numeric ones only)
    std::span<const double> weight;  // per row; rows of weight 0 are routed but not counted

    const float* column(std::size_t f) const { return columns.data() + f * n_rows; }
};

struct Target {
    Criterion criterion;
    std::size_t n_values;                  // classes, or outputs of a regression
    std::span<const std::uint32_t> label;  // per row, for classes
    std::span<const double> response;      // n_rows × n_values, near 0 on average, for regression
};

enum class Draw : std::uint8_t { theory, sklearn };

struct GrowRules {
    std::uint64_t seed = 0;
    std::size_t max_features = 1;  // K
    Draw draw = Draw::theory;
    std::size_t max_depth = ~std::size_t{0};
    std::size_t min_samples_split = 2;
    std::size_t min_samples_leaf = 1;
    double min_weight_leaf = 0;  // share of the tree's weight
    double min_impurity_decrease = 0;
    std::size_t n_draws = 0;     // rows drawn with replacement for each tree; 0: take all
    bool balance_draws = false;  // weigh the drawn rows so that their classes weigh the same
    // Grow each tree on half of the rows and explain the others by the honest gain
    // (explain/honest.hpp), instead of all rows by Definition 1. Not with n_draws.
    bool honest = false;
    std::size_t min_rows = 10;
};

// Whether every row counts once in every tree.
inline bool each_row_once(const TrainingRows& rows, const GrowRules& rules) {
    return rules.n_draws == 0 &&
           std::ranges::all_of(rows.weight, [](double weight) { return weight == 1; });
}

// Sums over trees, to which grow() adds. Trees are added in chunks of kChunk, each summed from
// zero, chunks in order: the same bits for any number of threads.
inline constexpr std::size_t kChunk = 8;

struct GrowSums {
    double* values;          // n_rows × n_features: Definition 1, or honest gains
    double* chunk_squares;   // like values, or null: squares of the chunks' sums
    double* residual;        // n_rows: impurity where the row ended; honest gains have none
    double* feature;         // n_features: Equation 3, global importances
    double* feature_square;  // n_features: squares of each tree's
    double* feature_share;   // n_features: each tree's divided by their sum
    double* root;            // 2: impurity at the root; number of trees with a split
    double* out_of_bag;      // n_rows × (n_values + 1), or null: predictions of the trees that did
                             // not draw the row, and their number
    double* held_out;        // n_rows, honest values only: number of trees that held the row out
};

struct TreeRange {
    std::size_t first, count;  // the first is a multiple of kChunk, for the order of summation
};

// Grows trees and adds them to the sums and, unless null, to `trees`. The trees do not depend on
// the number of threads.
void grow(const TrainingRows& rows, const Target& target, const GrowRules& rules, TreeRange range,
          const GrowSums& sums, GrownTrees* trees, std::size_t n_threads, Interrupt& interrupt);

}  // namespace localmdi::grow
