// The node table of a Forest, as Python hands it to the kernels.
#pragma once

#include <cstdint>

#include "localmdi/forest/forest_view.hpp"
#include "support.hpp"

namespace localmdi::bindings {

// One field of the table: a vector of exactly this type, never a converted copy.
template <class T>
using Column = Vector<const T>;

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

    forest::ForestView view() const;
};

}  // namespace localmdi::bindings
