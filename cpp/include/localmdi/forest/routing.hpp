// Where a row goes. Every traversal asks here and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "localmdi/forest/packed_forest.hpp"

namespace localmdi::forest {

// What an ordered split asks of a value.
template <class Value>
struct Question {
    Value threshold;
    bool missing_first;
};
template <class Value>
inline Question<Value> question_of(const PackedSplit<Value>& split) {
    return {split.threshold, (split.split & kMissingFirst) != 0};
}

// Ordered splits: x <= threshold, a missing value where the split says. Without a branch, because
// no predictor knows where the next row goes.
template <class Value>
inline bool goes_first(const Question<Value>& question, Value x) {
    return (x <= question.threshold) | ((x != x) & question.missing_first);
}
template <class Value>
inline bool goes_first(const PackedSplit<Value>& split, Value x) {
    return goes_first(question_of(split), x);
}

// The same for a value that is not missing, or that goes second if it is.
template <class Value>
inline bool goes_first_known(const PackedSplit<Value>& split, Value x) {
    return x <= split.threshold;
}

// A category as it stands in a row; what is no category becomes one that no split knows.
inline constexpr std::uint64_t kNoCode = ~std::uint64_t{0};
template <class Value>
inline std::uint64_t category_code(Value x) {
    const bool in_range = x >= 0 && x < static_cast<Value>(std::uint64_t{1} << 53);
    // By way of a signed number, for which processors have an instruction.
    const std::int64_t code = in_range ? static_cast<std::int64_t>(x) : 0;
    return in_range && static_cast<Value>(code) == x ? static_cast<std::uint64_t>(code) : kNoCode;
}

// Category splits: which child takes a row, or kStays. A code that is not in the set goes to the
// second child of a category set, and so does a missing value that the split does not expect, as at
// a comparison; at a multiway split a row that no child expects stays where it is.
inline constexpr std::int32_t kStays = -1;

// A multiway split with a table of its categories. Without a branch on the value.
template <class Value>
inline std::int32_t child_in_table(const UnorderedSplit& split, Value x) {
    const std::uint64_t code = category_code(x);
    const bool is_known = code < split.child_at.size();
    const std::uint8_t child = split.child_at[is_known ? code : 0];
    const bool stays = !is_known | (child == UnorderedSplit::kNoChild);
    const std::int32_t known = stays ? kStays : child;
    return x != x ? split.missing_child : known;
}

template <class Value>
inline std::int32_t child_number(const UnorderedSplit& split, Value x) {
    const bool is_missing = x != x;
    const std::uint64_t code = category_code(x);
    const auto& categories = split.categories;
    if (split.kind == SplitKind::category_set) {
        const bool in_set =
            code / 64 < categories.size() && (categories[code / 64] >> (code % 64) & 1);
        return in_set || (is_missing && split.missing_child == 0) ? 0 : 1;
    }
    if (!split.child_at.empty()) return child_in_table(split, x);
    if (is_missing) return split.missing_child;
    // The categories ascend. Counting the smaller ones of a few needs no unforeseeable branch.
    constexpr std::size_t kFew = 16;
    std::size_t at = 0;
    if (categories.size() <= kFew) {
        for (const std::uint64_t category : categories) at += category < code;
    } else {
        at = static_cast<std::size_t>(std::lower_bound(categories.begin(), categories.end(), code) -
                                      categories.begin());
    }
    const bool found = at < categories.size() && categories[at] == code;
    return found ? static_cast<std::int32_t>(at) : kStays;
}

// What a row meets when it leaves a split.
struct Step {
    Place next;
    double credit;
};

// The decision: where a row at the split `at` goes, x being its value of the split feature, and
// what the edge is worth. A split that knows no child for x returns `at` itself: the row ends
// there.
template <class Value>
inline Step next_step(const PackedForest<Value>& forest, Place at, Value x) {
    const PackedSplit<Value>& split = forest.splits[static_cast<std::size_t>(at)];
    if (!(split.split & kUnordered)) {
        const std::size_t side = goes_first(split, x) ? 0 : 1;
        return {split.child[side], split.credit[side]};
    }
    const UnorderedSplit& unordered = forest.unordered[split.unordered()];
    const std::int32_t number = child_number(unordered, x);
    if (number == kStays) return {at, 0};
    const auto k = static_cast<std::size_t>(number);
    if (unordered.kind == SplitKind::category_set) return {split.child[k], split.credit[k]};
    return {unordered.edges[k].child, unordered.edges[k].credit};
}

}  // namespace localmdi::forest
