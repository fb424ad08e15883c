// The node table of a Forest, as Python hands it to the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>

#include "localmdi/forest_view.hpp"

namespace localmdi {

// One field of the table: a vector of exactly this type, never a converted copy.
template <class T>
using Column =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::span<const T> as_span(const Column<T>& column) {
    return {column.data(), column.size()};
}

// Holds the arrays, so that they outlive every view.
struct NodeTable {
    std::int64_t n_features;
    Column<std::int64_t> tree_offset;
    Column<std::int32_t> feature;
    Column<std::uint8_t> split_kind;
    Column<double> threshold;
    Column<std::int64_t> child_offset;
    Column<std::int64_t> child;
    Column<std::int32_t> missing_child;
    Column<std::int64_t> category_offset;
    Column<std::uint64_t> category_bits;

    ForestView view() const;
};

void bind_table(nanobind::module_& m);

}  // namespace localmdi
