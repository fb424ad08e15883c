// The numbers to grow on in the plain case: as few bytes as tell them apart, in two orders.
//
// Growing a random tree is mostly reading one feature of scattered rows. A column of at most 256
// different numbers is stored as ranks, one byte each: {0.5, 2, 2, 7} becomes {0, 1, 1, 2}, and a
// cache holds four times as many rows. Ranks order like the numbers, so partitions are the same.
// The cut must still be drawn among the numbers, for its distribution; it falls between two ranks:
// cut 1.3 sends rank 0 first, and 1.3 is what the tree stores.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/rough_columns.hpp"
#include "localmdi/grow/row_loops.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "localmdi/support/large_vector.hpp"

namespace localmdi::grow {

using support::LargeVector;

// Large nodes read the columns; the rows of a small node are better read row by row, because they
// then stay in the nearest cache whichever feature is drawn. A node is large if it has four rows in
// each cache line of a column, or more rows than stay in that cache.
template <class Value>
class TwoOrders {
public:
    // `columns` is feature-major and outlives this object.
    TwoOrders(const Value* columns, std::size_t n_rows, std::size_t n_features)
        : columns_(columns),
          n_rows_(n_rows),
          n_features_(n_features),
          largest_small_(std::min(kMostSmall, kPerLine * n_rows * sizeof(Value) / kLine)),
          by_row_(n_rows * n_features) {
        constexpr std::size_t kTile = 64;
        for (std::size_t begin = 0; begin < n_rows; begin += kTile)
            for (std::size_t f = 0; f < n_features; ++f)
                for (std::size_t row = begin; row < std::min(begin + kTile, n_rows); ++row)
                    by_row_[row * n_features + f] = columns[f * n_rows + row];
    }

    Entries<Value> entries(std::size_t feature, std::size_t n_in_node) const {
        if (n_in_node > largest_small_) return {columns_ + feature * n_rows_, 1};
        return {by_row_.data() + feature, n_features_};
    }

private:
    static constexpr std::size_t kMostSmall = 1024, kPerLine = 4, kLine = 64;

    const Value* columns_;
    std::size_t n_rows_, n_features_, largest_small_;
    LargeVector<Value> by_row_;
};

// Any numbers.
class NumberTable {
public:
    using Value = float;

    explicit NumberTable(const TrainingRows& rows)
        : rough(rows), orders_(rows.columns.data(), rows.n_rows, rows.n_features) {}

    Entries<float> entries(std::size_t feature, std::size_t n_in_node) const {
        return orders_.entries(feature, n_in_node);
    }

    static float cut(std::uint32_t, LowHigh<float> range, TreeRandom& random, float& threshold) {
        return threshold = random.cut(range.low, range.high);
    }

    const RoughColumns rough;

private:
    TwoOrders<float> orders_;
};

// Columns of at most 256 different numbers each, as their ranks: a quarter of the bytes.
class RankTable {
public:
    using Value = std::uint8_t;

    // The different numbers of each column, ascending; nothing if one has too many.
    static std::vector<std::vector<float>> distinct(const TrainingRows& rows) {
        std::vector<std::vector<float>> all;
        for (std::size_t f = 0; f < rows.n_features; ++f) {
            std::vector<float> found;
            LastSeen seen;
            for (const float x : std::span(rows.column(f), rows.n_rows)) {
                if (seen.number(x) == x) continue;
                seen.number(x) = x;
                const auto place = std::ranges::lower_bound(found, x);
                if (place != found.end() && *place == x) continue;
                if (found.size() == 256) return {};
                found.insert(place, x);
            }
            all.push_back(std::move(found));
        }
        return all;
    }

    RankTable(const TrainingRows& rows, const std::vector<std::vector<float>>& distinct)
        : columns_(ranks(rows, distinct)),
          orders_(columns_.data(), rows.n_rows, rows.n_features),
          step_(blocks_for(distinct)),
          numbers_(step_ * rows.n_features, std::numeric_limits<float>::infinity()) {
        for (std::size_t f = 0; f < rows.n_features; ++f)
            std::ranges::copy(distinct[f], numbers_.data() + f * step_);
    }

