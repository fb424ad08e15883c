// What a few trees, grown by one thread, add to the sums of a forest.
//
// A chunk is summed from zero and then added to the forest's sums as a whole, chunks in order.
// Which thread grew it cannot be seen in the result; and the threads meet once per chunk, not once
// per row and tree. The squares of the chunks' sums are what the standard errors are made of.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/row_sums.hpp"

namespace localmdi::grow {

class GrowChunk {
public:
    GrowChunk(const TrainingRows& rows, const Target& target, bool honest, bool out_of_bag)
        : tree(target.criterion),
          n_features_(rows.n_features),
          n_values_(target.n_values),
          rows_(rows.n_rows, rows.n_features),
          feature_(3 * rows.n_features),
          tree_feature_(rows.n_features),
          out_of_bag_(out_of_bag ? rows.n_rows * (target.n_values + 1) : 0),
          held_out_(honest ? rows.n_rows : 0) {
        if (honest) rows_.clear();
    }

    void add_rows(const TreeImportance& importance, std::span<const std::uint32_t> rows) {
        if (honest()) return;  // only rows that the tree has not seen are explained
        rows_.add(importance, rows);
    }

    // One split's part of the tree's global importances, p(t) Δi(s_t, t) of Equation 2, times the
    // weight of the tree: that is divided once, not at every split.
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

    // The tree finished last; valid until the next one begins.
    const GrownTree& last_tree() const { return last_kept_ ? trees_.back() : last_; }

    // Where their honest values are added up.
    explain::HonestSums honest_sums() {
        return {rows_.values(), nullptr, nullptr, held_out_.data()};
    }

    void finish_tree(double root_impurity, double root_weight, bool keep) {
        double total = 0;
        for (double& importance : tree_feature_) {
            if (root_weight > 0) importance /= root_weight;
            total += importance;
        }
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
        rows_.end_tree();
        last_kept_ = keep;
        if (keep) trees_.push_back(tree.end(true));
        else last_ = tree.end(false);
    }

    // Adds everything to the sums of the forest and starts anew.
    void commit(const GrowSums& sums, GrownTrees* trees) {
        if (trees) std::ranges::move(trees_, std::back_inserter(trees->trees));
        trees_.clear();
        rows_.commit(sums.values, sums.residual, sums.chunk_squares);
        for (std::size_t f = 0; f < n_features_; ++f) {
            sums.feature[f] += feature_[f];
            sums.feature_square[f] += feature_[n_features_ + f];
            sums.feature_share[f] += feature_[2 * n_features_ + f];
        }
        std::fill(feature_.begin(), feature_.end(), 0.0);
        move(root_, sums.root);
        if (!out_of_bag_.empty()) move(out_of_bag_, sums.out_of_bag);
        if (!honest()) return;
        rows_.clear();
        move(held_out_, sums.held_out);
    }

    TreeWriter tree;

private:
    bool honest() const { return !held_out_.empty(); }

    static void move(std::vector<double>& from, double* to) {
        for (std::size_t i = 0; i < from.size(); ++i) to[i] += std::exchange(from[i], 0.0);
    }

    std::size_t n_features_, n_values_;
    RowSums rows_;
    std::vector<double> feature_, tree_feature_, out_of_bag_;
    std::vector<double> held_out_;  // honest values only
    std::vector<double> root_ = {0, 0};
    std::vector<GrownTree> trees_;  // those that were kept
    GrownTree last_{};              // one that was not
    bool last_kept_ = false;
};

}  // namespace localmdi::grow
