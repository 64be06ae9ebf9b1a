// The hashed columns of counted keys, each once per row.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hashing.hpp"
#include "key_counts.hpp"

namespace mercer {

// Bits for numbers from 0 to 2^b - 1, all unset at first.
class BitSet {
  public:
    // So many bits per number at least, and at most `most_log2` of them (log2).
    void begin(int64_t n_numbers, int64_t bits_per_number, int most_log2) {
        int log2 = 6;
        while (log2 < most_log2 && (int64_t(1) << log2) < bits_per_number * n_numbers) ++log2;
        words_.assign(std::size_t(1) << (log2 - 6), 0);
        mask_ = (uint32_t(1) << log2) - 1;
    }
    bool has(uint32_t number) const { return (words_[(number & mask_) >> 6] >> (number & 63)) & 1; }
    void set(uint32_t number) { words_[(number & mask_) >> 6] |= uint64_t(1) << (number & 63); }

  private:
    std::vector<uint64_t> words_;
    uint32_t mask_ = 0;
};

// Adds up the entries of a row that share a column. Nearly all columns differ. A set of bits in the first-level cache
// finds the few that may not; only these, and the entries that share their bits, go through a table.
template <class T>
class ColumnSums {
  public:
    // Hash a row of keys into columns and data; the entries of equal columns are added to the first of them. Returns how
    // many entries are left, in the order of their keys.
    int64_t write(const uint64_t* keys, const double* weights, int64_t size, const KeyHash& hash, int32_t* columns,
                  T* data) {
        if (listed_.size() < static_cast<std::size_t>(size) + 1) listed_.resize(static_cast<std::size_t>(size) + 1);
        const KeyHash own = hash;  // a copy, which no store can change
        met_.begin(size, 16, 20);
        std::size_t n = 0;
        for (int64_t j = 0; j < size; ++j) {
            const uint64_t value = own.value(keys[j]);
            const auto column = static_cast<uint32_t>(own.bucket(value));
            columns[j] = static_cast<int32_t>(column);
            data[j] = static_cast<T>(signed_by(value, weights[j]));
            listed_[n] = static_cast<uint32_t>(j);
            n += met_.has(column);
            met_.set(column);
        }
        return n ? merge(n, size, columns, data) : size;
    }

  private:
    int64_t merge(std::size_t n, int64_t size, int32_t* columns, T* data) {
        met_.begin(static_cast<int64_t>(n), 32, 26);
        for (std::size_t q = 0; q < n; ++q) met_.set(static_cast<uint32_t>(columns[listed_[q]]));
        const int64_t last = listed_[n - 1];
        n = 0;
        for (int64_t j = 0; j <= last; ++j) {
            listed_[n] = static_cast<uint32_t>(j);
            n += met_.has(static_cast<uint32_t>(columns[j]));
        }
        places_.restart(static_cast<int64_t>(n));
        std::size_t n_gone = 0;
        for (std::size_t q = 0; q < n; ++q) {
            const uint32_t j = listed_[q];
            const int64_t place = places_.find(columns[j], columns, j);
            if (place == j) continue;
            data[place] += data[j];
            listed_[n_gone++] = j;
        }
        return close_gaps(n_gone, size, columns, data);
    }
    // Moves the entries between those that are gone to the front.
    int64_t close_gaps(std::size_t n_gone, int64_t size, int32_t* columns, T* data) const {
        int64_t end = n_gone ? static_cast<int64_t>(listed_[0]) : size;
        for (std::size_t q = 0; q < n_gone; ++q) {
            const int64_t from = static_cast<int64_t>(listed_[q]) + 1;
            const int64_t number = (q + 1 < n_gone ? static_cast<int64_t>(listed_[q + 1]) : size) - from;
            std::memmove(columns + end, columns + from, static_cast<std::size_t>(number) * sizeof(int32_t));
            std::memmove(data + end, data + from, static_cast<std::size_t>(number) * sizeof(T));
            end += number;
        }
        return end;
    }

    BitSet met_;
    Places places_;
    std::vector<uint32_t> listed_;
};

// The hashed columns of counted keys; keys of a row that share a bucket are added. Columns come as their keys do.
template <class T>
void hash_columns(const KeyedRows& rows, const KeyHash& hash, int64_t* pointers, int32_t* columns, T* data) {
    ColumnSums<T> sums;
    int64_t end = pointers[0] = 0;
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        const int64_t first = rows.pointers[i], size = rows.pointers[i + 1] - first;
        end += sums.write(rows.keys + first, rows.weights + first, size, hash, columns + end, data + end);
        pointers[i + 1] = end;
    }
}

}  // namespace mercer
