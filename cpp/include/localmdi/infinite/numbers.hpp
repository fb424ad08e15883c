// Numeric features beside the categories of a sample: they are cut, and can be cut again.
//
// A totally randomized tree cuts a numeric feature at a number drawn uniformly between the smallest
// and the largest value in the node; x goes to the side where its own value is, at most the cut or
// above it. With the values 0, 1 and 4 in a node, the cut falls between 1 and 4 with probability
// 3/4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace localmdi::infinite {

struct Numbers {
    std::size_t n_columns = 0;
    std::span<const double> values;        // (n_rows x n_columns), of the distinct rows
    std::span<const std::int32_t> column;  // of each feature; -1 is a category

    bool is_number(std::size_t feature) const { return n_columns != 0 && column[feature] >= 0; }
    double operator()(std::size_t row, std::size_t feature) const {
        return values[row * n_columns + static_cast<std::size_t>(column[feature])];
    }
    double of(std::span<const double> x, std::size_t feature) const {
        return x[static_cast<std::size_t>(column[feature])];
    }
};

}  // namespace localmdi::infinite
