// The subset lattice of one row x of the sample: "block search" in docs/theory/algorithms.md.
//
// g(S) = i(rows that equal x on S) - i(rows that equal x). Shapley values, their degrees and
// pairwise interactions are all weighted sums of g by the size of S and by the features in S, so
// one depth-first search that collects these sums serves all three. g is 0 once the rows are pure
// or are only copies of x: such a sub-cube costs nothing.
//
// The search decides one feature after the other, in S or not; the list of rows shrinks where it is
// in. The last eight features are not searched but counted as a block: each row is added at the set
// of features that it shares with x, and a superset sum makes counts[S] the rows that share at
// least S. Exclusive or at x = 00, counts by class, the two features as bits:
//
//     S                        00      01      10      11
//     rows that share just S   (1,0)   (0,1)   (0,1)   (1,0)     11, 01, 10 and x itself
//     += [S with bit 0]        (1,1)   (0,1)   (1,1)   (1,0)
//     += [S with bit 1]        (2,2)   (1,1)   (1,1)   (1,0)
//     g(S) = entropy − 0       1       1       1       0
//
// By size: 1, then 1 + 1, then 0. Feature 0 gains (g(00) − g(01)) / 2 + (g(10) − g(11)) / 2 = 1/2.
// Per subset a block costs 8 / 2 additions per class and one impurity, all in the first-level
// cache; a search down to single sets would cost a list of rows for each.
#pragma once

#include <vector>

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

// Sums over the subsets of p features, by size s in 0 .. p.
struct LatticeSums {
    std::size_t n_features = 0;
    std::vector<double> all;     // [s]: of g(S)
    std::vector<double> member;  // [s][j]: over S that contain j
    std::vector<double> pair;  // [s][i][j], i > j: over S that contain both; empty if not asked for

    LatticeSums() = default;
    LatticeSums(std::size_t p, bool pairs)
        : n_features(p), all(p + 1), member((p + 1) * p), pair(pairs ? (p + 1) * p * p : 0) {}
    void add(const LatticeSums& other);
};

// The features are those on which some row differs from x: the others are null players.
// `row` is x's position in the sample. With `all_features` null players take part as well, which
// changes no value but puts the terms at their true degree.
struct LatticeQuestion {
    std::size_t row;
    bool all_features = false;
    bool pairs = false;
};

struct LatticeAnswer {
    std::vector<std::size_t> features;  // column of each of the lattice's features
    LatticeSums sums;
};

LatticeAnswer solve_lattice(const Sample& sample, const Impurity& impurity,
                            LatticeQuestion question, std::size_t n_threads, Interrupt& interrupt);

// Number of additions of solve_lattice, from above: a set of t high features starts a block only if
// some row with another output shares them with x, and a row that shares k of them lies in C(k, t)
// such sets. For the gain it counts the edges of each block as well. Counted, not timed: the same
// number on every machine.
double estimate_lattice(const Sample& sample, LatticeQuestion question,
                        Measure measure = Measure::drop);

// Gains on the same lattice, for the measure of "Gain".
//
// A gain belongs to an edge S → S + m and is no difference of two numbers of S and S + m, so sums
// over sets are not enough: every edge is looked at, for the features of the block as well as for
// those that the search decided to leave out. Exclusive or at x = 00:
//
//     edge          00 → 01      00 → 10      01 → 11      10 → 11
//     laws          same         same         (½,½) (1,0)  (½,½) (1,0)
//     gain          0            0            1 bit        1 bit
//
// Each feature gains (0 + 1) / 2, as for the drop. A pure set gains nothing above it, so the walk
// turns back where that for the drop does.

// Sums over the subsets of p features, by size s in 0 .. p - 1.
struct GainSums {
    std::vector<double> edge;  // [s][j]: of the gains of S → S + j over S without j

    GainSums() = default;
    explicit GainSums(std::size_t p) : edge(p * p) {}
    void add(const GainSums& other);
};

struct LatticeGain {
    std::vector<std::size_t> features;  // column of each of the lattice's features
    GainSums sums;
};

// As solve_lattice; a question for pairs is not answered.
LatticeGain solve_lattice_gain(const Sample& sample, LatticeQuestion question,
                               std::size_t n_threads, Interrupt& interrupt);

}  // namespace localmdi::infinite
