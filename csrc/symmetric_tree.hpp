// One symmetric tree: all nodes of a level are split by the same column at the same bin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "scratch.hpp"
#include "tree_sums.hpp"
#include "types.hpp"

namespace mercer {

struct BinnedRows {
    const uint8_t* codes;  // (n_tables, n_all): the bin of each row, column by column, then bundle by bundle
    int64_t n_tables, n_all;
    const int32_t* rows;  // (n_rows,): the rows that the tree sees
    int64_t n_rows;
    const int32_t* columns;  // (n_columns,): the columns that may split
    int64_t n_columns;
    const int32_t* n_bins;   // (n_tables,)
    const int32_t* tables;   // the table of each column: its own, or that of its bundle
    const int32_t* members;  // the code of each column in its bundle; -1 for a column without one
};

// What pulls each target of a row (n_all, n_targets), and the weight of a row (n_all,).
struct TreeSlopes {
    const double *slopes, *weights;
    int64_t n_targets;
};

template <class Index>
struct TreeSplits {
    Index* columns;  // (depth,)
    Index* bins;     // (depth,): rows of a larger bin go to the right
    int64_t depth;
};

namespace symmetric_tree {

struct Best {
    float gain;
    int64_t column, bin;
};

// Q is how many numbers the sums of a row take where that is known at compile time, else 0. It is 2 for one target. The
// sums of several targets end with numbers that are 0, up to a multiple of 4.
//
// Slopes and weights are rounded to integers, of at least 15 bits for 32,768 rows. Sums of integers are exact in any
// order: equal splits tie, and columns of a bundle have the sums that they would have alone.
//
// The rows of a node lie side by side, so that its sums stay in the first cache. Of two nodes with one parent, the sums
// of the one with fewer rows are made from rows; those of the other are what the parent has beyond them. Cells of a
// column hold sums up to and with each bin: what lies left of a split. Those of a bundle hold the sums of each code.
template <int Q>
class Level {
  public:
    Level(const BinnedRows& data, const TreeSlopes& slopes, double penalty, int64_t depth)
        : data_(data), n_targets_(slopes.n_targets), starts_{0, data.n_rows}, is_slope_(n_sums()) {
        std::fill_n(is_slope_.begin(), n_targets_, 1.0f);
        choose_tables();
        take_memory(depth);
        round_slopes(slopes, penalty);
    }

    // The split of the largest gain; the first one of equal gains. The column is a place in data.columns.
    Best best() {
        fill_cells();
        take_totals();
        Best found = {0, -1, -1};
        for (int64_t v = 0; v < n_nodes(); ++v) found.gain += explained(&totals_[v * n_sums()]);
        found.gain += found.gain * 0x1p-18f;  // gains are rounded
        for (int64_t c = 0; c < data_.n_columns; ++c) scan(c, found);
        return found;
    }

    void split(int64_t c, int64_t bin) {
        const int32_t member = data_.members[data_.columns[c]];
        if (member < 0) {
            divide(table_of_[c], [bin](uint8_t code) { return code > bin; });
        } else {
            divide(table_of_[c], [member](uint8_t code) { return code == member; });
        }
    }

  private:
    // A column or a bundle: its place in data.codes, and its cells among those of all tables.
    struct Table {
        int64_t row, first, n_cells;
        bool is_bundle;
    };

    // The slopes of the targets, the weight, and what fills them up.
    int64_t n_sums() const { return Q ? Q : (n_targets_ + 4) / 4 * 4; }
    int64_t n_nodes() const { return static_cast<int64_t>(starts_.size()) - 1; }
    int64_t n_tables() const { return static_cast<int64_t>(tables_.size()); }
    int64_t n_rows_of(int64_t v) const { return starts_[v + 1] - starts_[v]; }

    void choose_tables() {
        std::vector<int64_t> place(data_.n_tables, -1);
        for (int64_t c = 0; c < data_.n_columns; ++c) {
            const int32_t column = data_.columns[c], row = data_.tables[column];
            if (place[row] < 0) {
                place[row] = n_tables();
                tables_.push_back({row, n_cells_, data_.n_bins[row], data_.members[column] >= 0});
                n_cells_ += data_.n_bins[row];
            }
            table_of_.push_back(place[row]);
        }
    }

