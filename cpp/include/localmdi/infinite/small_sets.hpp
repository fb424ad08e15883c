// The gain of every set of at most fifteen rows, looked up.
//
// Deep in a lattice few rows equal x, and an impurity depends on their counts by class only, in any
// order. Fifteen rows or fewer can be counted in 683 ways: 2 + 1 + 1 is one of the five of four
// rows. So each count has a code, and codes are chosen such that different counts have different
// sums of codes:
//
//     counts   codes         sum
//     4        301           301
//     3 1      114 1         115
//     2 2      16 16          32
//     2 1 1    16 1 1         18
//     1 1 1 1  1 1 1 1         4
//
// The sum is the place of the gain in a table. No logarithm, no division, and what is added up are
// small whole numbers, which processors add many at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

class SmallSets {
public:
    static constexpr std::size_t kMostRows = 15;
    // Each code is the least that keeps all sums apart, given those before it: see
    // test_small_counts.
    static constexpr std::array<std::uint16_t, kMostRows + 1> kCode = {
        0, 1, 16, 114, 301, 663, 1018, 1168, 800, 1361, 183, 141, 58, 76, 30, 44};
    static constexpr std::size_t kLargestSum = 2379;

    // Gains are impurities minus `end`, that of the copies of x.
    SmallSets(const Impurity& impurity, double end) : gain_(kLargestSum + 1, 0.0) {
        std::vector<double> counts;
        for_each_set(kMostRows, kMostRows, counts, [&](std::size_t code) {
            gain_[code] = impurity(counts.data(), counts.size()) - end;
        });
    }

    double operator[](std::size_t sum_of_codes) const { return gain_[sum_of_codes]; }

    // Calls visit(sum of codes) for every way to count at most `rows` rows, with none of the counts
    // above `most`; `counts` are those that the sum belongs to, largest first.
    template <class Visit>
    static void for_each_set(std::size_t rows, std::size_t most, std::vector<double>& counts,
                             const Visit& visit, std::size_t sum = 0) {
        for (std::size_t c = 1; c <= std::min(rows, most); ++c) {
            counts.push_back(static_cast<double>(c));
            visit(sum + kCode[c]);
            for_each_set(rows - c, c, counts, visit, sum + kCode[c]);
            counts.pop_back();
        }
    }

private:
    std::vector<double> gain_;
};

}  // namespace localmdi::infinite
