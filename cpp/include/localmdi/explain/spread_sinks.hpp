// The spread of a row's importances over trees, for standard errors: a sink for all rows, and one
// for the few numbers that must be looked at a second time.
//
// Σw(x − mean)² = Σwx² − (Σwx)² / Σw. The right side needs one walk and two sums, to which a tree
// whose path does not meet a feature adds nothing. But it is a difference: where the trees agree,
// nearly all of Σwx² is taken away, and what is left are rounding errors. Three trees of weight 1:
//
//     values                 Σwx²              (Σwx)²/Σw         difference, true and in doubles
//     0.1, 0.2, 0.3          0.14              0.12              0.02     0.02
//     1, 1 + 1e-9, 1 − 1e-9  3 + 2e-18         3                 2e-18    0
//
// So the difference is trusted only where enough of Σwx² is left, and SecondLook adds up
// Σw(x − mean)² for the others, which are few: there the trees agree to about 1 %. Whether a
// number is trusted depends on its own two sums and on the number of trees, never on other rows.
//
// How much is enough: with T trees and u = 2⁻⁵³, Σwx² is off by at most (T + 2)·u·Σwx², and
// (Σwx)²/Σw by at most 3·T·u·Σwx² (because (Σw|x|)² ≤ Σw · Σwx²). If the share r of Σwx² is left,
// the difference has a relative error of at most (4T + 2)·u / r, its root half of that.
//
// The simplest other way, the means in one walk and Σw(x − mean)² in a second one, takes 1.9 times
// as long on digits (1000 trees, K = 1), 2.0 with K = 8 and 3.0 on 2000 features (the sums of whole
// rows, 9). One walk and two sums take 1.2 to 1.4 times as long as no standard errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/sinks.hpp"
#include "localmdi/support/avx2.hpp"
#include "localmdi/support/large_vector.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

// The weights of the trees, and what follows from them for every row.
class SpreadScale {
public:
    explicit SpreadScale(std::span<const double> tree_weight)
        : tree_weight_(tree_weight),
          per_weight_(tree_weight.size()),
          total_(std::accumulate(tree_weight.begin(), tree_weight.end(), 0.0)) {
        std::ranges::transform(tree_weight, per_weight_.begin(), [](double w) { return 1 / w; });
        const auto is_positive = [](double w) { return w > 0; };
        n_trees_ = static_cast<std::size_t>(
            std::count_if(tree_weight.begin(), tree_weight.end(), is_positive));
        first_ = static_cast<std::size_t>(
            std::find_if(tree_weight.begin(), tree_weight.end(), is_positive) -
            tree_weight.begin());
        // Of equal weights 1 / T and (T − 1) / T. Their sum is 1, but where one tree has nearly all
        // of the weight, 1 − effective would be rounding errors.
        double effective = 0, others = 0;
        double before = 0;
        std::vector<double> after(tree_weight.size() + 1, 0.0);
        for (std::size_t t = tree_weight.size(); t > 0; --t)
            after[t - 1] = after[t] + tree_weight[t - 1];
        for (std::size_t t = 0; t < tree_weight.size(); ++t) {
            const double share = tree_weight[t] / total_;
            effective += share * share;
            others += share * ((before + after[t + 1]) / total_);
            before += tree_weight[t];
        }
        scale_ = n_trees_ > 1 ? effective / others / total_ : NAN;
        rounding_ =
            static_cast<double>(2 * n_trees_ + 1) * (std::numeric_limits<double>::epsilon() / 2);
        least_ = n_trees_ > 1 ? rounding_ : -1.0;
    }

    double weight(std::size_t tree) const { return tree_weight_[tree]; }
    double per_weight(std::size_t tree) const { return per_weight_[tree]; }
    double total() const { return total_; }
    bool is_first(std::size_t tree) const { return tree == first_; }  // of those that count

    // Whether the standard error that follows from a difference is right to kTolerance; there is
    // none of one tree.
    bool is_trusted(double difference, double square) const {
        const bool enough = difference * kTolerance >= square * least_;
        const bool finite = square <= std::numeric_limits<double>::max();
        return enough & finite;
    }

