// Local MDI of a tile of rows: the rows of a node are partitioned among its children, depth first.
// Many rows share a node's work, and the importances of the path are kept up to date as it is
// walked.
//
// Why: a row alone pays for every node on its path: a cache miss, a comparison that no predictor
// knows, an addition. A thousand rows at a node load it once, are compared eight at a time, and
// share `values_`: down an edge its amount is added to the split feature, back up the old value is
// put back. (Put back, not subtracted: (a + b) − b is not a.) A leaf then hands `values_` to all
// its rows at once.
//
// Example: rows A B C D, root split on feature 0, its second child on feature 1; the edges are
// worth 1 and 0.082 below the root, 0.918 and 0.918 below the second child.
//
//     at             its rows     goes first   second     values_
//     root           A B C D      A            B C D      0      0
//       A has reached a leaf                              1      0        A gets (1, 0)
//       B C D wait, and are next
//     second child   B C D        B            C D        0.082  0
//       C D have reached a leaf                           0.082  0.918    C and D get these
//       B too                                             0.082  0.918    B gets these
//
// A leaf is dealt with at its parent, where its rows have just been told apart: half of the nodes
// are leaves, and none of them is pushed, popped or visited. So the rows of a tree do not end in
// the order of its leaves; that changes no bit, because a row ends once in a tree.
//
// A category set splits like a comparison. A multiway split has any number of children and may keep
// rows that no child takes: its rows are counted and sorted by child, and all children that split
// again wait.
//
// Memory: the rows of the node at hand are the first of rows_. A comparison splits them in place;
// those that wait for another child are written to the free end of rows_, and move to its beginning
// when their turn comes. So there are never more than twice the rows of the tile, plus the slack of
// one list per level.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "localmdi/explain/rows.hpp"
#include "localmdi/explain/sinks.hpp"
#include "localmdi/forest/set_partition.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using forest::child_in_table;
using forest::child_number;
using forest::kFeatureMask;
using forest::kLeaf;
using forest::kSlack;
using forest::kUnordered;
using forest::PackedForest;
using forest::PackedNode;
using forest::Question;
using forest::RowId;
using forest::split_set;
using forest::SplitKind;
using forest::UnorderedSplit;

// For at most kMaxTile rows.
template <class Value>
class TileKernel {
public:
    TileKernel(const PackedForest<Value>& forest, std::size_t capacity)
        : forest_(forest),
          rows_(2 * capacity + 2 * kSlack * (forest.max_depth + 2)),
          child_of_(forest.ordered() ? 0 : capacity),
          values_(forest.n_features),
          uses_(forest.n_features),
          path_(forest.max_depth + 2),
          frames_(forest.max_depth + 1) {}

    template <class Partition, class Sink>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, Sink& sink) {
        RowId* const rows = rows_.data();
        Walk walk{tree, forest_.root[tree], n, rows + n + kSlack, frames_.data(), 0};
        const PackedNode<Value>& root = forest_.nodes[walk.at];
        bool goes_on;
        if (root.split & (kLeaf | kUnordered)) {
            std::iota(rows, rows + n, RowId(0));
            if (root.split & kLeaf) return end(walk, walk.at, {rows, n}, sink);
            goes_on = descend_unordered<Partition>(tile, walk, sink);
        } else {
            goes_on = descend(root.child,
                              Partition::split_all(tile.question(root), feature_of(tile, root), n,
                                                   rows, walk.free),
                              walk, sink);
        }
        while (goes_on || back_up<Sink>(walk)) {
            const PackedNode<Value>& node = forest_.nodes[walk.at];
            if (node.split & kUnordered) {
                goes_on = descend_unordered<Partition>(tile, walk, sink);
                continue;
            }
            const Question<Value> question = tile.question(node);
            const Value* const x = feature_of(tile, node);
            const std::size_t kept =
                walk.n <= kSlack ? Partition::split_few(question, x, rows, walk.n, rows, walk.free)
                                 : Partition::split(question, x, rows, walk.n, rows, walk.free);
            goes_on = descend(node.child, kept, walk, sink);
        }
    }

