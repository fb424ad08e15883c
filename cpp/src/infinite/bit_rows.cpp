#include "localmdi/infinite/bit_rows.hpp"

#include <algorithm>

namespace localmdi::infinite {

// Rows that count several times get that many bits if this many times more bits are enough.
constexpr double kMaxCopies = 2.0;

BitRows::BitRows(const Sample& sample)
    : sample_(sample), impurity_(sample), by_class_(sample.criterion != Criterion::variance) {
    double total = 0.0;
    bool whole = by_class_;
    for (const double weight : sample.entry_weight) {
        total += weight;
        whole = whole && weight == std::floor(weight);
        unit_ = unit_ && weight == 1.0;
    }
    const bool copy =
        whole && total <= kMaxCopies * static_cast<double>(sample.entry_weight.size());
    unit_ = by_class_ && (unit_ || copy);
    const std::size_t n_ranges = by_class_ ? sample.n_slots : 1;
    for (std::size_t c = 0; c < n_ranges; ++c) {
        row_.resize((row_.size() + 63) / 64 * 64, 0);
        weight_.resize(row_.size(), 0.0);
        for (std::size_t i = 0; i < sample.n_rows(); ++i) {
            if (!by_class_) {
                row_.push_back(static_cast<std::uint32_t>(i));
                weight_.push_back(1.0);
                continue;
            }
            for (auto e = static_cast<std::size_t>(sample.entry_offset[i]);
                 e < static_cast<std::size_t>(sample.entry_offset[i + 1]); ++e) {
                if (static_cast<std::size_t>(sample.entry_slot[e]) != c) continue;
                const double weight = sample.entry_weight[e];
                const auto copies = copy ? static_cast<std::size_t>(weight) : std::size_t{1};
                row_.insert(row_.end(), copies, static_cast<std::uint32_t>(i));
                weight_.insert(weight_.end(), copies, copy ? 1.0 : weight);
            }
        }
        class_end_.push_back((row_.size() + 63) / 64);
    }
    all_.assign((row_.size() + 63) / 64, 0);
    for (std::size_t bit = 0; bit < row_.size(); ++bit)
        if (weight_[bit] > 0.0) all_[bit / 64] |= Word{1} << (bit % 64);
}

void BitRows::match(std::span<const std::int32_t> x, std::vector<Word>& matching) const {
    const std::size_t p = sample_.n_features;
    const std::size_t words = n_words();
    matching.assign((p + 1) * words, 0);
    Word* const copies = matching.data() + p * words;
    each_bit(all_.data(), 0, words, [&](std::size_t bit) {
        const auto row = sample_.row(row_[bit]);
        const Word one = Word{1} << (bit % 64);
        bool equal = true;
        for (std::size_t j = 0; j < p; ++j) {
            if (row[j] == x[j]) matching[j * words + bit / 64] |= one;
            else equal = false;
        }
        if (equal) copies[bit / 64] |= one;
    });
}

bool BitRows::add_up(const Word* set, std::vector<double>& slots) const {
    slots.assign(sample_.n_slots, 0.0);
    if (!by_class_) {
        std::int32_t label = -2;
        each_bit(set, 0, n_words(), [&](std::size_t bit) {
            sample_.add_row(row_[bit], slots.data());
            const std::int32_t here = sample_.label[row_[bit]];
            label = label == -2 || label == here ? here : -1;
        });
        return label < 0;
    }
    std::size_t first = 0;
    std::size_t n_present = 0;
    for (std::size_t c = 0; c < slots.size(); ++c) {
        if (unit_) {
            int count = 0;
            for (std::size_t w = first; w < class_end_[c]; ++w) count += std::popcount(set[w]);
            slots[c] = count;
        } else {
            each_bit(set, first, class_end_[c], [&](std::size_t bit) { slots[c] += weight_[bit]; });
        }
        n_present += slots[c] > 0.0;
        first = class_end_[c];
    }
    return n_present > 1;
}

bool BitRows::varies(const Word* set, std::size_t j) const {
    std::int32_t first = -1;
    bool different = false;
    each_bit(set, 0, n_words(), [&](std::size_t bit) {
        const std::int32_t code = sample_.row(row_[bit])[j];
        if (first < 0) first = code;
        different = different || code != first;
    });
    return different;
}

}  // namespace localmdi::infinite
