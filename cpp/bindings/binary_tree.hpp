// Copies binary trees of other libraries into a node table.
#pragma once

#include <nanobind/nanobind.h>

namespace localmdi {

void bind_binary_tree(nanobind::module_& m);

}  // namespace localmdi
