// Splits a list of rows at an ordered node; the vector form of goes_first in routing.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "localmdi/routing.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define LOCALMDI_AVX2 1
#include <immintrin.h>
#endif

namespace localmdi {

// Whether the vector forms may be called here.
inline bool has_avx2() {
#ifdef LOCALMDI_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

using RowId = std::uint16_t;
inline constexpr std::size_t kMaxTile = std::size_t{1} << 16;

// A list may be read and written this far past its end.
inline constexpr std::size_t kSlack = 8;

// Writes the rows that go to the first child to `firsts`, in order, and the others to `others`;
// returns how many go first. `firsts` may be `rows`.
struct ScalarPartition {
    template <class Value>
    static std::size_t split(const PackedNode<Value>& node, const Value* x, const RowId* rows,
                             std::size_t n, RowId* firsts, RowId* others) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const RowId row = rows[i];
            const bool first = goes_first(node, x[row]);
            firsts[kept] = row;
            others[i - kept] = row;
            kept += first;
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
__attribute__((target("avx2"))) inline unsigned first8(const PackedNode<float>& node, __m256 v) {
    const unsigned missing_first = node.split & kMissingFirst ? 0xffu : 0u;
    const auto missing =
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    return at_most8(v, node.threshold) | (missing & missing_first);
}

struct Avx2Partition : ScalarPartition {
    using ScalarPartition::split;

    __attribute__((target("avx2,popcnt"))) static std::size_t split(const PackedNode<float>& node,
                                                                    const float* x,
                                                                    const RowId* rows,
                                                                    std::size_t n, RowId* firsts,
                                                                    RowId* others) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; i += 8) {
            const RowId* r = rows + i;
            // Eight scalar loads: the gather instruction is slower.
            const __m256 v = _mm256_setr_ps(x[r[0]], x[r[1]], x[r[2]], x[r[3]], x[r[4]], x[r[5]],
                                            x[r[6]], x[r[7]]);
            const unsigned valid = n - i < 8 ? (1u << (n - i)) - 1u : 0xffu;
            const unsigned first = first8(node, v) & valid;
            const __m128i ids = _mm_loadu_si128(reinterpret_cast<const __m128i*>(r));
            const auto shuffle = [](unsigned mask) {
                return _mm_loadu_si128(reinterpret_cast<const __m128i*>(kCompress[mask].data()));
            };
            _mm_storeu_si128(reinterpret_cast<__m128i*>(firsts + kept),
                             _mm_shuffle_epi8(ids, shuffle(first)));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(others + (i - kept)),
                             _mm_shuffle_epi8(ids, shuffle(first ^ valid)));
            kept += static_cast<std::size_t>(__builtin_popcount(first));
        }
        return kept;
    }
};

#endif

}  // namespace localmdi
