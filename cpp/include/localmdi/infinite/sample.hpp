// A categorical sample as the kernels of the infinite forest see it: distinct rows, and what is
// known about the output in each, as numbers that add up over rows.
//
// Everything below uses one fact: the local MDI of the infinite forest at x depends on a set of
// features S only through A(S), the rows that equal x on S. With g(S) = i(A(S)) − i(A(all)), the
// Shapley value of −g is the answer (Theorem 2). The ways to get there (docs/theory/algorithms.md,
// "Exact local MDI of the infinite forest") differ in what they enumerate:
//
//     lattice.hpp            block search      sets of features, for one row x
//     lattice_gain.hpp       block search      likewise, for the gain
//     shared_partition.hpp   shared partition  sets of features, for all rows at once
//     row_sets.hpp           row sets          the different A(S)
//     row_dual.hpp           row dual          sets of rows
//     sampled_paths.hpp      sampled paths     random orders of the features
//     sampled_cuts.hpp       sampled cuts      random features and cuts, where some are numbers
//
// Their comments all work out the same example, the exclusive or of two features: rows 00, 01, 10,
// 11 with classes 0, 1, 1, 0, explained at x = 00. Each feature gets half a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "localmdi/support/criterion.hpp"

namespace localmdi::infinite {

using support::Criterion;
using support::Measure;
using support::WeightedLog;

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
    explicit Impurity(const Sample& sample);

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
