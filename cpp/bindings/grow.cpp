#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "localmdi/grow/grow.hpp"
#include "localmdi/grow/row_draws.hpp"
#include "module.hpp"
#include "support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {

using grow::GrownTrees;
using grow::GrowRules;
using support::Criterion;

namespace {

using Flags = Vector<const std::uint8_t>;

// Each of these holds the arrays, so that they outlive every view.
struct RowsArg {
    nb::object owners;
    grow::TrainingRows view;

    RowsArg(Matrix<const float> columns, Flags categorical, Flags missing,
            Vector<const double> weight)
        : owners(nb::make_tuple(columns, categorical, missing, weight)),
          view{columns.shape(1),     columns.shape(0), {columns.data(), columns.size()},
               as_span(categorical), as_span(missing), as_span(weight)} {
        require(view.n_rows > 0 && view.n_rows < (std::size_t{1} << 32) - 1,
                "there must be 1 to 2**32 - 2 rows");
        require(categorical.size() == view.n_features && missing.size() == view.n_features,
                "categorical and missing must have one entry per feature");
        require(weight.size() == view.n_rows, "weight must have one entry per row");
        // Codes index tables, and float32 holds no larger one exactly.
        for (std::size_t f = 0; f < view.n_features; ++f)
            require(!view.categorical[f] || valid_codes({view.column(f), view.n_rows}),
                    "categories must be whole numbers from 0 to 2**24");
    }

    static bool valid_codes(std::span<const float> codes) {
        return std::all_of(codes.begin(), codes.end(), [](float c) {
            return c >= 0 && c <= 16777216 &&
                   static_cast<float>(static_cast<std::uint32_t>(c)) == c;
        });
    }
};

struct TargetArg {
    nb::object owner;
    std::size_t n_rows;
    grow::Target view;

    TargetArg(Vector<const std::uint32_t> label, std::size_t n_classes, Criterion criterion)
        : owner(nb::cast(label)),
          n_rows(label.size()),
          view{criterion, n_classes, as_span(label), {}} {
        require(criterion != Criterion::variance, "the criterion must be one for classes");
        require(n_classes > 0, "there must be a class");
        require(std::all_of(view.label.begin(), view.label.end(),
                            [&](auto c) { return c < n_classes; }),
                "labels must lie below n_classes");
    }

    explicit TargetArg(Matrix<const double> response)
        : owner(nb::cast(response)),
          n_rows(response.shape(0)),
          view{Criterion::variance, response.shape(1), {}, {response.data(), response.size()}} {
        require(view.n_values > 0, "there must be an output");
    }
};

using Sums = std::optional<Matrix<double>>;

struct SumsArg {
    nb::object owners;
    std::size_t n, p;
    std::size_t n_predicted = 0;  // columns of out_of_bag
    grow::GrowSums view;

