// The counts of a block of 2^8 subsets where at most 255 rows are left: a byte for each subset and
// class, eight subsets in a word.
//
// A word is a group, the subsets that differ in the lowest three features only. Adding to each
// subset its supersets adds words for the five other features, and bytes within a word for these
// three. No byte overflows, so that eight of them are added as one number:
//
//     feature 0 (bytes 1, 3, 5, 7 into 0, 2, 4, 6):  word += word >> 8 & 0x00FF00FF00FF00FF
//
// Then the codes of small_sets.hpp are added up over the classes. Where a group has no more than
// fifteen rows, which is nearly always, these are all that is needed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "localmdi/infinite/match_masks.hpp"

namespace localmdi::infinite {

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
