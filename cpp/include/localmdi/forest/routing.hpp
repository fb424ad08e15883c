// Where a row goes. Every traversal asks here and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>

#include "localmdi/forest/packed_forest.hpp"

namespace localmdi::forest {

// Ordered splits: x <= threshold, a missing value where the split says. Without a branch, because
// no predictor knows where the next row goes.
template <class Value>
inline bool goes_first(const PackedNode<Value>& node, Value x) {
    const bool missing_first = node.split & kMissingFirst;
    return (x <= node.threshold) | ((x != x) & missing_first);
}

// Category splits; x is a category code. A code that is not in the set goes to the second child of
// a category set; at a multiway split a row with a code that no training row had stays where it is.
template <class Value>
inline std::uint32_t unordered_child(const UnorderedSplit& split, std::uint32_t at, Value x) {
    const auto child = [&](auto which) {
        return split.first_child + static_cast<std::uint32_t>(which);
    };
    if (x != x) return split.missing_child < 0 ? at : child(split.missing_child);
    constexpr std::uint64_t kNoCode = ~std::uint64_t{0};
    const bool in_range = x >= 0 && x < static_cast<Value>(std::uint64_t{1} << 53);
    std::uint64_t code = in_range ? static_cast<std::uint64_t>(x) : kNoCode;
    if (static_cast<Value>(code) != x) code = kNoCode;
    const auto& categories = split.categories;
    if (split.kind == SplitKind::category_set) {
        const bool in_set =
            code / 64 < categories.size() && (categories[code / 64] >> (code % 64) & 1);
        return child(in_set ? 0 : 1);
    }
    const auto found = std::lower_bound(categories.begin(), categories.end(), code);
    return found != categories.end() && *found == code ? child(found - categories.begin()) : at;
}

// The decision: the node that a row at node `at` goes to, x being its value of the split feature. A
// leaf, and a split that knows no child for x, return `at` itself: the row ends there.
template <class Value>
inline std::uint32_t next_node(const PackedForest<Value>& forest, std::uint32_t at, Value x) {
    const auto& node = forest.nodes[at];
    if (node.split & kUnordered) return unordered_child(forest.unordered[node.child], at, x);
    return node.child + (goes_first(node, x) ? 0u : 1u);
}

}  // namespace localmdi::forest
