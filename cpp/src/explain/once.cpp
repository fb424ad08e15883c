#include "localmdi/explain/once.hpp"

#include <algorithm>
#include <numeric>

#include "localmdi/explain/for_each_tile.hpp"
#include "localmdi/explain/means.hpp"
#include "localmdi/explain/row_order.hpp"

namespace localmdi::explain {

using forest::PackedSplit;
using forest::TreeRecords;

namespace {

std::size_t n_nodes(const TreeRecords& records) {
    return std::transform_reduce(records.trees.begin(), records.trees.end(), std::size_t{0},
                                 std::plus(), [](const auto& tree) { return tree.n_nodes; });
}

// Whether rows may go through some trees and then through others. Those that are sorted, or of wide
// data, have their sums elsewhere while all trees pass.
bool can_part(const TreeRecords& records, const Rows<float>& rows) {
    const std::size_t n_trees = records.trees.size();
    return n_trees > 0 && rows.n_features > 0 &&
           rows.n_features <= TableKernel<float>::kMostFeatures &&
           !pays_to_sort(n_trees, n_nodes(records) / n_trees, rows);
}

// How many trees from `first` on are packed together: as many as there is room for, but enough to
// walk in step, and so many that turning the rows into tiles, once for each part, costs little.
std::size_t count_part(const TreeRecords& records, std::size_t first, std::size_t room) {
    const std::size_t n = records.trees.size();
    const std::size_t fewest = std::max(kTreesInStep, static_cast<std::size_t>(records.n_features));
    std::size_t last = first, n_splits = 0;
    const auto splits = [&] { return records.trees[last].n_nodes / 2; };
    while (last < n && (last - first < fewest || n_splits + splits() <= room))
        n_splits += splits(), ++last;
    return last - first;
}

}  // namespace

bool local_mdi_once(const TreeRecords& records, const Rows<float>& rows, double* values,
                    double* residual, const Run& run, Interrupt& interrupt,
                    std::size_t part_bytes) {
    PackedForest<float> packed;
    if (!can_part(records, rows)) {
        if (!pack_drops(records, run.n_threads, interrupt, packed)) return false;
        local_mdi(packed, rows, values, residual, nullptr, run, interrupt);
        return true;
    }
    constexpr std::size_t kMostParts = 16;  // a part begins with turning the rows into tiles
    const std::size_t n_splits = n_nodes(records) / 2;
    const std::size_t room =
        std::max(part_bytes / sizeof(PackedSplit<float>), n_splits / kMostParts + 1);
    packed.splits.reserve(std::min(n_splits, room));
    const std::size_t p = rows.n_features, n_trees = records.trees.size();
    const double total =
        std::accumulate(records.tree_weight.begin(), records.tree_weight.end(), 0.0);
    for (std::size_t begin = 0, end = 0; begin < n_trees; begin = end) {
        const std::size_t n = count_part(records, begin, room);
        if (!pack_drops(records.part(begin, n), run.n_threads, interrupt, packed)) return false;
        end = begin + n;
        for_each_tile(
            packed, rows, {0, n}, run, interrupt,
            [&](std::size_t first, std::size_t count) {
                if (begin == 0) {
                    std::fill_n(values + first * p, count * p, 0.0);
                    std::fill_n(residual + first, count, 0.0);
                }
                return SumSink(values + first * p, residual + first, p);
            },
            [&](const SumSink&, std::size_t first, std::size_t count) {
                if (end < n_trees) return;
                become_means(values + first * p, count * p, total, run);
                become_means(residual + first, count, total, run);
            });
    }
    return true;
}

}  // namespace localmdi::explain
