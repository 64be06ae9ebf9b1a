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
    const double* slopes;    // (n_all, n_targets): what pulls each target of a row
    const double* weights;   // (n_all,)
    int64_t n_targets;
    const int32_t* columns;  // (n_columns,): the columns that may split
    const int32_t* n_bins;   // (n_columns,): their bins
    int64_t n_columns;
};

template <class Index>
struct TreeSplits {
    Index* columns;  // (depth,)
    Index* bins;     // (depth,): rows of a larger bin go to the right
    int64_t depth;
};

// What a tree adds to the scores of all rows.
struct TreeStep {
    const double* slopes;      // (n_all, n_targets)
    const double* curvatures;  // (n_all, n_targets) or, shared by the targets, (n_all, 1)
    int64_t n_targets, n_curvatures;
    double penalty, rate;
    double* values;            // (2^depth, n_targets)
    double* scores;            // (n_all, n_targets)
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

// Q is the number of sums where it is known at compile time, else 0: one target, or one per class of a few.
template <int Q>
class Level {
  public:
    Level(const BinnedRows& data, double penalty)
        : data_(data),
          penalty_(penalty),
          node_(data.n_rows, 0),
          codes_(data.n_columns * data.n_rows),
          sums_(data.n_rows * (data.n_targets + 1)) {
        for (int64_t i = 0; i < data.n_rows; ++i) {
            double* sums = &sums_[i * n_sums()];
            const int64_t row = data.rows[i];
            for (int64_t k = 0; k + 1 < n_sums(); ++k) sums[k] = data.slopes[row * data.n_targets + k];
            sums[n_sums() - 1] = data.weights[row];
        }
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
    // The slopes of the targets, and at last the weight.
    int64_t n_sums() const { return Q ? Q : data_.n_targets + 1; }

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
        const double* sums = &sums_[i * n_sums()];
        if (Q == 2) {  // both are read before one is written: they share one vector
            const double g = target[0] + sums[0], w = target[1] + sums[1];
            target[0] = g;
            target[1] = w;
            return;
        }
        for (int64_t k = 0; k < n_sums(); ++k) target[k] += sums[k];
    }

    void scan(int64_t c, int64_t n_nodes, Best& found) {
        const int64_t q = n_sums(), n_bins = data_.n_bins[c];
        const uint8_t* codes = &codes_[c * data_.n_rows];
        cells_.assign((n_nodes * n_bins + 256) * q, 0.0);  // a code beyond n_bins would stay inside
        for (int64_t i = 0; i < data_.n_rows; ++i) add(&cells_[(node_[i] * n_bins + codes[i]) * q], i);
        gains_.assign(n_bins, 0.0);
        left_.resize(q);
        for (int64_t v = 0; v < n_nodes; ++v) {
            if (Q == 2) {
                add_gains(&cells_[v * n_bins * 2], &totals_[v * 2], n_bins - 1);
                continue;
            }
            if (Q > 2) {
                add_gains_of_few(&cells_[v * n_bins * q], &totals_[v * q], n_bins - 1);
                continue;
            }
            std::fill(left_.begin(), left_.end(), 0.0);
            for (int64_t b = 0; b + 1 < n_bins; ++b) {
                gains_[b] += gain(&cells_[(v * n_bins + b) * q], &totals_[v * q], left_.data(), q - 1);
            }
        }
        for (int64_t b = 0; b + 1 < n_bins; ++b) {
            if (gains_[b] > found.gain) found = {gains_[b], c, b};
        }
    }

    // The gains of one node for one target: (g, w) of each bin become sums up to the bin, and then gains, in two loops.
    // Both sides of a split share one division.
    void add_gains(double* cells, const double* total, int64_t n_splits) {
        for (int64_t b = 1; b < n_splits; ++b) {
            cells[2 * b] += cells[2 * b - 2];
            cells[2 * b + 1] += cells[2 * b - 1];
        }
        double* gains = gains_.data();
        for (int64_t b = 0; b < n_splits; ++b) {
            const double g = cells[2 * b], w = cells[2 * b + 1], rest = total[0] - g;
            const double left = w + penalty_, right = std::max(total[1] - w, 0.0) + penalty_;
            gains[b] += (g * g * right + rest * rest * left) / (left * right);
        }
    }

