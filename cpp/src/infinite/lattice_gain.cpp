#include "localmdi/infinite/lattice_gain.hpp"

#include <bit>

#include "localmdi/infinite/subset_walk.hpp"

namespace localmdi::infinite {
namespace {

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

}  // namespace

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

}  // namespace localmdi::infinite
