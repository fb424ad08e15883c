// The node table of a Forest as C++ sees it: spans into arrays that Python owns and has validated.
#pragma once

#include <cstdint>
#include <span>

namespace localmdi::forest {

enum class SplitKind : std::uint8_t { leaf, less_equal, less, category_set, multiway };

// Field meanings: docs/format/forest.md.
struct ForestView {
    std::int64_t n_features;
    std::span<const std::int64_t> tree_offset;
    std::span<const std::int32_t> feature;
    std::span<const std::uint8_t> split_kind;
    std::span<const double> threshold;
    std::span<const std::int64_t> child_offset;
    std::span<const std::int64_t> child;
    std::span<const std::int32_t> missing_child;
    std::span<const std::int64_t> category_offset;
    std::span<const std::uint64_t> category_bits;

    std::size_t n_trees() const { return tree_offset.size() - 1; }
    std::size_t n_nodes() const { return feature.size(); }
    SplitKind kind(std::size_t node) const { return static_cast<SplitKind>(split_kind[node]); }
    std::size_t n_children(std::size_t node) const {
        return static_cast<std::size_t>(child_offset[node + 1] - child_offset[node]);
    }
    std::size_t child_of(std::size_t node, std::size_t which) const {
        return static_cast<std::size_t>(
            child[static_cast<std::size_t>(child_offset[node]) + which]);
    }
    std::span<const std::uint64_t> categories(std::size_t node) const {
        const auto begin = static_cast<std::size_t>(category_offset[node]);
        return category_bits.subspan(begin,
                                     static_cast<std::size_t>(category_offset[node + 1]) - begin);
    }
};

}  // namespace localmdi::forest
