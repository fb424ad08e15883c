// The two loops over the rows of a node in which growing spends its time; the same results with and
// without AVX2.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define LOCALMDI_GROW_AVX2 1
#include <immintrin.h>
#endif

namespace localmdi {

template <class Value>
struct LowHigh {
    Value low, high;
};

// Arrays may be read and written this far past their end.
inline constexpr std::size_t kListSlack = 16;

// values[i] = x[ids[i]], and the least and the largest; n > 0, no NaN.
inline LowHigh<float> collect(const float* x, const std::uint32_t* ids, std::uint32_t n,
                              float* values) {
    float low = x[ids[0]], high = low;
    for (std::uint32_t i = 0; i < n; ++i) {
        const float v = values[i] = x[ids[i]];
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    return {low, high};
}

// Keeps the ids whose side is not 0, in order, writes the others to `others`; returns how many
// stay.
inline std::uint32_t keep_first(const std::uint8_t* side, std::uint32_t* ids, std::uint32_t n,
                                std::uint32_t* others) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t id = ids[i];
        ids[kept] = id;
        others[i - kept] = id;
        kept += side[i] != 0;
    }
    return kept;
}

#ifdef LOCALMDI_GROW_AVX2

inline bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

// For each outcome of eight comparisons: where the chosen lanes stand, packed together.
inline constexpr auto kPackLanes = [] {
    std::array<std::array<std::uint32_t, 8>, 256> table{};
    for (std::uint32_t mask = 0; mask < 256; ++mask) {
        std::size_t at = 0;
        for (std::uint32_t lane = 0; lane < 8; ++lane)
            if (mask >> lane & 1) table[mask][at++] = lane;
    }
    return table;
}();

__attribute__((target("avx2"))) inline LowHigh<float> collect_avx2(const float* x,
                                                                   const std::uint32_t* ids,
                                                                   std::uint32_t n, float* values) {
    __m256 low = _mm256_set1_ps(x[ids[0]]), high = low;
    std::uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const std::uint32_t* const r = ids + i;
        // Eight scalar loads: the gather instruction is slower.
        const __m256 v =
            _mm256_setr_ps(x[r[0]], x[r[1]], x[r[2]], x[r[3]], x[r[4]], x[r[5]], x[r[6]], x[r[7]]);
        _mm256_storeu_ps(values + i, v);
        low = _mm256_min_ps(v, low);
        high = _mm256_max_ps(v, high);
    }
    __m128 low4 = _mm_min_ps(_mm256_castps256_ps128(low), _mm256_extractf128_ps(low, 1));
    __m128 high4 = _mm_max_ps(_mm256_castps256_ps128(high), _mm256_extractf128_ps(high, 1));
    low4 = _mm_min_ps(low4, _mm_movehl_ps(low4, low4));
    high4 = _mm_max_ps(high4, _mm_movehl_ps(high4, high4));
    low4 = _mm_min_ss(low4, _mm_movehdup_ps(low4));
    high4 = _mm_max_ss(high4, _mm_movehdup_ps(high4));
    for (; i < n; ++i) {
        const __m128 v = _mm_load_ss(x + ids[i]);
        _mm_store_ss(values + i, v);
        low4 = _mm_min_ss(v, low4);
        high4 = _mm_max_ss(v, high4);
    }
    return {_mm_cvtss_f32(low4), _mm_cvtss_f32(high4)};
}

__attribute__((target("avx2"))) inline __m256i load8(const std::uint32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
__attribute__((target("avx2"))) inline void store8(std::uint32_t* to, __m256i lanes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), lanes);
}

__attribute__((target("avx2,popcnt"))) inline std::uint32_t keep_first_avx2(
    const std::uint8_t* side, std::uint32_t* ids, std::uint32_t n, std::uint32_t* others) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < n; i += 8) {
        const unsigned valid = n - i < 8 ? (1u << (n - i)) - 1u : 0xffu;
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(side + i));
        const unsigned first = static_cast<unsigned>(_mm_movemask_epi8(bytes)) & valid;
        const __m256i v = load8(ids + i);
        const __m256i stay = _mm256_permutevar8x32_epi32(v, load8(kPackLanes[first].data()));
        const __m256i go = _mm256_permutevar8x32_epi32(v, load8(kPackLanes[first ^ valid].data()));
        store8(others + (i - kept), go);
        if (n - i >= 8) {
            store8(ids + kept, stay);
        } else {
            // The ids after the node's last one belong to others.
            std::array<std::uint32_t, 8> last;
            store8(last.data(), stay);
            std::copy_n(last.begin(), static_cast<std::size_t>(__builtin_popcount(first)),
                        ids + kept);
        }
        kept += static_cast<std::uint32_t>(__builtin_popcount(first));
    }
    return kept;
}

#endif

}  // namespace localmdi
