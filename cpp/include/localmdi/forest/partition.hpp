// Splits a list of rows at an ordered node; the vector form of goes_first in routing.hpp.
//
// A row goes either way with no pattern that a branch predictor could learn, so nothing branches on
// it. The scalar form writes every row to the ends of both lists and moves the end of only one. The
// vector form compares eight rows at once, and a table turns the eight outcomes into a shuffle that
// moves the chosen rows to the front:
//
//     rows                10 11 12 13 14 15 16 17
//     x <= threshold?      0  1  1  0  0  1  0  0     mask 0b00100110, lane 0 the lowest bit
//     firsts              11 12 15                    popcount(mask) = 3 rows
//     others              10 13 14 16 17
//
// All eight lanes are stored each time; what lies behind the chosen ones is overwritten by the next
// eight, or is slack. That is why lists need kSlack places behind their end, and why the slack of
// one list must not be the beginning of another that is still needed.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "localmdi/forest/routing.hpp"
#include "localmdi/support/avx2.hpp"

namespace localmdi::forest {

// Rows of a tile. Two bytes, so that eight of them fit one register and long lists the cache.
using RowId = std::uint16_t;
inline constexpr std::size_t kMaxTile = std::size_t{1} << 16;

// A list may be read and written this far past its end.
inline constexpr std::size_t kSlack = 8;

// Writes the rows that go to the first child to `firsts`, in order, and the others to `others`;
// returns how many go first. `firsts` may be `rows`.
struct ScalarPartition {
    template <class Value>
    static std::size_t split(const Question<Value>& question, const Value* x, const RowId* rows,
                             std::size_t n, RowId* firsts, RowId* others) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const RowId row = rows[i];
            const bool first = goes_first(question, x[row]);
            firsts[kept] = row;
            others[i - kept] = row;
            kept += first;
        }
        return kept;
    }

    // The same for at most kSlack rows.
    template <class Value>
    static std::size_t split_few(const Question<Value>& question, const Value* x, const RowId* rows,
                                 std::size_t n, RowId* firsts, RowId* others) {
        return split(question, x, rows, n, firsts, others);
    }

    // The same for the rows 0 … n − 1; x may be read kSlack places past its end.
    template <class Value>
    static std::size_t split_all(const Question<Value>& question, const Value* x, std::size_t n,
                                 RowId* firsts, RowId* others) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; ++i) {
            firsts[kept] = others[i - kept] = static_cast<RowId>(i);
            kept += goes_first(question, x[i]);
        }
        return kept;
    }
};

#ifdef LOCALMDI_AVX2

// For each of the 256 outcomes of eight comparisons: the shuffle that packs the chosen lanes
// together.
inline constexpr auto kCompress = [] {
    std::array<std::array<std::uint8_t, 16>, 256> table{};
    for (std::size_t mask = 0; mask < 256; ++mask) {
        std::size_t at = 0;
        for (std::size_t lane = 0; lane < 8; ++lane)
            if (mask >> lane & 1) {
                table[mask][at++] = static_cast<std::uint8_t>(2 * lane);
                table[mask][at++] = static_cast<std::uint8_t>(2 * lane + 1);
            }
        for (; at < 16; ++at) table[mask][at] = 0x80;  // zero: a valid row id
    }
    return table;
}();

// x <= threshold for eight values, a bit each.
__attribute__((target("avx2"))) inline unsigned at_most8(__m256 values, float threshold) {
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_cmp_ps(values, _mm256_set1_ps(threshold), _CMP_LE_OQ)));
}

// goes_first for eight values, a bit each.
__attribute__((target("avx2"))) inline unsigned first8(const Question<float>& question, __m256 v) {
    const unsigned missing_first = question.missing_first ? 0xffu : 0u;
    const auto missing =
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    return at_most8(v, question.threshold) | (missing & missing_first);
}

