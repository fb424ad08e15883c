// All rows of the sample at once: "shared partition" in docs/theory/algorithms.md.
//
// A set S of features cuts the sample into groups of rows that agree on S, and the group of x is
// A(S) for every x in it. One impurity per group serves all its rows. The search goes over the sets
// as words in a dictionary: S, then S with each later feature. With u(t) = w(t − 1) + w(t),
//
//     φ_m = Σ_S w(|S|) g(S) − Σ_{T with m} u(|T|) g(T),
//
// where the second sum for m is collected on the way back up: `below` of an item is its sum over S
// and all sets searched from S, and it belongs to the feature that led to S. Exclusive or, every
// row alike, w = (1/2, 1/2, 0) and u(1) = 1:
//
//     S          {}            {0}                {1}                {0, 1}
//     groups     all four      {00 01} {10 11}    {00 10} {01 11}    single rows: dropped
//     g          1             1                  1                  0
//
//     φ_0 = 1/2 + (1/2 + 1/2) − 1 = 1/2
//
// The two sums are large and nearly cancel, so both are kept with Kahan's correction.
//
// Gains belong to edges S → S + m, so for them the groups of S are split by every feature that is
// not in S, also by those that come earlier in the dictionary. Groups that are dropped gain
// nothing, but are still reached: {00 01} → {00} gives the row 00 one bit with the weight w(1) =
// 1/2.
#pragma once

#include <limits>
#include <vector>

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

// Writes the local MDI of every row of the sample to values (n_rows x n_features). Rows that agree
// on a set S share a group, so one pass over the groups of S serves all of them; a row drops out as
// soon as its group is pure or is the row alone, because nothing below can change its impurity.
// Returns the number of row visits: rows of a set, and rows of a group that is split.
double shared_partition(const Sample& sample, const Impurity& impurity, Measure measure,
                        double* values, std::size_t n_threads, Interrupt& interrupt);

// Expected number of row visits, from random sets S of every size with fixed seeds. Where few rows
// are described by many features, most of them are visits of S by features that leave no group: a
// set whose groups all fall apart costs as much as its parent has rows. Counting ends above
// `limit`, because who has another way that takes no longer need not know how much more it is.
double estimate_shared_partition(const Sample& sample, Measure measure,
                                 double limit = std::numeric_limits<double>::infinity());

// The weights of Theorem 2: a set of s features stands before one of the p - s others in a random
// order with probability w(s) = s! (p - s - 1)! / p!.
class ShapleyWeights {
public:
    explicit ShapleyWeights(std::size_t p) : w_(p + 1, 0.0) {
        if (p == 0) return;
        w_[0] = 1.0 / static_cast<double>(p);
        for (std::size_t s = 1; s < p; ++s)
            w_[s] = w_[s - 1] * static_cast<double>(s) / static_cast<double>(p - s);
    }
    double w(std::size_t s) const { return w_[s]; }
    double u(std::size_t s) const { return w_[s] + (s > 0 ? w_[s - 1] : 0.0); }

private:
    std::vector<double> w_;  // w(p) = 0
};

}  // namespace localmdi::infinite
