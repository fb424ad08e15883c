// What every binding needs: array types, checks, a run without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "localmdi/support/parallel.hpp"

namespace localmdi::bindings {

using support::Interrupt;

template <class T>
using Matrix = nanobind::ndarray<T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Vector = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// The array must outlive the span.
template <class T>
std::span<T> as_span(const Vector<T>& array) {
    return {array.data(), array.size()};
}

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// Runs a kernel without the interpreter lock; Ctrl-C is looked for while it runs.
template <class Kernel>
void run_kernel(Kernel kernel) {
    Interrupt interrupt([] {
        const nanobind::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() != 0;
    });
    try {
        const nanobind::gil_scoped_release release;
        kernel(interrupt);
    } catch (const support::Interrupted&) {
        throw nanobind::python_error();
    }
}

// A vector as a NumPy array that owns it.
template <class Container>
nanobind::object to_array(Container&& values) {
    using Kept = std::remove_cvref_t<Container>;
    auto* const kept = new Kept(std::move(values));
    const nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, typename Kept::value_type, nanobind::ndim<1>>(
            kept->data(), {kept->size()}, owner));
}

}  // namespace localmdi::bindings
