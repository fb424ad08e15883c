// The rows to explain, dense or compressed, handed to the kernels one tile at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "localmdi/forest/partition.hpp"
#include "localmdi/support/large_vector.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using support::LargeVector;

// Row-major without gaps, or (indptr not empty) compressed sparse rows; absent entries are 0.
// Where `chosen` is not empty, only these rows of the data count, in its order.
template <class Value>
struct Rows {
    std::size_t n_rows;
    std::size_t n_features;
    std::span<const Value> data;
    std::span<const std::int64_t> indptr = {};
    std::span<const std::int64_t> indices = {};
    std::span<const std::size_t> chosen = {};

    bool sparse() const { return !indptr.empty(); }

    // Where a row lies in the data.
    std::size_t place(std::size_t row) const { return chosen.empty() ? row : chosen[row]; }

    // Its values, if rows are not compressed.
    std::span<const Value> dense(std::size_t row) const {
        return data.subspan(place(row) * n_features, n_features);
    }

    // Some rows of all; the list must outlive the result.
    Rows only(std::span<const std::size_t> list) const {
        return {list.size(), n_features, data, indptr, indices, list};
    }
};

// Whether no value is infinite or missing: x − x is 0 for others, and NaN for these.
template <class Value>
bool all_finite(std::span<const Value> values) {
    constexpr std::size_t kLanes = 16;  // added side by side
    std::array<Value, kLanes> sums{};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes)
        for (std::size_t k = 0; k < kLanes; ++k) sums[k] += values[i + k] - values[i + k];
    for (; i < values.size(); ++i) sums[0] += values[i] - values[i];
    return std::ranges::all_of(sums, [](Value sum) { return sum == 0; });
}

// One row, a value per feature. Where no value is missing, splits need not be asked for their way
// with it.
template <class Value>
struct OneRow {
    const Value* values;
    bool has_missing;
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

    bool has_missing() const { return missing_first_ != 0; }

    OneRow<Value> only_row() const { return {values_.data(), has_missing()}; }

    // What a split asks of these rows. Models of data without missing values have a way for them
    // all the same, to the left at one split and to the right at the next; where none is missing,
    // all splits ask alike, and no branch need be foreseen.
    forest::Question<Value> question(const forest::PackedSplit<Value>& split) const {
        return {split.threshold, (split.split & missing_first_) != 0};
    }

    void fill(const Rows<Value>& rows, std::size_t first, std::size_t count) {
        missing_first_ = 0;
        clear_sparse();
        if (rows.sparse()) fill_sparse(rows, first, count);
        else fill_dense(rows, first, count);
    }

private:
    static constexpr std::size_t kBlock = 16;  // rows that are turned at a time

    void look_for_missing(std::span<const Value> values) {
        // As wide as a value, which lets the compiler look at several at once.
        std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t> missing = 0;
        for (const Value x : values) missing |= x != x;
        if (missing != 0) missing_first_ = forest::kMissingFirst;
    }

    // Sixteen rows at a time, so that whole cache lines are written.
    void fill_dense(const Rows<Value>& rows, std::size_t first, std::size_t count) {
        const std::size_t last = first + count;
        for (std::size_t row = first; row < last; row += kBlock) {
            const std::size_t n = std::min(kBlock, last - row);
            const std::span<const Value> block =
                rows.chosen.empty() ? rows.data.subspan(row * n_features_, n * n_features_)
                                    : collect(rows, row, n, last);
            look_for_missing(block);
            const Value* const from = block.data();
            Value* const to = values_.data() + (row - first);
            for (std::size_t f = 0; f < n_features_; ++f)
                for (std::size_t k = 0; k < n; ++k)
                    to[f * capacity_ + k] = from[k * n_features_ + f];
        }
    }

    // Copies chosen rows side by side. They may lie anywhere, so the next block is asked for.
    std::span<const Value> collect(const Rows<Value>& rows, std::size_t first, std::size_t n,
                                   std::size_t last) {
        constexpr std::size_t kLine = 64 / sizeof(Value);
        block_.resize(kBlock * n_features_);
        for (std::size_t k = 0; k < n; ++k) {
            std::ranges::copy(rows.dense(first + k), block_.data() + k * n_features_);
            const auto next = rows.dense(std::min(first + k + kBlock, last - 1));
            for (std::size_t f = 0; f < n_features_; f += kLine) LOCALMDI_PREFETCH(&next[f]);
        }
        return {block_.data(), n * n_features_};
    }

    // Only what the last rows wrote is cleared: the cost is that of the stored entries, not of n ×
    // p.
    void clear_sparse() {
        for (const std::size_t place : written_) values_[place] = 0;
        written_.clear();
    }

    void fill_sparse(const Rows<Value>& rows, std::size_t first, std::size_t count) {
        for (std::size_t r = 0; r < count; ++r) {
            const std::size_t row = rows.place(first + r);
            const auto begin = static_cast<std::size_t>(rows.indptr[row]);
            const auto end = static_cast<std::size_t>(rows.indptr[row + 1]);
            look_for_missing(rows.data.subspan(begin, end - begin));
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t place = static_cast<std::size_t>(rows.indices[k]) * capacity_ + r;
                values_[place] = rows.data[k];
                written_.push_back(place);
            }
        }
    }

    std::size_t n_features_, capacity_;
    LargeVector<Value> values_;
    std::uint32_t missing_first_ = forest::kMissingFirst;  // the flag, if a value may be missing
    std::vector<std::size_t> written_;
    std::vector<Value> block_;  // of chosen rows
};

}  // namespace localmdi::explain
