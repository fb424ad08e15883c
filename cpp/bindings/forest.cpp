#include "forest.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "localmdi/forest/binary_tree.hpp"
#include "localmdi/forest/credits.hpp"
#include "localmdi/forest/subtree_sums.hpp"
#include "localmdi/forest/validate.hpp"
#include "module.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {
namespace {

using Offsets = Column<std::int64_t>;
using CodeAndNode = std::pair<std::string, std::size_t>;

std::optional<CodeAndNode> problem(const NodeTable& table) {
    const nb::gil_scoped_release release;
    const auto found = forest::validate(table.view());
    if (!found) return std::nullopt;
    return CodeAndNode{found->code, found->node};
}

template <class T>
using Field = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;

template <class T>
forest::Strided<T> strided(const Field<T>& field, std::size_t n_nodes) {
    if (field.size() != n_nodes)
        throw std::invalid_argument("the arrays of the tree have unequal lengths");
    return {field.data(), field.stride(0)};
}

// Holds the arrays of the table while trees are written into them.
class Writer {
public:
    Writer(Vector<std::int32_t> feature, Vector<std::uint8_t> split_kind, Vector<double> threshold,
           Vector<std::int64_t> child_offset, Vector<std::int64_t> child,
           Vector<std::int32_t> missing_child, Vector<double> weight, Vector<double> impurity)
        : owners_(nb::make_tuple(feature, split_kind, threshold, child_offset, child, missing_child,
                                 weight, impurity)),
          writer_({as_span(feature), as_span(split_kind), as_span(threshold), as_span(child_offset),
                   as_span(child), as_span(missing_child), as_span(weight), as_span(impurity)}) {}

    void append(const Field<std::int64_t>& left, const Field<std::int64_t>& right,
                const Field<std::int64_t>& feature, const Field<double>& threshold,
                const Field<double>& weight, const Field<double>& impurity,
                const std::optional<Field<std::uint8_t>>& missing_goes_left,
                const std::optional<Offsets>& column) {
        const std::size_t n = left.size();
        forest::BinaryTree tree{n,
                                strided(left, n),
                                strided(right, n),
                                strided(feature, n),
                                strided(threshold, n),
                                strided(weight, n),
                                strided(impurity, n),
                                {},
                                {}};
        if (missing_goes_left) tree.missing_goes_left = strided(*missing_goes_left, n);
        if (column) tree.column = {column->data(), column->size()};
        writer_.append(tree);
    }

    std::size_t n_nodes() const { return writer_.n_nodes(); }

private:
    nb::object owners_;
    forest::NodeWriter writer_;
};

using Sums = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ConstSums = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void add_subtrees(const NodeTable& table, std::size_t first_tree, std::size_t last_tree,
                  Sums sums) {
    const forest::ForestView view = table.view();
    require(first_tree <= last_tree && last_tree <= view.n_trees(),
            "the trees must be the table's");
    const forest::NodeRange nodes{static_cast<std::size_t>(view.tree_offset[first_tree]),
                                  static_cast<std::size_t>(view.tree_offset[last_tree])};
    require(sums.shape(0) == nodes.last - nodes.first, "sums must have one row per node");
    require(sums.shape(2) == 1 || sums.shape(2) == 2, "sums must have one or two parts");
    const nb::gil_scoped_release release;
    if (sums.shape(2) == 1) forest::add_children(view, nodes, sums.data(), sums.shape(1));
    else
        forest::add_children(view, nodes, reinterpret_cast<support::DoubleDouble*>(sums.data()),
                             sums.shape(1));
}

void merge_sums(Sums sums, ConstSums other) {
    require(sums.shape(2) == 2 && other.shape(2) == 2 && sums.size() == other.size(),
            "sums must have the same shape and two parts");
    auto* const into = reinterpret_cast<support::DoubleDouble*>(sums.data());
    const auto* const from = reinterpret_cast<const support::DoubleDouble*>(other.data());
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < sums.size() / 2; ++i) into[i] = into[i] + from[i];
}

void center_moments(ConstSums sums, Sums moments) {
    const std::size_t n_outputs = moments.shape(1);
    require(sums.shape(0) == moments.shape(0) && sums.shape(1) == 1 + 2 * n_outputs &&
                sums.shape(2) == 2 && moments.shape(2) == 4,
            "moments must fit the sums");
    const auto* const from = reinterpret_cast<const support::DoubleDouble*>(sums.data());
    const nb::gil_scoped_release release;
    for (std::size_t node = 0; node < sums.shape(0); ++node)
        forest::center_moments(from + node * sums.shape(1), n_outputs,
                               moments.data() + node * n_outputs * 4);
}

}  // namespace

