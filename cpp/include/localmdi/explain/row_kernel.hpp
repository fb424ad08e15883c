// One row's paths: several trees are walked in step, so that their cache misses overlap.
// For few rows, for splits that are not comparisons, and for whatever needs the nodes themselves.
//
// Why: one row through one tree is a chain of cache misses, each of which must end before the next
// can begin. In 32 trees there are 32 such chains, and the processor can wait for several at once:
// all trees take their first step, then all their second, and so on. Trees whose path has ended
// leave the list of those that go on, without a branch, because no predictor knows where it ends.
//
// The nodes are written down first and added up after, tree by tree: the sink must see the trees in
// their order.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/explain/sinks.hpp"
#include "localmdi/forest/routing.hpp"
#include "localmdi/support/prefetch.hpp"

namespace localmdi::explain {

using forest::goes_first;
using forest::kFeatureMask;
using forest::kLeaf;
using forest::next_node;
using forest::PackedForest;
using forest::PackedNode;
using forest::prefetch_node;

template <class Value>
class PathWalker {
public:
    explicit PathWalker(const PackedForest<Value>& forest)
        : forest_(forest), stride_(forest.max_depth + 1), visited_(kTrees * stride_) {}

    // Calls visit(tree, nodes from the root to where the row ends) for the trees first..last, in
    // order; x has one value per feature.
    template <class Visit>
    void run(std::size_t first, std::size_t last, const Value* x, Visit visit) {
        for (; first < last; first += kTrees) {
            const std::size_t n = std::min(kTrees, last - first);
            if (forest_.ordered()) walk(first, n, [&](std::uint32_t at) { return step(at, x); });
            else walk(first, n, [&](std::uint32_t at) { return any_step(at, x); });
            for (std::size_t k = 0; k < n; ++k) visit(first + k, path(k));
        }
    }

private:
    static constexpr std::size_t kTrees = 32;

    std::span<const std::uint32_t> path(std::size_t k) const {
        return {&visited_[k * stride_], n_visited_[k]};
    }

    // The node that follows, and whether the row ends at `at` instead.
    struct Step {
        std::uint32_t next;
        bool ends;
    };
    Step step(std::uint32_t at, const Value* x) const {
        const PackedNode<Value>& node = forest_.nodes[at];
        const bool ends = node.split & kLeaf;
        const bool first = goes_first(node, x[node.split & kFeatureMask]);
        return {ends ? at : node.child + (first ? 0u : 1u), ends};
    }
    Step any_step(std::uint32_t at, const Value* x) const {
        const std::uint32_t f = forest_.nodes[at].split & kFeatureMask;
        const std::uint32_t next = next_node(forest_, at, x[f]);
        return {next, next == at};
    }

    template <class TakeStep>
    void walk(std::size_t first, std::size_t n, TakeStep take_step) {
        std::array<std::uint32_t, kTrees> at;
        std::array<std::uint32_t, kTrees> walking;
        for (std::uint32_t k = 0; k < n; ++k) {
            walking[k] = k;
            at[k] = forest_.root[first + k];
        }
        for (std::size_t depth = 0; n > 0; ++depth) {
            std::size_t n_left = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t k = walking[i];
                const Step taken = take_step(at[k]);
                prefetch_node(forest_, taken.next);
                visited_[k * stride_ + depth] = at[k];
                n_visited_[k] = depth + 1;
                at[k] = taken.next;
                walking[n_left] = k;
                n_left += !taken.ends;
            }
            n = n_left;
        }
    }

    const PackedForest<Value>& forest_;
    std::size_t stride_;
    std::vector<std::uint32_t> visited_;
    std::array<std::size_t, kTrees> n_visited_{};
};

// Local MDI of one row at a time.
template <class Value>
class RowKernel {
public:
    explicit RowKernel(const PackedForest<Value>& forest)
        : forest_(forest),
          walker_(forest),
          values_(forest.n_features),
          on_path_(forest.n_features),
          path_(forest.max_depth + 1) {}

    template <class Sink>
    void run(std::size_t first, std::size_t last, const Value* x, std::size_t row, Sink& sink) {
        walker_.run(first, last, x, [&](std::size_t tree, std::span<const std::uint32_t> visited) {
            std::size_t n = 0;
            for (std::size_t k = 1; k < visited.size(); ++k) {
                const std::uint32_t f = forest_.nodes[visited[k - 1]].split & kFeatureMask;
                path_[n] = f;
                n += !std::exchange(on_path_[f], true);
                values_[f] += forest_.nodes[visited[k]].credit;  // i(t) − i(t_x)
            }
            const double end = forest_.remainder(visited.back());
            sink.add(TreeImportance{tree, values_, {path_.data(), n}, end, visited.back()},
                     std::span<const std::size_t>(&row, 1));
            for (std::size_t k = 0; k < n; ++k) {
                values_[path_[k]] = 0;
                on_path_[path_[k]] = false;
            }
        });
    }

private:
    const PackedForest<Value>& forest_;
    PathWalker<Value> walker_;
    std::vector<double> values_;
    std::vector<unsigned char> on_path_;
    std::vector<std::uint32_t> path_;
};

}  // namespace localmdi::explain
