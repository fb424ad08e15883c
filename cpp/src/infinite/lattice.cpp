#include "localmdi/infinite/lattice.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <type_traits>

#include "localmdi/infinite/small_counts.hpp"
#include "localmdi/infinite/subset_walk.hpp"

namespace localmdi::infinite {
namespace {

// Fewer features have fewer blocks than would pay for a table of small sets.
constexpr std::size_t kManyFeatures = 13;

// The impurity of the copies of x.
double impurity_at_end(const MatchMasks& masks, const Impurity& impurity) {
    std::vector<double> slots(masks.n_slots, 0.0);
    masks.add_row(masks.copies, slots.data());
    return impurity(slots.data(), slots.size());
}

template <std::size_t Value>
using Constant = std::integral_constant<std::size_t, Value>;

class Search {
public:
    // small: the gains of small sets, or null.
    Search(const MatchMasks& masks, const Impurity& impurity, const SmallSets* small, bool pairs,
           Interrupt& interrupt)
        : masks_(masks),
          impurity_(impurity),
          small_(small),
          interrupt_(interrupt),
          p_(masks.features.size()),
          low_bits_(block_bits(p_)),
          sums_(p_, pairs),
          choose_(p_),
          blocks_(masks),
          groups_(masks, std::max<std::size_t>(low_bits_, GroupCounts::kGroupBits)),
          bytes_(masks),
          low_sums_((p_ - low_bits_ + 1) << low_bits_, 0.0),
          end_(impurity_at_end(masks, impurity)) {
        for (std::size_t s = 0; s >> low_bits_ == 0; ++s)
            size_of_.push_back(static_cast<std::uint8_t>(std::popcount(s)));
    }

    LatticeSums take() {
        finish();
        return std::move(sums_);
    }

    void add_constant(const std::vector<std::uint32_t>& rows, std::size_t free,
                      std::uint64_t known) {
        if (rows.size() == 1) return;  // only the copies of x
        slots_.assign(masks_.n_slots, 0.0);
        for (const std::uint32_t i : rows) masks_.add_row(i, slots_.data());
        const double g = impurity_(slots_.data(), slots_.size()) - end_;
        const auto size = static_cast<std::size_t>(std::popcount(known));
        for (std::size_t s = 0; s <= free; ++s) {
            const double one = s > 0 ? g * choose_(free - 1, s - 1) : 0.0;
            const double two = s > 1 ? g * choose_(free - 2, s - 2) : 0.0;
            sums_.all[size + s] += g * choose_(free, s);
            low_member_.assign(free, one);
            add_members(size + s, known, g * choose_(free, s));
            add_low_members(size + s, known, free);
            if (!sums_.pair.empty())
                for (std::size_t i = 0; i < free; ++i)
                    for (std::size_t j = 0; j < i; ++j) pair(size + s, i, j) += two;
        }
    }

    void add_block(const std::vector<std::uint32_t>& rows, std::uint64_t known) {
        interrupt_.check();
        const auto size = static_cast<std::size_t>(std::popcount(known));
        double by_size[kBlockBits + 1] = {};
        if (small_ != nullptr && bytes_.count(rows)) add_bytes(size, by_size);
        else if (masks_.small_counts && low_bits_ >= GroupCounts::kGroupBits)
            add_groups(rows, size, by_size);
        else add_subsets(rows, size, by_size);
        for (std::size_t s = 0; s <= low_bits_; ++s) {
            sums_.all[size + s] += by_size[s];
            add_members(size + s, known, by_size[s]);
        }
        if (!sums_.pair.empty()) add_block_pairs(known, size);
    }

private:
    void add_subsets(const std::vector<std::uint32_t>& rows, std::size_t size, double* by_size) {
        blocks_.find_present(rows);
        blocks_.count(rows, counts_);
        block_.resize(blocks_.n_subsets());
        fill(block_, counts_.data(), blocks_.width(), blocks_.width());
        double* const kept = low_sums_.data() + (size << low_bits_);
        for (std::size_t s = 0; s < block_.size(); ++s) kept[s] += block_[s];
        add_by_size(by_size);
    }

