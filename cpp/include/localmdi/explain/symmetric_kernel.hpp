// Local MDI of a tile of rows in symmetric trees (forest/symmetric_form.hpp): no nodes, no lists.
//
// Every level asks all rows one question, and the compiler makes that a loop over vectors. The
// answers of a row are the place of its sums in the tables of the tree:
//
//     answers     A 0b101   B 0b000   C 0b111   D 0b101      of three levels
//     loaded      A  e b+l L .    B  c a+g G .    C  f b+n N .    D  e b+l L .
//     turned      x2    e   c   f   e         added to x2    of A B C D
//                 x7    b+l a+g b+n b+l       added to x7    of A B C D
//                 left  L   G   N   L         added to what is left
//
// The results of a tile are therefore kept feature by feature and turned into rows at its end. Each
// row gets one sum per feature and tree, in the order of the trees: the bits of all other kernels.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "localmdi/explain/rows.hpp"
#include "localmdi/forest/routing.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using forest::child_number;
using forest::ColumnGroup;
using forest::goes_first;
using forest::goes_first_known;
using forest::kFeatureMask;
using forest::kGroupColumns;
using forest::kMissingFirst;
using forest::kUnordered;
using forest::PackedForest;
using forest::PackedSplit;
using forest::ScalarPartition;
using forest::UnorderedSplit;
#ifdef LOCALMDI_AVX2
using forest::Avx2Partition;
#endif

// Rows are asked in blocks of this many, whose places stay in the nearest cache.
inline constexpr std::size_t kAsked = 256;
// Sums are added for this many rows at a time: blocks and columns have room for them.
inline constexpr std::size_t kStep = 4;

// Adds to each column the sums at the rows' places. By the partition's kind, as split_set.
inline void add_sums(ScalarPartition, const double* sums, const std::uint32_t* places,
                     std::size_t n, double* const* columns, std::size_t n_columns) {
    for (std::size_t k = 0; k < n_columns; ++k)
        for (std::size_t r = 0; r < n; ++r) columns[k][r] += sums[places[r] + k];
}

#ifdef LOCALMDI_AVX2

__attribute__((target("avx2"), always_inline)) inline void add4(double* to, __m256d sums) {
    _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), sums));
}

template <std::size_t n_columns>
__attribute__((target("avx2"), noinline)) void add_sums4(const double* sums,
                                                         const std::uint32_t* places, std::size_t n,
                                                         double* const* columns) {
    std::array<double*, n_columns> to;
    std::copy_n(columns, n_columns, to.begin());
    for (std::size_t r = 0; r < n; r += kStep) {
        const double* const a = sums + places[r];
        const double* const b = sums + places[r + 1];
        const double* const c = sums + places[r + 2];
        const double* const d = sums + places[r + 3];
        if constexpr (n_columns == 1) {
            add4(to[0] + r, _mm256_setr_pd(*a, *b, *c, *d));
            continue;
        }
        const __m256d rows[] = {_mm256_loadu_pd(a), _mm256_loadu_pd(b), _mm256_loadu_pd(c),
                                _mm256_loadu_pd(d)};
        const __m256d ab_even = _mm256_unpacklo_pd(rows[0], rows[1]);
        const __m256d cd_even = _mm256_unpacklo_pd(rows[2], rows[3]);
        const __m256d ab_odd = _mm256_unpackhi_pd(rows[0], rows[1]);
        const __m256d cd_odd = _mm256_unpackhi_pd(rows[2], rows[3]);
        add4(to[0] + r, _mm256_permute2f128_pd(ab_even, cd_even, 0x20));
        if constexpr (n_columns > 1) add4(to[1] + r, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20));
        if constexpr (n_columns > 2)
            add4(to[2] + r, _mm256_permute2f128_pd(ab_even, cd_even, 0x31));
        if constexpr (n_columns > 3) add4(to[3] + r, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31));
    }
}

inline void add_sums(Avx2Partition, const double* sums, const std::uint32_t* places, std::size_t n,
                     double* const* columns, std::size_t n_columns) {
    constexpr decltype(&add_sums4<1>) by_width[] = {add_sums4<1>, add_sums4<2>, add_sums4<3>,
                                                    add_sums4<4>};
    by_width[n_columns - 1](sums, places, n, columns);
}

#endif

// The results of a tile, feature by feature: the columns of a SymmetricForm.
class ColumnSums {
public:
    ColumnSums(std::size_t n_columns, std::size_t stride)
        : stride_(stride), sums_(n_columns * stride) {}

    double* column(std::size_t c) { return sums_.data() + c * stride_; }
    const double* column(std::size_t c) const { return sums_.data() + c * stride_; }
    void clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }

private:
    std::size_t stride_;
    LargeVector<double> sums_;
};

// For tiles and columns whose length is a multiple of kStep.
template <class Value>
class SymmetricKernel {
public:
    explicit SymmetricKernel(const PackedForest<Value>& forest)
        : forest_(forest), form_(forest.symmetric), has_missing_(forest.n_features) {}

