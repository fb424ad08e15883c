// The numbers to grow on in the plain case, in two orders.
//
// Growing a random tree is mostly reading one feature of scattered rows. Large nodes read the
// columns; the rows of a small node are better read row by row, because they then stay in the
// nearest cache whichever feature is drawn. A node is large if it has four rows in each cache line
// of a column, or more rows than stay in that cache.
#pragma once

#include <algorithm>
#include <cstddef>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/row_loops.hpp"
#include "localmdi/support/large_vector.hpp"

namespace localmdi::grow {

class NumberTable {
public:
    // The columns of `rows` outlive this object.
    explicit NumberTable(const TrainingRows& rows)
        : columns_(rows.columns.data()),
          n_rows_(rows.n_rows),
          n_features_(rows.n_features),
          largest_small_(std::min(kMostSmall, kPerLine * n_rows_ * sizeof(float) / kLine)),
          by_row_(n_rows_ * n_features_) {
        constexpr std::size_t kTile = 64;
        for (std::size_t begin = 0; begin < n_rows_; begin += kTile)
            for (std::size_t f = 0; f < n_features_; ++f)
                for (std::size_t row = begin; row < std::min(begin + kTile, n_rows_); ++row)
                    by_row_[row * n_features_ + f] = columns_[f * n_rows_ + row];
    }

    Entries entries(std::size_t feature, std::size_t n_in_node) const {
        if (n_in_node > largest_small_) return {columns_ + feature * n_rows_, 1};
        return {by_row_.data() + feature, n_features_};
    }

private:
    static constexpr std::size_t kMostSmall = 1024, kPerLine = 4, kLine = 64;

    const float* columns_;
    std::size_t n_rows_, n_features_, largest_small_;
    support::LargeVector<float> by_row_;
};

}  // namespace localmdi::grow
