// Forests whose trees ask one question per level, as CatBoost grows them, in a form without nodes.
//
// A tree is symmetric if it is complete and all splits of a level are the same. Then a row needs no
// path: its answers, one bit per level (0: goes first), are the number of its leaf, the root's the
// highest bit. What a feature gets on the path is a number in a table. A feature that is not asked
// below level l, counted from 1, depends on the first l answers only, so that its table has 2^l
// entries; what is left at the leaf depends on all answers.
//
// Four tables lie side by side as a group of columns, so that one load brings four sums of a row.
// Example: three levels that ask for the features 7, 2 and 7. The letters are what the edges are
// worth:
//
//     level 1: x7?             a               b
//     level 2: x2?         c       d       e       f
//     level 3: x7?       g   h   i   j   k   l   m   n
//
//     x2          complete after 2 levels      c d e f                           by 2 answers
//     x7          complete after 3             a+g a+h a+i a+j b+k b+l b+m b+n   by 3 answers
//     what is left at the leaves               G H I J K L M N                   by 3 answers
//
// A row that goes second, first, second has the answers 0b101 = 5. The three columns are one group
// of 8 entries, complete after 3 levels, and entry 5 of it is (e, b + l, L): x2's is found by the
// first two of the three answers, 0b10 = 2.
//
// The sums are those that the kernels add up along a path, in its order, so they have their bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "localmdi/support/large_vector.hpp"

namespace localmdi::forest {

using support::LargeVector;

template <class Value>
struct PackedSplit;
template <class Value>
struct PackedForest;

inline constexpr std::size_t kGroupColumns = 4;

// Sums of up to four columns that are complete after n_levels answers.
struct ColumnGroup {
    std::uint32_t n_levels;
    std::uint32_t n_columns;
    std::array<std::uint32_t, kGroupColumns> column;  // place in features, or its end: what is left
    std::size_t sums;                                 // 2^n_levels × kGroupColumns from here on
};

// Where a tree's levels, groups and sums begin. The groups ascend by n_levels; the last needs all
// levels.
struct SymmetricTree {
    std::size_t level, group, sums;
};

template <class Value>
struct SymmetricForm {
    std::vector<SymmetricTree> trees;        // one per tree, and the end; empty: no such forest
    std::vector<PackedSplit<Value>> levels;  // a split that asks the level's question
    std::vector<ColumnGroup> groups;
    std::vector<std::uint32_t> features;  // that are asked for anywhere, ascending
    LargeVector<double> sums;

    explicit operator bool() const { return !trees.empty(); }
    std::size_t n_columns() const { return features.size() + 1; }
};

// Deeper trees have tables that no cache holds.
inline constexpr std::size_t kMaxSymmetricDepth = 12;

// Empty if a tree is not symmetric or deeper than that.
template <class Value>
SymmetricForm<Value> symmetric_form(const PackedForest<Value>& forest);

}  // namespace localmdi::forest
