// Sends rows through trees, tile by tile, with the kernel that suits them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "localmdi/explain/level_kernel.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/row_kernel.hpp"
#include "localmdi/explain/table_kernel.hpp"
#include "localmdi/explain/tile_kernel.hpp"

namespace localmdi::explain {

using forest::ScalarPartition;
#ifdef LOCALMDI_AVX2
using forest::Avx2Partition;
using support::has_avx2;
#endif

// From this many rows on, only the table kernel may still follow them one by one.
inline constexpr std::size_t kFewRows = 64;
// With more nodes than this in a tree, few rows of a tile share one.
inline constexpr std::size_t kLargeTree = std::size_t{1} << 16;

// Whether too few rows share a node for the tile kernel to pay. By measurement the two kinds of
// kernel take the same time at 0.7 to 1.1 times the number of nodes of a tree to the power of 3/4;
// at less if there are not enough trees to walk in step. Paths that are much longer than in a
// balanced tree are shared by many rows, whatever the number of nodes.
inline bool are_few(std::size_t n_rows, std::size_t n_trees, std::size_t nodes_per_tree,
                    std::size_t max_depth) {
    constexpr std::size_t kEnoughTrees = 8;
    if (max_depth > 8 * static_cast<std::size_t>(std::bit_width(nodes_per_tree))) return n_rows < 4;
    const auto share = static_cast<double>(std::min(n_trees, kEnoughTrees)) / kEnoughTrees;
    const double root = std::sqrt(static_cast<double>(nodes_per_tree));
    return n_rows < kLargeTree &&
           static_cast<double>(n_rows) < 0.7 * share * root * std::sqrt(root);
}

// How many rows a tile has at most. Its results, of row_bytes each, should stay in the cache while
// all trees pass over them; threads share that cache, and large trees rather want many rows. All
// tiles are alike, and there are as many for each thread: a last tile of few rows would take almost
// as long for its nodes as the others.
inline std::size_t tile_capacity(std::size_t n_rows, std::size_t row_bytes, std::size_t n_threads,
                                 bool large_trees) {
    constexpr std::size_t kMegabyte = std::size_t{1} << 20;
    const auto up = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
    const std::size_t threads = std::max<std::size_t>(n_threads, 1);
    const std::size_t bytes = (large_trees ? 8 : threads > 1 ? 4 : 6) * kMegabyte;
    const std::size_t most = large_trees ? 16384 : 32768;
    const std::size_t fits = std::clamp<std::size_t>(bytes / row_bytes, 64, most);
    const std::size_t n_tiles = up(up(std::max<std::size_t>(n_rows, 1), fits), threads) * threads;
    return std::max<std::size_t>(up(n_rows, n_tiles), 1);
}

template <class Kernel, class Value, class Sink>
void run_plain(Kernel& kernel, std::size_t tree, const Tile<Value>& tile, std::size_t n,
               Sink& sink) {
    kernel.template run<ScalarPartition>(tree, tile, n, sink);
}
#ifdef LOCALMDI_AVX2
template <class Kernel, class Value, class Sink>
__attribute__((target("avx2,popcnt"), flatten)) void run_avx2(Kernel& kernel, std::size_t tree,
                                                              const Tile<Value>& tile,
                                                              std::size_t n, Sink& sink) {
    kernel.template run<Avx2Partition>(tree, tile, n, sink);
}
#endif

template <class Kernel, class Value, class Sink>
auto choose_run([[maybe_unused]] const Run& run) {
#ifdef LOCALMDI_AVX2
    if (run.simd && has_avx2()) return &run_avx2<Kernel, Value, Sink>;
#endif
    return &run_plain<Kernel, Value, Sink>;
}

// Sends rows through the trees of a range, one at a time.
template <class Value>
class ByRow {
public:
    ByRow(const PackedForest<Value>& forest, std::size_t)
        : tile_(forest.n_features, 1), kernel_(forest) {}

