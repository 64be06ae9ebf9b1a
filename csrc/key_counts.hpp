// Counts of the keys of each row, and their sketches.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "first_places.hpp"
#include "hashing.hpp"

namespace mercer {

// How counts enter a kernel: the numbers are those of mercer.core.COUNTS.
enum class Counts { product = 0, presence = 1, intersection = 2 };

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

// The distinct keys of a row, in the order in which they are met.
class KeySums {
  public:
    // Writes them with the sums of their weights, and returns their number.
    template <class Weight>
    int64_t write(const uint64_t* keys, int64_t size, const Weight& weight, uint64_t* out, double* values) {
        const uint32_t* first = places_.find(keys, size);
        sums_.assign(static_cast<std::size_t>(size), 0.0);
        double* sums = sums_.data();
        for (int64_t j = 0; j < size; ++j) sums[first[j]] += weight(j);
        int64_t n = 0;
        for (int64_t j = 0; j < size; ++j) {
            out[n] = keys[j];
            values[n] = sums[j];
            n += first[j] == j;
        }
        return n;
    }
    // Writes them with the first weight of each.
    template <class Weight>
    int64_t write_first(const uint64_t* keys, int64_t size, const Weight& weight, uint64_t* out, double* values) {
        const uint32_t* first = places_.find(keys, size);
        int64_t n = 0;
        for (int64_t j = 0; j < size; ++j) {
            out[n] = keys[j];
            values[n] = weight(j);
            n += first[j] == j;
        }
        return n;
    }

  private:
    FirstPlaces<uint64_t> places_;
    std::vector<double> sums_;
};

inline double sum_of_squares(const double* values, int64_t size) {
    double square = 0;
    for (int64_t j = 0; j < size; ++j) square += values[j] * values[j];
    return square;
}

// The c-th time that a row has a key, the key (key, c), which no other entry of the row has.
class UnaryKeys {
  public:
    void write_row(const uint64_t* keys, int64_t size, uint64_t* out, double* values) {
        const uint32_t* first = places_.find(keys, size);
        times_.assign(static_cast<std::size_t>(size), 0);
        for (int64_t j = 0; j < size; ++j) {
            const uint32_t c = times_[first[j]]++;
            const uint64_t again = as_key(joined(keys[j], c));
            out[j] = c == 0 ? keys[j] : again;
            values[j] = 1.0;
        }
    }

  private:
    FirstPlaces<uint64_t> places_;
    std::vector<uint32_t> times_;
};

// Distinct keys in the order in which they are met, with the sums of their weights, and the sum of squares of each row.
inline void count_keys(const KeyedRows& rows, Counts counts, const CountedRows& out) {
    const bool unary = counts == Counts::intersection, presence = counts == Counts::presence;
    KeySums sums;
    UnaryKeys of_times;
    int64_t end = out.pointers[0] = 0;
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        const int64_t first = rows.pointers[i], size = rows.pointers[i + 1] - first, start = end;
        const uint64_t* keys = rows.keys + first;
        const double* weights = rows.weights ? rows.weights + first : nullptr;
        const auto one = [](int64_t) { return 1.0; };
        const auto own = [weights](int64_t j) { return weights[j]; };
        uint64_t* target = out.keys + start;
        double* values = out.values + start;
        if (unary) {
            of_times.write_row(keys, size, target, values);
            end += size;
        } else if (presence) {
            end += weights ? sums.write_first(keys, size, own, target, values)
                           : sums.write_first(keys, size, one, target, values);
        } else {
            end += weights ? sums.write(keys, size, own, target, values) : sums.write(keys, size, one, target, values);
        }
        out.squares[i] = sum_of_squares(values, end - start);
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
