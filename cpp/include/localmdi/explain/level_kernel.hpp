// Local MDI of a tile of rows in trees much larger than the tile: there most visits are those of a
// row alone, and each is a cache miss. The rows go down level by level, so that the misses of many
// rows overlap; then the leaves that they reached are met in the order of the nodes, and the
// importances of the path are kept up to date from one leaf to the next.
//
// Why: below the first levels of a tree of a million nodes a row is alone at its node, and the next
// node is somewhere in 24 MB. Depth first, each miss waits for the one before it, about 100 ns
// each. Level by level, the node of row 1 is asked for while rows 2, 3, … take their step, and by
// the time row 1 has its turn again it has arrived.
//
// But the sum along a path wants the nodes of one path after another. So the walk only notes where
// each row ends. Sorted by node, neighbours share most of their path, because the nodes below a
// first child lie before those below a second (see packed_forest.hpp): from one leaf to the next
// the path goes up to the last common node and down again, and each edge is passed once, however
// many rows lie below it. That is the order, and these are the additions, of TileKernel: the same
// bits.
//
// Example, with the tree of packed_forest.hpp: rows end at 6, 3, 5, 3. Sorted: 3, 3, 5, 6. From the
// root down to 3 (edges to 1 and 3), twice nothing to do but add, up to the root, down to 5 (edges
// to 2 and 5), up one, down to 6.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "localmdi/explain/rows.hpp"
#include "localmdi/explain/sinks.hpp"
#include "localmdi/forest/partition.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using forest::goes_first;
using forest::kFeatureMask;
using forest::kLeaf;
using forest::kSlack;
using forest::PackedForest;
using forest::PackedNode;
using forest::prefetch_node;
using forest::RowId;

// Only for forests of ordered splits, and for at most kMaxTile rows.
template <class Value>
class LevelKernel {
public:
    LevelKernel(const PackedForest<Value>& forest, std::size_t capacity)
        : forest_(forest),
          rows_(capacity + kSlack),
          next_rows_(capacity + kSlack),
          second_rows_(capacity + kSlack),
          lists_(capacity / kFew + 1),
          next_lists_(capacity / kFew + 1),
          walkers_(capacity),
          ends_(capacity),
          values_(forest.n_features),
          uses_(forest.n_features),
          path_(forest.max_depth + 1),
          frames_(forest.max_depth + 1) {}

    template <class Partition, class Sink>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, Sink& sink) {
        n_walkers_ = 0;
        for (std::size_t i = 0; i < n; ++i) rows_[i] = static_cast<RowId>(i);
        pass_on(forest_.root[tree], rows_.data(), n);
        std::swap(lists_, next_lists_);
        while (const std::size_t n_lists = std::exchange(n_lists_, 0))
            split_lists<Partition>(tile, n_lists);
        walk(tile);
        sort_ends(forest_.root[tree], forest_.root[tree + 1], n);
        add(tree, n, sink);
    }

