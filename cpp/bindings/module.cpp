// Table of contents of localmdi._core; each room of cpp/ has a file of its own beside this one.
#include "module.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Kernels of localmdi. Arguments are checked by the Python code that calls them.";
    localmdi::bindings::bind_support(m);
    localmdi::bindings::bind_forest(m);
    localmdi::bindings::bind_explain(m);
    localmdi::bindings::bind_records(m);
    localmdi::bindings::bind_honest(m);
    localmdi::bindings::bind_account(m);
    localmdi::bindings::bind_grow(m);
    localmdi::bindings::bind_infinite(m);
}