    // The same group by group, without those that gain nothing.
    void add_groups(const std::vector<std::uint32_t>& rows, std::size_t size, double* by_size) {
        constexpr std::size_t kGroup = GroupCounts::kGroup;
        block_.assign(sums_.pair.empty() ? kGroup : blocks_.n_subsets(), 0.0);
        for (std::uint32_t left = groups_.count(rows); left != 0; left &= left - 1) {
            const auto group = static_cast<std::uint32_t>(std::countr_zero(left));
            const std::size_t begin = group * kGroup;
            const std::span g(block_.data() + (sums_.pair.empty() ? 0 : begin), kGroup);
            fill_group<1>(g, groups_.finish(group), groups_.width());
            double* const kept = low_sums_.data() + (size << low_bits_) + begin;
            for (std::size_t s = 0; s < kGroup; ++s) kept[s] += g[s];
            double* const sums = by_size + size_of_[begin];
            sums[0] += g[0];
            sums[1] += g[1] + g[2] + g[4];
            sums[2] += g[3] + g[5] + g[6];
            sums[3] += g[7];
        }
    }

    // The same with counts that fit a byte, which are mostly so few that their gain is known.
    void add_bytes(std::size_t size, double* by_size) {
        constexpr std::size_t kGroup = ByteCounts::kGroup;
        double by_group_size[kBlockBits - GroupCounts::kGroupBits + 1][kGroup] = {};
        if (!sums_.pair.empty()) block_.assign(blocks_.n_subsets(), 0.0);
        for (std::uint32_t left = bytes_.impure(); left != 0; left &= left - 1) {
            const auto group = static_cast<std::uint32_t>(std::countr_zero(left));
            double* const kept = low_sums_.data() + (size << low_bits_) + group * kGroup;
            double* const sums = by_group_size[size_of_[group]];
            double* const block = sums_.pair.empty() ? nullptr : &block_[group * kGroup];
            if (bytes_.n_rows(group) <= SmallSets::kMostRows) {
                const std::uint16_t* const codes = bytes_.codes(group);
                add_gains([&](std::size_t s) { return (*small_)[codes[s]]; }, kept, sums, block);
            } else {
                const double* const g = fill_large(group);
                add_gains([&](std::size_t s) { return g[s]; }, kept, sums, block);
            }
        }
        for (std::size_t k = 0; k < std::size(by_group_size); ++k)
            for (std::size_t s = 0; s < kGroup; ++s)
                by_size[k + size_of_[s]] += by_group_size[k][s];
    }

    // Adds the gains of a group's subsets to two sums of each.
    template <class GainOf>
    static void add_gains(GainOf gain_of, double* __restrict kept, double* __restrict sums,
                          double* __restrict block) {
        for (std::size_t s = 0; s < ByteCounts::kGroup; ++s) {
            const double g = gain_of(s);
            kept[s] += g;
            sums[s] += g;
            if (block != nullptr) block[s] = g;
        }
    }

    const double* fill_large(std::uint32_t group) {
        const std::size_t stride = (bytes_.width() + 7) / 8 * 8;
        large_.resize(stride * ByteCounts::kGroup);
        bytes_.copy_counts(group, large_.data(), stride);
        fill_group<1>(large_gain_, large_.data(), bytes_.width());
        return large_gain_.data();
    }

    // g of some subsets. Flat: the loop is too short to call anything.
    template <class Count, class Width, class Stride>
    [[gnu::flatten]] void fill(std::span<double> out, const Count* counts, Width width,
                               Stride stride) const {
        const double end = end_;
        for (std::size_t s = 0; s < out.size(); ++s)
            out[s] = impurity_(counts + s * stride, width) - end;
    }

