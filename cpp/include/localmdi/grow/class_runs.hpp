// The rows of a node, class after class: what a candidate split would send first of a class is then
// the number of ones in a run of bits, and no candidate has to look up the class of every row.
//
// Best-of-K growing tries K splits per node and keeps one. Adding each row to the sum of its class
// would be a load and a store at an unknown place per row and candidate. If the rows of a node are
// ordered by class, which stable partitioning preserves all the way down, 64 rows take one
// popcount:
//
//     rows by class     class 0: a b c    class 1: d e
//     goes first?                1 0 1             0 1        the word 0b10101, a the lowest bit
//     class 0: ones below bit 3: popcount(0b00101) = 2        two of three go first
//     class 1: ones below bit 5: popcount(0b10101) = 3, minus the 2 before: one of two
//
// Only where every row counts once: a weight is not a bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "localmdi/forest/partition.hpp"

namespace localmdi::grow {

using forest::goes_first;
using forest::Question;

inline std::vector<std::uint32_t> rows_as_given(std::size_t n_rows) {
    std::vector<std::uint32_t> rows(n_rows);
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
}

inline std::vector<std::uint32_t> rows_by_class(std::span<const std::uint32_t> label) {
    std::vector<std::uint32_t> rows = rows_as_given(label.size());
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return label[row]; });
    return rows;
}

// One bit per row: goes first. Rows after the last one may get a bit, too.
inline void mark_first(const Question<float>& question, const float* values, std::uint32_t n,
                       std::uint64_t* bits) {
    for (std::uint32_t i = 0; i < n; ++i) {
        if (i % 64 == 0) bits[i / 64] = 0;
        bits[i / 64] |= std::uint64_t{goes_first(question, values[i])} << i % 64;
    }
}

// ones[c] = the number of ones in the run of class c. The runs follow each other, sizes[c] bits
// each; the word after them may be read as well.
inline void count_ones(const std::uint64_t* bits, std::span<const double> sizes, double* ones) {
    const std::uint64_t* const begin = bits;
    std::uint64_t end = 0;
    int before = 0, in_words = 0;  // ones before the run; ones in the words left behind
    for (std::size_t c = 0; c < sizes.size(); ++c) {
        end += static_cast<std::uint64_t>(sizes[c]);
        while (bits < begin + end / 64) in_words += std::popcount(*bits++);
        const std::uint64_t below = (std::uint64_t{1} << end % 64) - 1;
        const int now = in_words + std::popcount(*bits & below);
        ones[c] = now - before;
        before = now;
    }
}

#ifdef LOCALMDI_AVX2

// Reads up to seven values past their end.
__attribute__((target("avx2"))) inline void mark_first_avx2(const Question<float>& question,
                                                            const float* values, std::uint32_t n,
                                                            std::uint64_t* bits) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(bits);  // x86: the lowest bits come first
    for (std::uint32_t i = 0; i < n; i += 8)
        bytes[i / 8] =
            static_cast<std::uint8_t>(forest::first8(question, _mm256_loadu_ps(values + i)));
}

__attribute__((target("popcnt"), flatten)) inline void count_ones_popcnt(
    const std::uint64_t* bits, std::span<const double> sizes, double* ones) {
    count_ones(bits, sizes, ones);
}

#endif

}  // namespace localmdi::grow
