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
    template <class Count>
    double operator()(Count c) const {
        return in_table(c) ? small(c) : large(c);
    }

    // Of counts that make up the total.
    template <class Count>
    double sum(Count total, std::span<const Count> counts) const {
        if (in_table(total)) return sum(counts, [this](Count c) { return small(c); });
        return sum(counts, [this](Count c) { return (*this)(c); });
    }

private:
    template <class Count>
    bool in_table(Count c) const {
        return static_cast<double>(c) < static_cast<double>(table_.size());
    }
    template <class Count>
    double small(Count c) const {
        return table_[static_cast<std::size_t>(c)];
    }
    template <class Count>
    static double large(Count c) {
        const auto weight = static_cast<double>(c);
        return c > 0 ? weight * std::log2(weight) : 0.0;
    }

    template <class Count, class Log>
    static double sum(std::span<const Count> counts, Log log) {
        // Two sums, so that an addition need not wait for the one before it.
        double even = 0, odd = 0;
        std::size_t c = 0;
        for (; c + 2 <= counts.size(); c += 2) {
            even += log(counts[c]);
            odd += log(counts[c + 1]);
        }
        if (c < counts.size()) even += log(counts[c]);
        return even + odd;
    }

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
            return std::max((log_(total) - log_.sum(total, {counts, n_classes_})) / weight, 0.0);
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
