// Gains on the subset lattice of one row x of the sample: "blocked search" in
// docs/theory/algorithms.md, for the measure of "Gain".
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
#pragma once

#include "localmdi/infinite/lattice.hpp"

namespace localmdi::infinite {

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
