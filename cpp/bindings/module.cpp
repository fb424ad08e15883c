// Table of contents of localmdi._core; each topic has a file of its own beside this one.
#include <nanobind/nanobind.h>

#include "binary_tree.hpp"
#include "explain.hpp"
#include "grow.hpp"
#include "infinite.hpp"
#include "table.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Kernels of localmdi. Arguments are checked by the Python code that calls them.";
    localmdi::bind_table(m);
    localmdi::bind_binary_tree(m);
    localmdi::bind_explain(m);
    localmdi::bind_grow(m);
    localmdi::bind_infinite(m);
}
