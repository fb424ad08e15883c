// Blocks of the lattice where counts are small whole numbers: gains that are looked up, counts in
// groups of eight subsets, and counts of one byte. Time without byte and group counts ÷ with them,
// one row: 1.4 to 1.7 from 16 features on without bytes, up to 2.6 without both. Group counts alone
// bring 0.9 to 1.1, but 1.6 with 10 features, and without them the last bits would change.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "localmdi/infinite/sample.hpp"
#include "localmdi/infinite/subset_walk.hpp"

namespace localmdi::infinite {

// The gain of every set of at most fifteen rows, looked up.
//
// Deep in a lattice few rows equal x, and an impurity depends on their counts by class only, in any
// order. Fifteen rows or fewer can be counted in 683 ways: 2 + 1 + 1 is one of the five of four
// rows. So each count has a code, and codes are chosen such that different counts have different
// sums of codes:
//
//     counts   codes         sum
//     4        301           301
//     3 1      114 1         115
//     2 2      16 16          32
//     2 1 1    16 1 1         18
//     1 1 1 1  1 1 1 1         4
//
// The sum is the place of the gain in a table. No logarithm, no division, and what is added up are
// small whole numbers, which processors add many at a time.
class SmallSets {
public:
    static constexpr std::size_t kMostRows = 15;
    // Each code is the least that keeps all sums apart, given those before it: see
    // test_small_counts.
    static constexpr std::array<std::uint16_t, kMostRows + 1> kCode = {
        0, 1, 16, 114, 301, 663, 1018, 1168, 800, 1361, 183, 141, 58, 76, 30, 44};
    static constexpr std::size_t kLargestSum = 2379;

    // Gains are impurities minus `end`, that of the copies of x.
    SmallSets(const Impurity& impurity, double end) : gain_(kLargestSum + 1, 0.0) {
        std::vector<double> counts;
        for_each_set(kMostRows, kMostRows, counts, [&](std::size_t code) {
            gain_[code] = impurity(counts.data(), counts.size()) - end;
        });
    }

    double operator[](std::size_t sum_of_codes) const { return gain_[sum_of_codes]; }

    // Calls visit(sum of codes) for every way to count at most `rows` rows, with none of the counts
    // above `most`; `counts` are those that the sum belongs to, largest first.
    template <class Visit>
    static void for_each_set(std::size_t rows, std::size_t most, std::vector<double>& counts,
                             const Visit& visit, std::size_t sum = 0) {
        for (std::size_t c = 1; c <= std::min(rows, most); ++c) {
            counts.push_back(static_cast<double>(c));
            visit(sum + kCode[c]);
            for_each_set(rows - c, c, counts, visit, sum + kCode[c]);
            counts.pop_back();
        }
    }

private:
    std::vector<double> gain_;
};

// The counts of a block of subsets where all of them are small whole numbers, in groups of eight
// subsets that are left out where nothing can happen.
//
// In the deeper blocks few rows are left. A group holds the subsets that differ in the lowest three
// features only; a row is counted in a group if it shares the group's other features with x. Where
// no row with another output is counted, the subsets are as pure as the copies of x, and gain
// nothing. Six features f e d c b a, and of f, e and d one row shares d with x, another f and d:
//
//     groups                {}   {d}  {e}  {d e}  {f}  {d f}  {e f}  {d e f}
//     the first row is in   yes  yes
//     the second            yes  yes              yes  yes
//
// Four of eight groups are neither cleared nor counted. The copies of x are in every subset, and
// are added last.

// Eight whole numbers that are added at once: one instruction of every processor with vectors.
struct EightCounts {
    std::uint16_t at[8] = {};

    EightCounts& operator+=(EightCounts other) {
        for (std::size_t i = 0; i < 8; ++i)
            other.at[i] = static_cast<std::uint16_t>(other.at[i] + at[i]);
        return *this = other;
    }
};

class GroupCounts {
public:
    static constexpr unsigned kGroupBits = 3;
    static constexpr std::size_t kGroup = std::size_t{1} << kGroupBits;

    // For blocks of the lowest n_bits features, 3 to 8.
    GroupCounts(const MatchMasks& masks, std::size_t n_bits)
        : masks_(masks), n_groups_(std::uint32_t{1} << (n_bits - kGroupBits)) {
        for (std::uint32_t group = 0; group < n_groups_; ++group)
            for (std::uint32_t other = 0; other <= group; ++other)
                if ((group & other) == other) within_[group] |= std::uint32_t{1} << other;
    }