    // Levels take turns in two places for cells: the larger one is for the last level, the other for its parents.
    void take_memory(int64_t depth) {
        const int64_t n = data_.n_rows, q = n_sums(), most = depth > 0 ? int64_t(1) << (depth - 1) : 1;
        std::tie(order_, next_order_) = doubled<int32_t>(Slot::tree_order, n, n);
        std::tie(sums_, next_sums_) = doubled<int32_t>(Slot::tree_sums, n * q, n * q);
        // 256: a code beyond its bins would stay inside
        std::tie(cells_, parents_) =
            doubled<int32_t>(Slot::tree_cells, (most * n_cells_ + 256) * q, (most / 2 * n_cells_ + 256) * q);
        if (depth % 2 == 0) std::swap(cells_, parents_);
    }

    template <class T>
    static std::pair<T*, T*> doubled(Slot slot, int64_t one, int64_t other) {
        T* memory = static_cast<T*>(scratch(slot, (one + other) * static_cast<int64_t>(sizeof(T))));
        return {memory, memory + one};
    }

    void round_slopes(const TreeSlopes& slopes, double penalty) {
        const int64_t n = data_.n_rows, k = n_targets_;
        double slope = 0, weight = 0;
        for (int64_t i = 0; i < n; ++i) {
            const double* of_row = slopes.slopes + data_.rows[i] * k;
            for (int64_t j = 0; j < k; ++j) slope = std::max(slope, std::fabs(of_row[j]));
            weight = std::max(weight, slopes.weights[data_.rows[i]]);
        }
        const double unit = integer_unit(slope, n), weight_unit = integer_unit(weight, n);
        for (int64_t i = 0; i < n; ++i) {
            int32_t* sums = sums_ + i * n_sums();
            const int64_t row = data_.rows[i];
            order_[i] = data_.rows[i];
            for (int64_t j = 0; j < k; ++j) sums[j] = nearest(slopes.slopes[row * k + j] * unit);
            sums[k] = nearest(slopes.weights[row] * weight_unit);
            std::fill(sums + k + 1, sums + n_sums(), 0);
        }
        penalty_ = static_cast<float>(penalty * weight_unit);
    }

    // Rows that go to the left fill the place of their node from its start, the others from its end. Both writes are
    // made for every row, without a branch: the one too many is at a place that is written again.
    template <class GoesRight>
    void divide(int64_t t, GoesRight goes_right) {
        const uint8_t* codes = codes_of(t);
        const int32_t *order = order_, *sums = sums_;
        int32_t *next_order = next_order_, *next_sums = next_sums_;
        std::vector<int64_t> starts{0};
        for (int64_t v = 0; v < n_nodes(); ++v) {
            int64_t left = starts_[v], right = starts_[v + 1] - 1;
            for (int64_t i = starts_[v], end = starts_[v + 1]; i < end; ++i) {
                const int32_t row = order[i];
                const int64_t moves = goes_right(codes[row]);
                next_order[left] = next_order[right] = row;
                copy_sums(sums + i * n_sums(), next_sums + left * n_sums());
                copy_sums(sums + i * n_sums(), next_sums + right * n_sums());
                right -= moves;
                left += 1 - moves;
            }
            starts.push_back(left);
            starts.push_back(starts_[v + 1]);
        }
        starts_.swap(starts);
        std::swap(order_, next_order_);
        std::swap(sums_, next_sums_);
        std::swap(cells_, parents_);
    }

    void copy_sums(const int32_t* from, int32_t* to) const {
        std::memcpy(to, from, static_cast<size_t>(n_sums()) * sizeof(int32_t));
    }

    // The sums of a node are those of all cells of any table; the first one is taken.
    void take_totals() {
        const int64_t q = n_sums(), n_cells = tables_[0].n_cells;
        totals_.assign(n_nodes() * q, 0);
        for (int64_t v = 0; v < n_nodes(); ++v) {
            const int32_t* cells = cells_of(cells_, v);
            for (int64_t b = tables_[0].is_bundle ? 0 : n_cells - 1; b < n_cells; ++b) {
                for (int64_t k = 0; k < q; ++k) totals_[v * q + k] += cells[b * q + k];
            }
        }
    }

