// One row's paths: several trees are walked in step, so that their cache misses overlap.
// For few rows, for splits that are not comparisons, and for whatever needs the nodes themselves.
//
// Why: one row through one tree is a chain of cache misses, each of which must end before the next
// can begin. In 32 trees there are 32 such chains, and the processor can wait for several at once:
// all trees take their first step, then all their second, and so on. A leaf leads to itself, so a
// row that has arrived stays, without a branch, until the longest of the 32 paths ends.
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

using forest::kFeatureMask;
using forest::next_node;
using forest::PackedForest;
using forest::PackedNode;

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
            walk(first, n, x);
            for (std::size_t k = 0; k < n; ++k)
                visit(first + k,
                      std::span<const std::uint32_t>(&visited_[k * stride_], n_splits_[k] + 1));
        }
    }

private:
    static constexpr std::size_t kTrees = 32;

    void walk(std::size_t first, std::size_t n, const Value* x) {
        std::array<std::uint32_t, kTrees> at;
        for (std::size_t k = 0; k < n; ++k) at[k] = forest_.root[first + k];
        n_splits_.fill(0);
        for (bool walking = true; walking;) {
            walking = false;
            for (std::size_t k = 0; k < n; ++k) {
                const PackedNode<Value>& node = forest_.nodes[at[k]];
                visited_[k * stride_ + n_splits_[k]] = at[k];
                const std::uint32_t next = next_node(forest_, at[k], x[node.split & kFeatureMask]);
                const bool moves = next != at[k];
                n_splits_[k] += moves;
                walking |= moves;
                at[k] = next;
                LOCALMDI_PREFETCH(&forest_.nodes[next]);
                LOCALMDI_PREFETCH(&forest_.remainder[node.end]);
            }
        }
    }

    const PackedForest<Value>& forest_;
    std::size_t stride_;
    std::vector<std::uint32_t> visited_;
    std::array<std::size_t, kTrees> n_splits_{};
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
            const double end = forest_.remainder[forest_.nodes[visited.back()].end];
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
