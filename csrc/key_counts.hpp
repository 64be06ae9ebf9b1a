// Counts of the keys of each row, and their sketches.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hashing.hpp"

namespace mercer {

// How counts enter a kernel: the numbers are those of mercer.core.COUNTS.
enum class Counts { product = 0, presence = 1, intersection = 2 };

// An open-addressing table from numbers to the places where they are known, sized to the row, so that it stays in cache.
// A slot is a place + 1 alone: the number itself is read where it is known. Places ascend from row to row: a slot that
// holds a place of an earlier row is free, and nothing is ever cleared. The branch on a new number is on purpose:
// without it every number waits for the one before, which was measured slower than wrong guesses.
class Places {
  public:
    // Begin a row of at most n_most numbers, whose first place is `first`, with so many slots per number at least.
    void begin(int64_t first, int64_t n_most, int64_t slots = 2) {
        int bits = 4;
        while ((int64_t(1) << bits) < slots * n_most) ++bits;
        const std::size_t size = std::size_t(1) << bits;
        if (slots_.size() < size) slots_.assign(size, 0);
        shift_ = 64 - bits;
        mask_ = size - 1;
        first_ = static_cast<uint32_t>(first);
    }
    // Begin rows whose places count from 0 again.
    void restart(int64_t n_most) {
        slots_.clear();
        begin(0, n_most);
    }
    // The place of a number among `known`; `next` if it is new, which the table then holds.
    template <class Number>
    int64_t find(Number number, const Number* known, int64_t next) {
        for (std::size_t slot = (number * 0x9E3779B97F4A7C15u) >> shift_;; slot = (slot + 1) & mask_) {
            const uint32_t held = slots_[slot];
            if (held <= first_) {
                slots_[slot] = static_cast<uint32_t>(next + 1);
                return next;
            }
            if (known[held - 1] == number) return static_cast<int64_t>(held) - 1;
        }
    }

  private:
    std::vector<uint32_t> slots_;
    std::size_t mask_ = 0;
    uint32_t first_ = 0;
    int shift_ = 0;
};

struct KeyedRows {
    const int64_t* pointers;
    const uint64_t* keys;
    const double* weights;  // null: every key weighs 1
    int64_t n_rows;
};

struct CountedRows {
    int64_t* pointers;
    uint64_t* keys;
    double* values;
    double* squares;
};

// The distinct keys of a row from place `start` on, with the sums of their weights, or the first weight of each.
template <bool kSums, class Weight>
int64_t count_row(const uint64_t* keys, int64_t size, const Weight& weight, int64_t start, Places& places,
                  const CountedRows& out) {
    places.begin(start, size);
    int64_t end = start;
    for (int64_t j = 0; j < size; ++j) {
        const int64_t place = places.find(keys[j], out.keys, end);
        if (place == end) {
            out.keys[end] = keys[j];
            out.values[end++] = weight(j);
        } else if (kSums) {
            out.values[place] += weight(j);
        }
    }
    return end;
}

// The c-th time that a row has a key, the key (key, c), which no other entry of the row has.
class UnaryKeys {
  public:
    explicit UnaryKeys(int64_t n_keys) : met_(static_cast<std::size_t>(n_keys)), times_(met_.size()) {}
    void write_row(const uint64_t* keys, int64_t size, uint64_t* out, double* values) {
        places_.begin(next_, size);
        for (int64_t j = 0; j < size; ++j) {
            const int64_t place = places_.find(keys[j], met_.data(), next_);
            met_[static_cast<std::size_t>(place)] = keys[j];
            const uint32_t c = times_[static_cast<std::size_t>(place)]++;
            const uint64_t again = as_key(joined(keys[j], c));
            out[j] = c == 0 ? keys[j] : again;
            values[j] = 1.0;
            next_ += place == next_;
        }
    }

  private:
    Places places_;
    std::vector<uint64_t> met_;
    std::vector<uint32_t> times_;
    int64_t next_ = 0;
};

// Distinct keys in the order in which they are met, with the sums of their weights, and the sum of squares of each row.
inline void count_keys(const KeyedRows& rows, Counts counts, const CountedRows& out) {
    const bool unary = counts == Counts::intersection;
    Places places;
    UnaryKeys of_times(unary ? rows.pointers[rows.n_rows] - rows.pointers[0] : 0);
    int64_t end = out.pointers[0] = 0;
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        const int64_t first = rows.pointers[i], size = rows.pointers[i + 1] - first, start = end;
        const uint64_t* keys = rows.keys + first;
        const double* weights = rows.weights ? rows.weights + first : nullptr;
        const auto one = [](int64_t) { return 1.0; };
        const auto own = [weights](int64_t j) { return weights[j]; };
        if (unary) {
            of_times.write_row(keys, size, out.keys + start, out.values + start);
            end = start + size;
        } else if (counts == Counts::presence) {
            end = weights ? count_row<false>(keys, size, own, start, places, out)
                          : count_row<false>(keys, size, one, start, places, out);
        } else {
            end = weights ? count_row<true>(keys, size, own, start, places, out)
                          : count_row<true>(keys, size, one, start, places, out);
        }
        double square = 0;
        for (int64_t j = start; j < end; ++j) square += out.values[j] * out.values[j];
        out.squares[i] = square;
        out.pointers[i + 1] = end;
    }
}

// The hashed columns of counted keys as dense rows of n_buckets entries, which lie `stride` apart.
template <class T>
void sketch_keys(const KeyedRows& rows, const KeyHash& hash, T* out, int64_t stride) {
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        T* target = out + i * stride;
        std::memset(target, 0, hash.n_buckets * sizeof(T));
        for (int64_t j = rows.pointers[i]; j < rows.pointers[i + 1]; ++j) {
            const uint64_t value = hash.value(rows.keys[j]);
            target[hash.bucket(value)] += static_cast<T>(signed_by(value, rows.weights[j]));
        }
    }
}

// Sums of consecutive rows.
template <class T>
void segment_sum(const T* values, int64_t stride, const int64_t* pointers, int64_t n_rows, int64_t n_columns, T* out,
                 int64_t out_stride) {
    for (int64_t i = 0; i < n_rows; ++i) {
        T* target = out + i * out_stride;
        for (int64_t c = 0; c < n_columns; ++c) target[c] = 0;
        for (int64_t j = pointers[i]; j < pointers[i + 1]; ++j) {
            const T* row = values + j * stride;
            for (int64_t c = 0; c < n_columns; ++c) target[c] += row[c];
        }
    }
}

}  // namespace mercer