    // sum_k g_k^2 / (w + penalty): what a cell with these sums takes off the loss.
    float explained(const int32_t* sums) const {
        const float squares = Q == 2 ? square(sums[0]) : squares_of_both(sums, sums).first;
        return squares / (static_cast<float>(sums[n_targets_]) + penalty_);
    }

    static float square(int32_t sum) { return static_cast<float>(sum) * static_cast<float>(sum); }

    const uint8_t* codes_of(int64_t t) const { return data_.codes + tables_[t].row * data_.n_all; }
    int32_t* cells_of(int32_t* cells, int64_t v) const { return cells + v * n_cells_ * n_sums(); }

    void fill_cells() {
        if (n_nodes() == 1) return sum_rows(0);
        const int64_t size = n_cells_ * n_sums();
        for (int64_t v = 0; v < n_nodes(); v += 2) {
            const int64_t few = n_rows_of(v) <= n_rows_of(v + 1) ? v : v + 1;
            sum_rows(few);
            const int32_t *parent = cells_of(parents_, v / 2), *less = cells_of(cells_, few);
            int32_t* rest = cells_of(cells_, v + v + 1 - few);
            for (int64_t i = 0; i < size; ++i) rest[i] = parent[i] - less[i];
        }
    }

    void sum_rows(int64_t v) {
        int32_t* cells = cells_of(cells_, v);
        std::fill(cells, cells + n_cells_ * n_sums(), 0);
        int64_t t = 0;
        for (; t + 4 <= n_tables(); t += 4) sum_tables<4>(v, t, cells);
        for (; t < n_tables(); ++t) sum_tables<1>(v, t, cells);
        for (const Table& table : tables_) {
            if (!table.is_bundle) accumulate(cells + table.first * n_sums(), table.n_cells);
        }
    }

    void accumulate(int32_t* cells, int64_t n_bins) const {
        const int64_t q = n_sums();
        if (Q == 2) {
            Pair sums = loaded<Pair>(cells);
            for (int64_t b = 1; b < n_bins; ++b) {
                sums = sums + loaded<Pair>(cells + 2 * b);
                std::memcpy(cells + 2 * b, &sums, sizeof sums);
            }
            return;
        }
        for (int64_t i = q; i < n_bins * q; i += 4) add(cells + i, loaded<Four>(cells + i - q));
    }

    // Additions to several tables do not wait for each other, as those to the same cell of one table would.
    template <int kTables>
    void sum_tables(int64_t v, int64_t t, int32_t* cells) {
        const int64_t q = n_sums();
        const uint8_t* codes[kTables];
        int32_t* tables[kTables];
        for (int j = 0; j < kTables; ++j) {
            codes[j] = codes_of(t + j);
            tables[j] = cells + tables_[t + j].first * q;
        }
        const int32_t *order = order_, *sums = sums_;
        for (int64_t i = starts_[v], end = starts_[v + 1]; i < end; ++i) {
            const int32_t row = order[i];
            if (Q == 2) {
                const Pair pair = loaded<Pair>(sums + 2 * i);
                for (int j = 0; j < kTables; ++j) add(tables[j] + codes[j][row] * 2, pair);
                continue;
            }
            for (int j = 0; j < kTables; ++j) {
                int32_t* cell = tables[j] + codes[j][row] * q;
                for (int64_t k = 0; k < q; k += 4) add(cell + k, loaded<Four>(sums + i * q + k));
            }
        }
    }

    void scan(int64_t c, Best& found) {
        const Table& table = tables_[table_of_[c]];
        const int64_t q = n_sums(), n_splits = table.is_bundle ? 1 : table.n_cells - 1;
        gains_.assign(n_splits, 0.0f);
        for (int64_t v = 0; v < n_nodes(); ++v) {
            const int32_t *cells = cells_of(cells_, v) + table.first * q, *total = &totals_[v * q];
            if (table.is_bundle) {
                add_gains(cells + data_.members[data_.columns[c]] * q, total, 1);
            } else {
                add_gains(cells, total, n_splits);
            }
        }
        for (int64_t b = 0; b < n_splits; ++b) {
            if (gains_[b] > found.gain) found = {gains_[b], c, b};
        }
    }

