// The criteria, and the impurity of a set of rows from sums over them: one formula each, for
// growing and for the infinite forest.
//
// All weights are sums over at least one row, so that the total is positive. An impurity is never
// negative: rounding can leave −1e-17 where 0 is meant, and a row would then gain from a split that
// gains nothing.
//
// To add a criterion: a code here, a formula here, a row in src/localmdi/_criteria.py, a case in
// grow/node_sums.hpp and in infinite/sample.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace localmdi::support {

// The codes are part of the interface to Python: tests/architecture compares them with the `kernel`
// column of localmdi._criteria.CRITERIA.
enum class Criterion : std::uint8_t { entropy = 0, gini = 1, variance = 2 };

// What an edge parent → child gives its feature: the drop of the impurity, or the gain, which is
// the divergence between their laws of the output (docs/theory/algorithms.md, "Gain").
enum class Measure : std::uint8_t { drop = 0, gain = 1 };

// c·log2(c), the only transcendental function of the entropy: n·H = n·log2(n) − Σ c·log2(c).
//
// Rows that weigh 1 have whole counts, and there are only as many different ones as there are rows.
// A table of them makes a logarithm a load. The entries are what the formula gives, so that it
// changes no bit whether a count lies in the table.
class WeightedLog {
public:
    // Without a table, for weights that are not whole.
    WeightedLog() = default;

    // For whole counts up to the total; the table stops at `largest`, to stay in the cache.
    WeightedLog(double total, std::size_t largest) {
        const auto end = static_cast<std::size_t>(std::min(total, static_cast<double>(largest)));
        table_.resize(end + 1, 0.0);
        for (std::size_t c = 2; c <= end; ++c) table_[c] = formula(static_cast<double>(c));
    }

    template <class Count>
    double operator()(Count c) const {
        return in_table(c) ? look_up(c) : formula(static_cast<double>(c));
    }

    // Σ c·log2(c) of counts that make up the total. If the total lies in the table, so does every
    // count: one test serves all of them.
    template <class Count>
    double sum(Count total, std::span<const Count> counts) const {
        if (in_table(total)) return add_up(counts, [this](Count c) { return look_up(c); });
        return add_up(counts, [this](Count c) { return (*this)(c); });
    }

private:
    template <class Count>
    bool in_table(Count c) const {
        if constexpr (std::is_unsigned_v<Count>) return c < table_.size();
        return static_cast<double>(c) < static_cast<double>(table_.size());
    }
    template <class Count>
    double look_up(Count c) const {
        return table_[static_cast<std::size_t>(c)];
    }
    static double formula(double c) { return c > 0 ? c * std::log2(c) : 0.0; }

    template <class Count, class Log>
    static double add_up(std::span<const Count> counts, Log log) {
        // Two sums, so that an addition need not wait for the one before it.
        double even = 0, odd = 0;
        std::size_t c = 0;
        for (; c + 2 <= counts.size(); c += 2) {
            even += log(counts[c]);
            odd += log(counts[c + 1]);
        }
        if (c < counts.size()) even += log(counts[c]);
        return even + odd;
    }

    std::vector<double> table_;
};

// H = −Σ p·log2(p) in bits, from the weights of the classes. With p = c/n it is
// (n·log2(n) − Σ c·log2(c)) / n: counts 3 and 1 give (8 − 4.7549) / 4 = 0.8113.
template <class Count>
double entropy(const WeightedLog& log, Count total, std::span<const Count> counts) {
    const double bits = (log(total) - log.sum(total, counts)) / static_cast<double>(total);
    return bits < 0 ? 0.0 : bits;  // by value: whether a set is pure is no branch to guess
}

// Σ p(1 − p) = 1 − Σ p²: counts 3 and 1 give 1 − 10/16 = 0.375. Exactly 0 for a single class.
template <class Count>
double gini(Count total, std::span<const Count> counts) {
    const auto weight = static_cast<double>(total);
    double square = 0;
    for (const Count c : counts) {
        const auto count = static_cast<double>(c);
        square += count * count;
    }
    return std::max(1.0 - square / (weight * weight), 0.0);
}

// The mean over outputs of Σwy²/w − (Σwy/w)², from Σw, the Σwy of each output, and Σwy² over all
// of them. The caller centres y: otherwise the difference of two large numbers loses its digits.
inline double variance(double weight, std::span<const double> sums, double squares) {
    double content = squares;
    for (const double sum : sums) content -= sum * (sum / weight);
    return std::max(content / weight / static_cast<double>(sums.size()), 0.0);
}

// The gain of an edge parent → child is the Bregman divergence of the criterion between their laws,
// a sum over classes (or outputs) of slope · (child − parent): for Gini Σ d², for the variance the
// squared difference of means, for the entropy KL(child ‖ parent) in bits. The slope is the part
// that depends on the rows the tree was grown on; with the difference d of *other* rows the same
// sum is the honest gain, which is linear in them (docs/theory/algorithms.md, "Gain").
//
// Entropy: with u = d / parent the summand is parent · ((1 + u)·ln(1 + u) − u) / ln 2, never
// negative. Example: parent 1/2, child 3/4 gives u = 1/2, slope .3121, summand .0780.
inline double gain_slope(Criterion criterion, double parent, double child) {
    const double d = child - parent;
    if (criterion != Criterion::entropy) return d;
    // A class that the parent has not seen, the child has not seen either.
    if (!(parent > 0) || d == 0) return 0;
    constexpr double kPerBit = 1.4426950408889634;  // 1 / ln 2
    const double u = d / parent;
    if (child <= 0) return -kPerBit;
    // Near 0 the difference below would lose its digits; the next term of the series is u⁵ / 30.
    if (std::abs(u) < 1e-3) return kPerBit * u * (0.5 - u * (1.0 / 6 - u * (1.0 / 12 - u / 20)));
    return kPerBit * ((1 + u) * std::log1p(u) - u) / u;
}

}  // namespace localmdi::support
