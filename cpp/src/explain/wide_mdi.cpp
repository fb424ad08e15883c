#include "localmdi/explain/wide_mdi.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "localmdi/explain/for_each_tile.hpp"
#include "localmdi/explain/means.hpp"
#include "localmdi/explain/path_lists.hpp"

namespace localmdi::explain {

using support::parallel_for;

namespace {

// Rows are told apart tile by tile. What should stay in the cache is the tile itself, not its
// results: it may have a third more bytes than they, by measurement.
template <class Value>
std::size_t capacity(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& run) {
    return tile_capacity(rows.n_rows, forest.n_features * sizeof(Value) * 3 / 4, run.n_threads,
                         false);
}

template <class Value, class Feature>
class ByLists {
public:
    ByLists(const PackedForest<Value>& forest, std::size_t capacity)
        : forest_(forest),
          tile_(forest.n_features, capacity),
          kernel_(forest, capacity),
          lists_(capacity, std::min(forest.n_trees(), kMostTrees), kMostNumbers),
          sums_(forest.n_features) {}

    void run(const Rows<Value>& rows, std::size_t first, std::size_t n, double* values,
             double* residual, const Run& how, Interrupt& interrupt) {
        const auto run_kernel = choose_run<TileKernel<Value>, Value, PathLists<Feature>>(how);
        const std::size_t n_trees = forest_.n_trees();
        tile_.fill(rows, first, n);
        for (std::size_t tree = 0; tree < n_trees;) {
            const bool begins = tree == 0;
            for (lists_.start(tree); tree < n_trees && !lists_.full(); ++tree) {
                interrupt.check();
                run_kernel(kernel_, tree, tile_, n, lists_);
            }
            add_up(n, begins, tree == n_trees, values, residual, how);
        }
    }

private:
    // Lists of 14 MB, and 4 bytes for each of their trees and rows.
    static constexpr std::size_t kMostNumbers = 1'400'000, kMostTrees = 512;

    // Between the first and the last trees, the sums wait in the place of the result.
    void add_up(std::size_t n, bool begins, bool ends, double* values, double* residual,
                const Run& how) {
        const std::size_t p = forest_.n_features;
        const double total = total_weight(forest_);
        for (std::size_t row = 0; row < n; ++row) {
            double* const out = values + row * p;
            double left = begins ? 0.0 : residual[row];
            if (begins) std::ranges::fill(sums_, 0.0);
            else std::copy_n(out, p, sums_.data());
            lists_.add_up(row, {sums_.data(), &left});
            if (ends) write_means(sums_.data(), p, total, out, how);
            else std::ranges::copy(sums_, out);
            residual[row] = ends ? left / total : left;
        }
    }

    const PackedForest<Value>& forest_;
    Tile<Value> tile_;
    TileKernel<Value> kernel_;
    PathLists<Feature> lists_;
    std::vector<double> sums_;  // of one row
};

}  // namespace

// By measurement. Where a leaf has hardly a row, nobody shares its list; few results fit a cache.
template <class Value>
bool is_wide(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& run) {
    constexpr std::size_t kFeaturesPerLevel = 112, kMostLevels = 8, kFewestTrees = 8;
    constexpr std::size_t kFewestSums = std::size_t{1} << 19;
    const std::size_t nodes = forest.nodes_per_tree();
    const auto levels = static_cast<std::size_t>(std::bit_width(nodes));
    return forest.n_trees() >= kFewestTrees && forest.n_features >= kFeaturesPerLevel * levels &&
           forest.max_depth <= kMostLevels * levels &&
           rows.n_rows >= std::max(kFewRows, kFewestSums / forest.n_features) &&
           !are_few(rows.n_rows, forest.n_trees(), nodes, forest.max_depth) &&
           nodes <= 2 * capacity(forest, rows, run);
}

template <class Value>
void wide_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
              double* residual, const Run& run, Interrupt& interrupt) {
    const std::size_t size = capacity(forest, rows, run), p = forest.n_features;
    const auto run_by = [&]<class Way>(std::type_identity<Way>) {
        parallel_for((rows.n_rows + size - 1) / size, run.n_threads, interrupt, [&] {
            return [&, way = Way(forest, size)](std::size_t task) mutable {
                const std::size_t first = task * size;
                way.run(rows, first, std::min(size, rows.n_rows - first), values + first * p,
                        residual + first, run, interrupt);
            };
        });
    };
    if (p <= std::numeric_limits<std::uint16_t>::max())
        run_by(std::type_identity<ByLists<Value, std::uint16_t>>());
    else run_by(std::type_identity<ByLists<Value, std::uint32_t>>());
}

#define LOCALMDI_INSTANTIATE(Value)                                                          \
    template bool is_wide(const PackedForest<Value>&, const Rows<Value>&, const Run&);       \
    template void wide_mdi(const PackedForest<Value>&, const Rows<Value>&, double*, double*, \
                           const Run&, Interrupt&);
LOCALMDI_INSTANTIATE(float)
LOCALMDI_INSTANTIATE(double)

}  // namespace localmdi::explain
