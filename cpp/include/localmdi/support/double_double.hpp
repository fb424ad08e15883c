// A sum as two doubles: what rounding takes from the first is kept in the second. Some 106 bits, so
// that the order in which rows are added up, and how they are cut into parts, does not show.
#pragma once

namespace localmdi::support {

struct DoubleDouble {
    double high = 0, low = 0;
};

// a + b without any error (Knuth).
inline DoubleDouble exact_sum(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// a · b without any error, if nothing overflows (Dekker).
inline DoubleDouble exact_product(double a, double b) {
    const auto upper = [](double x) {
        const double scaled = 134217729.0 * x;  // 2^27 + 1: the upper half of the digits remains
        return scaled - (scaled - x);
    };
    const double a1 = upper(a), b1 = upper(b), a2 = a - a1, b2 = b - b1;
    const double product = a * b;
    return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = exact_sum(a.high, b.high);
    return exact_sum(sum.high, sum.low + (a.low + b.low));
}

inline DoubleDouble operator*(DoubleDouble a, double b) {
    const DoubleDouble product = exact_product(a.high, b);
    return exact_sum(product.high, product.low + a.low * b);
}

}  // namespace localmdi::support