private:
    static constexpr std::size_t kAhead = 64;  // nodes asked for before they are walked

    // A split on the path, and a child that may still wait for its rows.
    struct Frame {
        double value;  // of the split feature, above this node
        RowId* waiting;
        std::size_t n_waiting;
        std::uint32_t child;
        std::uint32_t feature;
    };

    // Where the walk is: a split whose rows are the first n of rows_, and where free memory and the
    // path end.
    struct Walk {
        std::size_t tree;
        std::uint32_t at;
        std::size_t n;
        RowId* free;
        Frame* top;
        std::size_t path_length;
    };

    template <class Sink>
    void end(const Walk& walk, std::uint32_t leaf, std::span<const RowId> rows, Sink& sink) {
        sink.add(TreeImportance{walk.tree,
                                values_,
                                {path_.data(), walk.path_length},
                                forest_.remainder(leaf),
                                leaf},
                 rows);
    }

    static const Value* feature_of(const Tile<Value>& tile, const PackedNode<Value>& node) {
        return tile.feature(node.split & kFeatureMask);
    }

    // After the rows were split between two children, of which the first kept the first `kept`
    // rows: ends those that reach a leaf, and goes on to a child that splits again, the first if
    // both do; false if none does.
    template <class Sink>
    bool descend(std::uint32_t first, std::size_t kept, Walk& walk, Sink& sink) {
        const PackedNode<Value>& node = forest_.nodes[walk.at];
        const PackedNode<Value>* const child = forest_.nodes.data() + first;
        LOCALMDI_PREFETCH(&forest_.nodes[std::min(first + kAhead, forest_.nodes.size() - 1)]);
        const std::uint32_t f = node.split & kFeatureMask;
        std::size_t waiting = walk.n - kept;
        Frame& frame = *walk.top;
        frame = {values_[f], walk.free, 0, first + 1, f};
        enter<Sink>(f, walk);
        // Definition 1 if the credit is i(t) − i(t_x).
        if (child[1].split & kLeaf && waiting > 0) {
            values_[f] = frame.value + child[1].credit;
            end(walk, first + 1, {walk.free, waiting}, sink);
            waiting = 0;
        }
        values_[f] = frame.value + child[0].credit;
        if (child[0].split & kLeaf && kept > 0) {
            end(walk, first, {rows_.data(), kept}, sink);
            kept = 0;
        }
        frame.n_waiting = waiting;
        ++walk.top;
        if (kept == 0) return false;
        walk.free += waiting + kSlack;
        walk.n = kept;
        walk.at = first;
        return true;
    }

    template <class Partition, class Sink>
    bool descend_unordered(const Tile<Value>& tile, Walk& walk, Sink& sink) {
        const PackedNode<Value>& node = forest_.nodes[walk.at];
        const UnorderedSplit& split = forest_.unordered[node.child];
        if (split.kind == SplitKind::multiway) return spread(split, tile, walk, sink);
        RowId* const rows = rows_.data();
        const std::size_t kept =
            split_set(Partition{}, split, feature_of(tile, node), rows, walk.n, rows, walk.free);
        return descend(split.first_child, kept, walk, sink);
    }

    // A split of any number of ways: ends the rows that no child takes and those that reach a leaf;
    // the other children wait. Always false: none goes on in its parent's place.
    template <class Sink>
    bool spread(const UnorderedSplit& split, const Tile<Value>& tile, Walk& walk, Sink& sink) {
        const std::uint32_t f = forest_.nodes[walk.at].split & kFeatureMask;
        const std::size_t n_lists = split.n_children + 1;  // the first: rows that stay
        sort_rows(split, tile.feature(f), walk);
        reserve_frames(n_lists, walk);
        RowId* list = walk.free;
        if (list_end_[0] > 0) end(walk, walk.at, {list, list_end_[0]}, sink);
        *walk.top++ = {values_[f], list, 0, walk.at, f};
        enter<Sink>(f, walk);
        const double value = values_[f];
        for (std::size_t k = 1; k < n_lists; ++k) {
            list = walk.free + list_end_[k - 1];
            const std::size_t n = list_end_[k] - list_end_[k - 1];
            const std::uint32_t child = split.first_child + static_cast<std::uint32_t>(k - 1);
            if (n == 0) continue;
            if (forest_.nodes[child].split & kLeaf) {
                values_[f] = value + forest_.nodes[child].credit;
                end(walk, child, {list, n}, sink);
            } else {
                *walk.top++ = {value, list, n, child, f};
                if (Sink::kNeedsPath) ++uses_[f];
            }
        }
        return false;
    }

    // Copies the rows of a node to free memory, child by child; list_end_ says where lists end.
    void sort_rows(const UnorderedSplit& split, const Value* x, const Walk& walk) {
        const RowId* const rows = rows_.data();
        const auto number_by = [&](auto child) {
            for (std::size_t i = 0; i < walk.n; ++i)
                child_of_[i] = static_cast<std::uint32_t>(child(split, x[rows[i]]) + 1);
        };
        if (split.child_at.empty()) number_by(child_number<Value>);
        else number_by(child_in_table<Value>);
        list_end_.assign(split.n_children + 2, 0);
        for (std::size_t i = 0; i < walk.n; ++i) ++list_end_[child_of_[i] + 1];
        std::partial_sum(list_end_.begin(), list_end_.end(), list_end_.begin());
        for (std::size_t i = 0; i < walk.n; ++i) walk.free[list_end_[child_of_[i]]++] = rows[i];
    }

    // Makes room for n children that wait, besides one for every split of a path.
    void reserve_frames(std::size_t n, Walk& walk) {
        const auto used = static_cast<std::size_t>(walk.top - frames_.data());
        const std::size_t needed = used + n + forest_.max_depth + 1;
        if (needed > frames_.size()) frames_.resize(2 * needed);
        walk.top = frames_.data() + used;
    }

    // Goes to the nearest child that waits; false if the tree is done.
    template <class Sink>
    bool back_up(Walk& walk) {
        for (; walk.top != frames_.data(); --walk.top) {
            Frame& frame = walk.top[-1];
            values_[frame.feature] = frame.value;
            if (frame.n_waiting > 0) {
                walk.n = std::exchange(frame.n_waiting, 0);
                // The rows before them are used up: moving to their place bounds the memory.
                for (std::size_t i = 0; i < walk.n; i += kSlack)
                    std::memcpy(rows_.data() + i, frame.waiting + i, kSlack * sizeof(RowId));
                walk.free = frame.waiting;
                walk.at = frame.child;
                values_[frame.feature] += forest_.nodes[walk.at].credit;
                return true;
            }
            if (Sink::kNeedsPath) walk.path_length -= --uses_[frame.feature] == 0;
        }
        return false;
    }

    // Without a branch: no predictor knows whether a path meets a feature again.
    template <class Sink>
    void enter(std::uint32_t f, Walk& walk) {
        if (!Sink::kNeedsPath) return;
        path_[walk.path_length] = f;
        walk.path_length += uses_[f]++ == 0;
    }

    const PackedForest<Value>& forest_;
    std::vector<RowId> rows_;
    std::vector<std::uint32_t> child_of_;  // of the rows of a split of categories, from 1; 0: none
    std::vector<std::size_t> list_end_;
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
};

}  // namespace localmdi::explain
