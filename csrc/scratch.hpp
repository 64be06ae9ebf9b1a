// Working memory of the calling thread, kept between calls because fresh pages cost as much as the arithmetic.
#pragma once

#include <cstdint>

namespace mercer {

enum class Slot {
    hashes,
    spectrum,
    product,
    panel,
    packed_rows,
    packed_weights,
    tree_order,
    tree_sums,
    tree_cells,
    tree_slopes,
    count
};

// Returns at least `bytes` bytes aligned to a cache line, with undefined contents, valid until this thread asks for the
// same slot again. Throws std::bad_alloc.
void* scratch(Slot slot, int64_t bytes);

}  // namespace mercer
