// One symmetric tree: all nodes of a level are split by the same column at the same bin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "scratch.hpp"
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

// Boosting: what the next tree is fitted to, and what it changes.
struct BoostedRows {
    const double* targets;  // (n_all, n_targets)
    const double* weights;  // (n_all,): 0 for rows that are predicted only
    const double* judges;   // (n_all,): the weights of the rows whose squared errors are summed
    double* scores;         // (n_all, n_targets)
    double* expected;       // (n_all, n_targets): the targets that the scores expect
    bool logistic;          // the loss log(1 + exp(-2 y f)), else the squared error
};

struct BoostedTree {
    TreeSplits<int32_t> splits;
    double* values;  // (2^depth, n_targets)
    double* errors;  // (n_targets,): weighted sums of squared errors of the judges
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
//
// The rows of a node lie side by side, so that its sums stay in the first cache. Of two nodes with one parent, the sums
// of the one with fewer rows are made from rows; those of the other are what the parent has beyond them. Cells hold sums
// up to and with each bin: what lies left of a split.
template <int Q>
class Level {
  public:
    Level(const BinnedRows& data, double penalty, int64_t depth)
        : data_(data), penalty_(penalty), starts_{0, data.n_rows}, offsets_(data.n_columns) {
        for (int64_t c = 0; c < data.n_columns; ++c) {
            offsets_[c] = n_cells_;
            n_cells_ += data.n_bins[c];
        }
        take_memory(depth);
        for (int64_t i = 0; i < data.n_rows; ++i) {
            double* sums = sums_ + i * n_sums();
            const int64_t row = data.rows[i];
            order_[i] = static_cast<int32_t>(i);
            for (int64_t k = 0; k + 1 < n_sums(); ++k) sums[k] = data.slopes[row * data.n_targets + k];
            sums[n_sums() - 1] = data.weights[row];
        }
        for (int64_t c = 0; c < data.n_columns; ++c) {  // the codes of the seen rows, a few columns side by side
            const Place place = place_of(c);
            const uint8_t* codes = data.codes + data.columns[c] * data.n_all;
            const int32_t* rows = data.rows;
            uint8_t* seen = codes_ + place.first;
            for (int64_t i = 0, n = data.n_rows; i < n; ++i) seen[i * place.width] = codes[rows[i]];
        }
    }

    // The split of the largest gain; the first one of equal gains. The column is a place in data.columns.
    Best best() {
        fill_cells();
        take_totals();
        Best found = {explained_by(totals_), -1, -1};
        found.gain += 1e-12 * found.gain;
        for (int64_t c = 0; c < data_.n_columns; ++c) scan(c, found);
        return found;
    }

    void split(int64_t c, int64_t bin) {
        const Place place = place_of(c);
        const uint8_t* codes = codes_ + place.first;
        const int64_t q = n_sums();
        std::vector<int64_t> starts{0};
        for (int64_t v = 0; v < n_nodes(); ++v) {
            int64_t left = starts_[v], right = left;
            for (int64_t i = starts_[v]; i < starts_[v + 1]; ++i) right += codes[order_[i] * place.width] <= bin;
            starts.push_back(right);
            starts.push_back(starts_[v + 1]);
            for (int64_t i = starts_[v]; i < starts_[v + 1]; ++i) {
                const bool goes_right = codes[order_[i] * place.width] > bin;
                const int64_t to = goes_right ? right : left;
                right += goes_right;
                left += !goes_right;
                next_order_[to] = order_[i];
                for (int64_t k = 0; k < q; ++k) next_sums_[to * q + k] = sums_[i * q + k];
            }
        }
        starts_.swap(starts);
        std::swap(order_, next_order_);
        std::swap(sums_, next_sums_);
        std::swap(cells_, parents_);
    }

  private:
    // Where the code of the first row in a column is, and how far apart two rows are.
    struct Place {
        int64_t first, width;
    };

    // The slopes of the targets, and at last the weight.
    int64_t n_sums() const { return Q ? Q : data_.n_targets + 1; }
    int64_t n_nodes() const { return static_cast<int64_t>(starts_.size()) - 1; }
    int64_t n_rows_of(int64_t v) const { return starts_[v + 1] - starts_[v]; }

    // Columns go by fours; the last ones, fewer than four, are alone.
    Place place_of(int64_t c) const {
        const int64_t whole = data_.n_columns / 4 * 4;
        return c < whole ? Place{c / 4 * 4 * data_.n_rows + c % 4, 4} : Place{c * data_.n_rows, 1};
    }

    // Levels take turns in two places for cells: the larger one is for the last level, the other for its parents.
    void take_memory(int64_t depth) {
        const int64_t n = data_.n_rows, q = n_sums(), most = depth > 0 ? int64_t(1) << (depth - 1) : 1;
        codes_ = doubled<uint8_t>(Slot::tree_codes, n * data_.n_columns, 0).first;
        std::tie(order_, next_order_) = doubled<int32_t>(Slot::tree_order, n, n);
        std::tie(sums_, next_sums_) = doubled<double>(Slot::tree_sums, n * q, n * q);
        // 256: a code beyond its bins would stay inside
        std::tie(cells_, parents_) =
            doubled<double>(Slot::tree_cells, (most * n_cells_ + 256) * q, (most / 2 * n_cells_ + 256) * q);
        if (depth % 2 == 0) std::swap(cells_, parents_);
    }

