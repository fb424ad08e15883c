#include "table.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

#include "localmdi/validate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi {
namespace {

using Offsets = Column<std::int64_t>;
using CodeAndNode = std::pair<std::string, std::size_t>;

std::optional<CodeAndNode> problem(const NodeTable& table) {
    const nb::gil_scoped_release release;
    const auto found = validate(table.view());
    if (!found) return std::nullopt;
    return CodeAndNode{found->code, found->node};
}

}  // namespace

ForestView NodeTable::view() const {
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

void bind_table(nb::module_& m) {
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
}

}  // namespace localmdi
