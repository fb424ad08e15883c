// Sets of rows as bits, and their impurity by counting bits: for paths that follow one row x.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "localmdi/sample.hpp"

namespace localmdi {

using Word = std::uint64_t;

// What a path may do where the sample has no row with x's value (THEORY: x not in the sample).
enum class Unseen : std::uint8_t { Skip, Stop, Tree };

// The sample with one bit per row and class. The bits of a class fill words of their own, so that
// its count is a popcount; where rows weigh differently their weights are added instead.
class BitRows {
public:
    explicit BitRows(const Sample& sample);

    std::size_t n_words() const { return all_.size(); }
    const std::vector<Word>& all() const { return all_; }

    // Bits of the rows that equal x on each feature, feature after feature, then on all of them.
    void match(std::span<const std::int32_t> x, std::vector<Word>& matching) const;

    // The impurity of a set; exactly 0 if it is pure. `slots` is scratch.
    double impurity(const Word* set, std::vector<double>& slots) const;

    // Whether the rows of a set have different values of feature j.
    bool varies(const Word* set, std::size_t j) const;

private:
    template <class Visit>
    void each_bit(const Word* set, std::size_t first, std::size_t last, Visit visit) const {
        for (std::size_t w = first; w < last; ++w)
            for (Word left = set[w]; left != 0; left &= left - 1)
                visit(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }

    const Sample& sample_;
    Impurity impurity_;
    bool by_class_;
    bool unit_ = true;
    std::vector<std::size_t> class_end_;  // in words
    std::vector<std::uint32_t> row_;      // of each bit
    std::vector<double> weight_;
    std::vector<Word> all_;
};

// Random orders: a stream of its own for every (seed, index), so that threads and batches change
// nothing.
class Permutations {
public:
    Permutations(std::uint64_t seed, std::uint64_t index) : state_(mix(seed + mix(index + 1))) {}

    void shuffle(std::vector<std::uint32_t>& order) {
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        for (auto n = static_cast<std::uint32_t>(order.size()); n > 1; --n)
            std::swap(order[n - 1], order[below(n)]);
    }

private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint32_t next() {
        state_ += 0x9e3779b97f4a7c15u;
        return static_cast<std::uint32_t>(mix(state_) >> 32);
    }
    // Uniform in 0 .. n - 1, without bias: products in the incomplete range are drawn again.
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = std::uint64_t{next()} * n;
        const std::uint32_t incomplete = (0u - n) % n;
        while (static_cast<std::uint32_t>(product) < incomplete)
            product = std::uint64_t{next()} * n;
        return static_cast<std::uint32_t>(product >> 32);
    }

    std::uint64_t state_;
};

}  // namespace localmdi