// Which of eight values go first, where missing ones do not.
struct AtMost8 {
    float threshold;
    __attribute__((target("avx2"))) unsigned operator()(__m256 v) const {
        return at_most8(v, threshold);
    }
};
// … and wherever they go.
struct First8 {
    Question<float> question;
    __attribute__((target("avx2"))) unsigned operator()(__m256 v) const {
        return first8(question, v);
    }
};

__attribute__((target("avx2"))) inline __m128i load_ids(const RowId* rows) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows));
}
// Eight scalar loads: the gather instruction is slower.
__attribute__((target("avx2"))) inline __m256 values8(const float* x, const RowId* r) {
    return _mm256_setr_ps(x[r[0]], x[r[1]], x[r[2]], x[r[3]], x[r[4]], x[r[5]], x[r[6]], x[r[7]]);
}

// Splits up to eight rows, of which `valid` has a bit each, by the bits of those that go first.
__attribute__((target("avx2,popcnt"), always_inline)) inline std::size_t split8(
    unsigned first, unsigned valid, __m128i ids, RowId* firsts, RowId* others) {
    const auto store = [ids](unsigned mask, RowId* to) __attribute__((target("avx2"))) {
        const __m128i shuffle =
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(kCompress[mask].data()));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(ids, shuffle));
    };
    store(first & valid, firsts);
    store(~first & valid, others);
    return static_cast<std::size_t>(__builtin_popcount(first & valid));
}

// Splits by goes(eight values). With `all` the rows are 0 … n − 1, and `rows` is not read.
template <bool all, class Goes8>
__attribute__((target("avx2,popcnt"), always_inline)) inline std::size_t split_by_eight(
    Goes8 goes, const float* x, [[maybe_unused]] const RowId* rows, std::size_t n, RowId* firsts,
    RowId* others) {
    RowId* first_end = firsts;
    __m128i ids = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    for (std::size_t i = 0; i < n; i += 8) {
        if constexpr (!all) ids = load_ids(rows + i);
        const __m256 v = all ? _mm256_loadu_ps(x + i) : values8(x, rows + i);
        const unsigned valid = n - i < 8 ? (1u << (n - i)) - 1u : 0xffu;
        const std::size_t kept = split8(goes(v), valid, ids, first_end, others);
        first_end += kept;
        others += 8 - kept;
        if constexpr (all) ids = _mm_add_epi16(ids, _mm_set1_epi16(8));
    }
    return static_cast<std::size_t>(first_end - firsts);
}

// Functions of their own: inlined into a walk, the loop has too few registers. Without a loop there
// are enough, and most lists of most trees are short.
struct Avx2Partition : ScalarPartition {
    using ScalarPartition::split;
    using ScalarPartition::split_all;
    using ScalarPartition::split_few;

    __attribute__((target("avx2,popcnt"))) static std::size_t split_few(
        const Question<float>& question, const float* x, const RowId* rows, std::size_t n,
        RowId* firsts, RowId* others) {
        const __m256 v = values8(x, rows);
        const unsigned first =
            question.missing_first ? first8(question, v) : at_most8(v, question.threshold);
        return split8(first, (1u << n) - 1u, load_ids(rows), firsts, others);
    }

    __attribute__((target("avx2,popcnt"), noinline)) static std::size_t split(
        const Question<float>& question, const float* x, const RowId* rows, std::size_t n,
        RowId* firsts, RowId* others) {
        if (question.missing_first)
            return split_by_eight<false>(First8{question}, x, rows, n, firsts, others);
        return split_by_eight<false>(AtMost8{question.threshold}, x, rows, n, firsts, others);
    }
    __attribute__((target("avx2,popcnt"), noinline)) static std::size_t split_all(
        const Question<float>& question, const float* x, std::size_t n, RowId* firsts,
        RowId* others) {
        if (question.missing_first)
            return split_by_eight<true>(First8{question}, x, nullptr, n, firsts, others);
        return split_by_eight<true>(AtMost8{question.threshold}, x, nullptr, n, firsts, others);
    }
};

#endif

}  // namespace localmdi::forest
