// Every ordered split becomes x <= threshold in the type of the rows. The largest float32 that is
// not above t decides x <= t for every float32 x exactly as the float64 t would: t = 0.1 is
// 0.1000000000000000055 as float64, the nearest float32 is 0.100000001, which is above it, so the
// one before it, 0.099999994, is taken. x < t becomes x <= (the number before t).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace localmdi::forest {

// v, or if `before` the largest Value below it; v is neither NaN nor -infinity. std::nextafter
// without a call, and without a branch on `before`: one threshold of two is rounded up, in no
// order.
template <class Value>
Value at_or_before(Value v, bool before) {
    using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    if (v == 0) return before ? -std::numeric_limits<Value>::denorm_min() : v;
    const auto bits = std::bit_cast<Bits>(v);
    const Bits step = v > 0 ? static_cast<Bits>(-1) : Bits{1};
    return std::bit_cast<Value>(static_cast<Bits>(bits + Bits{before} * step));
}

// The largest Value v with: x <= v exactly when x <= t (or x < t), for every x of type Value.
template <class Value>
Value inclusive_threshold(double t, bool strict) {
    if (strict && t == -std::numeric_limits<double>::infinity())
        return std::numeric_limits<Value>::quiet_NaN();  // nothing is less
    const auto rounded = static_cast<Value>(t);
    const auto exact = static_cast<double>(rounded);
    return at_or_before(rounded, (exact > t) | (strict & (exact == t)));
}

}  // namespace localmdi::forest
