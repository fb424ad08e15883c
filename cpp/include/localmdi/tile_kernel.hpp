// Local MDI of a tile of rows: the rows of a node are partitioned among its children, depth first.
// Many rows share a node's work, and the importances of the path are kept up to date as it is walked.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "localmdi/partition.hpp"
#include "localmdi/rows.hpp"
#include "localmdi/sinks.hpp"

namespace localmdi {

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
        const PackedNode<Value>* const nodes = forest_.nodes.data();
        Frame* top = frames_.data();
        std::size_t path_length = 0;
        RowId* rows = rows_.data();
        RowId* free = rows + n + kSlack;
        std::uint32_t at = forest_.root[tree];
        for (;;) {
            const PackedNode<Value>& node = nodes[at];
            if (!(node.split & kLeaf)) {
                const std::uint32_t f = node.split & kFeatureMask;
                const std::size_t kept = Partition::split(node, tile.feature(f), rows, n, free);
                *top++ = {values_[f], rows, free, n - kept, node.child + 1, f};
                if (uses_[f]++ == 0) path_[path_length++] = f;
                if (kept > 0) {
                    free += n - kept + kSlack;
                    n = kept;
                    at = node.child;
                    values_[f] += nodes[at].decrease;  // Definition 1: i(t) − i(t_x)
                    continue;
                }
            } else {
                sink.add(TreeImportance{tree, values_, {path_.data(), path_length},
                                        forest_.end_impurity[node.end]},
                         std::span<const RowId>(rows, n));
            }
            // Back up to the nearest node whose second child still waits for its rows.
            for (;; --top) {
                if (top == frames_.data()) return;
                Frame& frame = top[-1];
                values_[frame.feature] = frame.value;
                if (frame.n_waiting > 0) {
                    rows = frame.rows;
                    n = std::exchange(frame.n_waiting, 0);
                    // The parent's place is free again: moving there bounds the memory.
                    for (std::size_t i = 0; i < n; i += kSlack)
                        std::memcpy(rows + i, frame.waiting + i, kSlack * sizeof(RowId));
                    free = frame.waiting;
                    at = frame.second;
                    values_[frame.feature] += nodes[at].decrease;
                    break;
                }
                if (--uses_[frame.feature] == 0) --path_length;
            }
        }
    }

private:
    // A split on the path; its second child may still wait.
    struct Frame {
        double value;  // of the split feature, above this node
        RowId* rows;
        RowId* waiting;
        std::size_t n_waiting;
        std::uint32_t second;
        std::uint32_t feature;
    };

    const PackedForest<Value>& forest_;
    std::vector<RowId> rows_;
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
};

}  // namespace localmdi
