// Local MDI of a tile of rows in trees much larger than the tile: there most visits are those of a
// row alone, and each is a cache miss. While many rows share a node they are partitioned, as in
// TileKernel; the few that are left at a node walk on alone, a group of such rows in step, so that
// their misses overlap.
//
// Why: below the first levels of a tree of a million nodes a row is alone at its node, and the next
// node is somewhere in 16 MB. Depth first, each miss waits for the one before it, about 100 ns
// each. In step, the node of row 1 is asked for while rows 2, 3, … take theirs, and by the time row
// 1 has its turn again it has arrived.
//
// But the sum along a path wants the splits of one path after another, and to look for them again
// would be a miss again. So a walker writes down what it meets, and when its group has ended each
// of its rows is added: `values_` is brought to the split above the list that the row was in, the
// row's own steps are added to it, and taken back after. The splits above are few, and neighbours
// share most of them. These are the additions of TileKernel in its order: the same bits.
//
// Example, with the tree of packed_forest.hpp, if two rows were few: A B go from the root to split
// 1 and C to 2. They walk in step: A from 1 to leaf 0, B from 1 to leaf 1, C from 2 to leaf 3.
// Then, with values_ at the root, A's edges to 1 and to its leaf are added, A gets the sum, the
// edges are taken back; the same for B and for C.
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
using forest::is_leaf;
using forest::kFeatureMask;
using forest::kSlack;
using forest::PackedForest;
using forest::PackedSplit;
using forest::Place;
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
          ends_(kGroup),
          steps_(kGroup * kSteps),
          values_(forest.n_features),
          uses_(forest.n_features),
          path_(forest.max_depth + 1),
          frames_(forest.max_depth + 1) {}

    template <class Partition, class Sink>
    void run(std::size_t tree, const Tile<Value>& tile, std::size_t n, Sink& sink) {
        const Place root = forest_.trees[tree].root;
        tree_ = tree;
        std::iota(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(n), RowId(0));
        if (is_leaf(root)) return give(root, {rows_.data(), n}, sink);
        top_ = frames_.data();
        *top_ = {0, 0, root, static_cast<Place>(forest_.trees[tree + 1].split)};
        split_lists<Partition>(root, n, tile, sink);
        finish_group(tile, sink);
        while (top_ != frames_.data()) go_up<Sink>();
    }

