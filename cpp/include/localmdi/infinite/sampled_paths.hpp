// What is computed from random paths: the local MDI, where all features are categories or some are
// numbers, and interactions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "localmdi/infinite/bit_rows.hpp"
#include "localmdi/support/random.hpp"

namespace localmdi::infinite {

// Sums over random pairs of paths, the same whatever the number of threads.
//
// The pairs of a row are cut into chunks; a chunk's sums are made by one thread, and the chunks are
// added in order. Ten pairs in chunks of four:
//
//     chunk 0: pairs 0 to 3    chunk 1: pairs 4 to 7    chunk 2: pairs 8 and 9
//     sum = (chunk 0 + chunk 1) + chunk 2, whoever was ready first
struct PathTasks {
    std::size_t n_rows;
    std::uint64_t first;  // pair
    std::uint64_t count;
    std::uint64_t chunk;  // pairs
    std::size_t width;    // numbers that a chunk sums
};

// make_worker() is called once per thread, worker(row, first, last, part) adds the pairs [first,
// last) of a row to its part, add(row, part) takes the parts over, in order.
template <class MakeWorker, class Add>
void sum_paths(const PathTasks& tasks, std::size_t n_threads, Interrupt& interrupt,
               MakeWorker make_worker, Add add) {
    constexpr std::size_t kPartsMemory = std::size_t{1} << 25;
    const std::size_t width = tasks.width;
    const std::size_t n_chunks = (tasks.count + tasks.chunk - 1) / tasks.chunk;
    const std::size_t n_tasks = tasks.n_rows * n_chunks;
    const std::size_t part_bytes = std::max<std::size_t>(width, 1) * sizeof(double);
    const std::size_t slice = std::max<std::size_t>(1, kPartsMemory / part_bytes);
    std::vector<double> parts;
    for (std::size_t start = 0; start < n_tasks; start += slice) {
        const std::size_t n_parts = std::min(slice, n_tasks - start);
        parts.assign(n_parts * width, 0.0);
        support::parallel_for(n_parts, n_threads, interrupt, [&] {
            return [&, worker = make_worker()](std::size_t k) mutable {
                const std::uint64_t first = (start + k) % n_chunks * tasks.chunk;
                const std::uint64_t last = std::min(tasks.count, first + tasks.chunk);
                worker((start + k) / n_chunks, tasks.first + first, tasks.first + last,
                       parts.data() + k * width);
            };
        });
        for (std::size_t k = 0; k < n_parts; ++k)
            add((start + k) / n_chunks, parts.data() + k * width);
    }
}

// Order `index` is the same whether 10 or 10,000 orders are drawn, and whoever draws it.
inline void shuffle(std::uint64_t seed, std::uint64_t index, std::vector<std::uint32_t>& order) {
    support::Stream random(seed, index);
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[random.below(n)]);
}

// Local MDI from random orders of the features, followed along the branch of x only: "Sampled
// paths" in docs/theory/algorithms.md.
//
// A random order of all features is a random path of a totally randomized tree: features that split
// nothing are passed over, which is the same as never drawing them. Only x's branch is followed, at
// one AND and one count of bits per split. Each order is followed backwards as well: a feature that
// came late now comes early, so that the errors of the two tend to cancel. Exclusive or at x = 00:
//
//     order 0, 1    known: x0 = 0, nothing gained; then x1 = 0, feature 1 gains 1
//     order 1, 0    the other way round: feature 0 gains 1
//     their mean    1/2 each, which is exact
//
// A pair counts as one observation: the squares for the standard error are those of the means.
//
// Where some features are numbers ("Numeric features" in docs/theory/algorithms.md), a number can
// be cut again and again, so that an order of the features says nothing about a path. At every node
// a feature is drawn among those that still vary, and for a number a cut; only the branch of x is
// followed, a list of rows that gets shorter. A feature that was found constant stays constant
// below and is not drawn again. Every path is followed a second time with all random bits turned
// over (a cut near the lower end becomes one near the upper end), so that errors of the two tend to
// cancel.

// Sums over pairs of paths; a pair is an order and its reverse, and counts as their mean.
struct PathSums {
    double* values;    // (n_rows x n_features)
    double* squares;   // likewise, of the squares
    double* residual;  // (n_rows): impurity at the end of the path
    double* support;   // (n_rows): paths that never met a node without x's value

    // A part: values, squares, residual, support of one row.
    static std::size_t width(std::size_t p) { return 2 * p + 2; }
    void add(std::size_t row, std::size_t p, const double* part) const {
        for (std::size_t j = 0; j < p; ++j) {
            values[row * p + j] += part[j];
            squares[row * p + j] += part[p + j];
        }
        residual[row] += part[2 * p];
        support[row] += part[2 * p + 1];
    }
};

inline constexpr std::uint64_t kPairsPerChunk = 32;

struct PathRange {
    std::uint64_t seed;
    std::uint64_t first;  // pair
    std::uint64_t count;
    PathRules rules;
};

struct PathRows {
    std::span<const std::int32_t> codes;  // (n_rows x n_features); -1 is a category of no row
    std::span<const double> numbers;      // (n_rows x n_columns)
};

// Adds to the sums of every row of x. All rows follow the same orders or cuts, so that a row's
// values do not depend on the rows beside it.
void sample_paths(const Sample& sample, const PathRows& x, const PathRange& range,
                  const PathSums& sums, std::size_t n_threads, Interrupt& interrupt);

// Pairwise interactions from random orders: "Interactions" in docs/theory/algorithms.md.
//
// At every node of a random path, every pair of features that split it is looked at: what both
// together gain, minus what each gains alone. The weight of a node makes the mean over paths the
// wanted index; r is the number of features that split the node.
enum class PairIndex : std::uint8_t { Shapley, ShapleyTaylor, FaithShap };

struct PairRange {
    std::uint64_t seed;
    std::uint64_t first;  // order
    std::uint64_t count;
    PairIndex index;
};

// Adds to values and squares (n_features x n_features, entries i > j) the sums over pairs of paths
// of row x, which must be in the sample; a pair is an order and its reverse, and counts as their
// mean.
void sample_pairs(const Sample& sample, std::span<const std::int32_t> x, const PairRange& range,
                  double* values, double* squares, std::size_t n_threads, Interrupt& interrupt);

}  // namespace localmdi::infinite
