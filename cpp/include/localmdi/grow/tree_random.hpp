// Random numbers of one tree: its own stream, so that no other tree and no thread can change it.
// Tree 7 of 10 is tree 7 of 1000: a forest can be grown further without growing it again.
#pragma once

#include <bit>
#include <cstdint>

#include "localmdi/support/random.hpp"

namespace localmdi::grow {

// xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64 as its authors advise.
class TreeRandom {
public:
    TreeRandom(std::uint64_t seed, std::uint64_t tree) {
        std::uint64_t x = support::mix(seed) ^ support::mix(~tree);
        for (auto& word : state_) word = support::mix(x += support::kGolden);
    }

    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // Uniform in 0 .. n − 1.
    std::uint32_t below(std::uint32_t n) {
        return support::below(n, [this] { return static_cast<std::uint32_t>(next() >> 32); });
    }

    // Uniform between two different numbers.
    float cut(float low, float high) {
        const double from = low, to = high;
        const auto rounded = static_cast<float>(from + uniform() * (to - from));
        // A cut that was rounded to the larger number would leave nothing above it.
        return rounded < high ? rounded : low;
    }

private:
    std::uint64_t next() {
        const std::uint64_t out = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return out;
    }

    std::uint64_t state_[4];
};

}  // namespace localmdi::grow