    // What both sides of each split of a node take off the loss, over one denominator. The gain is the same for a side
    // and for what the node has beyond it.
    void add_gains(const int32_t* side, const int32_t* total, int64_t n_splits) {
        const int64_t q = n_sums(), k = n_targets_;
        const float penalty = penalty_;
        float* gains = gains_.data();
        if (Q == 2) {  // plain enough for vectors
            const int32_t slope = total[0], weight = total[1];
            for (int64_t b = 0; b < n_splits; ++b) {
                const float l = square(side[2 * b]), r = square(slope - side[2 * b]);
                const float below = static_cast<float>(side[2 * b + 1]) + penalty;
                const float above = static_cast<float>(weight - side[2 * b + 1]) + penalty;
                gains[b] += (l * above + r * below) / (below * above);
            }
            return;
        }
        for (int64_t b = 0; b < n_splits; ++b, side += q) {
            const float below = static_cast<float>(side[k]) + penalty;
            const float above = static_cast<float>(total[k] - side[k]) + penalty;
            const std::pair<float, float> both = squares_of_both(side, total);
            gains[b] += (both.first * above + both.second * below) / (below * above);
        }
    }

    // Sums of the squares of slopes on a side and beyond it, of every fourth one and then of the four sums.
    std::pair<float, float> squares_of_both(const int32_t* side, const int32_t* all) const {
        FourFloats one = {}, other = {};
        for (int64_t j = 0; j < n_sums(); j += 4) {
            const Four sums = loaded<Four>(side + j), rest = loaded<Four>(all + j) - sums;
            const FourFloats is_slope = loaded<FourFloats>(&is_slope_[j]);
            one = one + squares(sums) * is_slope;
            other = other + squares(rest) * is_slope;
        }
        return {total(one), total(other)};
    }

    const BinnedRows& data_;
    int64_t n_targets_;
    float penalty_ = 0;
    std::vector<int64_t> starts_;    // the first row of each node, and the end
    std::vector<Table> tables_;      // those of the columns that may split
    std::vector<int64_t> table_of_;  // of each of these columns
    int64_t n_cells_ = 0;            // of all tables
    int32_t *order_ = nullptr, *next_order_ = nullptr;  // the rows, node by node
    int32_t *sums_ = nullptr, *next_sums_ = nullptr;    // (n_rows, n_sums), in that order
    int32_t *cells_ = nullptr, *parents_ = nullptr;     // (n_nodes, n_cells, n_sums) of this level and of the last one
    std::vector<int32_t> totals_;
    std::vector<float> gains_, is_slope_;  // 1 for slopes, 0 for the numbers after them
};

template <int Q>
int64_t grow(const BinnedRows& data, const TreeSlopes& slopes, double penalty, const TreeSplits<int32_t>& out) {
    Level<Q> level(data, slopes, penalty, out.depth);
    for (int64_t depth = 0; depth < out.depth; ++depth) {
        const Best best = level.best();
        if (best.column < 0) return depth;
        out.columns[depth] = data.columns[best.column];
        out.bins[depth] = static_cast<int32_t>(best.bin);
        if (depth + 1 < out.depth) level.split(best.column, best.bin);
    }
    return out.depth;
}

}  // namespace symmetric_tree

// Write the splits of a tree; return how many levels it has. A level without a gain ends the tree.
inline int64_t grow_symmetric_tree(const BinnedRows& data, const TreeSlopes& slopes, double penalty,
                                   const TreeSplits<int32_t>& out) {
    using symmetric_tree::grow;
    const int64_t k = slopes.n_targets;
    if (k == 1) return grow<2>(data, slopes, penalty, out);
    if (k <= 3) return grow<4>(data, slopes, penalty, out);
    if (k <= 7) return grow<8>(data, slopes, penalty, out);
    if (k <= 11) return grow<12>(data, slopes, penalty, out);
    return grow<0>(data, slopes, penalty, out);
}

}  // namespace mercer
