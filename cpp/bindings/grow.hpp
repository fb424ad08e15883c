// The kernel that grows forests.
#pragma once

#include <nanobind/nanobind.h>

namespace localmdi {

void bind_grow(nanobind::module_& m);

}  // namespace localmdi
