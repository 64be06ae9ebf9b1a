// The module _core; its typed stub is src/mercer/_core.pyi.

#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

#include "plan.hpp"

namespace mercer {
namespace {

void use_simd(const std::string& name) {
    if (use_level(name)) return;
    std::string known;
    for (const std::string& level : level_names()) known += (known.empty() ? "'" : ", '") + level + "'";
    fail("name must be one of " + known + ", got '" + name + "'.");
}

}  // namespace
}  // namespace mercer

NB_MODULE(_core, m) {
    m.doc() = "Compiled primitives, equal to their namesakes in mercer.reference up to rounding.";
    mercer::bind_features(m);
    mercer::bind_learners(m);
    mercer::bind_structures(m);
    mercer::bind_graphs(m);
    mercer::bind_budget(m);
    mercer::bind_trees(m);
    mercer::bind_leaves(m);
    m.def("is_smooth", &mercer::is_smooth, nanobind::arg("n"));
    m.def("simd_level", [] { return std::string(mercer::current_level().name); });
    m.def("simd_levels", &mercer::level_names);
    m.def("has_wider_registers", &mercer::has_wider_registers);
    m.def("use_simd", &mercer::use_simd, nanobind::arg("name"));
    const char* wanted = std::getenv("MERCER_SIMD");
    if (wanted && *wanted) mercer::use_simd(wanted);
}
