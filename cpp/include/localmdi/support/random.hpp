// Random numbers, the same whoever draws them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace localmdi::support {

// 2^64 divided by the golden ratio, made odd: its multiples spread evenly over all 64-bit numbers.
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

// The mixer of splitmix64 (Vigna, after Steele, Lea and Flood 2014): neighbouring inputs, such as
// the seeds 0 and 1 or the trees 7 and 8, give unrelated outputs.
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Uniform in 0 .. n − 1 (Lemire 2019); next() gives 32 random bits. The upper half of bits × n is
// almost uniform: 2^32 values do not divide evenly among n. Drawing again where the lower half is
// below 2^32 mod n makes it exact, and the division is needed only where the lower half is below n.
template <class Next>
std::uint32_t below(std::uint32_t n, Next next) {
    std::uint64_t product = std::uint64_t{next()} * n;
    if (static_cast<std::uint32_t>(product) < n) {
        const std::uint32_t refused = (0u - n) % n;
        while (static_cast<std::uint32_t>(product) < refused) product = std::uint64_t{next()} * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
}

// A stream of its own for every (seed, index), so that threads and batches change nothing; its
// mirror has all bits turned over. splitmix64: its state is a counter, so that a stream for a few
// dozen numbers costs nothing.
class Stream {
public:
    Stream(std::uint64_t seed, std::uint64_t index, bool mirror = false)
        : state_(mix(seed + mix(index + 1))), mask_(mirror ? ~std::uint64_t{0} : 0) {}

    std::uint32_t below(std::size_t n) {
        return support::below(static_cast<std::uint32_t>(n),
                              [this] { return static_cast<std::uint32_t>(next() >> 32); });
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::uint64_t next() {
        state_ += kGolden;
        return mix(state_) ^ mask_;
    }

    std::uint64_t state_, mask_;
};

}  // namespace localmdi::support
