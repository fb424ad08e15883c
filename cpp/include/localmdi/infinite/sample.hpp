// A categorical sample as the kernels of the infinite forest see it: distinct rows, and what is
// known about the output in each, as numbers that add up over rows.
//
// Everything below uses one fact: the local MDI of the infinite forest at x depends on a set of
// features S only through A(S), the rows that equal x on S. With g(S) = i(A(S)) − i(A(all)), the
// Shapley value of −g is the answer (Theorem 2). The ways to get there (docs/theory/algorithms.md,
// "Exact local MDI of the infinite forest") differ in what they enumerate:
//
//     lattice.hpp            block search      sets of features, for one row x
//     shared_partition.hpp   shared partition  sets of features, for all rows at once
//     row_sets.hpp           row sets          the different A(S)
//     row_dual.hpp           row dual          sets of rows
//     sampled_paths.hpp      sampled paths     random orders of the features
//                            sampled cuts      random features and cuts, where some are numbers
//
// Their comments all work out the same example, the exclusive or of two features: rows 00, 01, 10,
// 11 with classes 0, 1, 1, 0, explained at x = 00. Each feature gets half a bit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "localmdi/support/criterion.hpp"
#include "localmdi/support/parallel.hpp"

namespace localmdi::infinite {

using support::Criterion;
using support::Interrupt;
using support::Measure;
using support::WeightedLog;

// Numeric features beside the categories of a sample: they are cut, and can be cut again.
//
// A totally randomized tree cuts a numeric feature at a number drawn uniformly between the smallest
// and the largest value in the node; x goes to the side where its own value is, at most the cut or
// above it. With the values 0, 1 and 4 in a node, the cut falls between 1 and 4 with probability
// 3/4.
struct Numbers {
    std::size_t n_columns = 0;
    std::span<const double> values;        // (n_rows x n_columns), of the distinct rows
    std::span<const std::int32_t> column;  // of each feature; -1 is a category

    bool is_number(std::size_t feature) const { return n_columns != 0 && column[feature] >= 0; }
    double operator()(std::size_t row, std::size_t feature) const {
        return values[row * n_columns + static_cast<std::size_t>(column[feature])];
    }
    double of(std::span<const double> x, std::size_t feature) const {
        return x[static_cast<std::size_t>(column[feature])];
    }
};

// Row i adds entry_weight[e] to slot entry_slot[e] for e in entry_offset[i] .. entry_offset[i + 1].
// Slots are classes, or for the variance the weight, the sum of y and the sum of y².
struct Sample {
    std::size_t n_features;
    std::size_t n_slots;
    Criterion criterion;
    std::span<const std::int32_t> codes;  // row-major
    std::span<const std::int64_t> entry_offset;
    std::span<const std::int32_t> entry_slot;
    std::span<const double> entry_weight;
    std::span<const std::int32_t> label;  // the one output value of a row, -1 if it has several
    Numbers numbers = {};

    std::size_t n_rows() const { return label.size(); }
    std::span<const std::int32_t> row(std::size_t i) const {
        return codes.subspan(i * n_features, n_features);
    }
    void add_row(std::size_t i, double* slots) const {
        for (auto e = static_cast<std::size_t>(entry_offset[i]);
             e < static_cast<std::size_t>(entry_offset[i + 1]); ++e)
            slots[entry_slot[e]] += entry_weight[e];
    }
};

// The impurity of a set of rows from the sums of their slots, by the criterion of the sample.
class Impurity {
public:
    explicit Impurity(const Sample& sample) : criterion_(sample.criterion), log_(log_for(sample)) {}

    // Slots that are 0 may be left out, except for the variance. Whole counts may come as whole
    // numbers, whose sum must fit their type: the same bits, sooner.
    template <class Count>
    double operator()(const Count* slots, std::size_t n_slots) const {
        if constexpr (std::is_same_v<Count, double>)
            if (criterion_ == Criterion::variance)
                return support::variance(slots[0], {slots + 1, 1}, slots[2]);
        Count total = slots[0];
        for (std::size_t c = 1; c < n_slots; ++c) total = static_cast<Count>(total + slots[c]);
        const std::span<const Count> counts(slots, n_slots);
        if (criterion_ == Criterion::gini) return support::gini(total, counts);
        return support::entropy(log_, total, counts);
    }

private:
    // Eight megabytes: beyond this many rows a table of c·log2(c) no longer fits a cache.
    static constexpr std::size_t kLargestLog = std::size_t{1} << 20;

    static WeightedLog log_for(const Sample& sample) {
        if (sample.criterion != Criterion::entropy) return {};
        double total = 0.0;
        for (const double weight : sample.entry_weight) {
            if (weight != std::floor(weight)) return {};
            total += weight;
        }
        return {total, kLargestLog};
    }

    Criterion criterion_;
    WeightedLog log_;
};

// The gain of an edge from the sums of the slots of its two ends, by the criterion of the sample.
//
// Sums become laws first, because a set is an end of many edges. Counts that are whole and in equal
// proportions become the same numbers, whose gain is exactly 0.
class Gain {
public:
    explicit Gain(const Sample& sample) : criterion_(sample.criterion) {}

    // Replaces slots by the law: the share of each class, or the mean in the first place.
    void to_law(double* slots, std::size_t n_slots) const {
        if (criterion_ == Criterion::variance) {
            slots[0] = slots[1] / slots[0];
            return;
        }
        double total = slots[0];
        for (std::size_t c = 1; c < n_slots; ++c) total += slots[c];
        for (std::size_t c = 0; c < n_slots; ++c) slots[c] /= total;
    }

    // Exclusive or, {00 01} → {00}: laws (1/2, 1/2) and (1, 0) give 1 bit.
    double operator()(const double* parent, const double* child, std::size_t n_slots) const {
        const std::size_t n = criterion_ == Criterion::variance ? 1 : n_slots;
        double gain = 0;
        for (std::size_t c = 0; c < n; ++c)
            gain += support::gain_slope(criterion_, parent[c], child[c]) * (child[c] - parent[c]);
        return gain;
    }

private:
    Criterion criterion_;
};

}  // namespace localmdi::infinite
