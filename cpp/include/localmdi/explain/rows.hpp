// The rows to explain, dense or compressed, handed to the kernels one tile at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/forest/partition.hpp"
#include "localmdi/support/large_vector.hpp"

namespace localmdi::explain {

using support::LargeVector;

// Row-major without gaps, or (indptr not empty) compressed sparse rows; absent entries are 0.
template <class Value>
struct Rows {
    std::size_t n_rows;
    std::size_t n_features;
    std::span<const Value> data;
    std::span<const std::int64_t> indptr = {};
    std::span<const std::int64_t> indices = {};

    bool sparse() const { return !indptr.empty(); }
};

// Rows first..first+count, feature-major: the values of one feature lie side by side, because a
// split looks at one feature of many rows. Kernels may read kSlack values past the last feature.
template <class Value>
class Tile {
public:
    Tile(std::size_t n_features, std::size_t capacity)
        : n_features_(n_features),
          capacity_(capacity),
          values_(n_features * capacity + forest::kSlack, Value(0)) {}

    const Value* feature(std::size_t f) const { return values_.data() + f * capacity_; }

    void fill(const Rows<Value>& rows, std::size_t first, std::size_t count) {
        if (rows.sparse()) fill_sparse(rows, first, count);
        else fill_dense(rows, first, count);
    }

private:
    // Sixteen rows at a time, so that whole cache lines are written.
    void fill_dense(const Rows<Value>& rows, std::size_t first, std::size_t count) {
        constexpr std::size_t kBlock = 16;
        for (std::size_t r = 0; r < count; r += kBlock) {
            const std::size_t m = std::min(kBlock, count - r);
            const Value* from = rows.data.data() + (first + r) * n_features_;
            for (std::size_t f = 0; f < n_features_; ++f)
                for (std::size_t k = 0; k < m; ++k)
                    values_[f * capacity_ + r + k] = from[k * n_features_ + f];
        }
    }

    // Only what the last rows wrote is cleared: the cost is that of the stored entries, not of n ×
    // p.
    void fill_sparse(const Rows<Value>& rows, std::size_t first, std::size_t count) {
        for (const std::size_t place : written_) values_[place] = 0;
        written_.clear();
        for (std::size_t r = 0; r < count; ++r) {
            const auto end = static_cast<std::size_t>(rows.indptr[first + r + 1]);
            for (auto k = static_cast<std::size_t>(rows.indptr[first + r]); k < end; ++k) {
                const std::size_t place = static_cast<std::size_t>(rows.indices[k]) * capacity_ + r;
                values_[place] = rows.data[k];
                written_.push_back(place);
            }
        }
    }

    std::size_t n_features_, capacity_;
    LargeVector<Value> values_;
    std::vector<std::size_t> written_;
};

}  // namespace localmdi::explain
