// The loops over the rows of a node in which growing spends its time: the least and largest value,
// the order by child, and the sum of importances; the same results with and without AVX2.
//
// They are written like forest/partition.hpp, for 32-bit row ids: a forest may be grown on more
// rows than fit a tile. Most nodes are small, so what counts is the cost of the first eight rows:
// `collect` reads the last eight a second time instead of ending in a scalar loop, and `order`
// handles up to eight rows by one permutation without the second list.
//
// The lists of all nodes are parts of one array, so the eight ids behind a part belong to another
// node. order_avx2 may overwrite them while it works; it keeps them and puts them back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "localmdi/forest/partition.hpp"

namespace localmdi::grow {

struct LowHigh {
    float low, high;
};

// Entries of one feature: `step` apart, indexed by row.
struct Entries {
    const float* first;
    std::size_t step;
};

// Arrays may be read and written this far past their end.
inline constexpr std::size_t kListSlack = 8;

// values[i] = the entry of row ids[i], and the least and the largest; n > 0.
inline LowHigh collect(Entries entries, const std::uint32_t* ids, std::uint32_t n, float* values) {
    float low = entries.first[ids[0] * entries.step], high = low;
    for (std::uint32_t i = 0; i < n; ++i) {
        const float v = values[i] = entries.first[ids[i] * entries.step];
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    return {low, high};
}

// Puts the ids for whose place goes(i) holds before the others, all in order; returns how many they
// are. Ids may be read, and `others` written, up to kListSlack past the end.
template <class Goes>
std::uint32_t order(Goes goes, std::uint32_t* ids, std::uint32_t n, std::uint32_t* others) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t id = ids[i];
        ids[kept] = id;
        others[i - kept] = id;
        kept += goes(i);
    }
    std::copy_n(others, n - kept, ids + kept);
    return kept;
}

#ifdef LOCALMDI_AVX2

// A function compiled for AVX2 in one piece with all that it calls: the loops over the rows of a
// node are too short to be called. Not under a sanitizer, which would take minutes to compile it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOCALMDI_AVX2_PIECE __attribute__((target("avx2,popcnt")))
#else
#define LOCALMDI_AVX2_PIECE __attribute__((target("avx2,popcnt"), flatten))
#endif

__attribute__((target("avx2"))) inline LowHigh collect_avx2(Entries entries,
                                                            const std::uint32_t* ids,
                                                            std::uint32_t n, float* values) {
    const auto [x, step] = entries;
    if (n < 8) return collect(entries, ids, n, values);
    __m256 low = _mm256_set1_ps(x[ids[0] * step]), high = low;
    // Eight scalar loads: the gather instruction is slower.
    const auto take = [&](std::uint32_t i) __attribute__((target("avx2"), always_inline)) {
        const std::uint32_t* const r = ids + i;
        const __m256 v =
            _mm256_setr_ps(x[r[0] * step], x[r[1] * step], x[r[2] * step], x[r[3] * step],
                           x[r[4] * step], x[r[5] * step], x[r[6] * step], x[r[7] * step]);
        _mm256_storeu_ps(values + i, v);
        low = _mm256_min_ps(v, low);
        high = _mm256_max_ps(v, high);
    };
    for (std::uint32_t i = 0; i + 8 <= n; i += 8) take(i);
    take(n - 8);  // the last eight, some of them for the second time
    __m128 low4 = _mm_min_ps(_mm256_castps256_ps128(low), _mm256_extractf128_ps(low, 1));
    __m128 high4 = _mm_max_ps(_mm256_castps256_ps128(high), _mm256_extractf128_ps(high, 1));
    low4 = _mm_min_ps(low4, _mm_movehl_ps(low4, low4));
    high4 = _mm_max_ps(high4, _mm_movehl_ps(high4, high4));
    return {_mm_cvtss_f32(_mm_min_ss(low4, _mm_movehdup_ps(low4))),
            _mm_cvtss_f32(_mm_max_ss(high4, _mm_movehdup_ps(high4)))};
}

// One bit per value: at most the cut.
__attribute__((target("avx2"))) inline unsigned at_most8(const float* values, float cut) {
    return forest::at_most8(_mm256_loadu_ps(values), cut);
}

// For each outcome of eight comparisons: the chosen lanes, then the others, both in order.
inline constexpr auto kOrderLanes = [] {
    std::array<std::array<std::uint32_t, 8>, 256> table{};
    for (std::uint32_t mask = 0; mask < 256; ++mask) {
        std::size_t at = 0;
        for (const std::uint32_t chosen : {1u, 0u})
            for (std::uint32_t lane = 0; lane < 8; ++lane)
                if ((mask >> lane & 1) == chosen) table[mask][at++] = lane;
    }
    return table;
}();

__attribute__((target("avx2"))) inline __m256i load8(const std::uint32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
__attribute__((target("avx2"))) inline void store8(std::uint32_t* to, __m256i lanes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), lanes);
}
__attribute__((target("avx2"))) inline __m256i chosen_first(__m256i lanes, unsigned mask) {
    return _mm256_permutevar8x32_epi32(lanes, load8(kOrderLanes[mask].data()));
}

