// One symmetric tree: all nodes of a level are split by the same column at the same bin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace mercer {

struct BinnedRows {
    const uint8_t* codes;    // (n_columns, n_all): the bin of each row, column by column
    int64_t n_all;
    const int32_t* rows;     // (n_rows,): the rows that the tree sees
    int64_t n_rows;
    const double* sums;      // (n_rows, n_sums): weight times each target, and at last the weight
    int64_t n_sums;
    const int32_t* columns;  // (n_columns,): the columns that may split
    int64_t n_columns;
    int64_t n_bins;
};

struct TreeSplits {
    int32_t* columns;  // (depth,)
    int32_t* bins;     // (depth,): rows of a larger bin go to the right
    int64_t depth;
};

namespace symmetric_tree {

// sum_k g_k^2 / (w + penalty): what a cell with these sums takes off the squared error.
inline double explained(const double* sums, int64_t n_sums, double penalty) {
    double squares = 0;
    for (int64_t k = 0; k + 1 < n_sums; ++k) squares += sums[k] * sums[k];
    return squares / (sums[n_sums - 1] + penalty);
}

struct Best {
    double gain;
    int64_t column, bin;
};

// Q is the number of sums where it is known at compile time, else 0: one target is the usual case.
template <int Q>
class Level {
  public:
    Level(const BinnedRows& data, double penalty)
        : data_(data), penalty_(penalty), node_(data.n_rows, 0), codes_(data.n_columns * data.n_rows) {
        for (int64_t c = 0; c < data.n_columns; ++c) {  // the codes of the seen rows, side by side for all levels
            const uint8_t* codes = data.codes + data.columns[c] * data.n_all;
            uint8_t* seen = &codes_[c * data.n_rows];
            for (int64_t i = 0; i < data.n_rows; ++i) seen[i] = codes[data.rows[i]];
        }
    }

    // The split of the largest gain; the first one of equal gains. The column is a place in data.columns.
    Best best(int64_t n_nodes) {
        Best found = {explained_by(totals(n_nodes), n_nodes), -1, -1};
        found.gain += 1e-12 * found.gain;
        for (int64_t c = 0; c < data_.n_columns; ++c) scan(c, n_nodes, found);
        return found;
    }

    void split(int64_t c, int64_t bin) {
        const uint8_t* codes = &codes_[c * data_.n_rows];
        for (int64_t i = 0; i < data_.n_rows; ++i) node_[i] = 2 * node_[i] + (codes[i] > bin);
    }

  private:
    int64_t n_sums() const { return Q ? Q : data_.n_sums; }

    const std::vector<double>& totals(int64_t n_nodes) {
        totals_.assign(n_nodes * n_sums(), 0.0);
        for (int64_t i = 0; i < data_.n_rows; ++i) add(&totals_[node_[i] * n_sums()], i);
        return totals_;
    }

    double explained_by(const std::vector<double>& sums, int64_t n_nodes) const {
        double all = 0;
        for (int64_t v = 0; v < n_nodes; ++v) all += explained(&sums[v * n_sums()], n_sums(), penalty_);
        return all;
    }

    void add(double* target, int64_t i) const {
        const double* sums = data_.sums + i * n_sums();
        for (int64_t k = 0; k < n_sums(); ++k) target[k] += sums[k];
    }

    void scan(int64_t c, int64_t n_nodes, Best& found) {
        const int64_t q = n_sums(), n_bins = data_.n_bins;
        const uint8_t* codes = &codes_[c * data_.n_rows];
        cells_.assign((n_nodes * n_bins + 256) * q, 0.0);  // a code beyond n_bins would stay inside
        for (int64_t i = 0; i < data_.n_rows; ++i) add(&cells_[(node_[i] * n_bins + codes[i]) * q], i);
        gains_.assign(n_bins, 0.0);
        left_.resize(q);
        right_.resize(q);
        for (int64_t v = 0; v < n_nodes; ++v) {
            if (Q == 2) {
                add_gains(&cells_[v * n_bins * 2], &totals_[v * 2]);
                continue;
            }
            std::fill(left_.begin(), left_.end(), 0.0);
            for (int64_t b = 0; b + 1 < n_bins; ++b) {
                const double* cell = &cells_[(v * n_bins + b) * q];
                for (int64_t k = 0; k < q; ++k) {
                    left_[k] += cell[k];
                    right_[k] = totals_[v * q + k] - left_[k];
                }
                right_[q - 1] = std::max(right_[q - 1], 0.0);  // a difference of weights, rounded
                gains_[b] += explained(left_.data(), q, penalty_) + explained(right_.data(), q, penalty_);
            }
        }
        for (int64_t b = 0; b + 1 < n_bins; ++b) {
            if (gains_[b] > found.gain) found = {gains_[b], c, b};
        }
    }

    // The gains of one node for one target: (g, w) of each bin become sums up to the bin, and then gains, in two loops.
    void add_gains(double* cells, const double* total) {
        const int64_t n_splits = data_.n_bins - 1;
        for (int64_t b = 1; b < n_splits; ++b) {
            cells[2 * b] += cells[2 * b - 2];
            cells[2 * b + 1] += cells[2 * b - 1];
        }
        double* gains = gains_.data();
        for (int64_t b = 0; b < n_splits; ++b) {
            const double g = cells[2 * b], w = cells[2 * b + 1], rest = total[0] - g;
            const double left = w + penalty_, right = std::max(total[1] - w, 0.0) + penalty_;
            gains[b] += g * g / left + rest * rest / right;
        }
    }

    const BinnedRows& data_;
    double penalty_;
    std::vector<int32_t> node_;
    std::vector<uint8_t> codes_;
    std::vector<double> totals_, cells_, gains_, left_, right_;
};

template <int Q>
int64_t grow(const BinnedRows& data, double penalty, const TreeSplits& out) {
    Level<Q> level(data, penalty);
    for (int64_t depth = 0; depth < out.depth; ++depth) {
        const Best best = level.best(int64_t(1) << depth);
        if (best.column < 0) return depth;
        out.columns[depth] = data.columns[best.column];
        out.bins[depth] = static_cast<int32_t>(best.bin);
        level.split(best.column, best.bin);
    }
    return out.depth;
}

}  // namespace symmetric_tree

// Write the splits of a tree; return how many levels it has. A level without a gain ends the tree.
inline int64_t grow_symmetric_tree(const BinnedRows& data, double penalty, const TreeSplits& out) {
    if (data.n_sums == 2) return symmetric_tree::grow<2>(data, penalty, out);
    return symmetric_tree::grow<0>(data, penalty, out);
}

}  // namespace mercer
