#include "support.hpp"

#include "localmdi/support/criterion.hpp"
#include "module.hpp"

namespace nb = nanobind;

namespace localmdi::bindings {

void bind_support(nb::module_& m) {
    using support::Criterion;
    nb::enum_<Criterion>(m, "Criterion", "Impurities that the kernels compute.")
        .value("entropy", Criterion::entropy)
        .value("gini", Criterion::gini)
        .value("variance", Criterion::variance);
}

}  // namespace localmdi::bindings
