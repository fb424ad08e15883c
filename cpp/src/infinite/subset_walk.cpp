#include "localmdi/infinite/subset_walk.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace localmdi::infinite {

constexpr std::size_t kMaxFeatures = 62;

MatchMasks::MatchMasks(const Sample& sample, std::size_t x, bool all_features)
    : n_slots(sample.n_slots), fixed_slots(sample.criterion == Criterion::variance) {
    choose_features(sample, x, all_features);
    const std::size_t n = sample.n_rows();
    std::vector<std::uint64_t> of_row(n, 0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t b = 0; b < features.size(); ++b)
            if (sample.row(i)[features[b]] == sample.row(x)[features[b]])
                of_row[i] |= std::uint64_t{1} << b;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return of_row[a] < of_row[b]; });
    entry_offset.push_back(0);
    for (std::size_t start = 0, stop = 0; start < n; start = stop) {
        while (stop < n && of_row[order[stop]] == of_row[order[start]]) ++stop;
        mask.push_back(of_row[order[start]]);
        merge(sample, {order.data() + start, stop - start});
    }
    copies = static_cast<std::uint32_t>(mask.size() - 1);  // all bits set: the greatest mask
    const double total = std::accumulate(entry_weight.begin(), entry_weight.end(), 0.0);
    small_counts = !fixed_slots && total <= std::numeric_limits<std::uint16_t>::max() &&
                   std::all_of(entry_weight.begin(), entry_weight.end(),
                               [](double weight) { return weight == std::floor(weight); });
}

void MatchMasks::choose_features(const Sample& sample, std::size_t x, bool all_features) {
    std::vector<std::size_t> matching(sample.n_features, 0);
    for (std::size_t i = 0; i < sample.n_rows(); ++i)
        for (std::size_t j = 0; j < sample.n_features; ++j)
            matching[j] += sample.row(i)[j] == sample.row(x)[j];
    for (std::size_t j = 0; j < sample.n_features; ++j)
        if (all_features || matching[j] < sample.n_rows()) features.push_back(j);
    if (features.size() > kMaxFeatures)
        throw std::invalid_argument("the lattice must have at most 62 features");
    std::stable_sort(features.begin(), features.end(),
                     [&](std::size_t a, std::size_t b) { return matching[a] > matching[b]; });
}

void MatchMasks::merge(const Sample& sample, std::span<const std::size_t> rows) {
    std::vector<double> slots(n_slots, 0.0);
    std::int32_t common = sample.label[rows[0]];
    for (const std::size_t i : rows) {
        sample.add_row(i, slots.data());
        if (sample.label[i] != common) common = -1;
    }
    for (std::size_t c = 0; c < n_slots; ++c)
        if (slots[c] != 0.0) {
            entry_slot.push_back(static_cast<std::int32_t>(c));
            entry_weight.push_back(slots[c]);
        }
    entry_offset.push_back(entry_slot.size());
    label.push_back(common);
}

void MatchMasks::find_present(const std::vector<std::uint32_t>& rows,
                              std::vector<std::int32_t>& present,
                              std::vector<std::int32_t>& place) const {
    present.clear();
    place.assign(n_slots, fixed_slots ? 0 : -1);
    for (const std::uint32_t i : rows)
        for (std::size_t e = entry_offset[i]; e < entry_offset[i + 1]; ++e)
            place[static_cast<std::size_t>(entry_slot[e])] = 0;
    for (std::size_t c = 0; c < n_slots; ++c)
        if (place[c] == 0) {
            place[c] = static_cast<std::int32_t>(present.size());
            present.push_back(static_cast<std::int32_t>(c));
        }
}

}  // namespace localmdi::infinite