    // Of the weighted mean, from Σw(x − mean)²: equal weights give std(ddof=1) / sqrt(T), and one
    // tree gives NaN.
    double error(double square_sum) const { return std::sqrt(std::max(square_sum, 0.0) * scale_); }

#ifdef LOCALMDI_AVX2
    // Both of four entries; all bits of a number are set where it is trusted.
    __attribute__((target("avx2"))) __m256d is_trusted(__m256d difference, __m256d square) const {
        const __m256d left = _mm256_mul_pd(difference, _mm256_set1_pd(kTolerance));
        const __m256d least = _mm256_mul_pd(square, _mm256_set1_pd(least_));
        const __m256d most = _mm256_set1_pd(std::numeric_limits<double>::max());
        return reinterpret_cast<__m256d>((left >= least) & (square <= most));
    }
    __attribute__((target("avx2"))) __m256d error(__m256d square_sum) const {
        const __m256d positive = _mm256_max_pd(_mm256_setzero_pd(), square_sum);  // NaN stays
        return _mm256_sqrt_pd(_mm256_mul_pd(positive, _mm256_set1_pd(scale_)));
    }
#endif

    // Whether a value may be the mean itself, as far as rounding can tell.
    bool may_equal(double value, double mean) const {
        return std::abs(value - mean) <= rounding_ * std::abs(value);
    }

private:
    static constexpr double kTolerance = 1e-9;

    std::span<const double> tree_weight_;
    std::vector<double> per_weight_;  // their reciprocals
    double total_;
    std::size_t n_trees_, first_;
    double scale_, rounding_;
    double least_;  // of one tree, everything is trusted
};

// Of all rows: n_rows × n_features means and standard errors, what is left, and whether a row has a
// standard error that must be looked at again.
struct SpreadResult {
    double *values, *standard_error, *residual;
    unsigned char* uncertain;
};

// Σwx and Σwx², which lie side by side.
class SpreadSink {
public:
    static constexpr bool kNeedsPath = true;
    static constexpr std::size_t kBytesPerValue = 2 * sizeof(double);  // of Sums

    SpreadSink(std::size_t n_rows, std::size_t n_features, const SpreadScale& scale)
        : n_features_(n_features),
          scale_(scale),
          sums_(n_rows * n_features, Sums{}),
          residual_(n_rows) {}

    LOCALMDI_ALWAYS_INLINE void prefetch(std::size_t row) const {
        if (n_features_ <= kLongRow) prefetch_all(row);
    }

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        if (scale_.weight(tree.tree) == 0) return;  // all its values are 0
        const double per_weight = scale_.per_weight(tree.tree);
        if (tree.remainder != 0)
            for (const std::size_t row : rows) residual_[row] += tree.remainder;
        // As in SumSink, either loop gives the same result.
        if (tree.path.size() * 4 < n_features_) add_path(tree, per_weight, rows);
        else add_rows(tree.values.data(), per_weight, rows);
    }

    // What a row gets in one tree, as in path_lists.hpp.
    template <class List>
    void add_list(const List& list, std::size_t row) {
        if (scale_.weight(list.tree) == 0) return;
        const double per_weight = scale_.per_weight(list.tree);
        Sums* const sums = row_sums(row);
        residual_[row] += list.left;
        for (std::size_t i = 0; i < list.features.size(); ++i)
            sums[list.features[i]].add(list.values[i], per_weight);
    }

    // A row's sums as they are, in its place of the result, and back: to go on later.
    void save(std::size_t row, const SpreadResult& to, std::size_t place) const {
        const Sums* const sums = sums_.data() + row * n_features_;
        for (std::size_t f = 0; f < n_features_; ++f) {
            to.values[place * n_features_ + f] = sums[f].sum;
            to.standard_error[place * n_features_ + f] = sums[f].square;
        }
        to.residual[place] = residual_[row];
    }
    void restore(std::size_t row, const SpreadResult& from, std::size_t place) {
        for (std::size_t f = 0; f < n_features_; ++f)
            row_sums(row)[f] = {from.values[place * n_features_ + f],
                                from.standard_error[place * n_features_ + f]};
        residual_[row] = from.residual[place];
    }
    void clear(std::size_t row) {
        std::fill_n(row_sums(row), n_features_, Sums{});
        residual_[row] = 0;
    }

    // Writes what becomes of a row's sums to its place in the result; kUncertain where a standard
    // error must be looked at again.
    void write(std::size_t row, const SpreadResult& to, std::size_t place,
               [[maybe_unused]] const Run& run) const {
        const Sums* const sums = sums_.data() + row * n_features_;
        double* const mean = to.values + place * n_features_;
        double* const error = to.standard_error + place * n_features_;
        to.residual[place] = residual_[row] / scale_.total();
#ifdef LOCALMDI_AVX2
        if (run.simd && support::has_avx2()) {
            to.uncertain[place] = write_row_avx2(sums, mean, error);
            return;
        }
#endif
        to.uncertain[place] = write_row(sums, 0, mean, error);
    }

    static constexpr double kUncertain = -1;

