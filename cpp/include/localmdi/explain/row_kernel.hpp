// Local MDI of one row at a time, for few rows and for whatever needs the nodes themselves.
//
// The nodes that a row meets are written down first (row_steps.hpp) and added up after, tree by
// tree: the sink must see the trees in their order.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/explain/row_steps.hpp"
#include "localmdi/explain/sinks.hpp"

namespace localmdi::explain {

template <class Value>
class PathWalker {
public:
    explicit PathWalker(const PackedForest<Value>& forest)
        : forest_(forest), stride_(forest.max_depth + 1), visited_(kTreesInStep * stride_) {}

    // Calls visit(tree, nodes from the root to where the row ends) for the trees first..last, in
    // order.
    template <class Visit>
    void run(std::size_t first, std::size_t last, const OneRow<Value>& x, Visit visit) {
        for (; first < last; first += kTreesInStep) {
            const std::size_t n = std::min(kTreesInStep, last - first);
            std::fill_n(n_visited_.begin(), n, 0);
            walk_in_step(forest_, first, n, x, [&](std::uint32_t k, std::uint32_t at, const auto&) {
                visited_[k * stride_ + n_visited_[k]++] = at;
            });
            for (std::size_t k = 0; k < n; ++k)
                visit(first + k,
                      std::span<const std::uint32_t>(&visited_[k * stride_], n_visited_[k]));
        }
    }

private:
    const PackedForest<Value>& forest_;
    std::size_t stride_;
    std::vector<std::uint32_t> visited_;
    std::array<std::size_t, kTreesInStep> n_visited_{};
};

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
    void run(std::size_t first, std::size_t last, const OneRow<Value>& x, std::size_t row,
             Sink& sink) {
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
