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
//     at                    rows of the node     waiting      values_
//     root                  A B C D                           0      0
//     first child, a leaf   A                    B C D        1      0        A gets (1, 0)
//     second child          B C D                             0.082  0
//     its first, a leaf     B                    C D          0.082  0.918    B gets these
//     its second, a leaf    C D                               0.082  0.918    C and D too
//
// Memory: the list of a node is split in place, those that go to the second child are written to
// the free end of rows_ and wait there. When their turn comes they move to their parent's place,
// whose list is used up. So there are never more than twice the rows of the tile, plus the slack
// of one list per level.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "localmdi/explain/rows.hpp"
#include "localmdi/explain/sinks.hpp"
#include "localmdi/forest/partition.hpp"

namespace localmdi::explain {

using forest::kFeatureMask;
using forest::kLeaf;
using forest::kSlack;
using forest::PackedForest;
using forest::PackedNode;
using forest::RowId;

// Only for forests of ordered splits, and for at most kMaxTile rows.
template <class Value>
class TileKernel {
public:
    TileKernel(const PackedForest<Value>& forest, std::size_t capacity)
        : forest_(forest),
          rows_(2 * capacity + 2 * kSlack * (forest.max_depth + 2)),
          values_(forest.n_features),
          uses_(forest.n_features),
          path_(forest.max_depth + 1),
          frames_(forest.max_depth + 1) {}

    template <class Partition, class Sink>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, Sink& sink) {
        for (std::size_t i = 0; i < n; ++i) rows_[i] = static_cast<RowId>(i);
        RowId* const rows = rows_.data();
        Walk walk{forest_.root[tree], n, rows, rows + n + kSlack, frames_.data(), 0};
        for (;;) {
            const PackedNode<Value>& node = forest_.nodes[walk.at];
            if (node.split & kLeaf) {
                sink.add(TreeImportance{tree,
                                        values_,
                                        {path_.data(), walk.path_length},
                                        forest_.remainder[node.end],
                                        walk.at},
                         std::span<const RowId>(walk.rows, walk.n));
            } else if (descend<Partition>(tile, node, walk)) {
                continue;
            }
            if (!back_up(walk)) return;
        }
    }

private:
    // A split on the path; its second child may still wait for its rows.
    struct Frame {
        double value;  // of the split feature, above this node
        RowId* rows;
        RowId* waiting;
        std::size_t n_waiting;
        std::uint32_t second;
        std::uint32_t feature;
    };

    // Where the walk is: a node with its rows, and where free memory and the path end.
    struct Walk {
        std::uint32_t at;
        std::size_t n;
        RowId* rows;
        RowId* free;
        Frame* top;
        std::size_t path_length;
    };

    // Splits the rows and goes to the first child, unless no row does.
    template <class Partition>
    bool descend(const Tile<Value>& tile, const PackedNode<Value>& node, Walk& walk) {
        const std::uint32_t f = node.split & kFeatureMask;
        const std::size_t kept =
            Partition::split(node, tile.feature(f), walk.rows, walk.n, walk.rows, walk.free);
        const std::size_t waiting = walk.n - kept;
        *walk.top++ = {values_[f], walk.rows, walk.free, waiting, node.child + 1, f};
        if (uses_[f]++ == 0) path_[walk.path_length++] = f;
        if (kept == 0) return false;
        walk.free += waiting + kSlack;
        walk.n = kept;
        walk.at = node.child;
        values_[f] += forest_.nodes[walk.at].credit;  // Definition 1 if the credit is i(t) − i(t_x)
        return true;
    }

    // Goes to the nearest second child that waits; false if the tree is done.
    bool back_up(Walk& walk) {
        for (; walk.top != frames_.data(); --walk.top) {
            Frame& frame = walk.top[-1];
            values_[frame.feature] = frame.value;
            if (frame.n_waiting > 0) {
                walk.n = std::exchange(frame.n_waiting, 0);
                walk.rows = frame.rows;
                // The parent's place is free again: moving there bounds the memory.
                for (std::size_t i = 0; i < walk.n; i += kSlack)
                    std::memcpy(walk.rows + i, frame.waiting + i, kSlack * sizeof(RowId));
                walk.free = frame.waiting;
                walk.at = frame.second;
                values_[frame.feature] += forest_.nodes[walk.at].credit;
                return true;
            }
            if (--uses_[frame.feature] == 0) --walk.path_length;
        }
        return false;
    }

    const PackedForest<Value>& forest_;
    std::vector<RowId> rows_;
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
};

}  // namespace localmdi::explain
