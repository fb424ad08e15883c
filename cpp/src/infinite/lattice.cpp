#include "localmdi/infinite/lattice.hpp"

#include <bit>
#include <cmath>

#include "localmdi/infinite/match_masks.hpp"

namespace localmdi::infinite {
namespace {

constexpr unsigned kBlockBits = 8;    // a block of 2^8 subsets stays in the first-level cache
constexpr unsigned kMaxTaskBits = 8;  // tasks are cut by p alone, so that threads change no bit

unsigned task_bits(std::size_t p) {
    return p <= 16 ? 0 : std::min(kMaxTaskBits, static_cast<unsigned>(p) - 16);
}

// Pascal's triangle: in a sub-cube where g is constant, subsets need only be counted.
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

class Search {
public:
    Search(const MatchMasks& masks, const Impurity& impurity, bool pairs, Interrupt& interrupt)
        : masks_(masks),
          impurity_(impurity),
          interrupt_(interrupt),
          p_(masks.features.size()),
          low_bits_(std::min<std::size_t>(p_, kBlockBits)),
          sums_(p_, pairs),
          choose_(p_),
          low_sums_((p_ - low_bits_ + 1) << low_bits_, 0.0),
          lists_(p_ + 1) {
        std::vector<double> slots(masks.n_slots, 0.0);
        masks.add_row(masks.copies, slots.data());
        end_ = impurity(slots.data(), slots.size());
    }

    // The sub-cube whose first high features are decided by the bits of `task`.
    LatticeSums run(std::size_t task, unsigned bits) {
        std::vector<std::uint32_t>& rows = lists_[p_];
        std::uint64_t known = 0;
        for (unsigned b = 0; b < bits; ++b)
            if (task >> b & 1) known |= std::uint64_t{1} << (p_ - 1 - b);
        rows.clear();
        for (std::uint32_t i = 0; i < masks_.mask.size(); ++i)
            if ((masks_.mask[i] & known) == known) rows.push_back(i);
        descend(rows, p_ - bits, known);
        finish();
        return std::move(sums_);
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
        if ((open & ~common) == 0) return add_constant(rows, free, known);
        if (free == low_bits_) return add_block(rows, known);
        const std::uint64_t bit = std::uint64_t{1} << (free - 1);
        branch(rows, free - 1, known, common);
        if (common & bit) return branch(rows, free - 1, known | bit, common);
        std::vector<std::uint32_t>& matching = lists_[free - 1];
        matching.clear();
        for (const std::uint32_t i : rows)
            if (masks_.mask[i] & bit) matching.push_back(i);
        descend(matching, free - 1, known | bit);
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

    void add_block(const std::vector<std::uint32_t>& rows, std::uint64_t known) {
        interrupt_.check();
        count_supersets(rows);
        const std::size_t n = std::size_t{1} << low_bits_;
        const std::size_t width = present_.size();
        const auto size = static_cast<std::size_t>(std::popcount(known));
        double* const kept = low_sums_.data() + (size << low_bits_);
        double by_size[kBlockBits + 1] = {};
        block_.resize(n);
        for (std::size_t s = 0; s < n; ++s) {
            const double g = impurity_(counts_.data() + s * width, width) - end_;
            block_[s] = g;
            kept[s] += g;
            by_size[std::popcount(s)] += g;
        }
        for (std::size_t s = 0; s <= low_bits_; ++s) {
            sums_.all[size + s] += by_size[s];
            add_members(size + s, known, by_size[s]);
        }
        if (!sums_.pair.empty()) add_block_pairs(known, size);
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

    // counts_[S][c]: rows that equal x on S, by the slots that occur among them.
    void count_supersets(const std::vector<std::uint32_t>& rows) {
        masks_.find_present(rows, present_, place_);
        const std::size_t width = present_.size();
        const std::size_t n = std::size_t{1} << low_bits_;
        counts_.assign(n * width, 0.0);
        for (const std::uint32_t i : rows)
            masks_.add_row(i, counts_.data() + (masks_.mask[i] & (n - 1)) * width, place_.data());
        for (std::size_t step = width; step < n * width; step *= 2)
            for (std::size_t base = 0; base < n * width; base += 2 * step) {
                double* const without = counts_.data() + base;
                const double* const with = without + step;
                for (std::size_t i = 0; i < step; ++i) without[i] += with[i];
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
    Interrupt& interrupt_;
    std::size_t p_;
    std::size_t low_bits_;
    LatticeSums sums_;
    Binomials choose_;
    std::vector<double> low_sums_;  // [size of the known part][low subset]
    std::vector<std::vector<std::uint32_t>> lists_;
    std::vector<double> slots_, low_member_, counts_, block_;
    std::vector<std::int32_t> present_, place_;
    double end_ = 0.0;
};

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
    const unsigned bits = task_bits(p);
    std::vector<LatticeSums> parts(std::size_t{1} << bits);
    support::parallel_for(parts.size(), n_threads, interrupt, [&] {
        return [&](std::size_t task) {
            parts[task] = Search(masks, impurity, question.pairs, interrupt).run(task, bits);
        };
    });
    LatticeAnswer answer{masks.features, LatticeSums(p, question.pairs)};
    for (const LatticeSums& part : parts) answer.sums.add(part);
    return answer;
}

double estimate_lattice(const Sample& sample, LatticeQuestion question) {
    const MatchMasks masks(sample, question.row, question.all_features);
    const std::size_t p = masks.features.size();
    const std::size_t low_bits = std::min<std::size_t>(p, kBlockBits);
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
        const double per_subset = slots * (2.0 + static_cast<double>(low_bits) / 2.0);
        total += 4.0 * listed + std::ldexp(blocks * per_subset, static_cast<int>(low_bits));
    }
    return total;
}

}  // namespace localmdi::infinite
