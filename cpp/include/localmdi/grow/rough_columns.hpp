// Columns of numbers once more, in one byte each, for nodes of many rows.
//
// A node of a few thousand rows among 200,000 finds each of its numbers in another cache line, and
// a forest's columns fit no cache: these nodes are few, but growing would spend a third of its time
// waiting for them. A code of one byte lets a quarter of the lines do, and most of them stay in a
// cache. Codes rise with the numbers: x ≤ y gives code(x) ≤ code(y). So a number whose code differs
// from that of the cut is on its side for sure, and only those with the same code, one of 250 or
// so, have to be looked at themselves; likewise for the least and the largest number of a node.
// Numbers 0.5 … 9.5 by steps of 1, codes of width 2, cut 4.7:
//
//     numbers   0.5 1.5   2.5 3.5   4.5 5.5   6.5 7.5   8.5 9.5
//     codes       0   0     1   1     2   2     3   3     4   4      code(4.7) = 2
//     settled     0   0     1   1     2   3     3   3     4   4      at most 2: goes first
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/row_loops.hpp"
#include "localmdi/support/large_vector.hpp"

namespace localmdi::grow {

class RoughColumns {
public:
    explicit RoughColumns(const TrainingRows& rows) : rows_(rows) {
        if (rows.n_rows < kFewestRows) return;
        codes_.resize(rows.n_rows * rows.n_features);
        for (std::size_t f = 0; f < rows.n_features; ++f) {
            const Scale scale = scale_of({rows.column(f), rows.n_rows});
            scales_.push_back(scale);
            std::ranges::transform(std::span(rows.column(f), rows.n_rows),
                                   codes_.data() + f * rows.n_rows,
                                   [scale](float x) { return scale.code(x); });
        }
    }

    // Whether a node of so many rows is read here while a tree grows; smaller ones soon read other
    // features of their rows, which then lie in a cache (number_table.hpp).
    bool serves(std::uint32_t n_in_node) const { return n_in_node > kSmallNode && has_codes(); }
    bool has_codes() const { return !codes_.empty(); }

    // Collects the codes of a feature; returns the range of its numbers. Here and below, codes may
    // be read kListSlack entries past the last.
    LowHigh<float> load(std::size_t feature, std::span<const std::uint32_t> ids,
                        std::uint8_t* codes) const {
        const auto range = collect_codes(feature, ids, codes);
        const float* const x = rows_.column(feature);
        LowHigh<float> numbers{std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity()};
        for_each_equal(codes, ids.size(), range, [&](std::size_t i) {
            numbers.low = std::min(numbers.low, x[ids[i]]);
            numbers.high = std::max(numbers.high, x[ids[i]]);
        });
        return numbers;
    }

    // Collects the codes only.
    LowHigh<std::uint8_t> collect_codes(std::size_t feature, std::span<const std::uint32_t> ids,
                                        std::uint8_t* codes) const {
        const Entries<std::uint8_t> entries{codes_.data() + feature * rows_.n_rows, 1};
        const auto n = static_cast<std::uint32_t>(ids.size());
#ifdef LOCALMDI_AVX2
        if (avx2_) return collect_avx2(entries, ids.data(), n, codes);
#endif
        return collect(entries, ids.data(), n, codes);
    }

    // Changes codes so that those of the numbers up to the cut, and no others, are at most what is
    // returned.
    std::uint8_t settle(std::size_t feature, float cut, std::span<const std::uint32_t> ids,
                        std::uint8_t* codes) const {
        const std::uint8_t code = scales_[feature].code(cut);
        const float* const x = rows_.column(feature);
        for_each_equal(codes, ids.size(), {code, code}, [&](std::size_t i) {
            codes[i] = static_cast<std::uint8_t>(code + (x[ids[i]] <= cut ? 0 : 1));
        });
        return code;
    }

private:
    // Smaller tables fit a cache.
    static constexpr std::size_t kFewestRows = std::size_t{1} << 14;
    static constexpr std::uint32_t kSmallNode = 1024;

    struct Scale {
        float from, per_unit;

        // Each step keeps the order, rounding included. Numbers out of range have the codes at the
        // ends, and so has what is no number: the difference of the largest ones can be infinite.
        std::uint8_t code(float x) const {
            constexpr float kLast = 254;  // settle() needs one more
            const float place = (x - from) * per_unit;
            const float above = place > 0 ? place : 0;
            return static_cast<std::uint8_t>(static_cast<int>(above < kLast ? above : kLast));
        }
    };

    // From a sample without its ends: a few outliers shall not leave all others with one code.
    static Scale scale_of(std::span<const float> column) {
        constexpr std::size_t kSample = 1024, kTail = 1;
        std::array<float, kSample> sample;
        for (std::size_t i = 0; i < kSample; ++i) sample[i] = column[i * column.size() / kSample];
        std::ranges::nth_element(sample, sample.begin() + kTail);
        const float from = sample[kTail];
        std::ranges::nth_element(sample, sample.end() - 1 - kTail);
        const float to = sample[kSample - 1 - kTail];
        return {from, to > from ? 254 / (to - from) : 0};
    }

    // Of all places whose code is one of two.
    template <class Use>
    void for_each_equal(const std::uint8_t* codes, std::size_t n, LowHigh<std::uint8_t> wanted,
                        Use use) const {
#ifdef LOCALMDI_AVX2
        if (avx2_) return for_each_equal_avx2(codes, n, wanted, use);
#endif
        for (std::size_t i = 0; i < n; ++i)
            if (codes[i] == wanted.low || codes[i] == wanted.high) use(i);
    }

#ifdef LOCALMDI_AVX2
    template <class Use>
    __attribute__((target("avx2"))) static void for_each_equal_avx2(const std::uint8_t* codes,
                                                                    std::size_t n,
                                                                    LowHigh<std::uint8_t> wanted,
                                                                    Use use) {
        const __m256i low = _mm256_set1_epi8(static_cast<char>(wanted.low)),
                      high = _mm256_set1_epi8(static_cast<char>(wanted.high));
        for (std::size_t i = 0; i < n; i += 32) {
            const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
            const __m256i either =
                _mm256_or_si256(_mm256_cmpeq_epi8(v, low), _mm256_cmpeq_epi8(v, high));
            auto equal = static_cast<std::uint32_t>(_mm256_movemask_epi8(either));
            if (n - i < 32) equal &= (1u << (n - i)) - 1u;
            for (; equal != 0; equal &= equal - 1)
                use(i + static_cast<std::size_t>(__builtin_ctz(equal)));
        }
    }
#endif

    const TrainingRows& rows_;
    std::vector<Scale> scales_;                 // per feature
    support::LargeVector<std::uint8_t> codes_;  // feature-major; none for few rows
    bool avx2_ = support::has_avx2();
};

}  // namespace localmdi::grow
