// What the block searches share: the rows as x sees them, and the walk over the subsets of its
// features, which tells sub-cubes that are skipped, are constant, or are counted as a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

// The rows of a sample as one row x sees them: on which features they equal x. All that the lattice
// of x asks about a row is whether it agrees with x on S, which is (mask & S) == S.
//
// Rows with equal masks cannot be told apart by what they share with x, so they are merged. Bit b
// belongs to features[b]; features that rarely match have the high bits, which the search decides
// first, because their lists of matching rows are short.
struct MatchMasks {
    std::size_t n_slots;
    bool fixed_slots;   // every slot has its meaning, also where its sum is 0
    bool small_counts;  // all sums are whole numbers below 2^16
    std::vector<std::size_t> features;
    std::vector<std::uint64_t> mask;  // of each merged row
    std::uint32_t copies = 0;         // the merged row that equals x
    std::vector<std::int32_t> label;
    std::vector<std::size_t> entry_offset;
    std::vector<std::int32_t> entry_slot;
    std::vector<double> entry_weight;

    MatchMasks(const Sample& sample, std::size_t x, bool all_features);

    void add_row(std::size_t i, double* slots) const {
        for (std::size_t e = entry_offset[i]; e < entry_offset[i + 1]; ++e)
            slots[entry_slot[e]] += entry_weight[e];
    }
    template <class Count>
    void add_row(std::size_t i, Count* counts, const std::int32_t* place) const {
        for (std::size_t e = entry_offset[i]; e < entry_offset[i + 1]; ++e) {
            Count& sum = counts[place[entry_slot[e]]];
            sum = static_cast<Count>(sum + static_cast<Count>(entry_weight[e]));
        }
    }

    bool is_pure(const std::vector<std::uint32_t>& rows) const {
        const std::int32_t first = label[rows[0]];
        return first >= 0 && std::all_of(rows.begin(), rows.end(),
                                         [&](std::uint32_t i) { return label[i] == first; });
    }

    // Lists the slots that occur in some rows, and the place of each in that list.
    void find_present(const std::vector<std::uint32_t>& rows, std::vector<std::int32_t>& present,
                      std::vector<std::int32_t>& place) const;

private:
    void choose_features(const Sample& sample, std::size_t x, bool all_features);
    void merge(const Sample& sample, std::span<const std::size_t> rows);
};

inline constexpr unsigned kBlockBits = 8;  // a block of 2^8 subsets stays in the first-level cache
inline constexpr unsigned kMaxTaskBits = 8;  // tasks are cut by p alone: threads change no bit

// The features that the tasks of a walk decide.
inline unsigned task_bits(std::size_t p) {
    return p <= 16 ? 0 : std::min(kMaxTaskBits, static_cast<unsigned>(p) - 16);
}

// The features of a block: bits 0 .. block_bits(p) - 1.
inline std::size_t block_bits(std::size_t p) { return std::min<std::size_t>(p, kBlockBits); }

// Pascal's triangle: in a sub-cube where nothing changes, subsets need only be counted.
class Binomials {
public:
    explicit Binomials(std::size_t n) : width_(n + 1), table_(width_ * width_, 0.0) {
        for (std::size_t row = 0; row < width_; ++row) {
            table_[row * width_] = 1.0;
            for (std::size_t k = 1; k <= row; ++k)
                table_[row * width_ + k] =
                    table_[(row - 1) * width_ + k - 1] + table_[(row - 1) * width_ + k];
        }
    }
    double operator()(std::size_t n, std::size_t k) const { return table_[n * width_ + k]; }

private:
    std::size_t width_;
    std::vector<double> table_;
};

// Decides features from the highest bit down, in S or not, and tells `sums` what it finds:
//
//     sums.add_constant(rows, free, known)   none of the bits 0 .. free - 1 separates the rows
//     sums.add_block(rows, known)            the bits below block_bits(p) are undecided
//
// The rows are those that share the known features with x. Sub-cubes of pure rows are left out.
template <class Sums>
class SubsetWalk {
public:
    SubsetWalk(const MatchMasks& masks, Sums& sums)
        : masks_(masks), sums_(sums), p_(masks.features.size()), lists_(p_ + 1) {}

    // The sub-cube whose first high features are decided by the bits of `task`.
    void run(std::size_t task, unsigned bits) {
        std::vector<std::uint32_t>& rows = lists_[p_];
        std::uint64_t known = 0;
        for (unsigned b = 0; b < bits; ++b)
            if (task >> b & 1) known |= std::uint64_t{1} << (p_ - 1 - b);
        rows.clear();
        for (std::uint32_t i = 0; i < masks_.mask.size(); ++i)
            if ((masks_.mask[i] & known) == known) rows.push_back(i);
        descend(rows, p_ - bits, known);
    }

private:
    // `free` features are undecided: bits 0 .. free - 1.
    void descend(const std::vector<std::uint32_t>& rows, std::size_t free, std::uint64_t known) {
        if (masks_.is_pure(rows)) return;
        std::uint64_t common = ~std::uint64_t{0};
        for (const std::uint32_t i : rows) common &= masks_.mask[i];
        branch(rows, free, known, common);
    }