private:
    static constexpr std::size_t kAhead = 3;      // rows asked for before they are added to
    static constexpr std::size_t kLongRow = 256;  // a path touches little of a longer one

    struct alignas(kBytesPerValue) Sums {
        double sum = 0, square = 0;

        // Both at once where the compiler has vectors.
        void add(double value, double per_weight) {
#ifdef __GNUC__
            using Two [[gnu::vector_size(kBytesPerValue), gnu::may_alias]] = double;
            *reinterpret_cast<Two*>(this) += Two{value, value * per_weight * value};
#else
            sum += value;
            square += value * per_weight * value;
#endif
        }
    };

    Sums* row_sums(std::size_t row) { return sums_.data() + row * n_features_; }

    LOCALMDI_ALWAYS_INLINE void prefetch_all(std::size_t row) const {
        constexpr std::size_t kLine = 64 / sizeof(Sums);
        const Sums* const sums = sums_.data() + row * n_features_;
        for (std::size_t f = 0; f < n_features_; f += kLine) LOCALMDI_PREFETCH(sums + f);
    }

    template <class RowId>
    void add_path(const TreeImportance& tree, double per_weight, std::span<const RowId> rows) {
        for (const std::size_t row : rows) {
            Sums* const sums = row_sums(row);
            for (const std::uint32_t f : tree.path) sums[f].add(tree.values[f], per_weight);
        }
    }

    template <class RowId>
    void add_rows(const double* values, double per_weight, std::span<const RowId> rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + kAhead < rows.size()) prefetch_all(rows[i + kAhead]);
            add_row(values, per_weight, row_sums(rows[i]));
        }
    }

    void add_row(const double* __restrict values, double per_weight, Sums* __restrict sums) const {
        std::size_t f = 0;
#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
        // Four features make two vectors of sums. A compiler left alone takes the sums apart, adds,
        // and puts them together again.
        using Four [[gnu::vector_size(32), gnu::may_alias, gnu::aligned(8)]] = double;
        for (; f + 4 <= n_features_; f += 4) {
            const Four value = *reinterpret_cast<const Four*>(values + f);
            const Four square = value * per_weight * value;
            Four* const to = reinterpret_cast<Four*>(sums + f);
            to[0] += __builtin_shufflevector(value, square, 0, 4, 1, 5);
            to[1] += __builtin_shufflevector(value, square, 2, 6, 3, 7);
        }
#endif
#endif
        for (; f < n_features_; ++f) sums[f].add(values[f], per_weight);
    }

    // Tells whether an entry from `begin` on is uncertain. Without a branch: in wide data no
    // predictor knows which entries are 0.
    bool write_row(const Sums* sums, std::size_t begin, double* mean, double* error) const {
        bool all_trusted = true;
        for (std::size_t f = begin; f < n_features_; ++f) {
            const auto [sum, square] = sums[f];
            mean[f] = sum / scale_.total();
            const double difference = square - sum * mean[f];
            const bool trusted = scale_.is_trusted(difference, square);
            all_trusted &= trusted;
            error[f] = trusted ? scale_.error(difference) : kUncertain;
        }
        return !all_trusted;
    }

