// One row's way through many trees, a step in each of them in turn, so that their cache misses
// overlap.
//
// Why: one row through one tree is a chain of cache misses, each of which must end before the next
// can begin. In 64 trees there are 64 such chains, and the processor can wait for several at once:
// all trees take their first step, then all their second, and so on. Trees whose path has ended
// leave the list of those that go on, without a branch, because no predictor knows where it ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "localmdi/explain/rows.hpp"
#include "localmdi/forest/routing.hpp"

namespace localmdi::explain {

using forest::goes_first;
using forest::goes_first_known;
using forest::kFeatureMask;
using forest::kLeaf;
using forest::next_node;
using forest::PackedForest;
using forest::PackedNode;
using forest::prefetch_node;

inline constexpr std::size_t kTreesInStep = 64;

// A step leads to the node that follows, or to `at` itself where the row ends. Without a branch on
// the value or on whether the node is a leaf: no predictor would know either.
template <bool kMayMiss, class Value>
inline std::uint32_t ordered_step(const PackedNode<Value>* nodes, std::uint32_t at,
                                  const Value* x) {
    const PackedNode<Value>& node = nodes[at];
    const Value value = x[node.split & kFeatureMask];
    const bool first = kMayMiss ? goes_first(node, value) : goes_first_known(node, value);
    const std::uint32_t next = node.child + (first ? 0u : 1u);
    return next ^ ((next ^ at) & (0u - node.split / kLeaf));
}

// Sends a row down the trees first, …, first + n − 1, at most kTreesInStep. Calls visit(k, number,
// node) for every node that tree first + k meets, from its root to where the row ends: level by
// level, so that trees take turns. Returns where the row ends in each.
template <class Value, class Visit>
std::array<std::uint32_t, kTreesInStep> walk_in_step(const PackedForest<Value>& forest,
                                                     std::size_t first, std::size_t n,
                                                     const OneRow<Value>& row, Visit visit) {
    std::array<std::uint32_t, kTreesInStep> at;
    std::array<std::uint32_t, kTreesInStep> walking;
    const PackedNode<Value>* const nodes = forest.nodes.data();
    for (std::uint32_t k = 0; k < n; ++k) {
        walking[k] = k;
        at[k] = forest.root[first + k];
    }
    const Value* const x = row.values;
    const auto walk = [&](auto take_step) {
        while (n > 0) {
            std::size_t n_left = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t k = walking[i], here = at[k];
                const std::uint32_t next = take_step(here);
                prefetch_node(nodes + next);
                visit(k, here, nodes[here]);
                at[k] = next;
                walking[n_left] = k;
                n_left += next != here;
            }
            n = n_left;
        }
    };
    if (!forest.ordered())
        walk([&](std::uint32_t here) {
            return next_node(forest, here, x[nodes[here].split & kFeatureMask]);
        });
    else if (row.has_missing)
        walk([=](std::uint32_t here) { return ordered_step<true>(nodes, here, x); });
    else walk([=](std::uint32_t here) { return ordered_step<false>(nodes, here, x); });
    return at;
}

}  // namespace localmdi::explain