    template <class Sink>
    void run(const Rows<Value>& rows, std::size_t first, std::size_t n, TreeRange trees, const Run&,
             Interrupt& interrupt, Sink& sink) {
        for (std::size_t i = 0; i < n; ++i) {
            interrupt.check();
            tile_.fill(rows, first + i, 1);
            kernel_.run(trees, tile_.only_row(), i, sink);
        }
    }

private:
    Tile<Value> tile_;
    RowKernel<Value> kernel_;
};

// The same where a row has few features and only sums are wanted.
template <class Value>
class ByTable {
public:
    ByTable(const PackedForest<Value>& forest, std::size_t)
        : tile_(forest.n_features, 1), kernel_(forest) {}

    void run(const Rows<Value>& rows, std::size_t first, std::size_t n, TreeRange trees,
             const Run& how, Interrupt& interrupt, const SumSink& sink) {
        for (std::size_t i = 0; i < n; ++i) {
            interrupt.check();
            tile_.fill(rows, first + i, 1);
            kernel_.run(trees, tile_.only_row(), sink.sums_of(i), how.simd);
        }
    }

private:
    Tile<Value> tile_;
    TableKernel<Value> kernel_;
};

// Sends rows through the trees of a range together.
template <class Value, class Kernel>
class ByTile {
public:
    ByTile(const PackedForest<Value>& forest, std::size_t capacity)
        : tile_(forest.n_features, capacity), kernel_(forest, capacity) {}

    template <class Sink>
    void run(const Rows<Value>& rows, std::size_t first, std::size_t n, TreeRange trees,
             const Run& how, Interrupt& interrupt, Sink& sink) {
        const auto run_kernel = choose_run<Kernel, Value, Sink>(how);
        tile_.fill(rows, first, n);
        for (std::size_t tree = trees.first; tree < trees.last; ++tree) {
            interrupt.check();
            run_kernel(kernel_, tree, tile_, n, sink);
        }
    }

private:
    Tile<Value> tile_;
    Kernel kernel_;
};

// What a sink keeps of a row and feature, if it does not say otherwise: a sum.
template <class Sink>
constexpr std::size_t bytes_per_value() {
    if constexpr (requires { Sink::kBytesPerValue; }) return Sink::kBytesPerValue;
    else return sizeof(double);
}

// Runs all trees of the range over the rows, tile by tile: make_sink(first row, n) before, and
// finish(sink, first row, n) after the trees.
template <class Value, class MakeSink, class Finish>
void for_each_tile(const PackedForest<Value>& forest, const Rows<Value>& rows, TreeRange trees,
                   const Run& run, Interrupt& interrupt, MakeSink make_sink, Finish finish) {
    const std::size_t tree_nodes = forest.nodes_per_tree();
    const bool large_trees = forest.ordered() && tree_nodes >= kLargeTree;
    const bool few = are_few(rows.n_rows, forest.n_trees(), tree_nodes, forest.max_depth);
    using Sink = decltype(make_sink(std::size_t{}, std::size_t{}));
    const std::size_t capacity = tile_capacity(
        rows.n_rows, forest.n_features * bytes_per_value<Sink>(), run.n_threads, large_trees);
    const auto run_by = [&]<class Way>(std::type_identity<Way>) {
        support::parallel_for(
            (rows.n_rows + capacity - 1) / capacity, run.n_threads, interrupt, [&] {
                return [&, way = Way(forest, capacity)](std::size_t task) mutable {
                    const std::size_t first = task * capacity;
                    const std::size_t n = std::min(capacity, rows.n_rows - first);
                    auto sink = make_sink(first, n);
                    way.run(rows, first, n, trees, run, interrupt, sink);
                    finish(sink, first, n);
                };
            });
    };
    if constexpr (std::is_same_v<Sink, SumSink>)
        if (few && forest.n_features <= TableKernel<Value>::kMostFeatures)
            return run_by(std::type_identity<ByTable<Value>>());
    if (few && rows.n_rows < kFewRows) run_by(std::type_identity<ByRow<Value>>());
    else if (large_trees) run_by(std::type_identity<ByTile<Value, LevelKernel<Value>>>());
    else run_by(std::type_identity<ByTile<Value, TileKernel<Value>>>());
}

}  // namespace localmdi::explain
