#include "localmdi/explain/local_mdi.hpp"

#include <bit>

#include "localmdi/explain/for_each_tile.hpp"
#include "localmdi/explain/means.hpp"
#include "localmdi/explain/row_order.hpp"
#include "localmdi/explain/spread_sinks.hpp"
#include "localmdi/explain/symmetric_mdi.hpp"
#include "localmdi/explain/wide_mdi.hpp"

namespace localmdi::explain {

using support::parallel_for;

namespace {

// One walk of all rows, sorted or not.
template <class Value>
void spread_by_tiles(const PackedForest<Value>& forest, const Rows<Value>& rows,
                     const SpreadScale& scale, const SpreadResult& result, const Run& run,
                     Interrupt& interrupt) {
    std::vector<std::size_t> order;
    if (pays_to_sort(forest, rows)) order = order_by_leaf(forest, rows, run, interrupt);
    const Rows<Value> walked = order.empty() ? rows : rows.only(order);
    for_each_tile(
        forest, walked, {0, forest.n_trees()}, run, interrupt,
        [&](std::size_t, std::size_t n) { return SpreadSink(n, forest.n_features, scale); },
        [&](const SpreadSink& sink, std::size_t first, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) sink.write(i, result, walked.place(first + i), run);
        });
}

// local_mdi with standard errors. The trees walk a second time, but only for the rows that need it.
template <class Value>
void local_spread(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
                  double* residual, double* standard_error, const Run& run, Interrupt& interrupt) {
    const std::size_t p = forest.n_features;
    const SpreadScale scale(forest.tree_weight);
    std::vector<unsigned char> uncertain(rows.n_rows);
    const auto spread = is_wide(forest, rows, run) ? wide_spread<Value> : spread_by_tiles<Value>;
    spread(forest, rows, scale, {values, standard_error, residual, uncertain.data()}, run,
           interrupt);
    std::vector<std::size_t> again;
    for (std::size_t row = 0; row < rows.n_rows; ++row)
        if (uncertain[row]) again.push_back(row);
    if (again.empty()) return;
    for_each_tile(
        forest, rows.only(again), {0, forest.n_trees()}, run, interrupt,
        [&](std::size_t first, std::size_t n) {
            return SecondLook(values, standard_error, {again.data() + first, n}, p, scale);
        },
        [](const SecondLook& sink, std::size_t, std::size_t) { sink.write(); });
}

// local_mdi of rows that are sorted on the way.
template <bool kWhole, class Value>
void sorted_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
                double* residual, const Run& run, Interrupt& interrupt) {
    const std::size_t p = forest.n_features;
    const double total = total_weight(forest);
    const std::vector<std::size_t> order = order_by_leaf(forest, rows, run, interrupt);
    for_each_tile(
        forest, rows.only(order), {0, forest.n_trees()}, run, interrupt,
        [&](std::size_t, std::size_t n) { return OwnSums<kWhole>(n, p); },
        [&](const OwnSums<kWhole>& sink, std::size_t first, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t row = order[first + i];
                const RowSums sums = sink.sums_of(i);
                write_means(sums.values, p, total, values + row * p, run);
                residual[row] = *sums.residual / total;
            }
        });
}

}  // namespace

template <class Value>
void local_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
               double* residual, double* standard_error, const Run& run, Interrupt& interrupt) {
    if (standard_error != nullptr)
        return local_spread(forest, rows, values, residual, standard_error, run, interrupt);
    if (forest.symmetric && rows.n_rows >= kFewRows)
        return symmetric_mdi(forest, rows, values, residual, run, interrupt);
    if (is_wide(forest, rows, run)) return wide_mdi(forest, rows, values, residual, run, interrupt);
    const std::size_t p = forest.n_features;
    if (pays_to_sort(forest, rows)) {
        // Of so few features a path mostly meets a quarter or more.
        const bool whole =
            p <= 4 * static_cast<std::size_t>(std::bit_width(forest.nodes_per_tree()));
        return (whole ? sorted_mdi<true, Value>
                      : sorted_mdi<false, Value>)(forest, rows, values, residual, run, interrupt);
    }
    const double total = total_weight(forest);
    for_each_tile(
        forest, rows, {0, forest.n_trees()}, run, interrupt,
        [&](std::size_t first, std::size_t n) {
            std::fill_n(values + first * p, n * p, 0.0);
            std::fill_n(residual + first, n, 0.0);
            return SumSink(values + first * p, residual + first, p);
        },
        [&](const SumSink&, std::size_t first, std::size_t n) {
            become_means(values + first * p, n * p, total, run);
            become_means(residual + first, n, total, run);
        });
}

template <class Value>
void add_weighted_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows,
                      const TreeWeights& trees, double* values, double* residual, const Run& run,
                      Interrupt& interrupt) {
    const std::size_t p = forest.n_features;
    for_each_tile(
        forest, rows, {trees.first, trees.first + trees.n_trees}, run, interrupt,
        [&](std::size_t row, std::size_t) {
            return WeightedSink(values + row * p, residual + row, p, trees.weights + row,
                                rows.n_rows, trees.first);
        },
        [](const WeightedSink&, std::size_t, std::size_t) {});
}

template <class Value>
SparseImportance sparse_local_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows,
                                  const Run& run, Interrupt& interrupt) {
    constexpr std::size_t kBlock = 64;
    const std::size_t n_blocks = (rows.n_rows + kBlock - 1) / kBlock;
    const double total = total_weight(forest);
    std::vector<SparseImportance> blocks(n_blocks);
    parallel_for(n_blocks, run.n_threads, interrupt, [&] {
        return [&, tile = Tile<Value>(forest.n_features, 1), kernel = RowKernel<Value>(forest),
                sink = SparseSink(forest.n_features)](std::size_t task) mutable {
            SparseImportance& out = blocks[task];
            const std::size_t end = std::min((task + 1) * kBlock, rows.n_rows);
            for (std::size_t row = task * kBlock; row < end; ++row) {
                interrupt.check();
                tile.fill(rows, row, 1);
                kernel.run({0, forest.n_trees()}, tile.only_row(), 0, sink);
                const double left = sink.finish_row([&](std::uint32_t f, double value) {
                    if (value == 0) return;
                    out.indices.push_back(f);
                    out.data.push_back(value / total);
                });
                out.indptr.push_back(static_cast<std::int64_t>(out.data.size()));
                out.residual.push_back(left / total);
            }
        };
    });
    SparseImportance all;
    all.indptr.push_back(0);
    for (SparseImportance& block : blocks) {
        const auto before = static_cast<std::int64_t>(all.data.size());
        all.data.insert(all.data.end(), block.data.begin(), block.data.end());
        all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
        for (const std::int64_t end : block.indptr) all.indptr.push_back(before + end);
        all.residual.insert(all.residual.end(), block.residual.begin(), block.residual.end());
        block = {};
    }
    return all;
}

#define LOCALMDI_INSTANTIATE(Value)                                                               \
    template void local_mdi(const PackedForest<Value>&, const Rows<Value>&, double*, double*,     \
                            double*, const Run&, Interrupt&);                                     \
    template void add_weighted_mdi(const PackedForest<Value>&, const Rows<Value>&,                \
                                   const TreeWeights&, double*, double*, const Run&, Interrupt&); \
    template SparseImportance sparse_local_mdi(const PackedForest<Value>&, const Rows<Value>&,    \
                                               const Run&, Interrupt&);
LOCALMDI_INSTANTIATE(float)
LOCALMDI_INSTANTIATE(double)

}  // namespace localmdi::explain
