#include "localmdi/explain/honest.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "forest.hpp"
#include "module.hpp"
#include "support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {

using explain::HonestRules;
using explain::HonestSums;
using explain::HonestTrees;
using explain::InBagRows;
using explain::RoutedRows;
using explain::Run;

namespace {

using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto flat(const Array& array) {
    return std::span<typename Array::Scalar>(array.data(), array.size());
}

template <class Array>
auto flat(const std::optional<Array>& array) {
    return array ? flat(*array) : std::span<typename Array::Scalar>();
}

// Rows with their leaves, labels and signs.
struct RowArrays {
    Matrix<const std::int64_t> leaf;
    Matrix<const double> held;
    Matrix<const std::int32_t> column;
    Matrix<const double> value;
    std::optional<Matrix<const std::int8_t>> signs;

    std::size_t n_rows() const { return leaf.shape(0); }
    RoutedRows view() const {
        return {flat(leaf), flat(held), {column.shape(1), flat(column), flat(value)}, flat(signs)};
    }
};

// Where values are added up.
struct SumArrays {
    Matrix<double> values;
    std::optional<Matrix<double>> squares;
    std::optional<Cube> signed_values;
    Vector<double> weight;

    HonestSums view() const {
        return {values.data(), flat(squares).data(), flat(signed_values).data(), weight.data()};
    }
};

// Trees of a forest, with the arrays that they look at.
class Block {
public:
    Block(const NodeTable& table, std::size_t first, const Matrix<const double>& law,
          const Vector<const double>& n_outputs, const HonestRules& rules, std::size_t n_signs)
        : table_(table),
          first_(first),
          law_(law),
          n_outputs_(n_outputs),
          trees_(checked(), first, first + n_outputs.size(), flat(law_), flat(n_outputs_), rules,
                 n_signs) {}

    void add(const RowArrays& rows, std::size_t n_threads) {
        check(rows);
        run_kernel(
            [&](Interrupt& interrupt) { trees_.add(rows.view(), Run{n_threads}, interrupt); });
    }

    void sum_up(std::size_t n_threads) {
        run_kernel([&](Interrupt& interrupt) { trees_.sum_up(Run{n_threads}, interrupt); });
    }

    void set_forms(std::size_t n_threads) {
        run_kernel([&](Interrupt& interrupt) { trees_.set_forms(Run{n_threads}, interrupt); });
    }

    void credits(const Vector<double>& amount,
                 const std::optional<Matrix<double>>& signed_amount) const {
        const std::size_t n = table_.view().n_nodes();
        require(amount.size() == n, "amount must have one entry per node");
        require(!signed_amount ||
                    (signed_amount->shape(0) == trees_.n_signs() && signed_amount->shape(1) == n),
                "signed_amount must have one row per sign, one entry per node");
        const nb::gil_scoped_release release;
        trees_.credits(flat(amount), flat(signed_amount));
    }

    void explain(const RowArrays& rows, const Vector<const double>& tree_weight,
                 const SumArrays& sums, std::size_t n_threads) const {
        check(rows);
        const std::size_t n = rows.n_rows();
        const auto p = static_cast<std::size_t>(table_.view().n_features);
        const auto fits = [&](const Matrix<double>& m) {
            return m.shape(0) == n && m.shape(1) == p;
        };
        require(tree_weight.size() == trees_.n_trees(), "tree_weight must fit the trees");
        require(
            fits(sums.values) && (!sums.squares || fits(*sums.squares)) && sums.weight.size() == n,
            "the sums must fit the rows and the features");
        require(sums.signed_values.has_value() == (trees_.n_signs() > 0) &&
                    (!sums.signed_values || sums.signed_values->size() == n * p * trees_.n_signs()),
                "signed_values must fit the rows, the features and the signs");
        run_kernel([&](Interrupt& interrupt) {
            trees_.explain(rows.view(), flat(tree_weight), sums.view(), Run{n_threads}, interrupt);
        });
    }

    void influence(const RowArrays& rows, const std::optional<Matrix<const double>>& in_bag,
                   const Vector<const double>& node_weight, const Vector<const double>& tree_weight,
                   const Matrix<double>& out, const Matrix<double>& in,
                   std::size_t n_threads) const {
        check(rows);
        const auto p = static_cast<std::size_t>(table_.view().n_features);
        const auto fits = [&](const Matrix<double>& m) {
            return m.shape(0) == rows.n_rows() && m.shape(1) == p;
        };
        require(fits(out) && fits(in), "out and in must fit the rows and the features");
        require(
            !in_bag || (in_bag->shape(0) == trees_.n_trees() && in_bag->shape(1) == rows.n_rows()),
            "in_bag must fit the trees and the rows");
        require(
            tree_weight.size() == trees_.n_trees() && node_weight.size() == table_.view().n_nodes(),
            "tree_weight must fit the trees, node_weight the nodes");
        run_kernel([&](Interrupt& interrupt) {
            trees_.influence(rows.view(), InBagRows{flat(in_bag), flat(node_weight)},
                             flat(tree_weight), {out.data(), in.data()}, Run{n_threads}, interrupt);
        });
    }

