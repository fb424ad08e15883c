// Choosing the split of a node: the best of K drawn features, in the theory's or scikit-learn's
// sense.
//
// They differ in what a draw of a constant feature means (docs/theory/algorithms.md, "Best-of-K
// forests"). K = 2, features a b c, and b is constant in the node:
//
// Theory: two of {a, b, c} are drawn, whatever they are. If these are a and b, the best of "a's
// cut" and "b, which gains 0" is taken; b wins a tie with a useless cut half of the time, and then
// leaves the pool, and two are drawn anew.
//
// scikit-learn: constant features use up draws as well, but never win; and if none of the K varied,
// it goes on drawing until one does.
//
// With K = 1 both draw uniformly among the features that vary, and no impurity is computed at all.
//
// Features found constant stay constant below, so that they leave the node's pool (FeaturePool) and
// are not tried again by its descendants. Without that, most of the time in deep nodes would go
// into finding constant features constant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "localmdi/grow/feature_pool.hpp"
#include "localmdi/grow/row_lists.hpp"

namespace localmdi::grow {

// The best candidate so far; equal ones with equal chances. Decreases that differ by rounding only
// are equal: the same partition can be summed in another order.
class BestSplit {
public:
    BestSplit(double tie_tolerance, TreeRandom& random)
        : tolerance_(tie_tolerance), random_(random) {}

    // A split of kind leaf stands for a constant feature.
    void consider(const Split& split, double decrease) {
        if (n_tied_ > 0 && decrease < best_ - tolerance_) return;
        n_tied_ = n_tied_ == 0 || decrease > best_ + tolerance_ ? 1 : n_tied_ + 1;
        if (n_tied_ > 1 && random_.below(n_tied_) > 0) return;
        best_ = n_tied_ == 1 ? decrease : best_;
        split_ = split;
    }
    bool found() const { return n_tied_ > 0; }
    const Split& split() const { return split_; }

private:
    double tolerance_, best_ = 0;
    TreeRandom& random_;
    std::uint32_t n_tied_ = 0;
    Split split_;
};

template <class Sums>
class SplitChooser {
public:
    SplitChooser(const GrowRules& rules, const Sums& criterion, RowLists& lists, FeaturePool& pool,
                 bool by_class)
        : rules_(rules), criterion_(criterion), lists_(lists), pool_(pool), by_class_(by_class) {}

    struct Node {
        Part counted;
        const double* sums;
        double impurity;
        double tie_tolerance;
        double min_weight;             // of a child
        const std::uint32_t* on_path;  // per feature: how often it was split above
        std::span<const double> weight;
    };

    // A split of kind leaf if there is none. Takes features found constant out of the pool.
    Split choose(const Node& node, PoolState& state, TreeRandom& random) {
        if (rules_.max_features == 1) return first_varying(node, state, random);
        if (rules_.draw == Draw::sklearn) return best_of_sklearn(node, state, random);
        // The best of K may be a constant feature: it leaves the pool, and the draw is repeated.
        while (state.n_active > 0) {
            BestSplit best(node.tie_tolerance, random);
            best_of_theory(node, state, random, best);
            if (!best.found() || best.split().kind != SplitKind::leaf) return best.split();
            --state.n_constant;
        }
        return {};
    }

private:
    // K = 1: every feature that varies with the same chance, whatever the sense of K.
    Split first_varying(const Node& node, PoolState& state, TreeRandom& random) {
        while (state.n_active > 0) {
            const std::uint32_t place = random.below(state.n_active);
            const ValueRange range = lists_.load(pool_[place], node.counted);
            if (range.varies()) return lists_.random_split(pool_[place], range, random);
            pool_.retire(place, state);
        }
        return {};
    }

    // K draws from all features; constant ones use up draws, but one that varies is always found.
    Split best_of_sklearn(const Node& node, PoolState& state, TreeRandom& random) {
        BestSplit best(node.tie_tolerance, random);
        std::uint32_t n_free = state.n_active, n_constant = state.n_constant;
        bool varied = false;
        for (std::size_t n_drawn = 0; n_free > 0 && (n_drawn < rules_.max_features || !varied);
             ++n_drawn) {
            const bool counts = n_drawn < rules_.max_features;
            const std::uint32_t place = random.below(counts ? n_free + n_constant : n_free);
            if (place >= n_free) {
                --n_constant;
            } else if (!try_feature(node, place, n_free, state, random, best)) {
                ++state.n_constant;
            } else {
                varied = true;
            }
        }
        return best.split();
    }

