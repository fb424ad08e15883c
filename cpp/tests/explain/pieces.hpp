// Rows explained together, as compressed rows, on several threads, or piece by piece: ways that may
// take other kernels, and must not change a bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/explain/local_mdi.hpp"
#include "support/check.hpp"
#include "support/same_bits.hpp"

namespace localmdi::testing {

using explain::local_mdi;
using explain::Rows;
using explain::Run;
using forest::PackedForest;
using support::Interrupt;

struct Explained {
    std::vector<double> values, residual, spread;

    Explained(std::size_t n, std::size_t p)
        : values(n * p, -1), residual(n, -1), spread(n * p, -1) {}

    bool operator==(const Explained& other) const {
        return same_bits(values, other.values) && same_bits(residual, other.residual) &&
               same_bits(spread, other.spread);
    }

    // For rows from the first on, with and without standard errors, whose means agree.
    template <class Value>
    void add(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& run,
             std::size_t first = 0) {
        const std::size_t p = forest.n_features;
        double* const to = values.data() + first * p;
        double* const left = residual.data() + first;
        Interrupt interrupt;
        local_mdi(forest, rows, to, left, spread.data() + first * p, run, interrupt);
        const std::vector<double> means(to, to + rows.n_rows * p), lefts(left, left + rows.n_rows);
        local_mdi(forest, rows, to, left, nullptr, run, interrupt);
        CHECK(same_bits(means, {to, means.size()}));
        CHECK(same_bits(lefts, {left, lefts.size()}));
    }
};

template <class Value>
void check_pieces(const PackedForest<Value>& forest, std::span<const Value> x, std::size_t piece) {
    const std::size_t p = forest.n_features, n = x.size() / p;
    Explained together(n, p), plain(n, p), compressed(n, p), in_pieces(n, p);
    together.add(forest, Rows<Value>{n, p, x}, Run{3});
    plain.add(forest, Rows<Value>{n, p, x}, Run{1, false});
    CHECK(together == plain);

    std::vector<std::int64_t> indptr(n + 1), indices(n * p);
    for (std::size_t row = 0; row <= n; ++row) indptr[row] = static_cast<std::int64_t>(row * p);
    for (std::size_t i = 0; i < n * p; ++i) indices[i] = static_cast<std::int64_t>(i % p);
    compressed.add(forest, Rows<Value>{n, p, x, indptr, indices}, Run{1});
    CHECK(together == compressed);

    for (std::size_t first = 0; first < n; first += piece) {
        const std::size_t count = std::min(piece, n - first);
        in_pieces.add(forest, Rows<Value>{count, p, x.subspan(first * p, count * p)}, Run{1},
                      first);
    }
    CHECK(together == in_pieces);
}

}  // namespace localmdi::testing
