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

// Sums over trees of one row at a time, that become its means. Between the first and the last lists
// of a row, its sums wait in the place of the result.
class MeanRow {
public:
    MeanRow(double* values, double* residual, std::size_t n_features, double total, const Run& run)
        : values_(values), residual_(residual), total_(total), run_(run), sums_(n_features) {}

    void begin(std::size_t row, bool anew) {
        if (anew) std::ranges::fill(sums_, 0.0);
        else std::copy_n(values(row), sums_.size(), sums_.data());
        left_ = anew ? 0.0 : residual_[row];
    }

    template <class List>
    void add(const List& list) {
        double* const sums = sums_.data();
        left_ += list.left;
        for (std::size_t i = 0; i < list.features.size(); ++i)
            sums[list.features[i]] += list.values[i];
    }

    void end(std::size_t row, bool for_good) {
        if (for_good) write_means(sums_.data(), sums_.size(), total_, values(row), run_);
        else std::ranges::copy(sums_, values(row));
        residual_[row] = for_good ? left_ / total_ : left_;
    }

private:
    double* values(std::size_t row) { return values_ + row * sums_.size(); }

    double *values_, *residual_;
    double total_;
    const Run& run_;
    std::vector<double> sums_;
    double left_ = 0;
};

// The same with standard errors.
class SpreadRow {
public:
    SpreadRow(const SpreadResult& result, std::size_t n_features, const SpreadScale& scale,
              const Run& run)
        : result_(result), run_(run), sink_(1, n_features, scale) {}

    void begin(std::size_t row, bool anew) {
        if (anew) sink_.clear(0);
        else sink_.restore(0, result_, row);
    }

    template <class List>
    void add(const List& list) {
        sink_.add_list(list, 0);
    }

    void end(std::size_t row, bool for_good) {
        if (for_good) sink_.write(0, result_, row, run_);
        else sink_.save(0, result_, row);
    }

private:
    SpreadResult result_;
    const Run& run_;
    SpreadSink sink_;  // of one row
};

template <class Value, class Feature>
class ByLists {
public:
    ByLists(const PackedForest<Value>& forest, std::size_t capacity)
        : forest_(forest),
          tile_(forest.n_features, capacity),
          kernel_(forest, capacity),
          lists_(capacity, std::min(forest.n_trees(), kMostTrees), kMostNumbers) {}

    template <class RowSum>
    void run(const Rows<Value>& rows, std::size_t first, std::size_t n, RowSum& sum, const Run& how,
             Interrupt& interrupt) {
        const auto run_kernel = choose_run<TileKernel<Value>, Value, PathLists<Feature>>(how);
        const std::size_t n_trees = forest_.n_trees();
        tile_.fill(rows, first, n);
        for (std::size_t tree = 0; tree < n_trees;) {
            const bool begins = tree == 0;
            for (lists_.start(tree); tree < n_trees && !lists_.full(); ++tree) {
                interrupt.check();
                run_kernel(kernel_, tree, tile_, n, lists_);
            }
            for (std::size_t row = 0; row < n; ++row) {
                sum.begin(first + row, begins);
                lists_.for_each(row, [&sum](const auto& list) { sum.add(list); });
                sum.end(first + row, tree == n_trees);
            }
        }
    }

private:
    // Lists of 14 MB, and 4 bytes for each of their trees and rows.
    static constexpr std::size_t kMostNumbers = 1'400'000, kMostTrees = 512;

    const PackedForest<Value>& forest_;
    Tile<Value> tile_;
    TileKernel<Value> kernel_;
    PathLists<Feature> lists_;
};

// make_sum() gives every thread what adds up its rows.
template <class Value, class MakeSum>
void run_by_lists(const PackedForest<Value>& forest, const Rows<Value>& rows, const Run& run,
                  Interrupt& interrupt, MakeSum make_sum) {
    const std::size_t size = capacity(forest, rows, run);
    const auto run_by = [&]<class Way>(std::type_identity<Way>) {
        parallel_for((rows.n_rows + size - 1) / size, run.n_threads, interrupt, [&] {
            return [&, way = Way(forest, size), sum = make_sum()](std::size_t task) mutable {
                const std::size_t first = task * size;
                way.run(rows, first, std::min(size, rows.n_rows - first), sum, run, interrupt);
            };
        });
    };
    if (forest.n_features <= std::numeric_limits<std::uint16_t>::max())
        run_by(std::type_identity<ByLists<Value, std::uint16_t>>());
    else run_by(std::type_identity<ByLists<Value, std::uint32_t>>());
}

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
    const double total = total_weight(forest);
    run_by_lists(forest, rows, run, interrupt,
                 [&] { return MeanRow(values, residual, forest.n_features, total, run); });
}

template <class Value>
void wide_spread(const PackedForest<Value>& forest, const Rows<Value>& rows,
                 const SpreadScale& scale, const SpreadResult& result, const Run& run,
                 Interrupt& interrupt) {
    run_by_lists(forest, rows, run, interrupt,
                 [&] { return SpreadRow(result, forest.n_features, scale, run); });
}

#define LOCALMDI_INSTANTIATE(Value)                                                               \
    template bool is_wide(const PackedForest<Value>&, const Rows<Value>&, const Run&);            \
    template void wide_mdi(const PackedForest<Value>&, const Rows<Value>&, double*, double*,      \
                           const Run&, Interrupt&);                                               \
    template void wide_spread(const PackedForest<Value>&, const Rows<Value>&, const SpreadScale&, \
                              const SpreadResult&, const Run&, Interrupt&);
LOCALMDI_INSTANTIATE(float)
LOCALMDI_INSTANTIATE(double)

}  // namespace localmdi::explain
