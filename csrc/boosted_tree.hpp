// Boosting: a symmetric tree is fitted to the slopes of a loss, and a step is taken by it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "scratch.hpp"
#include "symmetric_tree.hpp"

namespace mercer {

// What the next tree is fitted to, and what it changes.
struct BoostedRows {
    const double* targets;  // (n_all, n_targets)
    const double* weights;  // (n_all,): 0 for rows that are predicted only
    const double* judges;   // (n_all,): the weights of the rows whose squared errors are summed
    double* scores;         // (n_all, n_targets)
    double* expected;       // (n_all, n_targets): the targets that the scores expect
    int64_t n_targets;
    bool logistic;  // the loss log(1 + exp(-2 y f)), else the squared error
};

struct BoostedTree {
    TreeSplits<int32_t> splits;
    double* values;  // (2^depth, n_targets)
    double* errors;  // (n_targets,): weighted sums of squared errors of the judges
};

namespace boosting {
namespace {

#define MERCER_LANE_BYTES 16
#include "lanes.hpp"
#include "exponential.hpp"
#undef MERCER_LANE_BYTES

}  // namespace

// Slopes (n, k) and curvatures (n, q) of the loss at the scores: q is 1 where all targets share the weight of the row.
struct Derivatives {
    double *slopes, *curvatures, *weights;
    int64_t q;
};

// K is the number of targets where it is 1, else 0: loops over one target cost more than their bodies.
template <int K>
Derivatives derivatives(const BoostedRows& rows, int64_t n) {
    const int64_t k = K ? K : rows.n_targets, q = rows.logistic ? k : 1;
    auto* memory = static_cast<double*>(scratch(Slot::tree_slopes, n * (k + q + 1) * int64_t(sizeof(double))));
    const Derivatives out = {memory, memory + n * k, q == 1 ? memory + n * k : memory + n * (k + q), q};
    for (int64_t i = 0; i < n; ++i) {
        const double weight = rows.weights[i];
        double total = 0;
        for (int64_t j = 0; j < k; ++j) {
            const double expected = rows.expected[i * k + j];
            out.slopes[i * k + j] = (rows.targets[i * k + j] - expected) * weight;
            if (!rows.logistic) continue;
            out.curvatures[i * k + j] = (1.0 - expected * expected) * weight;
            total += out.curvatures[i * k + j];
        }
        out.weights[i] = rows.logistic ? total / static_cast<double>(k) : weight;
    }
    return out;
}

// The cell of each row; the first level is the highest bit. A tree has at most 256 cells.
inline std::vector<uint8_t> cells(const uint8_t* codes, int64_t n_all, const TreeSplits<int32_t>& tree) {
    std::vector<uint8_t> found(n_all, 0);
    for (int64_t level = 0; level < tree.depth; ++level) {
        const uint8_t* column = codes + tree.columns[level] * n_all;
        const auto bin = static_cast<uint8_t>(tree.bins[level]);
        for (int64_t i = 0; i < n_all; ++i) found[i] = static_cast<uint8_t>(2 * found[i] + (column[i] > bin));
    }
    return found;
}

// Write the value of each cell, a damped Newton step.
template <int K>
void write_values(const std::vector<uint8_t>& cell, const Derivatives& slopes, int64_t n_targets, double penalty,
                  double rate, const BoostedTree& out) {
    const int64_t n_cells = int64_t(1) << out.splits.depth, k = K ? K : n_targets, q = K ? K : slopes.q;
    std::vector<double> curvatures(n_cells * q, 0.0);
    std::fill(out.values, out.values + n_cells * k, 0.0);
    for (size_t i = 0; i < cell.size(); ++i) {
        for (int64_t j = 0; j < k; ++j) out.values[cell[i] * k + j] += slopes.slopes[i * k + j];
        for (int64_t j = 0; j < q; ++j) curvatures[cell[i] * q + j] += slopes.curvatures[i * q + j];
    }
    for (int64_t v = 0; v < n_cells; ++v) {
        for (int64_t j = 0; j < k; ++j) {
            out.values[v * k + j] *= rate / (curvatures[v * q + (q == 1 ? 0 : j)] + penalty);
        }
    }
}

// In float: a cell adds many slopes, and the next tree mends an error.
inline void hyperbolic_tangents(const double* scores, int64_t count, double* out) {
    constexpr int64_t kBlock = 256;
    float e[kBlock];
    for (int64_t start = 0; start < count; start += kBlock) {
        const int64_t size = std::min(kBlock, count - start);
        for (int64_t i = 0; i < size; ++i) e[i] = -2.0f * std::fabs(static_cast<float>(scores[start + i]));
        exp_all(e, size);
        for (int64_t i = 0; i < size; ++i) {
            out[start + i] = std::copysign((1.0f - e[i]) / (1.0f + e[i]), static_cast<float>(scores[start + i]));
        }
    }
}

// Add to the scores of each row the value of its cell, and sum the errors of the judges.
template <int K>
void step(const std::vector<uint8_t>& cell, const BoostedRows& rows, const BoostedTree& out) {
    const int64_t n = static_cast<int64_t>(cell.size()), k = K ? K : rows.n_targets;
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) rows.scores[i * k + j] += out.values[cell[i] * k + j];
    }
    if (rows.logistic) {
        hyperbolic_tangents(rows.scores, n * k, rows.expected);
    } else {
        std::copy(rows.scores, rows.scores + n * k, rows.expected);
    }
    std::fill(out.errors, out.errors + k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) {
            const double residual = rows.targets[i * k + j] - rows.expected[i * k + j];
            out.errors[j] += rows.judges[i] * residual * residual;
        }
    }
}

template <int K>
int64_t boost(const BinnedRows& data, const BoostedRows& rows, double penalty, double rate, BoostedTree out) {
    const Derivatives slopes = derivatives<K>(rows, data.n_all);
    out.splits.depth = grow_symmetric_tree(data, {slopes.slopes, slopes.weights, rows.n_targets}, penalty, out.splits);
    const std::vector<uint8_t> cell = cells(data.codes, data.n_all, out.splits);
    write_values<K>(cell, slopes, rows.n_targets, penalty, rate, out);
    step<K>(cell, rows, out);
    return out.splits.depth;
}

}  // namespace boosting

// Fit a tree to the slopes of the loss, and take a step by it. Return how many levels it has.
inline int64_t boost_symmetric_tree(const BinnedRows& data, const BoostedRows& rows, double penalty, double rate,
                                    const BoostedTree& out) {
    using boosting::boost;
    return rows.n_targets == 1 ? boost<1>(data, rows, penalty, rate, out) : boost<0>(data, rows, penalty, rate, out);
}

}  // namespace mercer
