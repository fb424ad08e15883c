// Numbers that are equal to the last bit: −0 is not 0, and a NaN is itself.
#pragma once

#include <cstring>
#include <span>

namespace localmdi::testing {

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace localmdi::testing
