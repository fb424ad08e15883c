// One row's way through many trees, a step in each of them in turn, so that their cache misses
// overlap.
//
// Why: one row through one tree is a chain of cache misses, each of which must end before the next
// can begin. In 64 trees there are 64 such chains, and the processor can wait for several at once:
// all trees take a step, then all take their next, and so on. A tree whose path has ended leaves
// the list of those that walk, without a branch, because no predictor knows where it ends; and as
// many others begin, so that there are always enough.
//
// Trees are handed over in their order: the list keeps it, so that all trees before its first have
// ended. Until then a tree has a slot for what it has met. With two walking at a time, four slots,
// and paths of 2, 4, 1, 1 and 1 steps, the trees that take a step are
//
//     0 1 | 0 1 | 1 2 | 1 3 | 4       0 is handed over after two rounds; 2 ends in the third, but
//                                     waits for 1, which ends in the fourth; 4 gets the slot of 0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "localmdi/explain/rows.hpp"
#include "localmdi/forest/routing.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using forest::goes_first;
using forest::goes_first_known;
using forest::is_leaf;
using forest::kFeatureMask;
using forest::leaf_number;
using forest::next_step;
using forest::PackedForest;
using forest::PackedSplit;
using forest::Place;
using forest::Step;

struct TreeRange {
    std::size_t first, last;
};

inline constexpr std::size_t kTreesInStep = 64;  // that walk at a time
// Trees that have begun and are not handed over: deep ones keep others waiting.
inline constexpr std::size_t kTreeSlots = 2 * kTreesInStep;

// The slots that a forest uses: tree t has the slot t % kTreeSlots.
template <class Value>
std::size_t slots_used(const PackedForest<Value>& forest) {
    return std::min(kTreeSlots, forest.n_trees());
}

// The step of an ordered split. Without a branch on the value: no predictor would know it.
template <class Value, bool kMayMiss>
struct OrderedStep {
    const Value* x;

    Step operator()(const PackedSplit<Value>& split) const {
        const Value value = x[split.split & kFeatureMask];
        const bool first = kMayMiss ? goes_first(split, value) : goes_first_known(split, value);
        const std::size_t side = first ? 0 : 1;
        return {split.child[side], split.credit[side]};
    }
    static bool stays(const PackedSplit<Value>*, const PackedSplit<Value>*) { return false; }
};

// That of any split, at which the row may end.
template <class Value>
struct AnyStep {
    const PackedForest<Value>& forest;
    const Value* x;

    Step operator()(const PackedSplit<Value>& split) const {
        const auto at = static_cast<Place>(&split - forest.splits.data());
        return next_step(forest, at, x[split.split & kFeatureMask]);
    }
    static bool stays(const PackedSplit<Value>* at, const PackedSplit<Value>* to) {
        return at == to;
    }
};

template <class Value>
struct Walker {
    const PackedSplit<Value>* at;
    std::size_t tree;
};

// All walkers take a step; those that go on stay in the list, in order. Returns how many they are.
// Not inlined: the loop needs all registers for itself.
template <class Value, class TakeStep, class Visit>
LOCALMDI_NOINLINE std::size_t take_steps(Walker<Value>* walkers, std::size_t n_walking,
                                         const PackedSplit<Value>* splits, TakeStep take_step,
                                         Visit visit) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < n_walking; ++i) {
        const auto [at, tree] = walkers[i];
        const Step step = take_step(*at);
        const PackedSplit<Value>* const to = splits + std::max(step.next, 0);  // of a leaf: any
        LOCALMDI_PREFETCH(to);
        visit(tree % kTreeSlots, *at, step);
        walkers[n] = {to, tree};
        n += !is_leaf(step.next) & !take_step.stays(at, to);
    }
    return n;
}

// Sends a row down some trees, and tells `visitor` what it meets:
//
//     begin(slot, root)      a tree begins
//     visit()                returns what is called with (slot, split, step) for every edge that
//                            the row takes; the trees take turns
//     finish(tree, n)        n trees from `tree` on have ended, in slots side by side
template <class Value, class TakeStep, class Visitor>
void walk_in_step(const PackedForest<Value>& forest, TreeRange trees, TakeStep take_step,
                  Visitor& visitor) {
    constexpr std::size_t kTogether = 16;  // trees that are worth handing over
    const PackedSplit<Value>* const splits = forest.splits.data();
    std::array<Walker<Value>, kTreesInStep> walkers;
    std::size_t n = 0, next = trees.first, finished = trees.first;
    while (finished < trees.last) {
        const std::size_t end =
            std::min({next + kTreesInStep - n, trees.last, finished + kTreeSlots});
        for (; next < end; ++next) {
            const Place root = forest.trees[next].root;
            visitor.begin(next % kTreeSlots, root);
            walkers[n] = {splits + std::max(root, 0), next};
            LOCALMDI_PREFETCH(walkers[n].at);
            n += !is_leaf(root);
        }
        n = take_steps(walkers.data(), n, splits, take_step, visitor.visit());
        const std::size_t oldest = n > 0 ? walkers[0].tree : next;
        if (n > 0 && oldest - finished < kTogether) continue;
        while (finished < oldest) {
            const std::size_t n_slots = kTreeSlots - finished % kTreeSlots;
            const std::size_t n_ended = std::min(oldest - finished, n_slots);
            visitor.finish(finished, n_ended);
            finished += n_ended;
        }
    }
}

// The same with the steps that suit the forest and the row.
template <class Value, class Visitor>
void walk_in_step(const PackedForest<Value>& forest, TreeRange trees, const OneRow<Value>& row,
                  Visitor& visitor) {
    if (!forest.ordered()) walk_in_step(forest, trees, AnyStep<Value>{forest, row.values}, visitor);
    else if (row.has_missing)
        walk_in_step(forest, trees, OrderedStep<Value, true>{row.values}, visitor);
    else walk_in_step(forest, trees, OrderedStep<Value, false>{row.values}, visitor);
}

}  // namespace localmdi::explain
