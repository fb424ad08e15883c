#include "localmdi/explain/account.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "forest.hpp"
#include "module.hpp"
#include "support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {

using explain::Moves;
using explain::Run;
using explain::UnseenRows;

namespace {

template <class Array>
auto flat(const Array& array) {
    return std::span<typename Array::Scalar>(array.data(), array.size());
}

struct UnseenArrays {
    std::size_t first_tree;
    Matrix<const std::int64_t> leaf;
    Matrix<const std::uint8_t> unseen;

    std::size_t n_rows() const { return leaf.shape(0); }
    UnseenRows view() const { return {first_tree, leaf.shape(1), flat(leaf), flat(unseen)}; }
};

// The account, with the arrays that it looks at.
class Account {
public:
    Account(const NodeTable& table, const Matrix<const double>& value,
            const Vector<const double>& tree_weight)
        : table_(table),
          value_(value),
          tree_weight_(tree_weight),
          account_(checked(), flat(value_), flat(tree_weight_)) {}

    void add_ends(const UnseenArrays& rows, const Matrix<double>& start, const Matrix<double>& end,
                  const Vector<double>& weight, std::size_t n_threads) const {
        check(rows);
        const auto fits = [&](const Matrix<double>& m) {
            return m.shape(0) == rows.n_rows() && m.shape(1) == account_.n_columns();
        };
        require(fits(start) && fits(end) && weight.size() == rows.n_rows(),
                "start, end and weight must fit the rows and the columns");
        run_kernel([&](Interrupt& interrupt) {
            account_.add_ends(rows.view(), flat(start), flat(end), flat(weight), Run{n_threads},
                              interrupt);
        });
    }

    void add_credits(const UnseenArrays& rows, const Matrix<const std::int32_t>& column,
                     const Matrix<const double>& weight, const Matrix<double>& credit,
                     std::size_t n_threads) const {
        const Moves moves = read(rows, column, weight, {});
        require(is_by_feature(rows, credit), "credit must fit the rows and the features");
        run_kernel([&](Interrupt& interrupt) {
            account_.add_credits(rows.view(), moves, flat(credit), Run{n_threads}, interrupt);
        });
    }

    void measure_spread(const UnseenArrays& rows, const Matrix<const std::int32_t>& column,
                        const Matrix<const double>& weight, const Matrix<const double>& slope,
                        const Matrix<double>& variance, const Matrix<double>& excess,
                        std::size_t n_threads) const {
        require(slope.shape(0) == weight.shape(0) && slope.shape(1) == weight.shape(1),
                "slope must fit the weights");
        const Moves moves = read(rows, column, weight, flat(slope));
        require(is_by_feature(rows, variance) && is_by_feature(rows, excess),
                "variance and excess must fit the rows and the features");
        run_kernel([&](Interrupt& interrupt) {
            account_.measure_spread(rows.view(), moves, flat(variance), flat(excess),
                                    Run{n_threads}, interrupt);
        });
    }

private:
    forest::ForestView checked() const {
        const forest::ForestView view = table_.view();
        require(value_.shape(0) == view.n_nodes() && value_.shape(1) > 0,
                "value must have one row per node");
        require(tree_weight_.size() == view.n_trees(), "tree_weight must have one entry per tree");
        return view;
    }

    bool is_by_feature(const UnseenArrays& rows, const Matrix<double>& table) const {
        return table.shape(0) == rows.n_rows() && table.shape(1) == account_.n_features();
    }

    Moves read(const UnseenArrays& rows, const Matrix<const std::int32_t>& column,
               const Matrix<const double>& weight, std::span<const double> slope) const {
        check(rows);
        require(column.shape(0) == rows.n_rows() && weight.shape(0) == rows.n_rows() &&
                    column.shape(1) == weight.shape(1) && column.shape(1) > 0,
                "column and weight must have the same entries for every row");
        const auto n_columns = static_cast<std::int32_t>(account_.n_columns());
        for (const std::int32_t c : flat(column))
            require(0 <= c && c < n_columns, "column must lie within the values");
        return {column.shape(1), flat(column), flat(weight), slope};
    }

    void check(const UnseenArrays& rows) const {
        const std::size_t n_trees = rows.leaf.shape(1);
        require(rows.first_tree + n_trees <= account_.n_trees() &&
                    rows.unseen.shape(0) == n_trees && rows.unseen.shape(1) == rows.n_rows(),
                "leaf and unseen must fit the rows and the trees");
        const auto n_nodes = static_cast<std::int64_t>(account_.n_nodes());
        for (const std::int64_t leaf : flat(rows.leaf))
            require(0 <= leaf && leaf < n_nodes, "leaf must be a node");
    }

    NodeTable table_;
    Matrix<const double> value_;
    Vector<const double> tree_weight_;
    explain::Account account_;
};

}  // namespace

void bind_account(nb::module_& m) {
    nb::class_<UnseenArrays>(m, "UnseenRows", "Rows, their leaves, and which trees saw them not.")
        .def(nb::init<std::size_t, Matrix<const std::int64_t>, Matrix<const std::uint8_t>>(),
             "first_tree"_a, "leaf"_a.noconvert(), "unseen"_a.noconvert());
    nb::class_<Account>(m, "Account", "Divides what predictions gain among the features.")
        .def(nb::init<const NodeTable&, const Matrix<const double>&, const Vector<const double>&>(),
             "table"_a, "value"_a.noconvert(), "tree_weight"_a.noconvert())
        .def("add_ends", &Account::add_ends, "rows"_a, "start"_a.noconvert(), "end"_a.noconvert(),
             "weight"_a.noconvert(), "n_threads"_a,
             "Add up values of roots, of leaves, and weights.")
        .def("add_credits", &Account::add_credits, "rows"_a, "column"_a.noconvert(),
             "weight"_a.noconvert(), "credit"_a.noconvert(), "n_threads"_a,
             "Add the credits of the rows.")
        .def("measure_spread", &Account::measure_spread, "rows"_a, "column"_a.noconvert(),
             "weight"_a.noconvert(), "slope"_a.noconvert(), "variance"_a.noconvert(),
             "excess"_a.noconvert(), "n_threads"_a,
             "Fill in the credits' variance over trees, and what they have too much.");
}

}  // namespace localmdi::bindings
