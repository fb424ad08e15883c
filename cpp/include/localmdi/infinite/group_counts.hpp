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
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "localmdi/infinite/match_masks.hpp"

namespace localmdi::infinite {

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

}  // namespace localmdi::infinite