    // held_out: honest values only.
    SumsArg(Matrix<double> values, Vector<double> residual, Matrix<double> feature,
            Vector<double> root, Sums chunk_squares, Sums out_of_bag,
            std::optional<Vector<double>> held_out)
        : owners(
              nb::make_tuple(values, residual, feature, root, chunk_squares, out_of_bag, held_out)),
          n(values.shape(0)),
          p(values.shape(1)) {
        require(residual.size() == n && feature.shape(0) == 3 && feature.shape(1) == p &&
                    root.size() == 2,
                "residual, feature and root must fit values");
        require(!chunk_squares || (chunk_squares->shape(0) == n && chunk_squares->shape(1) == p),
                "chunk_squares must have the shape of values");
        require(!out_of_bag || out_of_bag->shape(0) == n, "out_of_bag must have one line per row");
        require(!held_out || held_out->size() == n, "held_out must have one entry per row");
        if (out_of_bag) n_predicted = out_of_bag->shape(1);
        const auto data = [](const auto& array) { return array ? array->data() : nullptr; };
        double* const f = feature.data();
        view = {values.data(), data(chunk_squares), residual.data(), f, f + p, f + 2 * p,
                root.data(),   data(out_of_bag),    data(held_out)};
    }
};

void grow_into(const RowsArg& rows, const TargetArg& target, const GrowRules& rules,
               std::pair<std::size_t, std::size_t> range, const SumsArg& sums, GrownTrees* trees,
               std::size_t n_threads) {
    require(target.n_rows == rows.view.n_rows && sums.n == rows.view.n_rows &&
                sums.p == rows.view.n_features,
            "target and sums must fit the rows");
    require(!sums.view.out_of_bag || sums.n_predicted == target.view.n_values + 1,
            "out_of_bag must have a column per value and one more");
    require(!rules.balance_draws || target.view.criterion != Criterion::variance,
            "balance_draws must not be set without classes");
    require(
        rules.honest == (sums.view.held_out != nullptr) && (!rules.honest || rules.n_draws == 0),
        "honest values need held_out, and no bootstrap");
    require(!trees || trees->n_values == target.view.n_values, "trees must fit the target");
    run_kernel([&](Interrupt& interrupt) {
        grow::grow(rows.view, target.view, rules, {range.first, range.second}, sums.view, trees,
                   n_threads, interrupt);
    });
}

nb::dict arrays(const GrownTrees& trees) {
    grow::ForestArrays table;
    {
        const nb::gil_scoped_release release;
        table = to_arrays(trees);
    }
    nb::dict out;
    out["tree_offset"] = to_array(std::move(table.tree_offset));
    out["feature"] = to_array(std::move(table.feature));
    out["split_kind"] = to_array(std::move(table.split_kind));
    out["threshold"] = to_array(std::move(table.threshold));
    out["child_offset"] = to_array(std::move(table.child_offset));
    out["child"] = to_array(std::move(table.child));
    out["missing_child"] = to_array(std::move(table.missing_child));
    out["category_offset"] = to_array(std::move(table.category_offset));
    out["category_bits"] = to_array(std::move(table.category_bits));
    out["weight"] = to_array(std::move(table.weight));
    out["impurity"] = to_array(std::move(table.impurity));
    out["value"] = to_array(std::move(table.value));
    return out;
}

void bind_rules(nb::module_& m) {
    nb::class_<GrowRules>(m, "GrowRules", "How to grow; sizes are numbers of rows.")
        .def(nb::init<>())
        .def_rw("seed", &GrowRules::seed)
        .def_rw("max_features", &GrowRules::max_features)
        .def_prop_rw(
            "theory_draw", [](const GrowRules& r) { return r.draw == grow::Draw::theory; },
            [](GrowRules& r, bool theory) {
                r.draw = theory ? grow::Draw::theory : grow::Draw::sklearn;
            })
        .def_rw("max_depth", &GrowRules::max_depth)
        .def_rw("min_samples_split", &GrowRules::min_samples_split)
        .def_rw("min_samples_leaf", &GrowRules::min_samples_leaf)
        .def_rw("min_weight_leaf", &GrowRules::min_weight_leaf)
        .def_rw("min_impurity_decrease", &GrowRules::min_impurity_decrease)
        .def_rw("n_draws", &GrowRules::n_draws)
        .def_rw("balance_draws", &GrowRules::balance_draws)
        .def_rw("honest", &GrowRules::honest)
        .def_rw("min_rows", &GrowRules::min_rows);
}

}  // namespace

void bind_grow(nb::module_& m) {
    nb::class_<RowsArg>(m, "TrainingRows", "Feature-major rows to grow on, categories as codes.")
        .def(nb::init<Matrix<const float>, Flags, Flags, Vector<const double>>(),
             "columns"_a.noconvert(), "categorical"_a.noconvert(), "missing"_a.noconvert(),
             "weight"_a.noconvert());
    nb::class_<TargetArg>(m, "Target", "Class labels, or responses (n_rows, n_outputs).")
        .def(nb::init<Vector<const std::uint32_t>, std::size_t, Criterion>(), "label"_a.noconvert(),
             "n_classes"_a, "criterion"_a)
        .def(nb::init<Matrix<const double>>(), "response"_a.noconvert());
    bind_rules(m);
    nb::class_<SumsArg>(m, "GrowSums", "Sums over trees, added to in place.")
        .def(nb::init<Matrix<double>, Vector<double>, Matrix<double>, Vector<double>, Sums, Sums,
                      std::optional<Vector<double>>>(),
             "values"_a.noconvert(), "residual"_a.noconvert(), "feature"_a.noconvert(),
             "root"_a.noconvert(), "chunk_squares"_a.none().noconvert(),
             "out_of_bag"_a.none().noconvert(), "held_out"_a.none().noconvert());
    nb::class_<GrownTrees>(m, "GrownTrees", "The nodes of grown trees, in compact form.")
        .def(
            "__init__",
            [](GrownTrees* self, std::size_t n_values) {
                new (self) GrownTrees();
                self->n_values = n_values;
            },
            "n_values"_a)
        .def("arrays", &arrays, "The vectors of the node table; value is flat.");
    m.def("grow", &grow_into, "rows"_a, "target"_a, "rules"_a, "range"_a, "sums"_a,
          "trees"_a.none(), "n_threads"_a, "Grow trees: range is the first one and their number.");
    m.def(
        "times_counted",
        [](std::size_t n_rows, const GrowRules& rules, std::size_t tree) {
            return to_array(grow::times_counted(n_rows, rules, tree));
        },
        "n_rows"_a, "rules"_a, "tree"_a, "How often a tree counts each row, drawn again.");
    m.attr("GROW_CHUNK") = grow::kChunk;
}

}  // namespace localmdi::bindings