// goes8(i): a bit for each of the eight places from i on.
template <class Goes8>
__attribute__((target("avx2,popcnt"))) std::uint32_t order_avx2(Goes8 goes8, std::uint32_t* ids,
                                                                std::uint32_t n,
                                                                std::uint32_t* others) {
    if (n <= 8) {
        // Places after the last one are not chosen, and so remain the last.
        const unsigned first = goes8(0) & ((1u << n) - 1u);
        store8(ids, chosen_first(load8(ids), first));
        return static_cast<std::uint32_t>(__builtin_popcount(first));
    }
    const __m256i after = load8(ids + n);  // they belong to other nodes
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < n; i += 8) {
        const unsigned valid = n - i < 8 ? (1u << (n - i)) - 1u : 0xffu;
        const unsigned first = goes8(i) & valid;
        const __m256i lanes = load8(ids + i);
        store8(others + (i - kept), chosen_first(lanes, ~first & 0xffu));
        store8(ids + kept, chosen_first(lanes, first));
        kept += static_cast<std::uint32_t>(__builtin_popcount(first));
    }
    for (std::uint32_t i = kept; i < n; i += 8) store8(ids + i, load8(others + (i - kept)));
    store8(ids + n, after);
    return kept;
}

// Up to this many classes are counted in one register, a byte for each.
inline constexpr std::size_t kMostCounted = 16;
inline constexpr auto kOneOf = [] {
    std::array<std::array<std::uint8_t, kMostCounted>, kMostCounted> table{};
    for (std::size_t c = 0; c < kMostCounted; ++c) table[c][c] = 1;
    return table;
}();

// Adds the numbers of rows with each label to `few`, and takes them off `rest`; both have n_counts
// places, a multiple of four. In memory, rows of one class would wait for each other: a number must
// be written before the next row can read it.
__attribute__((target("avx2"))) inline void move_counts_avx2(const std::uint32_t* label,
                                                             std::span<const std::uint32_t> ids,
                                                             std::size_t n_counts,
                                                             std::uint32_t* few,
                                                             std::uint32_t* rest) {
    constexpr std::size_t kMostRows = 255;  // that a byte can count
    for (std::size_t first = 0; first < ids.size(); first += kMostRows) {
        __m128i counts = _mm_setzero_si128();
        for (const std::uint32_t id : ids.subspan(first, std::min(kMostRows, ids.size() - first)))
            counts = _mm_add_epi8(
                counts,
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(kOneOf[label[id]].data())));
        for (std::size_t c = 0; c < n_counts; c += 4) {
            const __m128i four = _mm_cvtepu8_epi32(counts);
            auto* const to_few = reinterpret_cast<__m128i*>(few + c);
            auto* const to_rest = reinterpret_cast<__m128i*>(rest + c);
            _mm_storeu_si128(to_few, _mm_add_epi32(_mm_loadu_si128(to_few), four));
            _mm_storeu_si128(to_rest, _mm_sub_epi32(_mm_loadu_si128(to_rest), four));
            counts = _mm_srli_si128(counts, 4);
        }
    }
}

// to[i] += values[i].
__attribute__((target("avx2"))) inline void add_all_avx2(double* to,
                                                         std::span<const double> values) {
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
        const __m256d now = _mm256_loadu_pd(to + i);
        _mm256_storeu_pd(to + i, _mm256_add_pd(now, _mm256_loadu_pd(values.data() + i)));
    }
    for (; i < values.size(); ++i) to[i] += values[i];
}

// Adds the values to the line of each row: to[row · p + f] += values[f].
__attribute__((target("avx2"))) inline void add_rows_avx2(double* to,
                                                          std::span<const double> values,
                                                          std::span<const std::uint32_t> rows) {
    const std::size_t p = values.size();
    for (const std::size_t row : rows) {
        double* const line = to + row * p;
        const auto add4 = [&](std::size_t f) __attribute__((target("avx2"), always_inline)) {
            const __m256d now = _mm256_loadu_pd(line + f);
            _mm256_storeu_pd(line + f, _mm256_add_pd(now, _mm256_loadu_pd(values.data() + f)));
        };
        std::size_t f = 0;
        for (; f + 16 <= p; f += 16) {
            add4(f);
            add4(f + 4);
            add4(f + 8);
            add4(f + 12);
        }
        for (; f + 4 <= p; f += 4) add4(f);
        for (; f < p; ++f) line[f] += values[f];
    }
}

#endif

// Puts the ids whose values go first before the others, all in order; returns how many they are.
inline std::uint32_t order_by_side(const forest::Question<float>& question, const float* values,
                                   std::uint32_t* ids, std::uint32_t n, std::uint32_t* others,
                                   [[maybe_unused]] bool avx2) {
#ifdef LOCALMDI_AVX2
    const auto first = [&](std::uint32_t i) __attribute__((target("avx2"), always_inline)) {
        return forest::first8(question, _mm256_loadu_ps(values + i));
    };
    if (avx2) return order_avx2(first, ids, n, others);
#endif
    const auto goes = [&](std::uint32_t i) { return forest::goes_first(question, values[i]); };
    return order(goes, ids, n, others);
}

}  // namespace localmdi::grow
