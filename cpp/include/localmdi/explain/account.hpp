// The account: the loss of a forest's own prediction, divided exactly among the features.
//
// Let T be the trees that have not seen a row, f0 and fx the means over T of the values of roots
// and leaves: what is predicted before and after the features are known. On the way from f0 to fx
// feature m moves column k by
//
//     φ_mk = mean over T of Σ (V_ck − V_tk) over the edges t → c of the path that split on m,
//
// so that f0 + Σ_m φ_m = fx. Along the straight line between them a smooth loss L changes by
// Σ_m credit_m, credit_m = Σ_k w_k φ_mk, where w_k depends on the row, its answer, f0 and fx, but
// not on m (Python computes it; docs/theory/algorithms.md, "The account"). That is all a kernel
// needs to know: it adds Σ_k w_k (V_ck − V_tk) to the feature of every edge.
//
// Example: one column, a row with y = 1, f0 = ½, two trees that have not seen it with paths ½ → 1
// (split on a) and ½ → ¼ → ¾ (on b, then a): φ_a = (½ + ½)/2 = ½, φ_b = −¼/2 = −⅛, fx = ⅞. Squared
// loss: w = 2(y − f0) − (fx − f0) = ⅝, credits 5/16 and −5/64; they add up to ¼ − 1/64.
//
// With few trees a credit is biased and uncertain, because w follows the same trees as φ. To first
// order a tree b adds to the mean z_b = Σ_k w_k φ_bmk + Σ_k φ_mk s_k d_bk, with d_b the tree's own
// way from root to leaf and s_k = ∂w_k/∂d_k; the spread of z_b over trees gives the error, and
// Σ_k s_k Cov_b(φ_bmk, d_bk) / |T| is what the credit has too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/forest/forest_view.hpp"

namespace localmdi::explain {

// Rows, where they end in some consecutive trees, and which of these have not seen them.
struct UnseenRows {
    std::size_t first_tree, n_trees;
    std::span<const std::int64_t> leaf;    // n_rows × n_trees
    std::span<const std::uint8_t> unseen;  // n_trees × n_rows
};

// For each row the columns that count, and for each of them w; for errors also s.
struct Moves {
    std::size_t n_entries;
    std::span<const std::int32_t> column;  // n_rows × n_entries
    std::span<const double> weight;        // likewise
    std::span<const double> slope;         // likewise; empty without errors
};

class Account {
public:
    // value: n_nodes × n_columns; it must outlive this.
    Account(const forest::ForestView& forest, std::span<const double> value,
            std::span<const double> tree_weight);

    // Sums over the trees of T: of the values of roots and leaves (n_rows × n_columns), and of
    // the trees' weights.
    void add_ends(const UnseenRows& rows, std::span<double> start, std::span<double> end,
                  std::span<double> weight, const Run& run, support::Interrupt& interrupt) const;

    // Adds credits (n_rows × n_features); what divides by the trees is part of the weights.
    void add_credits(const UnseenRows& rows, const Moves& moves, std::span<double> credit,
                     const Run& run, support::Interrupt& interrupt) const;

    // The variance of the credits over these trees, and their excess. Here weights are not divided
    // by anything. NaN with fewer than two trees.
    void measure_spread(const UnseenRows& rows, const Moves& moves, std::span<double> variance,
                        std::span<double> excess, const Run& run,
                        support::Interrupt& interrupt) const;

    std::size_t n_trees() const { return tree_weight_.size(); }
    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_nodes() const { return steps_.size(); }

private:
    // From a node to its parent; a root leads to itself.
    struct Step {
        std::uint32_t up;      // so many nodes before this one
        std::int32_t feature;  // of the parent's split
    };
    struct Spread;

    std::size_t n_features_, n_columns_;
    std::span<const double> value_, tree_weight_;
    std::vector<std::int64_t> root_;
    std::vector<Step> steps_;
};

}  // namespace localmdi::explain