    template <class T>
    static std::pair<T*, T*> doubled(Slot slot, int64_t one, int64_t other) {
        T* memory = static_cast<T*>(scratch(slot, (one + other) * static_cast<int64_t>(sizeof(T))));
        return {memory, memory + one};
    }

    // The sums of a node are those up to the last bin of any column; the first one is taken.
    void take_totals() {
        const int64_t q = n_sums(), last = data_.n_bins[0] - 1;
        totals_.resize(n_nodes() * q);
        for (int64_t v = 0; v < n_nodes(); ++v) {
            const double* sums = cells_of(cells_, v) + last * q;
            std::copy(sums, sums + q, &totals_[v * q]);
        }
    }

    double explained_by(const std::vector<double>& sums) const {
        double all = 0;
        for (int64_t v = 0; v < n_nodes(); ++v) all += explained(&sums[v * n_sums()], n_sums(), penalty_);
        return all;
    }

    void add(double* target, int64_t i) const {
        const double* sums = sums_ + i * n_sums();
        if (Q == 2) {  // both are read before one is written: they share one vector
            const double g = target[0] + sums[0], w = target[1] + sums[1];
            target[0] = g;
            target[1] = w;
            return;
        }
        for (int64_t k = 0; k < n_sums(); ++k) target[k] += sums[k];
    }

    double* cells_of(double* cells, int64_t v) const { return cells + v * n_cells_ * n_sums(); }

    void fill_cells() {
        if (n_nodes() == 1) return sum_rows(0);
        const int64_t size = n_cells_ * n_sums();
        for (int64_t v = 0; v < n_nodes(); v += 2) {
            const int64_t few = n_rows_of(v) <= n_rows_of(v + 1) ? v : v + 1;
            sum_rows(few);
            const double *parent = cells_of(parents_, v / 2), *less = cells_of(cells_, few);
            double* rest = cells_of(cells_, v + v + 1 - few);
            for (int64_t i = 0; i < size; ++i) rest[i] = parent[i] - less[i];
        }
    }

    void sum_rows(int64_t v) {
        double* cells = cells_of(cells_, v);
        std::fill(cells, cells + n_cells_ * n_sums(), 0.0);
        int64_t c = 0;
        for (; c + 4 <= data_.n_columns; c += 4) sum_columns<4>(v, c, cells);
        for (; c < data_.n_columns; ++c) sum_columns<1>(v, c, cells);
        for (c = 0; c < data_.n_columns; ++c) accumulate(cells + offsets_[c] * n_sums(), data_.n_bins[c]);
    }

    void accumulate(double* cells, int64_t n_bins) const {
        const int64_t q = n_sums();
        for (int64_t i = q; i < n_bins * q; ++i) cells[i] += cells[i - q];
    }

    // Additions to several columns do not wait for each other, as those to the same cell of one column would.
    template <int kColumns>
    void sum_columns(int64_t v, int64_t c, double* cells) {
        const int64_t q = n_sums();
        const uint8_t* codes = codes_ + c * data_.n_rows;
        double* columns[kColumns];
        for (int j = 0; j < kColumns; ++j) columns[j] = cells + offsets_[c + j] * q;
        for (int64_t i = starts_[v]; i < starts_[v + 1]; ++i) {
            const uint8_t* code = codes + int64_t(order_[i]) * kColumns;
            for (int j = 0; j < kColumns; ++j) add(columns[j] + code[j] * q, i);
        }
    }

    void scan(int64_t c, Best& found) {
        const int64_t q = n_sums(), n_splits = data_.n_bins[c] - 1;
        gains_.assign(n_splits, 0.0);
        for (int64_t v = 0; v < n_nodes(); ++v) {
            add_gains(cells_of(cells_, v) + offsets_[c] * q, &totals_[v * q], n_splits);
        }
        for (int64_t b = 0; b < n_splits; ++b) {
            if (gains_[b] > found.gain) found = {gains_[b], c, b};
        }
    }

