// Sets of rows as bits, and their impurity by counting bits: for paths that follow one row x.
//
// Knowing feature j turns a set A into A & match[j], a few machine words; the number of rows of a
// class is a popcount over the words of that class. Exclusive or at x = 00, with words of four bits
// and the rows 00, 11 of class 0 and 01, 10 of class 1:
//
//                       class 0: 00 11    class 1: 01 10
//     all                       1  1              1  1
//     match[0]  (x0 = 0)        1  0              1  0
//     match[1]  (x1 = 0)        1  0              0  1
//     all & match[0]            1  0              1  0     counts (1, 1), impurity 1
//     … & match[1]              1  0              0  0     counts (1, 0), impurity 0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "localmdi/infinite/sample.hpp"

namespace localmdi::infinite {

using Word = std::uint64_t;

// What a path may do where the sample has no row with x's value (docs/theory/algorithms.md, "Rows
// outside the sample").
enum class Unseen : std::uint8_t { Skip, Stop, Tree };

// How a path is followed, and what its edges count for.
struct PathRules {
    Unseen unseen;
    Measure measure;
};

// The sample with one bit per row and class. The bits of a class fill words of their own, so that
// its count is a popcount; where rows weigh differently their weights are added instead.
class BitRows {
public:
    explicit BitRows(const Sample& sample);

    std::size_t n_words() const { return all_.size(); }
    const std::vector<Word>& all() const { return all_; }

    // Bits of the rows that equal x on each feature, feature after feature, then on all of them.
    void match(std::span<const std::int32_t> x, std::vector<Word>& matching) const;

    // Fills in the sums of the slots of a set; returns whether its rows have different outputs.
    bool add_up(const Word* set, std::vector<double>& slots) const;

    // The impurity of a set; exactly 0 if it is pure. `slots` becomes its sums.
    double impurity(const Word* set, std::vector<double>& slots) const {
        return add_up(set, slots) ? impurity_(slots.data(), slots.size()) : 0.0;
    }

    // Calls visit(bit, row) for every bit of a set.
    template <class Visit>
    void each_row(const Word* set, Visit visit) const {
        each_bit(set, 0, n_words(), [&](std::size_t bit) { visit(bit, row_[bit]); });
    }

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

}  // namespace localmdi::infinite
