// Checks that the files with primitives of structured data share.
#pragma once

#include <string>

#include "bindings.hpp"

namespace mercer {

template <class T>
int64_t length(const Array<T, 1>& array) {
    return static_cast<int64_t>(array.shape(0));
}

// n + 1 pointers of n rows that do not decrease and lie in [0, n_items].
inline const int64_t* ascending(const char* name, const Array<const int64_t, 1>& array, int64_t n_items) {
    const int64_t* pointers = vector<const int64_t>(name, array);
    const int64_t n_rows = length(array) - 1;
    if (n_rows < 0) fail(std::string(name) + " must hold n + 1 pointers for n rows, got none.");
    bool inside = pointers[0] >= 0 && pointers[n_rows] <= n_items;
    for (int64_t i = 0; i < n_rows; ++i) inside &= pointers[i] <= pointers[i + 1];
    if (!inside) fail(std::string(name) + " must not decrease and must lie in [0, " + std::to_string(n_items) + "].");
    return pointers;
}

inline void require_at_least(const char* what, int64_t got, int64_t least) {
    if (got >= least) return;
    fail(std::string(what) + " must be at least " + std::to_string(least) + ", got " + std::to_string(got) + ".");
}

}  // namespace mercer
