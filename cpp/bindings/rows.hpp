// Rows to explain, as Python hands them to the kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "localmdi/explain/rows.hpp"
#include "support.hpp"

namespace localmdi::bindings {

// Keeps the arrays alive and, for compressed rows, checks them once.
template <class Value>
struct RowArrays {
    explain::Rows<Value> rows;
    nanobind::object owners;

    explicit RowArrays(const Matrix<const Value>& data)
        : rows{data.shape(0), data.shape(1), {data.data(), data.size()}},
          owners(nanobind::cast(data)) {}

    RowArrays(const Vector<const Value>& data, const Vector<const std::int64_t>& indices,
              const Vector<const std::int64_t>& indptr, std::size_t n_features)
        : rows{indptr.size() - 1,
               n_features,
               {data.data(), data.size()},
               {indptr.data(), indptr.size()},
               {indices.data(), indices.size()}},
          owners(nanobind::make_tuple(data, indices, indptr)) {
        require(indptr.size() > 0 && rows.indptr.front() == 0, "indptr must start with 0");
        require(std::is_sorted(rows.indptr.begin(), rows.indptr.end()), "indptr must not decrease");
        require(
            rows.indptr.back() <= static_cast<std::int64_t>(std::min(data.size(), indices.size())),
            "indptr must end within data and indices");
        const auto limit = static_cast<std::int64_t>(n_features);
        for (const std::int64_t f : rows.indices)
            require(0 <= f && f < limit, "indices must lie within the columns");
    }
};

}  // namespace localmdi::bindings
