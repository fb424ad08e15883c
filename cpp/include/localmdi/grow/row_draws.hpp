// How much each row counts in a tree: as given, as often as a bootstrap drew it, or in every
// second tree only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/tree_random.hpp"

namespace localmdi::grow {

// Half of the rows for one tree, the others for the next: trees 2k and 2k + 1 swap roles.
class HalfDraws {
public:
    HalfDraws(std::size_t n_rows, std::uint64_t seed)
        : n_rows_(static_cast<std::uint32_t>(n_rows)), seed_(seed) {}

    // Ascending, valid until the next call for another pair of trees.
    std::span<const std::uint32_t> counted(std::size_t tree) { return half(tree, tree % 2); }
    std::span<const std::uint32_t> held_out(std::size_t tree) { return half(tree, 1 - tree % 2); }

private:
    std::span<const std::uint32_t> half(std::size_t tree, std::size_t which) {
        if (tree / 2 != pair_) divide(tree / 2);
        return halves_[which];
    }

    // Selection sampling: row after row, each taken with the chance that leaves n / 2 in the end.
    void divide(std::size_t pair) {
        TreeRandom random(~seed_, pair);  // no tree draws from this stream
        std::uint32_t wanted = n_rows_ / 2;
        for (auto& half : halves_) half.clear();
        for (std::uint32_t row = 0; row < n_rows_; ++row) {
            const bool taken = random.below(n_rows_ - row) < wanted;
            wanted -= taken;
            halves_[taken ? 0 : 1].push_back(row);
        }
        pair_ = pair;
    }

    std::uint32_t n_rows_;
    std::uint64_t seed_;
    std::size_t pair_ = ~std::size_t{0};
    std::vector<std::uint32_t> halves_[2];
};

// Adds how often a bootstrap sample has each row.
inline void draw_rows(std::size_t n_draws, TreeRandom& random, std::span<std::uint32_t> times) {
    const auto n_rows = static_cast<std::uint32_t>(times.size());
    for (std::size_t k = 0; k < n_draws; ++k) ++times[random.below(n_rows)];
}

// How often a tree counts each row, drawn again.
inline std::vector<std::uint32_t> times_counted(std::size_t n_rows, const GrowRules& rules,
                                                std::size_t tree) {
    const bool draws = rules.honest || rules.n_draws > 0;
    std::vector<std::uint32_t> times(n_rows, draws ? 0 : 1);
    if (rules.honest) {
        HalfDraws halves(n_rows, rules.seed);
        for (const std::uint32_t row : halves.counted(tree)) times[row] = 1;
    } else {
        TreeRandom random(rules.seed, tree);
        draw_rows(rules.n_draws, random, times);
    }
    return times;
}

class RowDraws {
public:
    // The labels are needed to balance classes only.
    RowDraws(const TrainingRows& rows, const GrowRules& rules, std::span<const std::uint32_t> label)
        : rows_(rows), rules_(rules), label_(label), halves_(rows.n_rows, rules.seed) {}

    // Per row, valid until the next draw.
    std::span<const double> draw(std::size_t tree, TreeRandom& random) {
        if (rules_.honest) return draw_half(tree);
        if (rules_.n_draws == 0) return rows_.weight;
        times_.assign(rows_.n_rows, 0);
        draw_rows(rules_.n_draws, random, times_);
        weight_.resize(rows_.n_rows);
        for (std::size_t i = 0; i < rows_.n_rows; ++i) weight_[i] = times_[i] * rows_.weight[i];
        if (rules_.balance_draws) balance();
        return weight_;
    }

private:
    std::span<const double> draw_half(std::size_t tree) {
        weight_.assign(rows_.n_rows, 0.0);
        for (const std::uint32_t row : halves_.counted(tree)) weight_[row] = rows_.weight[row];
        return weight_;
    }

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
    HalfDraws halves_;
    std::vector<std::uint32_t> times_;
    std::vector<std::size_t> times_of_class_;
    std::vector<double> weight_;
};

}  // namespace localmdi::grow
