// Random orders of the features.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "localmdi/support/random.hpp"

namespace localmdi::infinite {

// A stream of its own for every (seed, index), so that threads and batches change nothing: order 17
// is the same whether 10 or 10,000 orders are drawn, and whoever draws it.
class Permutations {
public:
    Permutations(std::uint64_t seed, std::uint64_t index)
        : state_(support::mix(seed + support::mix(index + 1))) {}

    void shuffle(std::vector<std::uint32_t>& order) {
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        for (auto n = static_cast<std::uint32_t>(order.size()); n > 1; --n)
            std::swap(order[n - 1], order[support::below(n, [this] { return next(); })]);
    }

private:
    // splitmix64: its state is a counter, so that a stream for a few dozen numbers costs nothing.
    std::uint32_t next() {
        state_ += support::kGolden;
        return static_cast<std::uint32_t>(support::mix(state_) >> 32);
    }

    std::uint64_t state_;
};

}  // namespace localmdi::infinite