#ifdef LOCALMDI_AVX2
    // The same, four entries at a time: compilers leave roots one by one, for the sake of errno.
    __attribute__((target("avx2"))) bool write_row_avx2(const Sums* sums, double* mean,
                                                        double* error) const {
        const __m256d total = _mm256_set1_pd(scale_.total());
        __m256d all_trusted = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
        std::size_t f = 0;
        for (; f + 4 <= n_features_; f += 4) {
            const __m256d two = _mm256_loadu_pd(&sums[f].sum),
                          next = _mm256_loadu_pd(&sums[f + 2].sum);
            const __m256d sum = in_order(_mm256_unpacklo_pd(two, next));
            const __m256d square = in_order(_mm256_unpackhi_pd(two, next));
            const __m256d quotient = _mm256_div_pd(sum, total);
            const __m256d difference = _mm256_sub_pd(square, _mm256_mul_pd(sum, quotient));
            const __m256d trusted = scale_.is_trusted(difference, square);
            all_trusted = _mm256_and_pd(all_trusted, trusted);
            _mm256_storeu_pd(mean + f, quotient);
            _mm256_storeu_pd(error + f, _mm256_blendv_pd(_mm256_set1_pd(kUncertain),
                                                         scale_.error(difference), trusted));
        }
        return write_row(sums, f, mean, error) | (_mm256_movemask_pd(all_trusted) != 0xf);
    }

    // Unpacking leaves the second and the third of four in each other's place.
    __attribute__((target("avx2"))) static __m256d in_order(__m256d four) {
        return _mm256_permute4x64_pd(four, 0b11'01'10'00);
    }
#endif

    std::size_t n_features_;
    const SpreadScale& scale_;
    support::LargeVector<Sums> sums_;
    std::vector<double> residual_;
};

// Σw(x − mean)² of the entries that SpreadSink was uncertain about, where the mean is known.
//
// An entry is added to by every tree, also by those that do not meet the feature. That is no more
// work than going along the paths: only if almost all trees meet a feature do they agree about it,
// so that a row has hardly more such entries than a path has features.
//
// The mean is rounded, therefore Σw(x − mean) is not quite 0, and its square is taken off. Trees
// that say the same to the last bit have no spread, not even a tiny one: where the first tree may
// be the mean, its value is.
class SecondLook {
public:
    static constexpr bool kNeedsPath = false;

    // The rows' means and standard errors: `rows` are their places in both, the sink numbers them
    // from 0.
    SecondLook(const double* mean, double* standard_error, std::span<const std::size_t> rows,
               std::size_t n_features, const SpreadScale& scale)
        : scale_(scale), begin_{0} {
        for (const std::size_t row : rows) {
            for (std::size_t f = 0; f < n_features; ++f) {
                const std::size_t i = row * n_features + f;
                if (standard_error[i] != SpreadSink::kUncertain) continue;
                entries_.push_back({static_cast<std::uint32_t>(f), mean[i], 0, 0});
                places_.push_back(standard_error + i);
            }
            begin_.push_back(entries_.size());
        }
    }

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        const double weight = scale_.weight(tree.tree);
        if (weight == 0) return;
        const bool first = scale_.is_first(tree.tree);
        const double per_weight = scale_.per_weight(tree.tree);
        for (const std::size_t row : rows)
            for (std::size_t i = begin_[row]; i < begin_[row + 1]; ++i) {
                Entry& entry = entries_[i];
                const double value = tree.values[entry.feature] * per_weight;
                if (first && scale_.may_equal(value, entry.mean)) entry.mean = value;
                const double difference = value - entry.mean;
                entry.sum += weight * difference;
                entry.square += weight * difference * difference;
            }
    }

    void write() const {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto& [feature, mean, sum, square] = entries_[i];
            *places_[i] = scale_.error(square - sum * (sum / scale_.total()));
        }
    }

private:
    struct Entry {
        std::uint32_t feature;
        double mean, sum, square;
    };

    const SpreadScale& scale_;
    std::vector<std::size_t> begin_;  // of a row's entries
    std::vector<Entry> entries_;
    std::vector<double*> places_;  // of the standard errors
};

}  // namespace localmdi::explain
