// What each file of this folder adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace localmdi::bindings {

void bind_support(nanobind::module_& m);   // the codes of the criteria
void bind_forest(nanobind::module_& m);    // node tables: checks, writing, sums over subtrees
void bind_explain(nanobind::module_& m);   // the kernels that take a packed forest and rows
void bind_records(nanobind::module_& m);   // trees that are read where a model keeps them
void bind_honest(nanobind::module_& m);    // values of rows that the trees have not seen
void bind_account(nanobind::module_& m);   // the loss of a prediction, divided among features
void bind_grow(nanobind::module_& m);      // the kernel that grows forests
void bind_infinite(nanobind::module_& m);  // the kernels of the infinite forest

}  // namespace localmdi::bindings