private:
    // Lists this short are not worth splitting: their rows walk alone.
    static constexpr std::size_t kFew = 32;
    // Rows that walk in step: enough that what they ask for arrives before their next turn, few
    // enough that it is still in the cache then.
    static constexpr std::size_t kGroup = 512;
    static constexpr std::size_t kAhead = 16;     // rows asked for before they walk
    static constexpr std::size_t kSinkAhead = 4;  // … and before they are added to
    static constexpr std::size_t kSteps = 16;     // that a walker writes down
    // Cache lines of splits below a list's place, asked for while the group is gathered.
    static constexpr std::size_t kLinesPerRow = 4;

    // A list of rows that is split when its turn comes.
    struct Waiting {
        RowId* rows;
        std::size_t n;
        Place split;
    };
    // Neighbours in a group that have left one split for the same child.
    struct List {
        Place above;
        std::uint32_t n;
    };
    struct Walker {
        Place at;
        RowId row;
        RowId place;  // in the group
    };
    // An edge that a row has taken.
    struct StepTaken {
        double credit;
        std::uint32_t feature;
    };
    // How far a row has got: where it is, and the split before.
    struct End {
        Place at, above;
        std::uint32_t n_steps;
    };
    // A split on the path; the splits below it lie behind it, and before `last`.
    struct Frame {
        double value;  // of the parent's feature, above this split
        std::uint32_t feature;
        Place split;
        Place last;
    };

    const PackedSplit<Value>& split_at(Place at) const {
        return forest_.splits[static_cast<std::size_t>(at)];
    }

    static bool walks_alone(Place at, std::size_t n) { return n <= kFew || is_leaf(at); }

    template <class Sink>
    void give(Place end, std::span<const RowId> rows, Sink& sink) {
        sink.add(
            TreeImportance{
                tree_, values_, {path_.data(), path_length_}, forest_.remainder(end), end},
            rows);
    }

    // Splits lists depth first until few rows are left in each. Memory as in TileKernel: the rows
    // of the node at hand are the first of rows_, others wait behind them.
    template <class Partition, class Sink>
    void split_lists(Place at, std::size_t n, const Tile<Value>& tile, Sink& sink) {
        RowId* const rows = rows_.data();
        RowId* free = rows + n + kSlack;
        Waiting* waiting = waiting_.data();
        for (;;) {
            const PackedSplit<Value>& split = split_at(at);
            const Value* const x = tile.feature(split.split & kFeatureMask);
            const std::size_t kept = Partition::split(tile.question(split), x, rows, n, rows, free);
            const std::size_t others = n - kept;
            const auto [first, second] = split.child;
            const bool first_ends = walks_alone(first, kept);
            if (first_ends) let_walk(at, 0, {rows, kept}, tile, sink);
            if (walks_alone(second, others)) {
                let_walk(at, 1, {free, others}, tile, sink);
            } else {
                LOCALMDI_PREFETCH(&split_at(second));
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
            at = waiting->split;
            for (std::size_t i = 0; i < n; i += kSlack)
                std::memcpy(rows + i, free + i, kSlack * sizeof(RowId));
        }
    }

    // Rows that leave a split for one of its children join the group that walks next.
    template <class Sink>
    void let_walk(Place above, std::size_t side, std::span<const RowId> rows,
                  const Tile<Value>& tile, Sink& sink) {
        const PackedSplit<Value>& split = split_at(above);
        const Place at = split.child[side];
        const StepTaken step{split.credit[side], split.split & kFeatureMask};
        while (!rows.empty()) {
            if (n_rows_ == kGroup) finish_group(tile, sink);
            const std::size_t n = std::min(rows.size(), kGroup - n_rows_);
            lists_[n_lists_++] = {above, static_cast<std::uint32_t>(n)};
            if (!is_leaf(at)) ask_for_below(at, n);
            for (std::size_t i = 0; i < n; ++i, ++n_rows_) {
                group_rows_[n_rows_] = rows[i];
                ends_[n_rows_] = {at, above, 1};
                steps_[n_rows_ * kSteps] = step;
                walkers_[n_walkers_] = {at, rows[i], static_cast<RowId>(n_rows_)};
                n_walkers_ += !is_leaf(at);
            }
            rows = rows.subspan(n);
        }
    }

    // Asks for the splits that n rows will meet from a split on. They lie side by side, and there
    // are many more of them than rows: what lies behind them belongs to the lists that come next.
    void ask_for_below(Place at, std::size_t n) const {
        constexpr std::size_t kLine = 64;
        const auto below =
            std::as_bytes(std::span(forest_.splits).subspan(static_cast<std::size_t>(at)));
        const std::size_t end = std::min(n * kLinesPerRow * kLine, below.size());
        for (std::size_t k = 0; k < end; k += kLine) LOCALMDI_PREFETCH(&below[k]);
    }

    // Sends the rows of the group to their ends and adds what they met.
    template <class Sink>
    void finish_group(const Tile<Value>& tile, Sink& sink) {
        const std::size_t n_rows = std::exchange(n_rows_, 0);
        const std::size_t n_lists = std::exchange(n_lists_, 0);
        const std::size_t n_walkers = std::exchange(n_walkers_, 0);
        if (tile.has_missing()) walk<true>(tile, n_walkers);
        else walk<false>(tile, n_walkers);
        std::size_t place = 0;
        for (std::size_t k = 0; k < n_lists; ++k) {
            go_to<Sink>(lists_[k].above);
            for (const std::size_t end = place + lists_[k].n; place < end; ++place) {
                sink.prefetch(group_rows_[std::min(place + kSinkAhead, n_rows - 1)]);
                add(lists_[k].above, place, sink);
            }
        }
    }

    template <bool kMayMiss>
    void walk(const Tile<Value>& tile, std::size_t n) {
        const PackedSplit<Value>* const splits = forest_.splits.data();
        const auto value = [&](const Walker& walker) {
            return tile.feature(splits[walker.at].split & kFeatureMask) + walker.row;
        };
        Walker* const walkers = walkers_.data();
        for (std::uint32_t n_steps = 1; n > 0; ++n_steps) {  // the first led to where they begin
            std::size_t walking = 0;
            const std::size_t last = std::min<std::size_t>(n_steps, kSteps - 1);
            for (std::size_t i = 0; i < n; ++i) {
                LOCALMDI_PREFETCH(value(walkers[std::min(i + kAhead, n - 1)]));
                const Walker walker = walkers[i];
                const PackedSplit<Value>& split = splits[walker.at];
                const Value x = *value(walker);
                const bool first = kMayMiss ? goes_first(split, x) : goes_first_known(split, x);
                const std::size_t side = first ? 0 : 1;
                const Place next = split.child[side];
                const bool ends = is_leaf(next);
                LOCALMDI_PREFETCH(splits + std::max(next, 0));  // of a leaf: any
                steps_[walker.place * kSteps + last] = {split.credit[side],
                                                        split.split & kFeatureMask};
                ends_[walker.place] = {next, walker.at, n_steps + 1};
                // Written in any case, because no predictor knows where the path ends.
                walkers[walking] = {next, walker.row, walker.place};
                walking += !ends;
            }
            n = walking;
        }
    }

    // Adds a row of a list that has left the split `above`, where values_ is now.
    template <class Sink>
    void add(Place above, std::size_t place, Sink& sink) {
        const End end = ends_[place];
        const std::span<const RowId> row(&group_rows_[place], 1);
        const std::size_t last = std::min<std::size_t>(end.n_steps, kSteps) - 1;
        const std::span<const StepTaken> steps(&steps_[place * kSteps], last + 1);
        if (end.n_steps <= kSteps) return add_steps(steps, end.at, row, sink);
        // More than it wrote down, each over the one before: the last is the last in any case.
        go_to<Sink>(end.above);
        add_steps(steps.subspan(last), end.at, row, sink);
        while (top_->split != above) go_up<Sink>();
    }

    template <class Sink>
    void add_steps(std::span<const StepTaken> steps, Place end, std::span<const RowId> row,
                   Sink& sink) {
        const std::size_t path_length = path_length_;
        std::array<double, kSteps> before;
        for (std::size_t k = 0; k < steps.size(); ++k) {
            before[k] = values_[steps[k].feature];
            step<Sink>(steps[k].feature, steps[k].credit);
        }
        give(end, row, sink);
        for (std::size_t k = steps.size(); k-- > 0;) {
            values_[steps[k].feature] = before[k];
            if (Sink::kNeedsPath) --uses_[steps[k].feature];
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

    // Brings values_ to a split: up to the last common one, then down.
    template <class Sink>
    void go_to(Place split) {
        while (split < top_->split || split >= top_->last) go_up<Sink>();
        while (split != top_->split) go_down<Sink>(split);
    }

    template <class Sink>
    void go_up() {
        values_[top_->feature] = top_->value;
        if (Sink::kNeedsPath) path_length_ -= --uses_[top_->feature] == 0;
        --top_;
    }

    // To the child on the way to a split below. The splits below a first child lie before those
    // below the second.
    template <class Sink>
    void go_down(Place to) {
        const PackedSplit<Value>& split = split_at(top_->split);
        const std::uint32_t f = split.split & kFeatureMask;
        const bool second = !is_leaf(split.child[1]) && to >= split.child[1];
        const Place last = second || is_leaf(split.child[1]) ? top_->last : split.child[1];
        const Frame next{values_[f], f, split.child[second], last};
        step<Sink>(f, split.credit[second]);
        *++top_ = next;
    }

    const PackedForest<Value>& forest_;
    std::vector<RowId> rows_;
    std::vector<Waiting> waiting_;
    std::vector<List> lists_;
    std::vector<RowId> group_rows_;
    std::vector<Walker> walkers_;
    std::vector<End> ends_;
    std::vector<StepTaken> steps_;
    std::size_t n_lists_ = 0, n_rows_ = 0, n_walkers_ = 0;  // of the group
    std::vector<double> values_;
    std::vector<std::uint32_t> uses_, path_;
    std::vector<Frame> frames_;
    Frame* top_ = nullptr;
    std::size_t path_length_ = 0, tree_ = 0;
};

}  // namespace localmdi::explain
