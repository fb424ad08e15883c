// Local MDI of a tile of rows in trees much larger than the tile: there most visits are those of a
// row alone, and each is a cache miss. While many rows share a node they are partitioned, as in
// TileKernel; the few that are left at a node walk on alone, a group of such rows in step, so that
// their misses overlap.
//
// Why: below the first levels of a tree of a million nodes a row is alone at its node, and the next
// node is somewhere in 24 MB. Depth first, each miss waits for the one before it, about 100 ns
// each. In step, the node of row 1 is asked for while rows 2, 3, … take theirs, and by the time row
// 1 has its turn again it has arrived.
//
// But the sum along a path wants the nodes of one path after another, and to look for them again
// would be a miss again. So a walker writes down what it meets, and when its group has ended each
// of its rows is added: `values_` is brought to the node where the row began to walk, the row's
// own steps are added to it, and taken back after. The nodes above are few, and neighbours share
// most of them. These are the additions of TileKernel in its order: the same bits.
//
// Example, with the tree of packed_forest.hpp, if two rows were few: A B go to node 1 and C to 2.
// They walk in step: A from 1 to 3, B from 1 to 4, C from 2 to 6. Then values_ goes down to 1, A's
// edge to 3 is added, A gets the sum, the edge is taken back; the same for B and 4; values_ goes
// up to the root and down to 2, and C is added.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "localmdi/explain/rows.hpp"
#include "localmdi/explain/sinks.hpp"
#include "localmdi/forest/partition.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using forest::goes_first;
using forest::goes_first_known;
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
          rows_(2 * capacity + 2 * kSlack * (forest.max_depth + 2)),
          waiting_(forest.max_depth + 1),
          lists_(kGroup),
          group_rows_(kGroup),
          walkers_(kGroup),
          n_steps_(kGroup),
          visits_(kGroup * kVisits),
          values_(forest.n_features),
          uses_(forest.n_features),
          path_(forest.max_depth + 1),
          frames_(forest.max_depth + 1) {}

    template <class Partition, class Sink>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, Sink& sink) {
        const std::uint32_t root = forest_.root[tree];
        tree_ = tree;
        top_ = frames_.data();
        *top_ = {0, 0, root, forest_.nodes[root].child, forest_.root[tree + 1]};
        std::iota(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(n), RowId(0));
        if (walks_alone(root, n)) let_walk(root, {rows_.data(), n}, tile, sink);
        else split_lists<Partition>(root, n, tile, sink);
        finish_group(tile, sink);
        while (top_ != frames_.data()) go_up<Sink>();
    }

