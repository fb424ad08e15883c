// The rows of a sample as one row x sees them: on which features they equal x. All that the lattice
// of x asks about a row is whether it agrees with x on S, which is (mask & S) == S.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

// Rows with equal masks cannot be told apart by what they share with x, so they are merged. Bit b
// belongs to features[b]; features that rarely match have the high bits, which the search decides
// first, because their lists of matching rows are short.
struct MatchMasks {
    std::size_t n_slots;
    bool fixed_slots;   // every slot has its meaning, also where its sum is 0
    bool small_counts;  // all sums are whole numbers below 2^16
    std::vector<std::size_t> features;
    std::vector<std::uint64_t> mask;  // of each merged row
    std::uint32_t copies = 0;         // the merged row that equals x
    std::vector<std::int32_t> label;
    std::vector<std::size_t> entry_offset;
    std::vector<std::int32_t> entry_slot;
    std::vector<double> entry_weight;

    MatchMasks(const Sample& sample, std::size_t x, bool all_features);

    void add_row(std::size_t i, double* slots) const {
        for (std::size_t e = entry_offset[i]; e < entry_offset[i + 1]; ++e)
            slots[entry_slot[e]] += entry_weight[e];
    }
    template <class Count>
    void add_row(std::size_t i, Count* counts, const std::int32_t* place) const {
        for (std::size_t e = entry_offset[i]; e < entry_offset[i + 1]; ++e) {
            Count& sum = counts[place[entry_slot[e]]];
            sum = static_cast<Count>(sum + static_cast<Count>(entry_weight[e]));
        }
    }

    bool is_pure(const std::vector<std::uint32_t>& rows) const {
        const std::int32_t first = label[rows[0]];
        return first >= 0 && std::all_of(rows.begin(), rows.end(),
                                         [&](std::uint32_t i) { return label[i] == first; });
    }

    // Lists the slots that occur in some rows, and the place of each in that list.
    void find_present(const std::vector<std::uint32_t>& rows, std::vector<std::int32_t>& present,
                      std::vector<std::int32_t>& place) const;

private:
    void choose_features(const Sample& sample, std::size_t x, bool all_features);
    void merge(const Sample& sample, std::span<const std::size_t> rows);
};

}  // namespace localmdi::infinite
