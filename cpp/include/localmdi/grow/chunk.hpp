// What a few trees, grown by one thread, add to the sums of a forest.
//
// A chunk is summed from zero and then added to the forest's sums as a whole, chunks in order.
// Which thread grew it cannot be seen in the result; and the threads meet once per chunk, not once
// per row and tree. The squares of the chunks' sums are what the standard errors are made of.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "localmdi/explain/sinks.hpp"
#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/row_loops.hpp"

namespace localmdi::grow {

using explain::SumSink;
using explain::TreeImportance;
using support::has_avx2;

class GrowChunk {
public:
    GrowChunk(const TrainingRows& rows, const Target& target, bool honest, bool out_of_bag)
        : tree(target.criterion),
          n_features_(rows.n_features),
          n_values_(target.n_values),
          values_(rows.n_rows * rows.n_features, 0.0),
          residual_(rows.n_rows),
          feature_(3 * rows.n_features),
          tree_feature_(rows.n_features),
          out_of_bag_(out_of_bag ? rows.n_rows * (target.n_values + 1) : 0),
          held_out_(honest ? rows.n_rows : 0),
          baseline_(held_out_.size()) {}

    void add_rows(const TreeImportance& importance, std::span<const std::uint32_t> rows) {
        if (honest()) return;  // only rows that the tree has not seen are explained
#ifdef LOCALMDI_AVX2
        if (avx2_ && importance.path.size() * 8 >= n_features_) {
            for (const std::size_t row : rows) {
                residual_[row] += importance.remainder;
                add_avx2(values_.data() + row * n_features_, importance.values.data(), n_features_);
            }
            return;
        }
#endif
        SumSink(values_.data(), residual_.data(), n_features_).add(importance, rows);
    }

    // These rows will be added to soon: by then the memory they lie in should have arrived.
    void expect_rows(std::span<const std::uint32_t> rows) const {
#ifdef __GNUC__
        constexpr std::size_t kLine = 64 / sizeof(double), kMostLines = 32;
        if (honest() || n_features_ > kLine * kMostLines) return;
        for (const std::size_t row : rows)
            for (std::size_t f = 0; f < n_features_; f += kLine)
                __builtin_prefetch(values_.data() + row * n_features_ + f, 1);
#endif
    }

    // p(t) Δi(s_t, t): one split's part of the tree's global importances (Equation 2).
    void add_decrease(std::uint32_t feature, double decrease) {
        tree_feature_[feature] += decrease;
    }

    // Rows that the tree did not draw and that ended where the drawn ones have these sums.
    void add_out_of_bag(const double* sums, std::span<const std::uint32_t> rows) {
        if (out_of_bag_.empty() || sums[0] <= 0) return;
        for (const std::size_t row : rows) {
            double* const out = out_of_bag_.data() + row * (n_values_ + 1);
            for (std::size_t v = 0; v < n_values_; ++v) out[v] += sums[1 + v] / sums[0];
            out[n_values_] += 1;
        }
    }
    bool predicts() const { return !out_of_bag_.empty(); }

    // The trees since the last commit(), if they were kept.
    std::span<const GrownTree> trees() const { return trees_; }

    // Where their honest values are added up.
    explain::HonestSums honest_sums(explain::Measure measure) {
        const bool drop = measure == explain::Measure::drop;
        return {values_.data(),
                nullptr,
                nullptr,
                drop ? residual_.data() : nullptr,
                drop ? baseline_.data() : nullptr,
                held_out_.data()};
    }

    void finish_tree(double root_impurity, bool keep) {
        double total = 0;
        for (const double importance : tree_feature_) total += importance;
        double* const square = feature_.data() + n_features_;
        double* const share = square + n_features_;
        for (std::size_t f = 0; f < n_features_; ++f) {
            const double importance = tree_feature_[f];
            feature_[f] += importance;
            square[f] += importance * importance;
            if (total > 0) share[f] += importance / total;
        }
        std::fill(tree_feature_.begin(), tree_feature_.end(), 0.0);
        root_[0] += root_impurity;
        root_[1] += tree[0].kind != SplitKind::leaf;
        GrownTree grown = tree.end(keep);
        if (keep) trees_.push_back(std::move(grown));
    }

    // Adds everything to the sums of the forest and starts anew.
    void commit(const GrowSums& sums, GrownTrees* trees) {
        if (trees) std::ranges::move(trees_, std::back_inserter(trees->trees));
        trees_.clear();
        if (sums.chunk_squares)
            for (std::size_t i = 0; i < values_.size(); ++i)
                sums.chunk_squares[i] += values_[i] * values_[i];
        move(values_, sums.values);
        move(residual_, sums.residual);
        for (std::size_t f = 0; f < n_features_; ++f) {
            sums.feature[f] += feature_[f];
            sums.feature_square[f] += feature_[n_features_ + f];
            sums.feature_share[f] += feature_[2 * n_features_ + f];
        }
        std::fill(feature_.begin(), feature_.end(), 0.0);
        move(root_, sums.root);
        if (!out_of_bag_.empty()) move(out_of_bag_, sums.out_of_bag);
        if (!honest()) return;
        move(held_out_, sums.held_out);
        move(baseline_, sums.baseline);
    }

    TreeWriter tree;

private:
    bool honest() const { return !held_out_.empty(); }

    template <class Vector>
    static void move(Vector& from, double* to) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            to[i] += from[i];
            from[i] = 0;
        }
    }

    std::size_t n_features_, n_values_;
    LargeVector<double> values_;
    std::vector<double> residual_, feature_, tree_feature_, out_of_bag_;
    std::vector<double> held_out_, baseline_;  // honest values only
    std::vector<double> root_ = {0, 0};
    std::vector<GrownTree> trees_;
    bool avx2_ = has_avx2();
};

}  // namespace localmdi::grow
