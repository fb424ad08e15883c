// The rules of single nodes: asked by validate(), which looks at tables, and by pack_drops(), which
// reads the records of a model. Safe on any contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace localmdi::forest {

inline bool is_split_feature(std::int64_t feature, std::int64_t n_features) {
    return feature >= 0 && feature < n_features;
}

// Children after their parents mean no cycles; one parent each (ParentClaims) means a tree.
inline bool is_child_place(std::size_t node, std::size_t child, std::size_t tree_end) {
    return child > node && child < tree_end;
}

inline bool is_ordered_threshold(double threshold) { return threshold == threshold; }

// What forest/rules.py asks of the statistics of nodes.
inline bool is_impurity(double value) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return value >= -kMost && value <= kMost;
}
inline bool is_weight(double value) {
    return value >= 0 && value <= std::numeric_limits<double>::max();
}

// Which nodes have a parent: one bit each.
class ParentClaims {
public:
    void reset(std::size_t n_nodes) { words_.assign(n_nodes / 64 + 1, 0); }
    // False: the node has a parent already.
    bool claim(std::size_t node) {
        std::uint64_t& word = words_[node / 64];
        const std::uint64_t bit = std::uint64_t{1} << (node % 64);
        const bool is_free = (word & bit) == 0;
        word |= bit;
        return is_free;
    }
    bool has_parent(std::size_t node) const { return words_[node / 64] >> (node % 64) & 1; }

private:
    std::vector<std::uint64_t> words_;
};

}  // namespace localmdi::forest