    // The gains of one node for a few targets.
    void add_gains_of_few(const double* cells, const double* total, int64_t n_splits) {
        constexpr int size = Q > 2 ? Q : 3;
        double left[size] = {};
        for (int64_t b = 0; b < n_splits; ++b) gains_[b] += gain(cells + b * size, total, left, size - 1);
    }

    // Adds a bin to the sums on the left of a split, and returns what both sides take off the loss. Two sums of squares
    // per side do not wait for each other.
    double gain(const double* cell, const double* total, double* left, int64_t k) const {
        double l[2] = {}, r[2] = {};
        for (int64_t j = 0; j < k; ++j) {
            left[j] += cell[j];
            const double rest = total[j] - left[j];
            l[j % 2] += left[j] * left[j];
            r[j % 2] += rest * rest;
        }
        left[k] += cell[k];
        const double w = left[k] + penalty_, rest = std::max(total[k] - left[k], 0.0) + penalty_;
        return ((l[0] + l[1]) * rest + (r[0] + r[1]) * w) / (w * rest);
    }

    const BinnedRows& data_;
    double penalty_;
    std::vector<int32_t> node_;
    std::vector<uint8_t> codes_;
    std::vector<double> sums_, totals_, cells_, gains_, left_;
};

template <int Q>
int64_t grow(const BinnedRows& data, double penalty, const TreeSplits<int32_t>& out) {
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

// The cell of each row; the first level is the highest bit. A tree has at most 256 cells.
inline std::vector<uint8_t> cells(const uint8_t* codes, int64_t n_all, const TreeSplits<const int32_t>& tree) {
    std::vector<uint8_t> found(n_all, 0);
    for (int64_t level = 0; level < tree.depth; ++level) {
        const uint8_t* column = codes + tree.columns[level] * n_all;
        const auto bin = static_cast<uint8_t>(tree.bins[level]);
        for (int64_t i = 0; i < n_all; ++i) found[i] = static_cast<uint8_t>(2 * found[i] + (column[i] > bin));
    }
    return found;
}

}  // namespace symmetric_tree

// Write the splits of a tree; return how many levels it has. A level without a gain ends the tree.
inline int64_t grow_symmetric_tree(const BinnedRows& data, double penalty, const TreeSplits<int32_t>& out) {
    using symmetric_tree::grow;
    switch (data.n_targets) {
        case 1: return grow<2>(data, penalty, out);
        case 3: return grow<4>(data, penalty, out);
        case 4: return grow<5>(data, penalty, out);
        case 5: return grow<6>(data, penalty, out);
        case 6: return grow<7>(data, penalty, out);
        case 7: return grow<8>(data, penalty, out);
        case 8: return grow<9>(data, penalty, out);
        case 9: return grow<10>(data, penalty, out);
        case 10: return grow<11>(data, penalty, out);
        default: return grow<0>(data, penalty, out);
    }
}

// Write the value of each cell, a damped Newton step, and add to the scores of each row the value of its cell.
inline void step_by_symmetric_tree(const uint8_t* codes, int64_t n_all, const TreeSplits<const int32_t>& tree,
                                   const TreeStep& step) {
    const std::vector<uint8_t> cell = symmetric_tree::cells(codes, n_all, tree);
    const int64_t n_cells = int64_t(1) << tree.depth, k = step.n_targets, q = step.n_curvatures;
    std::vector<double> curvatures(n_cells * q, 0.0);
    std::fill(step.values, step.values + n_cells * k, 0.0);
    for (int64_t i = 0; i < n_all; ++i) {
        for (int64_t j = 0; j < k; ++j) step.values[cell[i] * k + j] += step.slopes[i * k + j];
        for (int64_t j = 0; j < q; ++j) curvatures[cell[i] * q + j] += step.curvatures[i * q + j];
    }
    for (int64_t v = 0; v < n_cells; ++v) {
        for (int64_t j = 0; j < k; ++j) {
            step.values[v * k + j] *= step.rate / (curvatures[v * q + (q == 1 ? 0 : j)] + step.penalty);
        }
    }
    for (int64_t i = 0; i < n_all; ++i) {
        for (int64_t j = 0; j < k; ++j) step.scores[i * k + j] += step.values[cell[i] * k + j];
    }
}

}  // namespace mercer
