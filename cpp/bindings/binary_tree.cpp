#include "binary_tree.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "localmdi/binary_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi {
namespace {

template <class T>
using Field = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Strided<T> strided(const Field<T>& field, std::size_t n_nodes) {
    if (field.size() != n_nodes)
        throw std::invalid_argument("the arrays of the tree have unequal lengths");
    return {field.data(), field.stride(0)};
}

template <class T>
std::span<T> writable(const Output<T>& array) {
    return {array.data(), array.size()};
}

// Holds the arrays of the table while trees are written into them.
class Writer {
public:
    Writer(Output<std::int32_t> feature, Output<std::uint8_t> split_kind, Output<double> threshold,
           Output<std::int64_t> child_offset, Output<std::int64_t> child,
           Output<std::int32_t> missing_child, Output<double> weight, Output<double> impurity)
        : feature_(feature),
          split_kind_(split_kind),
          threshold_(threshold),
          child_offset_(child_offset),
          child_(child),
          missing_child_(missing_child),
          weight_(weight),
          impurity_(impurity),
          writer_({writable(feature), writable(split_kind), writable(threshold),
                   writable(child_offset), writable(child), writable(missing_child),
                   writable(weight), writable(impurity)}) {}

    void append(const Field<std::int64_t>& left, const Field<std::int64_t>& right,
                const Field<std::int64_t>& feature, const Field<double>& threshold,
                const Field<double>& weight, const Field<double>& impurity,
                const std::optional<Field<std::uint8_t>>& missing_goes_left,
                const std::optional<Columns>& column) {
        const std::size_t n = left.size();
        BinaryTree tree{n,
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
    Output<std::int32_t> feature_;
    Output<std::uint8_t> split_kind_;
    Output<double> threshold_;
    Output<std::int64_t> child_offset_, child_;
    Output<std::int32_t> missing_child_;
    Output<double> weight_, impurity_;
    NodeWriter writer_;
};

}  // namespace

void bind_binary_tree(nb::module_& m) {
    nb::class_<Writer>(m, "NodeWriter", "Writes binary trees into the arrays of a node table.")
        .def(nb::init<Output<std::int32_t>, Output<std::uint8_t>, Output<double>,
                      Output<std::int64_t>, Output<std::int64_t>, Output<std::int32_t>,
                      Output<double>, Output<double>>(),
             nb::kw_only(), "feature"_a.noconvert(), "split_kind"_a.noconvert(),
             "threshold"_a.noconvert(), "child_offset"_a.noconvert(), "child"_a.noconvert(),
             "missing_child"_a.noconvert(), "weight"_a.noconvert(), "impurity"_a.noconvert())
        .def("append", &Writer::append, nb::kw_only(), "left"_a.noconvert(), "right"_a.noconvert(),
             "feature"_a.noconvert(), "threshold"_a.noconvert(), "weight"_a.noconvert(),
             "impurity"_a.noconvert(), "missing_goes_left"_a.noconvert().none(),
             "column"_a.noconvert().none(),
             "Copy one tree; ValueError if it does not fit or is no binary tree.")
        .def_prop_ro("n_nodes", &Writer::n_nodes, "Nodes written so far.");
}

}  // namespace localmdi
