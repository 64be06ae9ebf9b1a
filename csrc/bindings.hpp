// What the files that know Python share: bindings.cpp makes the module, bind_*.cpp fill it.
//
// nanobind would silently copy an array of another dtype or device: noconvert makes it a TypeError.
#pragma once

#include "arguments.hpp"
#include "dispatch.hpp"

namespace mercer {

template <class T>
const Kernels<T>& kernels() {
    if constexpr (sizeof(T) == sizeof(float)) {
        return current_level().float32;
    } else {
        return current_level().float64;
    }
}

template <class T, class I>
const CsrKernels<T, I>& csr_kernels() {
    if constexpr (sizeof(I) == sizeof(int32_t)) {
        return kernels<T>().csr32;
    } else {
        return kernels<T>().csr64;
    }
}

void bind_features(nb::module_& m);
void bind_learners(nb::module_& m);
void bind_structures(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_budget(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_leaves(nb::module_& m);

}  // namespace mercer
