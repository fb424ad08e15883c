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

// The largest Value below v, which is neither NaN nor -infinity: std::nextafter without a call.
template <class Value>
Value number_before(Value v) {
    using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    if (v == 0) return -std::numeric_limits<Value>::denorm_min();
    const auto bits = std::bit_cast<Bits>(v);
    return std::bit_cast<Value>(static_cast<Bits>(v > 0 ? bits - 1 : bits + 1));
}

// The largest Value v with: x <= v exactly when x <= t (or x < t), for every x of type Value.
template <class Value>
Value inclusive_threshold(double t, bool strict) {
    if (strict && t == -std::numeric_limits<double>::infinity())
        return std::numeric_limits<Value>::quiet_NaN();  // nothing is less
    const auto rounded = static_cast<Value>(t);
    const auto exact = static_cast<double>(rounded);
    return exact > t || (strict && exact == t) ? number_before(rounded) : rounded;
}

}  // namespace localmdi::forest