    // With up to eight slots their number is a constant, so that no loop over them is left.
    template <std::size_t Width>
    void fill_group(std::span<double> out, const std::uint16_t* counts, std::size_t width) const {
        if constexpr (Width <= 8) {
            if (width > Width) fill_group<Width + 1>(out, counts, width);
            else fill(out, counts, Constant<Width>(), Constant<8>());
        } else {
            fill(out, counts, width, (width + 7) / 8 * 8);
        }
    }

    // Subsets with and without feature 0 are added up apart: an addition to a sum must wait for
    // the one before it.
    void add_by_size(double* by_size) const {
        if (low_bits_ == 0) {
            by_size[0] = block_[0];
            return;
        }
        double without[kBlockBits + 1] = {}, with[kBlockBits + 1] = {};
        for (std::size_t s = 0; s < block_.size(); s += 2) {
            const std::size_t size = size_of_[s];
            without[size] += block_[s];
            with[size] += block_[s + 1];
        }
        for (std::size_t s = 0; s <= low_bits_; ++s)
            by_size[s] = without[s] + (s > 0 ? with[s - 1] : 0.0);
    }

    // Adds `sum`, of subsets of one size that contain the known features, to these and their pairs.
    void add_members(std::size_t size, std::uint64_t known, double sum) {
        for (std::uint64_t left = known; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(std::countr_zero(left));
            sums_.member[size * p_ + i] += sum;
            if (sums_.pair.empty()) continue;
            for (std::uint64_t below = known & ((std::uint64_t{1} << i) - 1); below != 0;
                 below &= below - 1)
                pair(size, i, static_cast<std::size_t>(std::countr_zero(below))) += sum;
        }
    }

    // Adds low_member_[j] to the undecided feature j and to its pairs with the known ones.
    void add_low_members(std::size_t size, std::uint64_t known, std::size_t free) {
        for (std::size_t j = 0; j < free; ++j) sums_.member[size * p_ + j] += low_member_[j];
        add_mixed_pairs(size, known, free);
    }

    void add_mixed_pairs(std::size_t size, std::uint64_t known, std::size_t free) {
        if (sums_.pair.empty()) return;
        for (std::uint64_t left = known; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(std::countr_zero(left));
            for (std::size_t j = 0; j < free; ++j) pair(size, i, j) += low_member_[j];
        }
    }

    void add_block_pairs(std::uint64_t known, std::size_t size) {
        std::vector<double> by_size((low_bits_ + 1) * low_bits_, 0.0);
        for (std::size_t s = 0; s < block_.size(); ++s)
            for (std::size_t left = s; left != 0; left &= left - 1)
                by_size[static_cast<std::size_t>(std::popcount(s)) * low_bits_ +
                        static_cast<std::size_t>(std::countr_zero(left))] += block_[s];
        for (std::size_t s = 0; s <= low_bits_; ++s) {
            const auto first = by_size.begin() + static_cast<std::ptrdiff_t>(s * low_bits_);
            low_member_.assign(first, first + static_cast<std::ptrdiff_t>(low_bits_));
            add_mixed_pairs(size + s, known, low_bits_);
        }
    }

    // The low features' own sums were kept per subset, so that a block adds each number once.
    void finish() {
        for (std::size_t size = 0; size + low_bits_ <= p_; ++size)
            for (std::size_t s = 0; s >> low_bits_ == 0; ++s) {
                const double sum = low_sums_[(size << low_bits_) + s];
                if (sum != 0.0)
                    add_members(size + static_cast<std::size_t>(std::popcount(s)), s, sum);
            }
    }

    double& pair(std::size_t size, std::size_t i, std::size_t j) {
        return sums_.pair[(size * p_ + i) * p_ + j];
    }