    // The rows are those of a block, the copies of x among them. Returns a bit for each group in
    // which something may be gained; finish() makes its counts.
    std::uint32_t count(const std::vector<std::uint32_t>& rows) {
        masks_.find_present(rows, present_, place_);
        const std::int32_t label = masks_.label[masks_.copies];
        std::uint32_t occupied = 0, impure = 0;
        for (const std::uint32_t i : rows) {
            if (i == masks_.copies) continue;
            occupied |= within_[group_of(i)];
            if (label < 0 || masks_.label[i] != label) impure |= within_[group_of(i)];
        }
        counts_.resize(n_groups_ * kGroup * eights());
        for (std::uint32_t left = occupied; left != 0; left &= left - 1)
            std::fill_n(first(lowest(left)), kGroup * eights(), EightCounts{});
        copies_.assign(eights(), EightCounts{});
        for (const std::uint32_t i : rows) {
            const std::size_t subset = masks_.mask[i] & (n_groups_ * kGroup - 1);
            EightCounts* const to =
                i == masks_.copies ? copies_.data() : counts_.data() + subset * eights();
            masks_.add_row(i, to->at, place_.data());
        }
        for (std::uint32_t bit = 1; bit < n_groups_; bit *= 2)
            for (std::uint32_t left = occupied; left != 0; left &= left - 1)
                if (const std::uint32_t group = lowest(left); group & bit)
                    add(first(group), first(group ^ bit), kGroup * eights());
        return impure;
    }

    // The counts of the group's subsets, 8 · eights() numbers for each. Once only.
    const std::uint16_t* finish(std::uint32_t group) {
        EightCounts* const counts = first(group);
        const std::size_t n = eights();
        add(copies_.data(), counts + (kGroup - 1) * n, n);  // from there they get into all
        if (n == 1) add_supersets(counts, 1);
        else add_supersets(counts, n);
        return counts->at;
    }

    std::size_t width() const { return present_.size(); }
    std::size_t eights() const { return (width() + 7) / 8; }

private:
    static std::uint32_t lowest(std::uint32_t bits) {
        return static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    std::size_t group_of(std::uint32_t row) const {
        return masks_.mask[row] >> kGroupBits & (n_groups_ - 1);
    }
    EightCounts* first(std::uint32_t group) { return counts_.data() + group * kGroup * eights(); }

    static void add(const EightCounts* from, EightCounts* to, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
    }

    // Within a group, n eights per subset.
    static void add_supersets(EightCounts* counts, std::size_t n) {
        for (std::size_t bit = 1; bit < kGroup; bit *= 2)
            for (std::size_t s = 0; s < kGroup; ++s)
                if ((s & bit) == 0) add(counts + (s | bit) * n, counts + s * n, n);
    }

    const MatchMasks& masks_;
    std::uint32_t n_groups_;
    std::array<std::uint32_t, 32> within_{};  // per group: a bit for each of its subsets
    std::vector<std::int32_t> present_, place_;
    std::vector<EightCounts> counts_, copies_;
};

// The counts of a block of 2^8 subsets where at most 255 rows are left: a byte for each subset and
// class, eight subsets in a word.
//
// A word is a group, the subsets that differ in the lowest three features only. Adding to each
// subset its supersets adds words for the five other features, and bytes within a word for these
// three. No byte overflows, so that eight of them are added as one number:
//
//     feature 0 (bytes 1, 3, 5, 7 into 0, 2, 4, 6):  word += word >> 8 & 0x00FF00FF00FF00FF
//
// Then the codes of SmallSets are added up over the classes. Where a group has no more than
// fifteen rows, which is nearly always, these are all that is needed.
class ByteCounts {
public:
    static constexpr unsigned kBits = 8;  // of the subsets of a block
    static constexpr std::size_t kGroup = 8, kGroups = 32;

    // simd: AVX2, where the processor has it; the counts are the same without.
    explicit ByteCounts(const MatchMasks& masks, bool simd = true);

    // The rows are those of a block, the copies of x among them. Returns whether they can be
    // counted; then the functions below may be called.
    bool count(const std::vector<std::uint32_t>& rows);

    // A bit for each group in which something may be gained: a row with another output is in it.
    std::uint32_t impure() const { return impure_; }
    // Rows of the group's largest set, which has none of the lowest three features.
    std::size_t n_rows(std::uint32_t group) const { return total_[group] & 0xFF; }
    // Sums of codes of the group's subsets; right if it has at most SmallSets::kMostRows rows.
    const std::uint16_t* codes(std::uint32_t group) const { return &codes_[group * kGroup]; }
    // Otherwise the counts: those of a subset side by side, `stride` from one to the next.
    std::size_t width() const { return present_.size(); }
    void copy_counts(std::uint32_t group, std::uint16_t* counts, std::size_t stride) const;

private:
    void add_rows(const std::vector<std::uint32_t>& rows);

    const MatchMasks& masks_;
    bool simd_;
    std::array<std::uint32_t, kGroups> within_{};  // per group: a bit for each of its subsets
    std::vector<std::uint32_t> n_rows_;            // of a merged row
    std::vector<std::int32_t> present_, place_;
    std::vector<std::uint64_t> words_;  // [class][group]
    std::array<std::uint64_t, kGroups> total_{};
    std::array<std::uint16_t, kGroups * kGroup> codes_{};
    std::uint32_t impure_ = 0;
};

}  // namespace localmdi::infinite
