// The primitive of leaves.

#include "bindings.hpp"
#include "leaf_inverse.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

template <class Routine>
Routine routine(int64_t address) {
    return reinterpret_cast<Routine>(static_cast<intptr_t>(address));
}

// Matrices come transposed: what is a row here is a column of LAPACK.
template <class T>
bool invert(const Array<const int64_t, 1>& routines, const Array<T, 2>& S, const Array<T, 2>& B,
            const Array<T, 2>& squares, const Array<double, 1>& diagonal) {
    require_equal("len(routines)", static_cast<int64_t>(routines.shape(0)), "the number of routines", 4);
    const int64_t* address = vector<const int64_t>("routines", routines);
    const auto n = static_cast<int64_t>(S.shape(0)), m = static_cast<int64_t>(B.shape(1));
    if (n > INT32_MAX / 2 || m > INT32_MAX / 2) fail("S and B must have fewer than 2^30 rows and columns.");
    require_equal("len(diagonal)", static_cast<int64_t>(diagonal.shape(0)), "len(S)", n);
    const LeafMatrices<T> leaf = {table<T>("S", S, n, n), table<T>("B", B, n, m),
                                  static_cast<int>(n),    static_cast<int>(m),
                                  table<T>("squares", squares, m, m), vector<double>("diagonal", diagonal)};
    const LeafRoutines<T> use = {routine<decltype(LeafRoutines<T>::potrf)>(address[0]),
                                 routine<decltype(LeafRoutines<T>::trtri)>(address[1]),
                                 routine<decltype(LeafRoutines<T>::trmm)>(address[2]),
                                 routine<decltype(LeafRoutines<T>::syrk)>(address[3])};
    const nb::gil_scoped_release released;
    return invert_leaf(use, leaf);
}

template <class T>
void bind(nb::module_& m) {
    m.def("invert_leaf", &invert<T>, "routines"_a.noconvert(), "S"_a.noconvert(), "B"_a.noconvert(),
          "squares"_a.noconvert(), "diagonal"_a.noconvert());
}

}  // namespace

void bind_leaves(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace mercer
