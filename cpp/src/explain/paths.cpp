#include "localmdi/explain/paths.hpp"

#include "localmdi/explain/for_each_tile.hpp"

namespace localmdi::explain {

using support::parallel_for;

namespace {

// Calls visit(row, tree, steps of the path) for every row and the trees first..last.
template <class Value, class Visit>
void for_each_path(const PackedForest<Value>& forest, const Rows<Value>& rows, std::size_t first,
                   std::size_t last, const Run& run, Interrupt& interrupt, Visit visit) {
    parallel_for(rows.n_rows, run.n_threads, interrupt, [&] {
        return [&, tile = Tile<Value>(forest.n_features, 1),
                walker = PathWalker<Value>(forest)](std::size_t row) mutable {
            tile.fill(rows, row, 1);
            walker.run({first, last}, tile.only_row(),
                       [&](std::size_t tree, auto steps, Place) { visit(row, tree, steps); });
        };
    });
}

}  // namespace

template <class Value>
void find_ends(const PackedForest<Value>& forest, const Rows<Value>& rows, std::size_t first,
               std::size_t last, std::int64_t* ends, const Run& run, Interrupt& interrupt) {
    for_each_tile(
        forest, rows, {first, last}, run, interrupt,
        [&](std::size_t row, std::size_t) {
            return EndSink(ends + row * (last - first), first, last - first, forest.source);
        },
        [](const EndSink&, std::size_t, std::size_t) {});
}

template <class Value>
void saabas(const PackedForest<Value>& forest, const Rows<Value>& rows,
            std::span<const double> value, std::span<const double> scale, double* out,
            const Run& run, Interrupt& interrupt) {
    const std::size_t k = value.size() / forest.n_nodes();
    const std::size_t row_size = forest.n_features * k;
    std::fill_n(out, rows.n_rows * row_size, 0.0);
    const auto value_at = [&](Place at) { return value.data() + forest.source[at] * k; };
    for_each_path(forest, rows, 0, forest.n_trees(), run, interrupt,
                  [&](std::size_t row, std::size_t tree, std::span<const PathStep> steps) {
                      for (const PathStep& step : steps) {
                          const double* const before = value_at(step.at);
                          const double* const after = value_at(step.next);
                          double* const cell = out + row * row_size + step.feature * k;
                          for (std::size_t c = 0; c < k; ++c)
                              cell[c] += scale[tree] * (after[c] - before[c]);
                      }
                  });
}

#define LOCALMDI_INSTANTIATE(Value)                                                               \
    template void find_ends(const PackedForest<Value>&, const Rows<Value>&, std::size_t,          \
                            std::size_t, std::int64_t*, const Run&, Interrupt&);                  \
    template void saabas(const PackedForest<Value>&, const Rows<Value>&, std::span<const double>, \
                         std::span<const double>, double*, const Run&, Interrupt&);
LOCALMDI_INSTANTIATE(float)
LOCALMDI_INSTANTIATE(double)

}  // namespace localmdi::explain