    const MatchMasks& masks_;
    const Impurity& impurity_;
    const SmallSets* small_;
    Interrupt& interrupt_;
    std::size_t p_;
    std::size_t low_bits_;
    LatticeSums sums_;
    Binomials choose_;
    BlockCounts blocks_;
    GroupCounts groups_;            // small counts
    ByteCounts bytes_;              // smaller ones
    std::vector<double> low_sums_;  // [size of the known part][low subset]
    std::vector<double> slots_, low_member_, counts_, block_;
    std::vector<std::uint16_t> large_;  // the counts of a group
    std::array<double, ByteCounts::kGroup> large_gain_{};
    std::vector<std::uint8_t> size_of_;  // of the subsets of a block
    double end_;
};

class Edges {
public:
    Edges(const MatchMasks& masks, const Gain& gain, Interrupt& interrupt)
        : masks_(masks),
          gain_(gain),
          interrupt_(interrupt),
          p_(masks.features.size()),
          choose_(p_),
          blocks_(masks),
          sums_(p_) {}

    GainSums take() { return std::move(sums_); }

    // The edges of undecided features gain nothing; one of a feature that was left out gains the
    // same whatever subset of the undecided ones is known.
    void add_constant(const std::vector<std::uint32_t>& rows, std::size_t free,
                      std::uint64_t known) {
        if (rows.size() == 1) return;  // only the copies of x
        law_of(rows, parent_);
        const auto size = static_cast<std::size_t>(std::popcount(known));
        for (std::size_t m = free; m < p_; ++m) {
            if (!separates(rows, m, known)) continue;
            law_of(matching_, child_);
            const double gain = gain_(parent_.data(), child_.data(), parent_.size());
            for (std::size_t s = 0; s <= free; ++s) edge(size + s, m) += gain * choose_(free, s);
        }
    }

    void add_block(const std::vector<std::uint32_t>& rows, std::uint64_t known) {
        interrupt_.check();
        blocks_.find_present(rows);
        laws_of(rows, parent_);
        const auto size = static_cast<std::size_t>(std::popcount(known));
        const std::size_t low_bits = block_bits(p_);
        const std::size_t width = blocks_.width();
        for (std::size_t j = 0; j < low_bits; ++j) {
            const std::size_t bit = std::size_t{1} << j;
            add_edges(size, j, bit, parent_.data() + bit * width);
        }
        for (std::size_t m = low_bits; m < p_; ++m) {
            if (!separates(rows, m, known)) continue;
            laws_of(matching_, child_);
            add_edges(size, m, 0, child_.data());
        }
    }

private:
    // From every subset of the block without the bit to the law at the same place of `below`.
    void add_edges(std::size_t size, std::size_t m, std::size_t bit, const double* below) {
        const std::size_t width = blocks_.width();
        double by_size[kBlockBits + 1] = {};
        for (std::size_t s = 0; s < blocks_.n_subsets(); ++s)
            if ((s & bit) == 0)
                by_size[std::popcount(s)] +=
                    gain_(parent_.data() + s * width, below + s * width, width);
        const std::size_t largest = block_bits(p_) - (bit != 0);
        for (std::size_t s = 0; s <= largest; ++s) edge(size + s, m) += by_size[s];
    }

    // Fills matching_ with the rows that share feature m with x; false if these are all, or if m is
    // known.
    bool separates(const std::vector<std::uint32_t>& rows, std::size_t m, std::uint64_t known) {
        const std::uint64_t bit = std::uint64_t{1} << m;
        if (known & bit) return false;
        matching_.clear();
        for (const std::uint32_t i : rows)
            if (masks_.mask[i] & bit) matching_.push_back(i);
        return matching_.size() < rows.size();
    }

    void law_of(const std::vector<std::uint32_t>& rows, std::vector<double>& law) const {
        law.assign(masks_.n_slots, 0.0);
        for (const std::uint32_t i : rows) masks_.add_row(i, law.data());
        gain_.to_law(law.data(), law.size());
    }

    void laws_of(const std::vector<std::uint32_t>& rows, std::vector<double>& laws) const {
        const std::size_t width = blocks_.width();
        blocks_.count(rows, laws);
        for (std::size_t s = 0; s < blocks_.n_subsets(); ++s)
            gain_.to_law(laws.data() + s * width, width);
    }

    double& edge(std::size_t size, std::size_t m) { return sums_.edge[size * p_ + m]; }