    // K draws from the features that are not on the branch, constant ones included.
    void best_of_theory(const Node& node, PoolState& state, TreeRandom& random, BestSplit& best) {
        std::uint32_t n_free = state.n_active, n_constant = state.n_constant;
        for (std::size_t n_drawn = 0; n_drawn < rules_.max_features && n_free + n_constant > 0;
             ++n_drawn) {
            const std::uint32_t place = random.below(n_free + n_constant);
            if (place >= n_free) {
                --n_constant;
                best.consider({}, 0);
                continue;
            }
            const std::uint32_t feature = pool_[place];
            if (try_feature(node, place, n_free, state, random, best)) continue;
            if (node.on_path[feature] > 0) {
                --n_drawn;  // a numeric feature that the branch has used up: it was not to be drawn
            } else {
                ++state.n_constant;
                best.consider({}, 0);
            }
        }
    }

    // Draws a cut of the feature at `place` and considers it; false if the feature is constant.
    bool try_feature(const Node& node, std::uint32_t place, std::uint32_t& n_free, PoolState& state,
                     TreeRandom& random, BestSplit& best) {
        const std::uint32_t feature = pool_[place];
        const ValueRange range = lists_.load(feature, node.counted);
        if (!range.varies()) {
            pool_.retire(place, n_free, state);
            return false;
        }
        pool_.mark_drawn(place, n_free);
        const Split split = lists_.random_split(feature, range, random);
        if (const auto decrease = decrease_of(split, node)) best.consider(split, *decrease);
        return true;
    }

    // i(t) − Σ p(child | t) i(child); nothing if a child would be too small.
    std::optional<double> decrease_of(const Split& split, const Node& node) {
        if (rules_.min_samples_leaf > 1 && smallest_child(split, node) < rules_.min_samples_leaf)
            return std::nullopt;
        double left = 0;
        const std::size_t n_sums = criterion_.n_sums(), n_children = sum_children(split, node);
        for (std::size_t g = 0; g < n_children; ++g) {
            double* const sums = sums_.data() + g * n_sums;
            criterion_.finish(sums);
            if (sums[0] < node.min_weight) return std::nullopt;
            left += sums[0] * criterion_.impurity(sums);
        }
        return node.impurity - left / node.sums[0];
    }

    // Returns how many children the split would have.
    std::size_t sum_children(const Split& split, const Node& node) {
        const std::size_t n_sums = criterion_.n_sums();
        if (by_class_ && split.kind == SplitKind::less_equal) {
            sums_.assign(2 * n_sums, 0.0);
            double* const firsts = sums_.data();
            double* const others = firsts + n_sums;
            lists_.count_first(split, node.counted, {node.sums + 1, n_sums - 1}, firsts + 1);
            for (std::size_t s = 1; s < n_sums; ++s) others[s] = node.sums[s] - firsts[s];
            return 2;
        }
        std::uint32_t n_groups = 0;
        const auto groups = lists_.groups(split, node.counted, n_groups);
        const auto ids = lists_.ids(node.counted);
        sums_.assign(n_groups * n_sums, 0.0);
        for (std::size_t i = 0; i < ids.size(); ++i)
            criterion_.add(sums_.data() + groups[i] * n_sums, ids[i], node.weight[ids[i]]);
        return n_groups;
    }

    std::uint32_t smallest_child(const Split& split, const Node& node) {
        std::uint32_t n_groups = 0;
        const auto groups = lists_.groups(split, node.counted, n_groups);
        sizes_.assign(n_groups, 0);
        for (const std::uint32_t group : groups) ++sizes_[group];
        return *std::min_element(sizes_.begin(), sizes_.end());
    }

    const GrowRules& rules_;
    const Sums& criterion_;
    RowLists& lists_;
    FeaturePool& pool_;
    bool by_class_;  // the rows come class after class, and a node's sums are their numbers
    std::vector<double> sums_;
    std::vector<std::uint32_t> sizes_;
};

}  // namespace localmdi::grow
