#pragma once

#include <nanobind/nanobind.h>

namespace localmdi {

// The kernels of the infinite forest.
void bind_infinite(nanobind::module_& m);

}  // namespace localmdi
