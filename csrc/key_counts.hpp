// Counts of the keys of each row, and their hashed columns.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hashing.hpp"

namespace mercer {

// How counts enter a kernel: the numbers are those of mercer.core.COUNTS.
enum class Counts { product = 0, presence = 1, intersection = 2 };

// An open-addressing table from numbers to places in an array of them, sized to the row, so that it stays in cache.
class Places {
  public:
    void clear(int64_t n_most) {
        int bits = 4;
        while ((int64_t(1) << bits) < 2 * n_most) ++bits;
        shift_ = 64 - bits;
        const std::size_t size = std::size_t(1) << bits;
        if (slots_.size() < size) slots_.resize(size);
        std::memset(slots_.data(), 0, size * sizeof(uint32_t));
        mask_ = size - 1;
    }
    // The place of a number among `known`; a new one, which the caller appends, if it is not there.
    template <class Number>
    int64_t find(Number number, const Number* known, int64_t n_known, bool& is_new) {
        std::size_t slot = (static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15u) >> shift_;
        while (slots_[slot]) {
            const int64_t place = slots_[slot] - 1;
            if (known[place] == number) {
                is_new = false;
                return place;
            }
            slot = (slot + 1) & mask_;
        }
        slots_[slot] = static_cast<uint32_t>(n_known + 1);
        is_new = true;
        return n_known;
    }

  private:
    std::vector<uint32_t> slots_;
    std::size_t mask_ = 0;
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

// Distinct keys in the order in which they are met, with the sums of their weights, and the sum of squares of each row.
inline void count_keys(const KeyedRows& rows, Counts counts, const CountedRows& out) {
    Places places;
    std::vector<uint64_t> met;
    std::vector<uint32_t> times;
    int64_t end = out.pointers[0] = 0;
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        const int64_t first = rows.pointers[i], last = rows.pointers[i + 1], start = end;
        places.clear(last - first);
        const bool unary = counts == Counts::intersection;
        if (unary) {
            met.resize(static_cast<std::size_t>(last - first));
            times.assign(static_cast<std::size_t>(last - first), 0);
        }
        uint64_t* known = unary ? met.data() : out.keys + start;
        int64_t n_known = 0;
        for (int64_t j = first; j < last; ++j) {
            const uint64_t key = rows.keys[j];
            bool is_new;
            const int64_t place = places.find(key, known, n_known, is_new);
            if (is_new) known[n_known++] = key;
            if (unary) {  // the c-th time, the key (key, c), which no other entry of the row has
                const uint32_t c = times[static_cast<std::size_t>(place)]++;
                out.keys[end] = c == 0 ? key : as_key(joined(key, c));
                out.values[end++] = 1.0;
                continue;
            }
            const double weight = rows.weights ? rows.weights[j] : 1.0;
            if (is_new) {
                out.values[start + place] = weight;
            } else if (counts == Counts::product) {
                out.values[start + place] += weight;
            }
        }
        if (!unary) end = start + n_known;
        double square = 0;
        for (int64_t j = start; j < end; ++j) square += out.values[j] * out.values[j];
        out.squares[i] = square;
        out.pointers[i + 1] = end;
    }
}

// The hashed columns of counted keys; keys of a row that share a bucket are added. Columns come as their keys do.
template <class T>
void hash_columns(const KeyedRows& rows, const KeyHash& hash, int64_t* pointers, int32_t* columns, T* data) {
    Places places;
    std::vector<uint64_t> hashed;
    int64_t end = pointers[0] = 0;
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        const int64_t first = rows.pointers[i], size = rows.pointers[i + 1] - first;
        places.clear(size);
        // All hashes of a row first: they do not wait for each other, nor for the table.
        hashed.resize(static_cast<std::size_t>(size));
        for (int64_t j = 0; j < size; ++j) hashed[static_cast<std::size_t>(j)] = hash.value(rows.keys[first + j]);
        int32_t* known = columns + end;
        T* sums = data + end;
        int64_t n_known = 0;
        for (int64_t j = 0; j < size; ++j) {
            const uint64_t value = hashed[static_cast<std::size_t>(j)];
            const auto weight = static_cast<T>(value & 1 ? rows.weights[first + j] : -rows.weights[first + j]);
            const auto bucket = static_cast<int32_t>(hash.bucket(value));
            bool is_new;
            const int64_t place = places.find(bucket, static_cast<const int32_t*>(known), n_known, is_new);
            if (is_new) {
                known[n_known] = bucket;
                sums[n_known++] = weight;
            } else {
                sums[place] += weight;
            }
        }
        end += n_known;
        pointers[i + 1] = end;
    }
}

// The same as dense rows of n_buckets entries, which lie `stride` apart.
template <class T>
void sketch_keys(const KeyedRows& rows, const KeyHash& hash, T* out, int64_t stride) {
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        T* target = out + i * stride;
        std::memset(target, 0, hash.n_buckets * sizeof(T));
        for (int64_t j = rows.pointers[i]; j < rows.pointers[i + 1]; ++j) {
            const uint64_t value = hash.value(rows.keys[j]);
            target[hash.bucket(value)] += static_cast<T>(value & 1 ? rows.weights[j] : -rows.weights[j]);
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