    Entries<std::uint8_t> entries(std::size_t feature, std::size_t n_in_node) const {
        return orders_.entries(feature, n_in_node);
    }

    // The cut is drawn among the numbers, not among their ranks; returns the largest rank below it.
    std::uint8_t cut(std::uint32_t feature, LowHigh<std::uint8_t> range, TreeRandom& random,
                     float& threshold) const {
        const std::span<const float> numbers(numbers_.data() + feature * step_, step_);
        threshold = random.cut(numbers[range.low], numbers[range.high]);
#ifdef LOCALMDI_AVX2
        if (avx2_ && step_ <= kFew) return count_at_most(numbers, threshold);
#endif
        std::uint32_t rank = range.low, n = std::uint32_t{range.high} - range.low;
        while (n > 1) {  // without a branch that depends on the cut
            const std::uint32_t half = n / 2;
            rank += numbers[rank + half] <= threshold ? half : 0;
            n -= half;
        }
        return static_cast<std::uint8_t>(rank);
    }

private:
    static constexpr std::size_t kBlock = 8;
    static constexpr std::size_t kFew = 32;  // numbers are faster counted than searched

#ifdef LOCALMDI_AVX2
    // The largest rank whose number is at most the threshold. All are compared, eight at a time;
    // the infinities behind the last one count for nothing.
    __attribute__((target("avx2,popcnt"))) static std::uint8_t count_at_most(
        std::span<const float> numbers, float threshold) {
        int n = -1;
        for (std::size_t i = 0; i < numbers.size(); i += kBlock)
            n += __builtin_popcount(at_most8(numbers.data() + i, threshold));
        return static_cast<std::uint8_t>(n);
    }
#endif

    // Enough whole blocks for the column with the most numbers.
    static std::size_t blocks_for(const std::vector<std::vector<float>>& distinct) {
        std::size_t most = 0;
        for (const auto& numbers : distinct) most = std::max(most, numbers.size());
        return (most + kBlock - 1) / kBlock * kBlock;
    }

    // A search for every entry of the table would take as long as several trees.
    class LastSeen {
    public:
        LastSeen() { number_.fill(std::numeric_limits<float>::quiet_NaN()); }
        float& number(float x) { return number_[slot(x)]; }
        std::uint8_t& rank(float x) { return rank_[slot(x)]; }

    private:
        static std::size_t slot(float x) {
            return std::bit_cast<std::uint32_t>(x) * 0x9e3779b1u >> 22;
        }
        std::array<float, 1024> number_;
        std::array<std::uint8_t, 1024> rank_{};
    };

    static LargeVector<std::uint8_t> ranks(const TrainingRows& rows,
                                           const std::vector<std::vector<float>>& distinct) {
        LargeVector<std::uint8_t> out(rows.n_rows * rows.n_features);
        for (std::size_t f = 0; f < rows.n_features; ++f) {
            LastSeen seen;
            for (std::size_t row = 0; row < rows.n_rows; ++row) {
                const float x = rows.column(f)[row];
                if (seen.number(x) != x) {
                    seen.number(x) = x;
                    const auto place = std::ranges::lower_bound(distinct[f], x);
                    seen.rank(x) = static_cast<std::uint8_t>(place - distinct[f].begin());
                }
                out[f * rows.n_rows + row] = seen.rank(x);
            }
        }
        return out;
    }

    LargeVector<std::uint8_t> columns_;
    TwoOrders<std::uint8_t> orders_;
    // The different numbers of the columns, `step_` places each, filled up with infinities: as many
    // comparisons for every feature, because the number of a loop's rounds should be foreseeable.
    std::size_t step_;
    std::vector<float> numbers_;
    bool avx2_ = support::has_avx2();
};

}  // namespace localmdi::grow
