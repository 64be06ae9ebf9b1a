// The scores of rows by symmetric trees whose questions and values are known.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mercer {

struct GrownTrees {
    const int32_t* columns;  // (n_trees, depth)
    const uint8_t* bins;     // (n_trees, depth): rows of a larger bin go to the right; 255 where all go to the left
    const double* values;    // (n_trees 2^depth, n_targets)
    int64_t n_trees, depth, n_targets;
};

namespace tree_scores {

// Rows whose codes and scores stay in the first cache while all trees see them.
constexpr int64_t kBlock = 1024;

// The cell of each of some rows; the first level is the highest bit.
inline void write_cells(const uint8_t* codes, int64_t n_all, int64_t size, const GrownTrees& trees, int64_t t,
                        uint8_t* cell) {
    std::fill_n(cell, size, uint8_t(0));
    for (int64_t level = t * trees.depth; level < (t + 1) * trees.depth; ++level) {
        const uint8_t* column = codes + trees.columns[level] * n_all;
        const uint8_t bin = trees.bins[level];
        for (int64_t i = 0; i < size; ++i) cell[i] = static_cast<uint8_t>(2 * cell[i] + (column[i] > bin));
    }
}

}  // namespace tree_scores

// Add to `scores` (n_all, n_targets) the values of the cells of all rows, tree by tree; codes are (columns, n_all).
inline void add_tree_scores(const uint8_t* codes, int64_t n_all, const GrownTrees& trees, double* scores) {
    using namespace tree_scores;
    uint8_t cell[kBlock];
    const int64_t k = trees.n_targets, n_values = k << trees.depth;
    for (int64_t first = 0; first < n_all; first += kBlock) {
        const int64_t size = std::min(kBlock, n_all - first);
        double* of_block = scores + first * k;
        for (int64_t t = 0; t < trees.n_trees; ++t) {
            write_cells(codes + first, n_all, size, trees, t, cell);
            const double* values = trees.values + t * n_values;
            if (k == 1) {
                for (int64_t i = 0; i < size; ++i) of_block[i] += values[cell[i]];
                continue;
            }
            for (int64_t i = 0; i < size; ++i) {
                for (int64_t j = 0; j < k; ++j) of_block[i * k + j] += values[cell[i] * k + j];
            }
        }
    }
}

}  // namespace mercer