    void counts(const Vector<double>& reached) const {
        require(reached.size() == table_.view().n_nodes(), "reached must have one entry per node");
        trees_.counts(flat(reached));
    }

private:
    forest::ForestView checked() const {
        const forest::ForestView view = table_.view();
        require(n_outputs_.size() > 0 && first_ + n_outputs_.size() <= view.n_trees(),
                "n_outputs must have one entry per tree of the block");
        require(law_.shape(0) == view.n_nodes() && law_.shape(1) > 0,
                "law must have one row per node");
        return view;
    }

    void check(const RowArrays& rows) const {
        const std::size_t n = rows.n_rows(), n_trees = trees_.n_trees();
        require(rows.leaf.shape(1) == n_trees && rows.held.shape(0) == n_trees &&
                    rows.held.shape(1) == n,
                "leaf and held must fit the rows and the trees");
        require(rows.column.shape(0) == n && rows.value.shape(0) == n &&
                    rows.column.shape(1) == rows.value.shape(1) && rows.column.shape(1) > 0,
                "column and value must have the same entries for every row");
        require((rows.signs ? rows.signs->shape(1) : 0) == trees_.n_signs() &&
                    (!rows.signs || rows.signs->shape(0) == n),
                "signs must fit the rows");
        const auto n_columns = static_cast<std::int32_t>(law_.shape(1));
        for (const std::int32_t c : flat(rows.column))
            require(0 <= c && c < n_columns, "column must lie within the law");
        const auto offset = table_.view().tree_offset;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t t = 0; t < n_trees; ++t) {
                const std::int64_t leaf = rows.leaf.data()[i * n_trees + t];
                require(offset[first_ + t] <= leaf && leaf < offset[first_ + t + 1],
                        "leaf must be a node of its tree");
            }
    }

    NodeTable table_;
    std::size_t first_;
    Matrix<const double> law_;
    Vector<const double> n_outputs_;
    HonestTrees trees_;
};

}  // namespace

void bind_honest(nb::module_& m) {
    nb::class_<HonestRules>(m, "HonestRules", "Criterion, and how many rows an edge needs.")
        .def(nb::init<support::Criterion, std::size_t>(), "criterion"_a, "min_rows"_a);
    nb::class_<RowArrays>(m, "RoutedRows", "Rows with their leaves, labels and signs.")
        .def(nb::init<Matrix<const std::int64_t>, Matrix<const double>, Matrix<const std::int32_t>,
                      Matrix<const double>, std::optional<Matrix<const std::int8_t>>>(),
             "leaf"_a.noconvert(), "held"_a.noconvert(), "column"_a.noconvert(),
             "value"_a.noconvert(), "signs"_a.noconvert().none());
    nb::class_<SumArrays>(m, "HonestSums", "Where the values of held-out rows are added up.")
        .def(nb::init<Matrix<double>, std::optional<Matrix<double>>, std::optional<Cube>,
                      Vector<double>>(),
             nb::kw_only(), "values"_a.noconvert(), "squares"_a.noconvert().none(),
             "signed_values"_a.noconvert().none(), "weight"_a.noconvert());
    nb::class_<Block>(m, "HonestTrees", "Some trees and the rows that they have not seen.")
        .def(nb::init<const NodeTable&, std::size_t, const Matrix<const double>&,
                      const Vector<const double>&, const HonestRules&, std::size_t>(),
             "table"_a, "first_tree"_a, "law"_a.noconvert(), "n_outputs"_a.noconvert(), "rules"_a,
             "n_signs"_a = 0)
        .def("add", &Block::add, "rows"_a, "n_threads"_a, "Add held-out rows.")
        .def("sum_up", &Block::sum_up, "n_threads"_a, "After the last row was added.")
        .def("set_forms", &Block::set_forms, "n_threads"_a,
             "After the sums: the linear forms of all edges.")
        .def("credits", &Block::credits, "amount"_a.noconvert(),
             "signed_amount"_a.noconvert().none(),
             "Fill in the amounts of the nodes of these trees, for rows that were not added.")
        .def("explain", &Block::explain, "rows"_a, "tree_weight"_a.noconvert(), "sums"_a,
             "n_threads"_a, "Explain rows that were added.")
        .def("influence", &Block::influence, "rows"_a, "in_bag"_a.noconvert().none(),
             "node_weight"_a.noconvert(), "tree_weight"_a.noconvert(), "out"_a.noconvert(),
             "in_bag_parts"_a.noconvert(), "n_threads"_a,
             "Add what each row has to do with the mean gain.")
        .def("counts", &Block::counts, "reached"_a.noconvert(),
             "Fill in how many held-out rows reached each node of these trees.");
}

}  // namespace localmdi::bindings
