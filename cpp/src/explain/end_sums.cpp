#include "localmdi/explain/end_sums.hpp"

#include <algorithm>
#include <vector>

#include "localmdi/explain/for_each_tile.hpp"
#include "localmdi/support/double_double.hpp"

namespace localmdi::explain {

using support::DoubleDouble;
using support::exact_product;
using support::exact_sum;

namespace {

// Weights in the columns of the classes; Sum is double or DoubleDouble.
template <class Sum>
class ClassSink {
public:
    static constexpr bool kNeedsPath = false;

    ClassSink(const RowTargets& targets, const NodeSums& out, const forest::NodeNumbers& source,
              std::size_t first_row, std::size_t)
        : n_outputs_(targets.n_outputs),
          column_(targets.column + first_row * targets.n_outputs),
          weight_(targets.weight + first_row),
          sums_(reinterpret_cast<Sum*>(out.sums)),
          n_sums_(out.n_sums),
          source_(source) {}

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        Sum* const sums = sums_ + source_[tree.end] * n_sums_;
        for (const std::size_t row : rows)
            for (std::size_t k = 0; k < n_outputs_; ++k)
                add_to(sums[column_[row * n_outputs_ + k]], weight_[row]);
    }

private:
    static void add_to(double& sum, double weight) { sum += weight; }
    static void add_to(DoubleDouble& sum, double weight) { sum = sum + DoubleDouble{weight}; }

    std::size_t n_outputs_;
    const std::int32_t* column_;
    const double* weight_;
    Sum* sums_;
    std::size_t n_sums_;
    const forest::NodeNumbers& source_;
};

// w, wy and wy². They are made once for a tile, without an error, and added in every tree.
class NumberSink {
public:
    static constexpr bool kNeedsPath = false;

    NumberSink(const RowTargets& targets, const NodeSums& out, const forest::NodeNumbers& source,
               std::size_t first_row, std::size_t n)
        : sums_(reinterpret_cast<DoubleDouble*>(out.sums)), n_sums_(out.n_sums), source_(source) {
        terms_.reserve(n * n_sums_);
        for (std::size_t row = first_row; row < first_row + n; ++row) {
            const double weight = targets.weight[row];
            terms_.push_back({weight});
            for (std::size_t k = 0; k < targets.n_outputs; ++k) {
                const double y = targets.value[row * targets.n_outputs + k];
                terms_.push_back(exact_product(weight, y));
                terms_.push_back(exact_product(y, y) * weight);
            }
        }
    }

    void prefetch(std::size_t) const {}

    template <class RowId>
    void add(const TreeImportance& tree, std::span<const RowId> rows) {
        DoubleDouble* const sums = sums_ + source_[tree.end] * n_sums_;
        for (const std::size_t row : rows) {
            const DoubleDouble* const terms = terms_.data() + row * n_sums_;
            for (std::size_t k = 0; k < n_sums_; ++k) sums[k] = sums[k] + terms[k];
        }
    }

private:
    DoubleDouble* sums_;
    std::size_t n_sums_;
    const forest::NodeNumbers& source_;
    std::vector<DoubleDouble> terms_;
};

template <class Sink, class Value>
void add_by(const PackedForest<Value>& forest, const Rows<Value>& rows, const RowTargets& targets,
            const NodeSums& out, const Run& run, Interrupt& interrupt) {
    // A group of trees is one task; several per thread, because trees differ in size.
    const std::size_t n_trees = forest.n_trees();
    const std::size_t n_groups = run.n_threads > 1 ? std::min(n_trees, 4 * run.n_threads)
                                                   : std::min<std::size_t>(n_trees, 1);
    support::parallel_for(n_groups, run.n_threads, interrupt, [&] {
        return [&](std::size_t group) {
            const TreeRange trees{group * n_trees / n_groups, (group + 1) * n_trees / n_groups};
            for_each_tile(
                forest, rows, trees, Run{1, run.simd}, interrupt,
                [&](std::size_t first, std::size_t n) {
                    return Sink(targets, out, forest.source, first, n);
                },
                [](const Sink&, std::size_t, std::size_t) {});
        };
    });
}

}  // namespace

template <class Value>
void add_end_sums(const PackedForest<Value>& forest, const Rows<Value>& rows,
                  const RowTargets& targets, const NodeSums& out, const Run& run,
                  Interrupt& interrupt) {
    if (targets.column == nullptr) add_by<NumberSink>(forest, rows, targets, out, run, interrupt);
    else if (out.n_parts == 1)
        add_by<ClassSink<double>>(forest, rows, targets, out, run, interrupt);
    else add_by<ClassSink<DoubleDouble>>(forest, rows, targets, out, run, interrupt);
}

#define LOCALMDI_INSTANTIATE(Value)                                                               \
    template void add_end_sums(const PackedForest<Value>&, const Rows<Value>&, const RowTargets&, \
                               const NodeSums&, const Run&, Interrupt&);
LOCALMDI_INSTANTIATE(float)
LOCALMDI_INSTANTIATE(double)

}  // namespace localmdi::explain