    // What both sides of each split of a node take off the loss, over one denominator. Two sums of squares per side do
    // not wait for each other.
    void add_gains(const double* left, const double* total, int64_t n_splits) {
        const int64_t q = n_sums(), k = q - 1;
        const double penalty = penalty_, weight = total[k];
        double* gains = gains_.data();
        if (Q == 2) {  // plain enough for vectors
            const double slope = total[0];
            for (int64_t b = 0; b < n_splits; ++b) {
                const double g = left[2 * b], rest = slope - g;
                const double below = left[2 * b + 1] + penalty;
                const double above = std::max(weight - left[2 * b + 1], 0.0) + penalty;
                gains[b] += (g * g * above + rest * rest * below) / (below * above);
            }
            return;
        }
        for (int64_t b = 0; b < n_splits; ++b) {
            const double* sums = left + b * q;
            double l[2] = {}, r[2] = {};
            for (int64_t j = 0; j < k; ++j) {
                const double rest = total[j] - sums[j];
                l[j % 2] += sums[j] * sums[j];
                r[j % 2] += rest * rest;
            }
            const double below = sums[k] + penalty, above = std::max(weight - sums[k], 0.0) + penalty;
            gains[b] += ((l[0] + l[1]) * above + (r[0] + r[1]) * below) / (below * above);
        }
    }

    const BinnedRows& data_;
    double penalty_;
    std::vector<int64_t> starts_;  // the first row of each node, and the end
    std::vector<int64_t> offsets_;  // the first bin of each column among those of all columns
    int64_t n_cells_ = 0;           // bins of all columns
    uint8_t* codes_ = nullptr;
    int32_t *order_ = nullptr, *next_order_ = nullptr;  // the rows, node by node
    double *sums_ = nullptr, *next_sums_ = nullptr;     // (n_rows, n_sums), in that order
    double *cells_ = nullptr, *parents_ = nullptr;      // (n_nodes, n_cells, n_sums) of this level and of the last one
    std::vector<double> totals_, gains_;
};

template <int Q>
int64_t grow(const BinnedRows& data, double penalty, const TreeSplits<int32_t>& out) {
    Level<Q> level(data, penalty, out.depth);
    for (int64_t depth = 0; depth < out.depth; ++depth) {
        const Best best = level.best();
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

namespace symmetric_tree {

// Slopes (n, k) and curvatures (n, q) of the loss at the scores: q is 1 where all targets share the weight of the row.
struct Derivatives {
    double *slopes, *curvatures, *weights;
    int64_t q;
};

// K is the number of targets where it is 1, else 0: loops over one target cost more than their bodies.
template <int K>
Derivatives derivatives(const BoostedRows& rows, int64_t n, int64_t n_targets) {
    const int64_t k = K ? K : n_targets, q = rows.logistic ? k : 1;
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

// In float: a cell adds many slopes, and the next tree mends an error.
inline double hyperbolic_tangent(double score) {
    const float e = std::exp(-2.0f * std::fabs(static_cast<float>(score))), t = (1.0f - e) / (1.0f + e);
    return score < 0 ? -t : t;
}

// Write the value of each cell, a damped Newton step, and add to the scores of each row the value of its cell.
template <int K>
void step(const uint8_t* codes, int64_t n, int64_t n_targets, const Derivatives& slopes, double penalty, double rate,
          const BoostedRows& rows, const BoostedTree& out) {
    const std::vector<uint8_t> cell = cells(codes, n, {out.splits.columns, out.splits.bins, out.splits.depth});
    const int64_t n_cells = int64_t(1) << out.splits.depth, k = K ? K : n_targets, q = K ? K : slopes.q;
    std::vector<double> curvatures(n_cells * q, 0.0);
    std::fill(out.values, out.values + n_cells * k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) out.values[cell[i] * k + j] += slopes.slopes[i * k + j];
        for (int64_t j = 0; j < q; ++j) curvatures[cell[i] * q + j] += slopes.curvatures[i * q + j];
    }
    for (int64_t v = 0; v < n_cells; ++v) {
        for (int64_t j = 0; j < k; ++j) {
            out.values[v * k + j] *= rate / (curvatures[v * q + (q == 1 ? 0 : j)] + penalty);
        }
    }
    std::fill(out.errors, out.errors + k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) {
            double& score = rows.scores[i * k + j];
            score += out.values[cell[i] * k + j];
            const double expected = rows.logistic ? hyperbolic_tangent(score) : score;
            const double residual = rows.targets[i * k + j] - expected;
            rows.expected[i * k + j] = expected;
            out.errors[j] += rows.judges[i] * residual * residual;
        }
    }
}

template <int K>
int64_t boost(BinnedRows data, const BoostedRows& rows, double penalty, double rate, BoostedTree out) {
    const Derivatives slopes = derivatives<K>(rows, data.n_all, data.n_targets);
    data.slopes = slopes.slopes;
    data.weights = slopes.weights;
    out.splits.depth = grow_symmetric_tree(data, penalty, out.splits);
    step<K>(data.codes, data.n_all, data.n_targets, slopes, penalty, rate, rows, out);
    return out.splits.depth;
}

}  // namespace symmetric_tree

// Fit a tree to the slopes of the loss, and take a step by it. Return how many levels it has.
inline int64_t boost_symmetric_tree(const BinnedRows& data, const BoostedRows& rows, double penalty, double rate,
                                    const BoostedTree& out) {
    using symmetric_tree::boost;
    return data.n_targets == 1 ? boost<1>(data, rows, penalty, rate, out) : boost<0>(data, rows, penalty, rate, out);
}

}  // namespace mercer
