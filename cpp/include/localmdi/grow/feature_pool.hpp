// Which features may still split a node, and the order in which they are drawn.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace localmdi::grow {

// Of one node: the first n_active features of the pool may vary in it. n_constant further ones are
// known to be constant; they count only because a draw can meet them (see SplitChooser).
struct PoolState {
    std::uint32_t n_active = 0, n_constant = 0;
};

// One order of the features for the whole tree. Below a node only the part before its n_active is
// rearranged, so that a sibling visited later finds the same set there. With the order c a b d and
// n_active = 3, retiring a gives c b a d and n_active = 2: a node above, whose n_active is still 3,
// sees the same three features in another order. No node needs a list of its own.
class FeaturePool {
public:
    explicit FeaturePool(std::size_t n_features) : order_(n_features), place_(n_features) {}

    PoolState reset() {
        std::iota(order_.begin(), order_.end(), 0u);
        std::iota(place_.begin(), place_.end(), 0u);
        return {static_cast<std::uint32_t>(order_.size()), 0};
    }

    std::uint32_t operator[](std::uint32_t place) const { return order_[place]; }

    // Puts the feature at `place` out of the first n_active.
    void retire(std::uint32_t place, PoolState& state) { swap(place, --state.n_active); }

    // Likewise, where the places from n_free on hold features that were drawn already.
    void retire(std::uint32_t place, std::uint32_t& n_free, PoolState& state) {
        swap(place, --n_free);
        retire(n_free, state);
    }

    void mark_drawn(std::uint32_t place, std::uint32_t& n_free) { swap(place, --n_free); }

    void retire_feature(std::uint32_t feature, PoolState& state) { retire(place_[feature], state); }

private:
    void swap(std::uint32_t a, std::uint32_t b) {
        std::swap(order_[a], order_[b]);
        place_[order_[a]] = a;
        place_[order_[b]] = b;
    }

    std::vector<std::uint32_t> order_, place_;
};

}  // namespace localmdi::grow
