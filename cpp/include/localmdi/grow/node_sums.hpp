// What a node knows about its rows, and the impurity that follows: one class per family of
// criteria. A node's sums are n_sums() doubles; the first is the weight.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/support/criterion.hpp"

namespace localmdi::grow {

using support::WeightedLog;

// Entropy or Gini of classes; the sums are the weight and the weight of each class.
template <Criterion kCriterion>
class ClassSums {
public:
    ClassSums(const Target& target, bool whole_weights, double total_weight)
        : label_(target.label),
          n_classes_(target.n_values),
          whole_(whole_weights),
          log_(whole_weights && kCriterion == Criterion::entropy
                   ? WeightedLog(total_weight, kLargestLog)
                   : WeightedLog()) {}

    std::size_t n_sums() const { return n_classes_ + 1; }
    // Whether a child's sums may be taken as the rest of its parent's: exact for whole numbers.
    bool exact() const { return whole_; }
    std::span<const std::uint32_t> label() const { return label_; }

    // The weight itself comes with finish(): adding to it here would make every row wait.
    void add(double* sums, std::uint32_t row, double weight) const {
        sums[1 + label_[row]] += weight;
    }
    void finish(double* sums) const {
        for (std::size_t c = 0; c < n_classes_; ++c) sums[0] += sums[1 + c];
    }

    double impurity(const double* sums) const { return impurity(sums[0], sums + 1); }

    // Of the weights of the classes, or the numbers of their rows.
    template <class Count>
    double impurity(Count total, const Count* counts) const {
        const std::span<const Count> all(counts, n_classes_);
        if constexpr (kCriterion == Criterion::entropy) return support::entropy(log_, total, all);
        else return support::gini(total, all);
    }

    bool pure(double impurity, std::span<const std::uint32_t>) const { return impurity == 0; }

    // Puts the value of a leaf among those of the tree, and returns where.
    std::uint32_t store(const double* sums, double impurity, std::span<const std::uint32_t> rows,
                        TreeWriter& tree) const {
        return store_counts(sums + 1, impurity, rows, tree);
    }
    template <class Count>
    std::uint32_t store_counts(const Count* counts, double impurity,
                               std::span<const std::uint32_t> rows, TreeWriter& tree) const {
        if (impurity == 0 && !rows.empty()) return label_[rows[0]];
        const auto place = static_cast<std::uint32_t>(tree.values.size() / n_classes_);
        tree.values.insert(tree.values.end(), counts, counts + n_classes_);
        return kDense | place;
    }

private:
    // Half a megabyte. Only the topmost nodes of large samples have more rows.
    static constexpr std::size_t kLargestLog = 65536;

    std::span<const std::uint32_t> label_;
    std::size_t n_classes_;
    bool whole_;
    WeightedLog log_;
};

// Variance, the mean over outputs; the sums are the weight, Σwy of each output, and Σwy² of all.
class ResponseSums {
public:
    ResponseSums(const Target& target, bool, double)
        : response_(target.response), n_outputs_(target.n_values) {}

    std::size_t n_sums() const { return n_outputs_ + 2; }
    bool exact() const { return false; }
    std::span<const std::uint32_t> label() const { return {}; }

    void add(double* sums, std::uint32_t row, double weight) const {
        const double* const y = response_.data() + row * n_outputs_;
        sums[0] += weight;
        for (std::size_t o = 0; o < n_outputs_; ++o) {
            sums[1 + o] += weight * y[o];
            sums[1 + n_outputs_] += weight * y[o] * y[o];
        }
    }

    void finish(double*) const {}

    double impurity(const double* sums) const {
        return support::variance(sums[0], {sums + 1, n_outputs_}, sums[1 + n_outputs_]);
    }

    // From the rows themselves: rounding leaves no exact zero in the sums.
    bool pure(double, std::span<const std::uint32_t> rows) const {
        const double* const first = response_.data() + rows[0] * n_outputs_;
        for (const std::uint32_t row : rows)
            for (std::size_t o = 0; o < n_outputs_; ++o)
                if (response_[row * n_outputs_ + o] != first[o]) return false;
        return true;
    }

    std::uint32_t store(const double* sums, double, std::span<const std::uint32_t>,
                        TreeWriter& tree) const {
        const auto place = static_cast<std::uint32_t>(tree.values.size() / n_outputs_);
        tree.values.insert(tree.values.end(), sums + 1, sums + 1 + n_outputs_);
        return kDense | place;
    }

private:
    std::span<const double> response_;
    std::size_t n_outputs_;
};

}  // namespace localmdi::grow