private:
    // Lists this short are not worth splitting: their rows walk alone.
    static constexpr std::size_t kFew = 8;
    static constexpr std::size_t kGroup = 1024;   // rows that walk alone, in step
    static constexpr std::size_t kAhead = 8;      // rows asked for before they walk
    static constexpr std::size_t kSinkAhead = 4;  // … and before they are added to
    static constexpr unsigned kDigit = 9;
    static constexpr std::uint32_t kDigitMask = (1u << kDigit) - 1;

    // Neighbours in rows_ that are at one node.
    struct List {
        std::uint32_t node;
        std::uint32_t n;
    };
    struct Walker {
        std::uint32_t node;
        RowId row;
    };
    // A node on the path; the nodes below it lie before `last`.
    struct Frame {
        double value;  // of the parent's split feature, above this node
        std::uint32_t feature;
        std::uint32_t node;
        std::uint32_t last;
    };

    // Sends the rows of all lists one level down.
    template <class Partition>
    void split_lists(const Tile<Value>& tile, std::size_t n_lists) {
        const RowId* rows = rows_.data();
        RowId* to = next_rows_.data();
        for (std::size_t k = 0; k < n_lists; ++k) {
            const List list = lists_[k];
            const PackedNode<Value>& node = forest_.nodes[list.node];
            if (node.split & kLeaf) {
                let_walk(list.node, rows, list.n);
            } else {
                const Value* const x = tile.feature(node.split & kFeatureMask);
                RowId* const seconds = second_rows_.data();
                const std::size_t kept = Partition::split(node, x, rows, list.n, to, seconds);
                if (pass_on(node.child, to, kept)) to += kept;
                if (pass_on(node.child + 1, seconds, list.n - kept))
                    to = std::copy_n(seconds, list.n - kept, to);
            }
            rows += list.n;
        }
        std::swap(rows_, next_rows_);
        std::swap(lists_, next_lists_);
    }

    // True if the rows stay together as a list of the next level.
    bool pass_on(std::uint32_t node, const RowId* rows, std::size_t n) {
        if (n <= kFew) {
            let_walk(node, rows, n);
            return false;
        }
        next_lists_[n_lists_++] = {node, static_cast<std::uint32_t>(n)};
        return true;
    }

    void let_walk(std::uint32_t node, const RowId* rows, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) walkers_[n_walkers_++] = {node, rows[i]};
    }

    // Sends every row that walks alone to its end. A group goes one level at a time: long enough
    // that what it asks for arrives, short enough that it is still there a level later.
    void walk(const Tile<Value>& tile) {
        Walker* end = ends_.data();
        for (std::size_t first = 0; first < n_walkers_; first += kGroup)
            end = walk_group(tile, walkers_.data() + first, std::min(kGroup, n_walkers_ - first),
                             end);
    }

    Walker* walk_group(const Tile<Value>& tile, Walker* walkers, std::size_t n, Walker* end) {
        const PackedNode<Value>* const nodes = forest_.nodes.data();
        const auto value = [&](const Walker& at) {
            return tile.feature(nodes[at.node].split & kFeatureMask) + at.row;
        };
        while (n > 0) {
            std::size_t walking = 0;
            for (std::size_t i = 0; i < n; ++i) {
                LOCALMDI_PREFETCH(value(walkers[std::min(i + kAhead, n - 1)]));
                const Walker at = walkers[i];
                const PackedNode<Value>& node = nodes[at.node];
                const std::uint32_t next = node.child + (goes_first(node, *value(at)) ? 0u : 1u);
                prefetch_node(forest_, next);
                // Written to both places, because no predictor knows where the path ends.
                const bool ends = node.split & kLeaf;
                *end = at;
                end += ends;
                walkers[walking] = {next, at.row};
                walking += !ends;
            }
            n = walking;
        }
        return end;
    }

    // By node, digit by digit.
    void sort_ends(std::uint32_t root, std::uint32_t last, std::size_t n) {
        for (unsigned shift = 0; shift < 32 && (last - root) >> shift > 0; shift += kDigit) {
            const auto digit = [&](const Walker& end) {
                return (end.node - root) >> shift & kDigitMask;
            };
            std::array<std::uint32_t, kDigitMask + 2> place{};
            for (std::size_t i = 0; i < n; ++i) ++place[digit(ends_[i]) + 1];
            std::partial_sum(place.begin(), place.end(), place.begin());
            for (std::size_t i = 0; i < n; ++i) walkers_[place[digit(ends_[i])]++] = ends_[i];
            std::swap(walkers_, ends_);
        }
    }

    template <class Sink>
    void add(std::size_t tree, std::size_t n, Sink& sink) {
        Frame* top = frames_.data();
        *top = {0, 0, forest_.root[tree], forest_.root[tree + 1]};
        std::size_t path_length = 0;
        const auto go_up = [&] {
            values_[top->feature] = top->value;
            if (--uses_[top->feature] == 0) --path_length;
            --top;
        };
        for (std::size_t i = 0; i < n; ++i) {
            const Walker end = ends_[i];
            sink.prefetch(ends_[std::min(i + kSinkAhead, n - 1)].row);
            while (end.node >= top->last) go_up();
            while (top->node != end.node) {
                const Frame next = below(*top, end.node);
                path_[path_length] = next.feature;
                path_length += uses_[next.feature]++ == 0;
                // Definition 1: i(t) − i(t_x)
                values_[next.feature] += forest_.nodes[next.node].credit;
                *++top = next;
            }
            sink.add(TreeImportance{tree,
                                    values_,
                                    {path_.data(), path_length},
                                    forest_.remainder[forest_.nodes[end.node].end],
                                    end.node},
                     std::span<const RowId>(&end.row, 1));
        }
        while (top != frames_.data()) go_up();
    }

    // The child on the way to a leaf. The nodes below a first child lie before those below the
    // second, and all of them behind the two.
    Frame below(const Frame& parent, std::uint32_t leaf) const {
        const PackedNode<Value>* const nodes = forest_.nodes.data();
        const PackedNode<Value>& node = nodes[parent.node];
        const std::uint32_t first = node.child, second = first + 1;
        const std::uint32_t middle =
            nodes[second].split & kLeaf ? parent.last : nodes[second].child;
        const bool to_second = leaf == second || (leaf != first && leaf >= middle);
        const std::uint32_t to = to_second ? second : first;
        const std::uint32_t last = to_second ? parent.last : middle;
        const std::uint32_t f = node.split & kFeatureMask;
        return {values_[f], f, to, nodes[to].split & kLeaf ? to + 1 : last};
    }

    const PackedForest<Value>& forest_;
    std::vector<RowId> rows_, next_rows_, second_rows_;
    std::vector<List> lists_, next_lists_;
    std::vector<Walker> walkers_, ends_;
    std::size_t n_lists_ = 0, n_walkers_ = 0;
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
};

}  // namespace localmdi::explain
