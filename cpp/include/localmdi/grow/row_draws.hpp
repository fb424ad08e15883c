// How much each row counts in a tree: as given, or as often as a bootstrap drew it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/tree_random.hpp"

namespace localmdi::grow {

class RowDraws {
public:
    // The labels are needed to balance classes only.
    RowDraws(const TrainingRows& rows, const GrowRules& rules, std::span<const std::uint32_t> label)
        : rows_(rows), rules_(rules), label_(label) {}

    // Per row, valid until the next draw.
    std::span<const double> draw(TreeRandom& random) {
        if (rules_.n_draws == 0) return rows_.weight;
        times_.assign(rows_.n_rows, 0);
        const auto n_rows = static_cast<std::uint32_t>(rows_.n_rows);
        for (std::size_t k = 0; k < rules_.n_draws; ++k) ++times_[random.below(n_rows)];
        weight_.resize(rows_.n_rows);
        for (std::size_t i = 0; i < rows_.n_rows; ++i) weight_[i] = times_[i] * rows_.weight[i];
        if (rules_.balance_draws) balance();
        return weight_;
    }

private:
    // Every class that was drawn gets the same share of the draws.
    void balance() {
        times_of_class_.assign(*std::ranges::max_element(label_) + std::size_t{1}, 0);
        for (std::size_t i = 0; i < rows_.n_rows; ++i) times_of_class_[label_[i]] += times_[i];
        const auto n_drawn = std::ranges::count_if(times_of_class_, [](auto n) { return n > 0; });
        const double share = static_cast<double>(rules_.n_draws) / static_cast<double>(n_drawn);
        for (std::size_t i = 0; i < rows_.n_rows; ++i)
            if (times_[i] > 0)
                weight_[i] *= share / static_cast<double>(times_of_class_[label_[i]]);
    }

    const TrainingRows& rows_;
    const GrowRules& rules_;
    std::span<const std::uint32_t> label_;
    std::vector<std::uint32_t> times_;
    std::vector<std::size_t> times_of_class_;
    std::vector<double> weight_;
};

}  // namespace localmdi::grow
