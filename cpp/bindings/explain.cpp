#include <nanobind/stl/optional.h>

#include <optional>
#include <string>

#include "forest.hpp"
#include "localmdi/explain/end_sums.hpp"
#include "localmdi/explain/local_mdi.hpp"
#include "localmdi/explain/paths.hpp"
#include "module.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {

using explain::all_finite;
using explain::NodeSums;
using explain::Rows;
using explain::RowTargets;
using explain::Run;
using explain::SparseImportance;
using explain::TreeWeights;
using forest::ForestView;
using forest::pack;
using forest::PackedForest;

namespace {

using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Value>
void local_mdi_into(const PackedForest<Value>& forest, const RowArrays<Value>& x,
                    Matrix<double> values, Vector<double> residual,
                    std::optional<Matrix<double>> standard_error, std::size_t n_threads,
                    bool simd) {
    const Rows<Value>& rows = x.rows;
    const auto fits = [&](const Matrix<double>& m) {
        return m.shape(0) == rows.n_rows && m.shape(1) == forest.n_features;
    };
    require(rows.n_features == forest.n_features, "the rows must have the forest's features");
    require(fits(values) && residual.size() == rows.n_rows,
            "values and residual must fit the rows");
    require(!standard_error || fits(*standard_error), "standard_error must fit the rows");
    run_kernel([&](Interrupt& interrupt) {
        local_mdi(forest, rows, values.data(), residual.data(),
                  standard_error ? standard_error->data() : nullptr, Run{n_threads, simd},
                  interrupt);
    });
}

template <class Value>
void add_weighted_into(const PackedForest<Value>& forest, const RowArrays<Value>& x,
                       std::size_t first, Matrix<const double> weights, Matrix<double> values,
                       Vector<double> residual, std::size_t n_threads) {
    const Rows<Value>& rows = x.rows;
    require(rows.n_features == forest.n_features, "the rows must have the forest's features");
    require(first + weights.shape(0) <= forest.n_trees(), "the trees must be the forest's");
    require(weights.shape(1) == rows.n_rows && values.shape(0) == rows.n_rows &&
                values.shape(1) == forest.n_features && residual.size() == rows.n_rows,
            "weights, values and residual must fit the rows");
    run_kernel([&](Interrupt& interrupt) {
        add_weighted_mdi(forest, rows, TreeWeights{first, weights.shape(0), weights.data()},
                         values.data(), residual.data(), Run{n_threads}, interrupt);
    });
}

template <class Value>
nb::tuple sparse(const PackedForest<Value>& forest, const RowArrays<Value>& x,
                 std::size_t n_threads) {
    require(x.rows.n_features == forest.n_features, "the rows must have the forest's features");
    SparseImportance out;
    run_kernel([&](Interrupt& interrupt) {
        out = sparse_local_mdi(forest, x.rows, Run{n_threads}, interrupt);
    });
    return nb::make_tuple(to_array(std::move(out.data)), to_array(std::move(out.indices)),
                          to_array(std::move(out.indptr)), to_array(std::move(out.residual)));
}

template <class Value>
bool knows_nodes(const PackedForest<Value>& forest) {
    return !forest.source.empty();
}

template <class Value>
void require_source(const PackedForest<Value>& forest) {
    require(knows_nodes(forest), "the forest must be packed from a table, which numbers its nodes");
}

template <class Value>
void find_ends_into(const PackedForest<Value>& forest, const RowArrays<Value>& x, std::size_t first,
                    Matrix<std::int64_t> ends, std::size_t n_threads) {
    require(x.rows.n_features == forest.n_features, "the rows must have the forest's features");
    require(ends.shape(0) == x.rows.n_rows && first + ends.shape(1) <= forest.n_trees(),
            "ends must fit the rows and the trees");
    require_source(forest);
    run_kernel([&](Interrupt& interrupt) {
        find_ends(forest, x.rows, first, first + ends.shape(1), ends.data(), Run{n_threads},
                  interrupt);
    });
}

template <class Value>
void add_end_sums_into(const PackedForest<Value>& forest, const RowArrays<Value>& x,
                       Vector<const double> weight,
                       std::optional<Matrix<const std::int32_t>> column,
                       std::optional<Matrix<const double>> value, Cube sums,
                       std::size_t n_threads) {
    const std::size_t n_rows = x.rows.n_rows, n_sums = sums.shape(1), n_parts = sums.shape(2);
    require(x.rows.n_features == forest.n_features, "the rows must have the forest's features");
    require(sums.shape(0) == forest.n_nodes() && (n_parts == 1 || n_parts == 2),
            "sums must fit the forest");
    require_source(forest);
    require(column.has_value() != value.has_value(), "rows have a class or a number");
    require(weight.size() == n_rows && (column ? column->shape(0) : value->shape(0)) == n_rows,
            "targets and weight must fit the rows");
    if (column)
        for (std::size_t i = 0; i < column->size(); ++i) {
            const std::int32_t at = column->data()[i];
            require(at >= 0 && static_cast<std::size_t>(at) < n_sums, "column must lie in sums");
        }
    else require(n_sums == 1 + 2 * value->shape(1) && n_parts == 2, "sums must fit the outputs");
    const RowTargets targets{column ? column->shape(1) : value->shape(1), weight.data(),
                             column ? column->data() : nullptr, value ? value->data() : nullptr};
    run_kernel([&](Interrupt& interrupt) {
        add_end_sums(forest, x.rows, targets, NodeSums{sums.data(), n_sums, n_parts},
                     Run{n_threads}, interrupt);
    });
}

template <class Value>
void saabas_into(const PackedForest<Value>& forest, const RowArrays<Value>& x,
                 Matrix<const double> value, Vector<const double> scale, Cube out,
                 std::size_t n_threads) {
    require(x.rows.n_features == forest.n_features, "the rows must have the forest's features");
    require(value.shape(0) == forest.n_nodes() && scale.size() == forest.n_trees(),
            "value and scale must fit the forest");
    require_source(forest);
    require(out.shape(0) == x.rows.n_rows && out.shape(1) == forest.n_features &&
                out.shape(2) == value.shape(1),
            "out must fit the rows, the features and the values");
    run_kernel([&](Interrupt& interrupt) {
        saabas(forest, x.rows, {value.data(), value.size()}, {scale.data(), scale.size()},
               out.data(), Run{n_threads}, interrupt);
    });
}

std::span<const double> optional_span(const std::optional<Column<double>>& column) {
    return column ? as_span(*column) : std::span<const double>();
}

template <class Value>
bool all_finite_in(const nb::ndarray<const Value, nb::c_contig, nb::device::cpu>& values) {
    const nb::gil_scoped_release release;
    return all_finite(std::span<const Value>(values.data(), values.size()));
}

template <class Value>
void bind_for(nb::module_& m, const std::string& bits) {
    m.def("all_finite", &all_finite_in<Value>, "values"_a.noconvert(),
          "Whether no value of an array is infinite or missing.");
    nb::class_<RowArrays<Value>>(m, ("Rows" + bits).c_str(),
                                 "Rows for the kernels, dense or compressed.")
        .def(nb::init<const Matrix<const Value>&>(), "data"_a.noconvert())
        .def(nb::init<const Vector<const Value>&, const Vector<const std::int64_t>&,
                      const Vector<const std::int64_t>&, std::size_t>(),
             "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_features"_a);
    nb::class_<PackedForest<Value>>(m, ("Packed" + bits).c_str(),
                                    "A forest in the order of its paths.")
        .def(
            "__init__",
            [](PackedForest<Value>* self, const NodeTable& table,
               std::optional<Column<double>> credit, std::optional<Column<double>> remainder,
               Column<double> tree_weight) {
                const ForestView view = table.view();
                require(tree_weight.size() == view.n_trees(),
                        "tree_weight must have one entry per tree");
                require(!credit || credit->size() == view.n_nodes(),
                        "credit must have one entry per node");
                require(!remainder || remainder->size() == view.n_nodes(),
                        "remainder must have one entry per node");
                const nb::gil_scoped_release release;
                new (self) PackedForest<Value>(pack<Value>(
                    view, {optional_span(credit), optional_span(remainder)}, as_span(tree_weight)));
            },
            "table"_a, "credit"_a.none(), "remainder"_a.none(), "tree_weight"_a)
        .def_prop_ro("knows_nodes", &knows_nodes<Value>,
                     "Whether packed nodes have their numbers in the table, which only "
                     "`local_mdi` and its kind can do without.")
        .def("local_mdi", &local_mdi_into<Value>, "rows"_a, "values"_a.noconvert(),
             "residual"_a.noconvert(), "standard_error"_a.none().noconvert(), "n_threads"_a,
             "simd"_a = true)
        .def("add_weighted_mdi", &add_weighted_into<Value>, "rows"_a, "first_tree"_a,
             "weights"_a.noconvert(), "values"_a.noconvert(), "residual"_a.noconvert(),
             "n_threads"_a)
        .def("sparse_local_mdi", &sparse<Value>, "rows"_a, "n_threads"_a)
        .def("find_ends", &find_ends_into<Value>, "rows"_a, "first_tree"_a, "ends"_a.noconvert(),
             "n_threads"_a)
        .def("add_end_sums", &add_end_sums_into<Value>, "rows"_a, "weight"_a.noconvert(),
             "column"_a.none().noconvert(), "value"_a.none().noconvert(), "sums"_a.noconvert(),
             "n_threads"_a)
        .def("saabas", &saabas_into<Value>, "rows"_a, "value"_a.noconvert(), "scale"_a.noconvert(),
             "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_explain(nb::module_& m) {
    bind_for<float>(m, "32");
    bind_for<double>(m, "64");
}

}  // namespace localmdi::bindings
