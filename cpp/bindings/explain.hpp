// The kernels that take a packed forest and rows.
#pragma once

#include <nanobind/nanobind.h>

namespace localmdi {

void bind_explain(nanobind::module_& m);

}  // namespace localmdi