private:
    // Lists this short are not worth splitting: their rows walk alone.
    static constexpr std::size_t kFew = 16;
    // Rows that walk in step: enough that what they ask for arrives before their next turn, few
    // enough that it is still in the cache then.
    static constexpr std::size_t kGroup = 512;
    static constexpr std::size_t kAhead = 16;     // rows asked for before they walk
    static constexpr std::size_t kSinkAhead = 4;  // … and before they are added to
    static constexpr std::size_t kVisits = 16;    // that a walker writes down
    // Cache lines of nodes below a list's node, asked for while the group is gathered.
    static constexpr std::size_t kLinesPerRow = 4;

    // A list of rows that is split when its turn comes.
    struct Waiting {
        RowId* rows;
        std::size_t n;
        std::uint32_t node;
    };
    // Neighbours in a group that begin to walk at one node.
    struct List {
        std::uint32_t node;
        std::uint32_t n;
    };
    struct Walker {
        std::uint32_t node;
        RowId row;
        RowId place;  // in the group
    };
    // What a walker met at a node.
    struct Visit {
        double credit;
        std::uint32_t feature;
        std::uint32_t node;
    };
    // A node on the path; the nodes below it lie from `first` to before `last`.
    struct Frame {
        double value;  // of the parent's split feature, above this node
        std::uint32_t feature;
        std::uint32_t node;
        std::uint32_t first;
        std::uint32_t last;
    };

    bool walks_alone(std::uint32_t node, std::size_t n) const {
        return n <= kFew || (forest_.nodes[node].split & kLeaf);
    }

    // Splits lists depth first until few rows are left in each. Memory as in TileKernel: the rows
    // of the node at hand are the first of rows_, others wait behind them.
    template <class Partition, class Sink>
    void split_lists(std::uint32_t at, std::size_t n, const Tile<Value>& tile, Sink& sink) {
        RowId* const rows = rows_.data();
        RowId* free = rows + n + kSlack;
        Waiting* waiting = waiting_.data();
        for (;;) {
            const PackedNode<Value>& node = forest_.nodes[at];
            const Value* const x = tile.feature(node.split & kFeatureMask);
            const std::size_t kept = Partition::split(tile.question(node), x, rows, n, rows, free);
            const std::size_t others = n - kept;
            const std::uint32_t first = node.child, second = first + 1;
            const bool first_ends = walks_alone(first, kept);
            if (first_ends) let_walk(first, {rows, kept}, tile, sink);
            if (walks_alone(second, others)) {
                let_walk(second, {free, others}, tile, sink);
            } else {
                prefetch_node(&forest_.nodes[forest_.nodes[second].child]);
                *waiting++ = {free, others, second};
                free += others + kSlack;
            }
            if (!first_ends) {
                at = first;
                n = kept;
                continue;
            }
            if (waiting == waiting_.data()) return;
            --waiting;
            free = waiting->rows;
            n = waiting->n;
            at = waiting->node;
            for (std::size_t i = 0; i < n; i += kSlack)
                std::memcpy(rows + i, free + i, kSlack * sizeof(RowId));
        }
    }

    // The rows of a list join the group that walks next.
    template <class Sink>
    void let_walk(std::uint32_t node, std::span<const RowId> rows, const Tile<Value>& tile,
                  Sink& sink) {
        while (!rows.empty()) {
            if (n_walkers_ == kGroup) finish_group(tile, sink);
            const std::size_t n = std::min(rows.size(), kGroup - n_walkers_);
            lists_[n_lists_++] = {node, static_cast<std::uint32_t>(n)};
            ask_for_below(node, n);
            for (std::size_t i = 0; i < n; ++i, ++n_walkers_) {
                group_rows_[n_walkers_] = rows[i];
                walkers_[n_walkers_] = {node, rows[i], static_cast<RowId>(n_walkers_)};
            }
            rows = rows.subspan(n);
        }
    }

    // Asks for the nodes that n rows will meet below a node. They lie side by side, and there are
    // many more of them than rows: what lies behind them belongs to the lists that come next.
    void ask_for_below(std::uint32_t node, std::size_t n) const {
        if (forest_.nodes[node].split & kLeaf) return;
        constexpr std::size_t kLine = 64;
        const auto nodes = std::as_bytes(std::span(forest_.nodes));
        const auto below = nodes.subspan(forest_.nodes[node].child * sizeof(PackedNode<Value>));
        const std::size_t end = std::min(n * kLinesPerRow * kLine, below.size());
        for (std::size_t at = 0; at < end; at += kLine) LOCALMDI_PREFETCH(&below[at]);
    }

    // Sends the rows of the group to their ends and adds what they met.
    template <class Sink>
    void finish_group(const Tile<Value>& tile, Sink& sink) {
        const std::size_t n_rows = std::exchange(n_walkers_, 0);
        const std::size_t n_lists = std::exchange(n_lists_, 0);
        if (tile.has_missing()) walk<true>(tile, n_rows);
        else walk<false>(tile, n_rows);
        std::size_t place = 0;
        for (std::size_t k = 0; k < n_lists; ++k) {
            go_to<Sink>(lists_[k].node);
            for (const std::size_t end = place + lists_[k].n; place < end; ++place) {
                sink.prefetch(group_rows_[std::min(place + kSinkAhead, n_rows - 1)]);
                add(lists_[k].node, place, sink);
            }
        }
    }

    template <bool kMayMiss>
    void walk(const Tile<Value>& tile, std::size_t n) {
        const PackedNode<Value>* const nodes = forest_.nodes.data();
        const auto value = [&](const Walker& at) {
            return tile.feature(nodes[at.node].split & kFeatureMask) + at.row;
        };
        Walker* const walkers = walkers_.data();
        for (std::uint32_t depth = 0; n > 0; ++depth) {
            std::size_t walking = 0;
            const std::size_t visit = std::min<std::size_t>(depth, kVisits - 1);
            for (std::size_t i = 0; i < n; ++i) {
                LOCALMDI_PREFETCH(value(walkers[std::min(i + kAhead, n - 1)]));
                const Walker at = walkers[i];
                const PackedNode<Value>& node = nodes[at.node];
                const bool ends = node.split & kLeaf;
                const Value x = *value(at);
                const bool first = kMayMiss ? goes_first(node, x) : goes_first_known(node, x);
                const std::uint32_t next = ends ? at.node : node.child + (first ? 0u : 1u);
                prefetch_node(&forest_.nodes[next]);
                visits_[at.place * kVisits + visit] = {node.credit, node.split & kFeatureMask,
                                                       at.node};
                n_steps_[at.place] = depth;
                // Written in any case, because no predictor knows where the path ends.
                walkers[walking] = {next, at.row, at.place};
                walking += !ends;
            }
            n = walking;
        }
    }

    // Adds a row that began to walk at `from`, where values_ is now.
    template <class Sink>
    void add(std::uint32_t from, std::size_t place, Sink& sink) {
        const std::uint32_t n_steps = n_steps_[place];
        const Visit* const visits = &visits_[place * kVisits];
        // What does not fit was written over the last visit: the end is the last in any case.
        const std::uint32_t end = visits[std::min<std::size_t>(n_steps, kVisits - 1)].node;
        const auto give = [&] {
            sink.add(TreeImportance{tree_,
                                    values_,
                                    {path_.data(), path_length_},
                                    forest_.nodes[end].remainder(),
                                    end},
                     std::span<const RowId>(&group_rows_[place], 1));
        };
        if (n_steps >= kVisits) {  // more than it wrote down
            go_to<Sink>(end);
            give();
            while (top_->node != from) go_up<Sink>();
            return;
        }
        const std::size_t path_length = path_length_;
        std::array<double, kVisits> before;
        for (std::size_t k = 0; k < n_steps; ++k) {
            before[k] = values_[visits[k].feature];
            step<Sink>(visits[k].feature, visits[k + 1].credit);
        }
        give();
        for (std::size_t k = n_steps; k-- > 0;) {
            values_[visits[k].feature] = before[k];
            if (Sink::kNeedsPath) --uses_[visits[k].feature];
        }
        path_length_ = path_length;
    }

    template <class Sink>
    void step(std::uint32_t f, double credit) {
        if (Sink::kNeedsPath) {
            path_[path_length_] = f;
            path_length_ += uses_[f]++ == 0;
        }
        values_[f] += credit;  // Definition 1: i(t) − i(t_x)
    }

    // Brings values_ to a node: up to the last common one, then down.
    template <class Sink>
    void go_to(std::uint32_t node) {
        while (node != top_->node && (node < top_->first || node >= top_->last)) go_up<Sink>();
        while (node != top_->node) {
            const Frame next = below(*top_, node);
            step<Sink>(next.feature, forest_.nodes[next.node].credit);
            *++top_ = next;
        }
    }

    template <class Sink>
    void go_up() {
        values_[top_->feature] = top_->value;
        if (Sink::kNeedsPath) path_length_ -= --uses_[top_->feature] == 0;
        --top_;
    }

    // The child on the way to a node below. The nodes below a first child lie before those below
    // the second, and all of them behind the two.
    Frame below(const Frame& parent, std::uint32_t node) const {
        const PackedNode<Value>* const nodes = forest_.nodes.data();
        const std::uint32_t first = parent.first, second = first + 1;
        const std::uint32_t middle =
            nodes[second].split & kLeaf ? parent.last : nodes[second].child;
        const bool to_second = node == second || (node != first && node >= middle);
        const std::uint32_t to = to_second ? second : first;
        const std::uint32_t last = to_second ? parent.last : middle;
        const std::uint32_t f = nodes[parent.node].split & kFeatureMask;
        if (nodes[to].split & kLeaf) return {values_[f], f, to, to, to + 1};
        return {values_[f], f, to, nodes[to].child, last};
    }

    const PackedForest<Value>& forest_;
    std::vector<RowId> rows_;
    std::vector<Waiting> waiting_;
    std::vector<List> lists_;
    std::vector<RowId> group_rows_;
    std::vector<Walker> walkers_;
    std::vector<std::uint32_t> n_steps_;
    std::vector<Visit> visits_;
    std::size_t n_lists_ = 0, n_walkers_ = 0;
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
    Frame* top_ = nullptr;
    std::size_t path_length_ = 0, tree_ = 0;
};

}  // namespace localmdi::explain