    // Looks at a new tile, of which n rows are filled.
    void start(const Tile<Value>& tile, std::size_t n) {
        for (const std::uint32_t f : form_.features) {
            const Value* const x = tile.feature(f);
            bool missing = false;
            if (tile.has_missing())
                for (std::size_t r = 0; r < n; ++r) missing |= x[r] != x[r];
            has_missing_[f] = missing;
        }
    }

    // Adds a tree for the rows of the tile; the places behind them, up to a multiple of kStep, get
    // anything.
    template <class Partition>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, ColumnSums& out) {
        for (std::size_t first = 0; first < n; first += kAsked) {
            prefetch(tree + 1, first, n);
            run_block<Partition>(tree, tile, first, std::min(kAsked, n - first), out);
        }
    }

private:
    static constexpr std::size_t kTogether = 4;  // questions asked in one pass
    static constexpr std::uint32_t kSecond =
        kGroupColumns;  // what the answer "second" adds to a place

    // Asks for a block's share of a tree's tables: their entries are met in no order.
    void prefetch(std::size_t tree, std::size_t first, std::size_t n) const {
        constexpr std::size_t kLine = 64 / sizeof(double);
        if (tree + 1 >= form_.trees.size()) return;
        const std::size_t begin = form_.trees[tree].sums, size = form_.trees[tree + 1].sums - begin;
        const std::size_t last = std::min(first + kAsked, n);
        for (std::size_t i = size * first / n; i < size * last / n; i += kLine)
            LOCALMDI_PREFETCH(form_.sums.data() + begin + i);
    }

    template <class Partition>
    void run_block(std::size_t tree, const Tile<Value>& tile, std::size_t first, std::size_t n,
                   ColumnSums& out) {
        const PackedSplit<Value>* const levels = form_.levels.data() + form_.trees[tree].level;
        const std::size_t steps = (n + kStep - 1) / kStep * kStep;
        std::fill_n(places_.data(), steps, 0u);
        std::size_t asked = 0;
        for (std::size_t g = form_.trees[tree].group; g < form_.trees[tree + 1].group; ++g) {
            const ColumnGroup& group = form_.groups[g];
            while (asked < group.n_levels)
                asked += ask({levels + asked, levels + group.n_levels}, tile, first, n);
            std::array<double*, kGroupColumns> columns{};
            for (std::size_t k = 0; k < group.n_columns; ++k)
                columns[k] = out.column(group.column[k]) + first;
            add_sums(Partition{}, form_.sums.data() + group.sums, places_.data(), steps,
                     columns.data(), group.n_columns);
        }
    }

    using Questions = std::span<const PackedSplit<Value>>;

    // Appends to the answers in each row's place those to the next questions; returns how many were
    // asked.
    std::size_t ask(Questions next, const Tile<Value>& tile, std::size_t first, std::size_t n) {
        std::size_t n_plain = 0;
        while (n_plain < std::min(next.size(), kTogether) && is_plain(next[n_plain])) ++n_plain;
        if (n_plain == 0) ask_one(next[0], tile.feature(next[0].split & kFeatureMask) + first, n);
        if (n_plain == 1) ask_plain<1>(next, tile, first, n);
        if (n_plain == 2) ask_plain<2>(next, tile, first, n);
        if (n_plain == 3) ask_plain<3>(next, tile, first, n);
        if (n_plain == 4) ask_plain<4>(next, tile, first, n);
        return std::max<std::size_t>(n_plain, 1);
    }

    bool is_plain(const PackedSplit<Value>& question) const {
        const std::uint32_t split = question.split;
        return !(split & kUnordered) &&
               !(split & kMissingFirst && has_missing_[split & kFeatureMask]);
    }

    template <std::size_t count>
    void ask_plain(Questions questions, const Tile<Value>& tile, std::size_t first, std::size_t n) {
        std::array<PackedSplit<Value>, count> question;
        std::array<const Value*, count> x;
        for (std::size_t k = 0; k < count; ++k) {
            question[k] = questions[k];
            x[k] = tile.feature(question[k].split & kFeatureMask) + first;
        }
        for (std::size_t r = 0; r < n; ++r) {
            // Each answer has a bit of its own, so that none waits for the one before it.
            std::uint32_t place = places_[r] << count;
            for (std::size_t k = 0; k < count; ++k)
                place |= goes_first_known(question[k], x[k][r]) ? 0u : kSecond << (count - 1 - k);
            places_[r] = place;
        }
    }

    void ask_one(const PackedSplit<Value>& question, const Value* x, std::size_t n) {
        if (question.split & kUnordered) {
            const UnorderedSplit& split = forest_.unordered[question.unordered()];
            for (std::size_t r = 0; r < n; ++r)
                places_[r] = 2 * places_[r] + (child_number(split, x[r]) == 0 ? 0u : kSecond);
            return;
        }
        const PackedSplit<Value> split = question;
        for (std::size_t r = 0; r < n; ++r)
            places_[r] = 2 * places_[r] + (goes_first(split, x[r]) ? 0u : kSecond);
    }

    const PackedForest<Value>& forest_;
    const forest::SymmetricForm<Value>& form_;
    std::vector<unsigned char> has_missing_;                // by feature, in this tile
    alignas(32) std::array<std::uint32_t, kAsked> places_;  // answers × kGroupColumns
};

}  // namespace localmdi::explain
