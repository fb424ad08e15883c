// Random orders of the features.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "localmdi/support/random.hpp"

namespace localmdi::infinite {

// Order `index` is the same whether 10 or 10,000 orders are drawn, and whoever draws it.
inline void shuffle(std::uint64_t seed, std::uint64_t index, std::vector<std::uint32_t>& order) {
    support::Stream random(seed, index);
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[random.below(n)]);
}

}  // namespace localmdi::infinite