forest::ForestView NodeTable::view() const {
    return {.n_features = n_features,
            .tree_offset = as_span(tree_offset),
            .feature = as_span(feature),
            .split_kind = as_span(split_kind),
            .threshold = as_span(threshold),
            .child_offset = as_span(child_offset),
            .child = as_span(child),
            .missing_child = as_span(missing_child),
            .category_offset = as_span(category_offset),
            .category_bits = as_span(category_bits)};
}

static void bind_node_sums(nb::module_& m) {
    m.def(
        "edge_drops",
        [](const NodeTable& table, Column<double> level, Vector<double> amount) {
            const std::size_t n = table.view().n_nodes();
            require(level.size() == n && amount.size() == n, "level and amount must fit the nodes");
            const nb::gil_scoped_release release;
            forest::edge_drops(table.view(), as_span(level), amount.data());
        },
        "table"_a, "level"_a.noconvert(), "amount"_a.noconvert(),
        "Fill in for every node how much the level falls on the edge from its parent.");
    m.def(
        "edge_gains",
        [](const NodeTable& table, Matrix<const double> law, support::Criterion criterion,
           Vector<double> amount) {
            const std::size_t n = table.view().n_nodes();
            require(law.shape(0) == n && amount.size() == n, "law and amount must fit the nodes");
            const nb::gil_scoped_release release;
            forest::edge_gains(table.view(), {law.data(), law.size()}, criterion, amount.data());
        },
        "table"_a, "law"_a.noconvert(), "criterion"_a, "amount"_a.noconvert(),
        "Fill in for every node the gain of the edge from its parent.");
    m.def(
        "add_children",
        [](const NodeTable& table, Matrix<double> sums) {
            const std::size_t n = table.view().n_nodes();
            require(sums.shape(0) == n, "sums must have one row per node");
            forest::add_children(table.view(), {0, n}, sums.data(), sums.shape(1));
        },
        "table"_a, "sums"_a.noconvert(),
        "Add to every node's row of sums those of the nodes below it.");
    m.def("add_subtrees", &add_subtrees, "table"_a, "first_tree"_a, "last_tree"_a,
          "sums"_a.noconvert(),
          "Add to the sums of every node of some trees, (nodes, sums, parts), those below it.");
    m.def("merge_sums", &merge_sums, "sums"_a.noconvert(), "other"_a.noconvert(),
          "Add other sums of two parts to these.");
    m.def("center_moments", &center_moments, "sums"_a.noconvert(), "moments"_a.noconvert(),
          "Fill in (nodes, outputs, 4): the mean, and Σw, Σw(y − mean), Σw(y − mean)².");
}

void bind_forest(nb::module_& m) {
    nb::class_<NodeTable>(m, "NodeTable", "The node table of a forest; keeps its arrays alive.")
        .def(nb::init<std::int64_t, Offsets, Column<std::int32_t>, Column<std::uint8_t>,
                      Column<double>, Offsets, Offsets, Column<std::int32_t>, Offsets,
                      Column<std::uint64_t>>(),
             nb::kw_only(), "n_features"_a, "tree_offset"_a.noconvert(), "feature"_a.noconvert(),
             "split_kind"_a.noconvert(), "threshold"_a.noconvert(), "child_offset"_a.noconvert(),
             "child"_a.noconvert(), "missing_child"_a.noconvert(), "category_offset"_a.noconvert(),
             "category_bits"_a.noconvert())
        .def("problem", &problem,
             "None if the table is a forest, else the code of the broken rule and the node.");
    nb::class_<Writer>(m, "NodeWriter", "Writes binary trees into the arrays of a node table.")
        .def(nb::init<Vector<std::int32_t>, Vector<std::uint8_t>, Vector<double>,
                      Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int32_t>,
                      Vector<double>, Vector<double>>(),
             nb::kw_only(), "feature"_a.noconvert(), "split_kind"_a.noconvert(),
             "threshold"_a.noconvert(), "child_offset"_a.noconvert(), "child"_a.noconvert(),
             "missing_child"_a.noconvert(), "weight"_a.noconvert(), "impurity"_a.noconvert())
        .def("append", &Writer::append, nb::kw_only(), "left"_a.noconvert(), "right"_a.noconvert(),
             "feature"_a.noconvert(), "threshold"_a.noconvert(), "weight"_a.noconvert(),
             "impurity"_a.noconvert(), "missing_goes_left"_a.noconvert().none(),
             "column"_a.noconvert().none(),
             "Copy one tree; ValueError if it does not fit or is no binary tree.")
        .def_prop_ro("n_nodes", &Writer::n_nodes, "Nodes written so far.");
    bind_node_sums(m);
}

}  // namespace localmdi::bindings