    const MatchMasks& masks_;
    const Gain& gain_;
    Interrupt& interrupt_;
    std::size_t p_;
    Binomials choose_;
    BlockCounts blocks_;
    GainSums sums_;
    std::vector<std::uint32_t> matching_;
    std::vector<double> parent_, child_;
};

// Additions that take as long as one summand of a gain: measured, mostly a logarithm.
double slope_cost(Criterion criterion) { return criterion == Criterion::entropy ? 20.0 : 4.0; }

}  // namespace

void LatticeSums::add(const LatticeSums& other) {
    const auto plus = [](std::vector<double>& to, const std::vector<double>& from) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    plus(all, other.all);
    plus(member, other.member);
    plus(pair, other.pair);
}

LatticeAnswer solve_lattice(const Sample& sample, const Impurity& impurity,
                            LatticeQuestion question, std::size_t n_threads, Interrupt& interrupt) {
    const MatchMasks masks(sample, question.row, question.all_features);
    const std::size_t p = masks.features.size();
    std::optional<SmallSets> small;
    if (masks.small_counts && p >= kManyFeatures)
        small.emplace(impurity, impurity_at_end(masks, impurity));
    LatticeSums sums =
        walk_subsets(masks, LatticeSums(p, question.pairs), n_threads, interrupt, [&] {
            return Search(masks, impurity, small ? &*small : nullptr, question.pairs, interrupt);
        });
    return {masks.features, std::move(sums)};
}

void GainSums::add(const GainSums& other) {
    for (std::size_t i = 0; i < edge.size(); ++i) edge[i] += other.edge[i];
}

LatticeGain solve_lattice_gain(const Sample& sample, LatticeQuestion question,
                               std::size_t n_threads, Interrupt& interrupt) {
    const MatchMasks masks(sample, question.row, question.all_features);
    const Gain gain(sample);
    GainSums sums = walk_subsets(masks, GainSums(masks.features.size()), n_threads, interrupt,
                                 [&] { return Edges(masks, gain, interrupt); });
    return {masks.features, std::move(sums)};
}

double estimate_lattice(const Sample& sample, LatticeQuestion question, Measure measure) {
    const MatchMasks masks(sample, question.row, question.all_features);
    const std::size_t p = masks.features.size();
    const std::size_t low_bits = block_bits(p);
    const std::size_t high_bits = p - low_bits;
    const auto n = static_cast<double>(sample.n_rows());
    // Rows that can make a list impure, by the number of high features that they share with x.
    std::vector<double> alike(high_bits + 1, 0.0);
    const std::int32_t label = masks.label[masks.copies];
    for (std::size_t i = 0; i + 1 < masks.mask.size(); ++i)
        if (label < 0 || masks.label[i] != label)
            alike[static_cast<std::size_t>(std::popcount(masks.mask[i] >> low_bits))] += 1.0;
    const Binomials choose(high_bits);
    double total = n * (12.0 * static_cast<double>(sample.n_features) + 40.0 * std::log2(n + 1.0));
    for (std::size_t t = 0; t <= high_bits; ++t) {
        double listed = 0.0;
        for (std::size_t k = t; k <= high_bits; ++k) listed += alike[k] * choose(k, t);
        const double blocks = std::min(choose(high_bits, t), listed);
        if (blocks == 0.0) continue;
        const double slots =
            std::min(static_cast<double>(masks.n_slots), 1.0 + listed / blocks) + 2.0;
        const double adding = static_cast<double>(low_bits) / 2.0;
        double per_subset = slots * (2.0 + adding);
        if (measure == Measure::gain) {
            // A block of its own for every high feature that was left out, and the edges.
            const auto left_out = static_cast<double>(high_bits - t);
            per_subset = slots * ((1.0 + left_out) * (2.0 + adding) +
                                  (left_out + adding) * slope_cost(sample.criterion));
            listed *= 1.0 + left_out;
        }
        total += 4.0 * listed + std::ldexp(blocks * per_subset, static_cast<int>(low_bits));
    }
    return total;
}

}  // namespace localmdi::infinite