    void branch(const std::vector<std::uint32_t>& rows, std::size_t free, std::uint64_t known,
                std::uint64_t common) {
        const std::uint64_t open = free == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << free) - 1;
        if ((open & ~common) == 0) return sums_.add_constant(rows, free, known);
        if (free == block_bits(p_)) return sums_.add_block(rows, known);
        const std::uint64_t bit = std::uint64_t{1} << (free - 1);
        branch(rows, free - 1, known, common);
        if (common & bit) return branch(rows, free - 1, known | bit, common);
        std::vector<std::uint32_t>& matching = lists_[free - 1];
        common = ~std::uint64_t{0};
        if (match(rows, free - 1, matching, common))
            branch(matching, free - 1, known | bit, common);
    }

    // Lists the rows that share feature `b` with x, and what they all share; false if they are
    // pure. No branch for a row: no predictor knows which rows match.
    bool match(const std::vector<std::uint32_t>& rows, std::size_t b,
               std::vector<std::uint32_t>& matching, std::uint64_t& common) const {
        const std::int32_t label = masks_.label[masks_.copies];  // the copies of x always match
        std::uint64_t all = common;
        std::size_t n = 0;
        bool pure = label >= 0;
        matching.resize(rows.size());
        for (const std::uint32_t i : rows) {
            const std::uint64_t mask = masks_.mask[i];
            const std::uint64_t matches = mask >> b & 1;
            all &= mask | (matches - 1);
            pure &= (matches == 0) | (masks_.label[i] == label);
            matching[n] = i;
            n += matches;
        }
        matching.resize(n);
        common = all;
        return !pure;
    }

    const MatchMasks& masks_;
    Sums& sums_;
    std::size_t p_;
    std::vector<std::vector<std::uint32_t>> lists_;
};

// counts[S][c]: rows that equal x on S, for the subsets S of a block, by the slots that occur.
class BlockCounts {
public:
    explicit BlockCounts(const MatchMasks& masks)
        : masks_(masks), n_(std::size_t{1} << block_bits(masks.features.size())) {}

    // Decides which slots have a place; the rows counted later must be among these.
    void find_present(const std::vector<std::uint32_t>& rows) {
        masks_.find_present(rows, present_, place_);
    }
    std::size_t n_subsets() const { return n_; }
    std::size_t width() const { return present_.size(); }

    void count(const std::vector<std::uint32_t>& rows, std::vector<double>& counts) const {
        counts.assign(n_ * width(), 0.0);
        add_rows(rows, counts.data(), width());
        add_supersets(counts, width());
    }

private:
    template <class Count>
    void add_rows(const std::vector<std::uint32_t>& rows, Count* counts, std::size_t stride) const {
        for (const std::uint32_t i : rows)
            masks_.add_row(i, counts + (masks_.mask[i] & (n_ - 1)) * stride, place_.data());
    }

    // From the feature on whose subsets lie `step` apart.
    template <class Count>
    static void add_supersets(std::vector<Count>& counts, std::size_t step) {
        for (; step < counts.size(); step *= 2)
            for (std::size_t base = 0; base < counts.size(); base += 2 * step) {
                Count* const without = counts.data() + base;
                const Count* const with = without + step;
                for (std::size_t i = 0; i < step; ++i) without[i] += with[i];
            }
    }

    const MatchMasks& masks_;
    std::size_t n_;
    std::vector<std::int32_t> present_, place_;
};

// Runs the tasks of a walk, each with sums of its own, and adds these in the order of the tasks.
// `make()` returns the empty sums of a task; their take() gives a Result.
template <class Result, class Make>
Result walk_subsets(const MatchMasks& masks, Result total, std::size_t n_threads,
                    Interrupt& interrupt, Make make) {
    const unsigned bits = task_bits(masks.features.size());
    std::vector<Result> parts(std::size_t{1} << bits);
    support::parallel_for(parts.size(), n_threads, interrupt, [&] {
        return [&](std::size_t task) {
            auto sums = make();
            SubsetWalk walk(masks, sums);
            walk.run(task, bits);
            parts[task] = sums.take();
        };
    });
    for (const Result& part : parts) total.add(part);
    return total;
}

}  // namespace localmdi::infinite
