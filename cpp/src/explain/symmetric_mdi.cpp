#include "localmdi/explain/symmetric_mdi.hpp"

#include "localmdi/explain/for_each_tile.hpp"
#include "localmdi/explain/means.hpp"
#include "localmdi/explain/symmetric_kernel.hpp"

namespace localmdi::explain {

using support::parallel_for;

namespace {

// local_mdi of a symmetric forest. A tile's columns should stay in the cache while all trees pass
// over them, and a tree's tables while all blocks of the tile do.
template <class Value>
class BySymmetry {
public:
    static std::size_t capacity(const PackedForest<Value>& forest, const Rows<Value>& rows,
                                const Run& run) {
        constexpr std::size_t kRows = 512;
        return std::min(kRows, tile_capacity(rows.n_rows, forest.n_features * sizeof(double),
                                             run.n_threads, false));
    }

    BySymmetry(const PackedForest<Value>& forest, std::size_t capacity)
        : forest_(forest),
          tile_(forest.n_features, stride(capacity)),
          kernel_(forest),
          sums_(forest.symmetric.n_columns(), stride(capacity)) {}

    void run(const Rows<Value>& rows, std::size_t first, std::size_t n, const Run& how,
             Interrupt& interrupt) {
        const auto run_kernel = choose_run<SymmetricKernel<Value>, Value, ColumnSums>(how);
        tile_.fill(rows, first, n);
        kernel_.start(tile_, n);
        sums_.clear();
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            if (tree % kTreesBetweenChecks == 0) interrupt.check();
            run_kernel(kernel_, tree, tile_, n, sums_);
        }
    }

    // Writes the sums of n rows, divided.
    void write(std::size_t n, double total, double* values, double* residual) const {
        const std::vector<std::uint32_t>& features = forest_.symmetric.features;
        const std::size_t p = forest_.n_features;
        if (features.size() < p) std::fill_n(values, n * p, 0.0);
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < features.size(); ++c)
                values[r * p + features[c]] = sums_.column(c)[r] / total;
        const double* const left = sums_.column(features.size());
        for (std::size_t r = 0; r < n; ++r) residual[r] = left[r] / total;
    }

private:
    // A tree takes a tile less than a few microseconds.
    static constexpr std::size_t kTreesBetweenChecks = 16;

    // Of the columns. Not a power of two, which would give all columns the same lines of the cache.
    static std::size_t stride(std::size_t capacity) {
        constexpr std::size_t kLine = 16;
        return (capacity + kLine - 1) / kLine * kLine + kLine;
    }

    const PackedForest<Value>& forest_;
    Tile<Value> tile_;
    SymmetricKernel<Value> kernel_;
    ColumnSums sums_;
};

}  // namespace

template <class Value>
void symmetric_mdi(const PackedForest<Value>& forest, const Rows<Value>& rows, double* values,
                   double* residual, const Run& run, Interrupt& interrupt) {
    const std::size_t capacity = BySymmetry<Value>::capacity(forest, rows, run);
    const double total = total_weight(forest);
    parallel_for((rows.n_rows + capacity - 1) / capacity, run.n_threads, interrupt, [&] {
        return [&, way = BySymmetry<Value>(forest, capacity)](std::size_t task) mutable {
            const std::size_t first = task * capacity;
            const std::size_t n = std::min(capacity, rows.n_rows - first);
            way.run(rows, first, n, run, interrupt);
            way.write(n, total, values + first * forest.n_features, residual + first);
        };
    });
}

template void symmetric_mdi(const PackedForest<float>&, const Rows<float>&, double*, double*,
                            const Run&, Interrupt&);
template void symmetric_mdi(const PackedForest<double>&, const Rows<double>&, double*, double*,
                            const Run&, Interrupt&);

}  // namespace localmdi::explain
