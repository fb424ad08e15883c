// Random numbers of one tree: its own stream, so that no other tree and no thread can change it.
#pragma once

#include <bit>
#include <cstdint>

namespace localmdi {

// xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64 as its authors advise.
class TreeRandom {
public:
    TreeRandom(std::uint64_t seed, std::uint64_t tree) {
        std::uint64_t x = mix(seed) ^ mix(~tree);
        for (auto& word : state_) word = mix(x += kGolden);
    }

    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // Uniform in 0 .. n − 1, without the bias of a plain product (Lemire 2019).
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = (next() >> 32) * n;
        if (static_cast<std::uint32_t>(product) < n) {
            const std::uint32_t refused = (0u - n) % n;
            while (static_cast<std::uint32_t>(product) < refused) product = (next() >> 32) * n;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

    // Uniform between two different numbers.
    float cut(float low, float high) {
        const double from = low, to = high;
        const auto rounded = static_cast<float>(from + uniform() * (to - from));
        // A cut that was rounded to the larger number would leave nothing above it.
        return rounded < high ? rounded : low;
    }

private:
    static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }

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

}  // namespace localmdi
