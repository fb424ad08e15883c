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
using forest::Edge;
using forest::is_leaf;
using forest::kFeatureMask;
using forest::kSlack;
using forest::kStays;
using forest::kUnordered;
using forest::leaf_number;
using forest::PackedForest;
using forest::PackedSplit;
using forest::Place;
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
          left_(forest.left.empty() ? nullptr : forest.left.data()),
          rows_(2 * capacity + 2 * kSlack * (forest.max_depth + 2)),
          child_of_(forest.ordered() ? 0 : capacity),
          values_(forest.n_features),
          uses_(forest.n_features),
          path_(forest.max_depth + 2),
          frames_(forest.max_depth + 1) {}

    template <class Partition, class Sink>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, Sink& sink) {
        RowId* const rows = rows_.data();
        const Place root = forest_.trees[tree].root;
        Walk walk{tree, root, n, rows + n + kSlack, frames_.data(), 0};
        bool goes_on;
        if (is_leaf(root) || split_at(root).split & kUnordered) {
            std::iota(rows, rows + n, RowId(0));
            if (is_leaf(root)) return end_at_leaf(walk, root, {rows, n}, sink);
            goes_on = descend_unordered<Partition>(tile, walk, sink);
        } else {
            const PackedSplit<Value>& split = split_at(root);
            goes_on = descend(Partition::split_all(tile.question(split), feature_of(tile, split), n,
                                                   rows, walk.free),
                              walk, sink);
        }
        while (goes_on || back_up<Sink>(walk)) {
            const PackedSplit<Value>& split = split_at(walk.at);
            if (split.split & kUnordered) {
                goes_on = descend_unordered<Partition>(tile, walk, sink);
                continue;
            }
            const Question<Value> question = tile.question(split);
            const Value* const x = feature_of(tile, split);
            const std::size_t kept =
                walk.n <= kSlack ? Partition::split_few(question, x, rows, walk.n, rows, walk.free)
                                 : Partition::split(question, x, rows, walk.n, rows, walk.free);
            goes_on = descend(kept, walk, sink);
        }
    }

