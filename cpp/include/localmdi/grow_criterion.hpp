// What a node knows about its rows, and the impurity that follows: one class per family of
// criteria. A node's sums are n_sums() doubles; the first is the weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/grow.hpp"

namespace localmdi {

// c·log2 c; from a table while c is a small whole number, which the weights of plain rows are.
class WeightedLog {
public:
    WeightedLog(bool whole, double total) {
        if (!whole) return;
        table_.resize(static_cast<std::size_t>(std::min(total, 65536.0)) + 1, 0.0);
        for (std::size_t c = 2; c < table_.size(); ++c)
            table_[c] = static_cast<double>(c) * std::log2(static_cast<double>(c));
    }
    double operator()(double c) const {
        if (c < static_cast<double>(table_.size())) return table_[static_cast<std::size_t>(c)];
        return c > 0 ? c * std::log2(c) : 0.0;
    }

    double operator()(std::uint32_t c) const {
        if (c < table_.size()) return table_[c];
        return c > 0 ? c * std::log2(static_cast<double>(c)) : 0.0;
    }

private:
    std::vector<double> table_;
};

// Entropy or Gini of classes; the sums are the weight and the weight of each class.
template <Criterion kCriterion>
class ClassSums {
public:
    ClassSums(const Target& target, bool whole_weights, double total_weight)
        : label_(target.label),
          n_classes_(target.n_values),
          whole_(whole_weights),
          log_(whole_weights && kCriterion == Criterion::entropy, total_weight) {}

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
        const auto weight = static_cast<double>(total);
        if constexpr (kCriterion == Criterion::entropy) {
            // Two sums, so that an addition need not wait for the one before it.
            double even = 0, odd = 0;
            std::size_t c = 0;
            for (; c + 2 <= n_classes_; c += 2) {
                even += log_(counts[c]);
                odd += log_(counts[c + 1]);
            }
            if (c < n_classes_) even += log_(counts[c]);
            return std::max((log_(total) - (even + odd)) / weight, 0.0);
        } else {
            double square = 0;
            for (std::size_t c = 0; c < n_classes_; ++c) {
                const auto count = static_cast<double>(counts[c]);
                square += count * count;
            }
            return std::max(1.0 - square / (weight * weight), 0.0);
        }
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
        double content = sums[1 + n_outputs_];
        for (std::size_t o = 0; o < n_outputs_; ++o)
            content -= sums[1 + o] * (sums[1 + o] / sums[0]);
        return std::max(content / sums[0] / static_cast<double>(n_outputs_), 0.0);
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

}  // namespace localmdi