private:
    static constexpr std::size_t kAhead = 32;  // splits asked for before they are walked

    // A split on the path, and a child that may still wait for its rows.
    struct Frame {
        double value;  // of the split feature, above this split
        double below;  // … at the child that waits
        RowId* waiting;
        std::size_t n_waiting;
        Place child;
        std::uint32_t feature;
    };

    // Where the walk is: a split whose rows are the first n of rows_, and where free memory and the
    // path end.
    struct Walk {
        std::size_t tree;
        Place at;
        std::size_t n;
        RowId* free;
        Frame* top;
        std::size_t path_length;
    };

    template <class Sink>
    void end(const Walk& walk, Place at, double left, std::span<const RowId> rows, Sink& sink) {
        sink.add(TreeImportance{walk.tree, values_, {path_.data(), walk.path_length}, left, at},
                 rows);
    }
    template <class Sink>
    void end_at_leaf(const Walk& walk, Place at, std::span<const RowId> rows, Sink& sink) {
        end(walk, at, left_ == nullptr ? 0.0 : left_[leaf_number(at)], rows, sink);
    }

    const PackedSplit<Value>& split_at(Place at) const {
        return forest_.splits[static_cast<std::size_t>(at)];
    }

    static const Value* feature_of(const Tile<Value>& tile, const PackedSplit<Value>& split) {
        return tile.feature(split.split & kFeatureMask);
    }

    // After the rows were split between two children, of which the first kept the first `kept`
    // rows: ends those that reach a leaf, and goes on to a child that splits again, the first if
    // both do; false if none does.
    template <class Sink>
    bool descend(std::size_t kept, Walk& walk, Sink& sink) {
        const PackedSplit<Value>& split = split_at(walk.at);
        LOCALMDI_PREFETCH(&forest_.splits[std::min(static_cast<std::size_t>(walk.at) + kAhead,
                                                   forest_.splits.size() - 1)]);
        const std::uint32_t f = split.split & kFeatureMask;
        const auto [first, second] = split.child;
        LOCALMDI_PREFETCH(forest_.splits.data() + std::max(second, 0));  // of a leaf: any
        std::size_t waiting = walk.n - kept;
        Frame& frame = *walk.top;
        const double value = values_[f];
        // Definition 1 if the credit is i(t) − i(t_x).
        frame = {value, value + split.credit[1], walk.free, 0, second, f};
        enter<Sink>(f, walk);
        if (is_leaf(second) && waiting > 0) {
            values_[f] = frame.below;
            end_at_leaf(walk, second, {walk.free, waiting}, sink);
            waiting = 0;
        }
        values_[f] = value + split.credit[0];
        if (is_leaf(first) && kept > 0) {
            end_at_leaf(walk, first, {rows_.data(), kept}, sink);
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
        const PackedSplit<Value>& split = split_at(walk.at);
        const UnorderedSplit& unordered = forest_.unordered[split.unordered()];
        if (unordered.kind == SplitKind::multiway) return spread(unordered, tile, walk, sink);
        RowId* const rows = rows_.data();
        return descend(split_set(Partition{}, unordered, feature_of(tile, split), rows, walk.n,
                                 rows, walk.free),
                       walk, sink);
    }

    // A split of any number of ways: ends the rows that no child takes and those that reach a leaf;
    // the other children wait. Always false: none goes on in its parent's place.
    template <class Sink>
    bool spread(const UnorderedSplit& split, const Tile<Value>& tile, Walk& walk, Sink& sink) {
        const std::uint32_t f = split_at(walk.at).split & kFeatureMask;
        sort_rows(split, tile.feature(f), walk);
        reserve_frames(split.edges.size() + 1, walk);
        RowId* list = walk.free;
        if (list_end_[0] > 0)  // rows that stay
            end(walk, walk.at, split.remainder, {list, list_end_[0]}, sink);
        const double value = values_[f];
        *walk.top++ = {value, value, list, 0, walk.at, f};
        enter<Sink>(f, walk);
        // The last child first: so the first one is walked next, and it lies next in memory.
        for (std::size_t k = split.edges.size(), at = 0; k-- > 0; ++at) {
            list = walk.free + list_end_[at];
            const std::size_t n = list_end_[at + 1] - list_end_[at];
            const Edge& edge = split.edges[k];
            if (n == 0) continue;
            if (is_leaf(edge.child)) {
                values_[f] = value + edge.credit;
                end_at_leaf(walk, edge.child, {list, n}, sink);
            } else {
                LOCALMDI_PREFETCH(&split_at(edge.child));
                *walk.top++ = {value, value + edge.credit, list, n, edge.child, f};
                if (Sink::kNeedsPath) ++uses_[f];
            }
        }
        return false;
    }

    // Copies the rows of a node to free memory: those that stay, then child by child, the last one
    // first, because waiting lists are taken from the end. list_end_ says where lists end.
    void sort_rows(const UnorderedSplit& split, const Value* x, const Walk& walk) {
        const RowId* const rows = rows_.data();
        const auto n_children = static_cast<std::int32_t>(split.edges.size());
        const auto number_by = [&](auto child) {
            for (std::size_t i = 0; i < walk.n; ++i) {
                const std::int32_t k = child(split, x[rows[i]]);
                child_of_[i] = static_cast<std::uint32_t>(k == kStays ? 0 : n_children - k);
            }
        };
        if (split.child_at.empty()) number_by(child_number<Value>);
        else number_by(child_in_table<Value>);
        list_end_.assign(split.edges.size() + 2, 0);
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
            if (frame.n_waiting > 0) {
                walk.n = std::exchange(frame.n_waiting, 0);
                // The rows before them are used up: moving to their place bounds the memory.
                for (std::size_t i = 0; i < walk.n; i += kSlack)
                    std::memcpy(rows_.data() + i, frame.waiting + i, kSlack * sizeof(RowId));
                walk.free = frame.waiting;
                walk.at = frame.child;
                values_[frame.feature] = frame.below;
                return true;
            }
            values_[frame.feature] = frame.value;
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
    const double* left_;  // at each leaf; none: nothing is left at any
    std::vector<RowId> rows_;
    std::vector<std::uint32_t> child_of_;  // of a row: its list, as sort_rows() orders them
    std::vector<std::size_t> list_end_;
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
};

}  // namespace localmdi::explain
