// The hashed columns of counted keys, each once per row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hashing.hpp"
#include "key_counts.hpp"

namespace mercer {

// Writes the columns of a row of keys, and the data that their signs and weights give. `hash_keys` is null, or does the
// first part faster.
template <class T>
class HashedKeys {
  public:
    HashedKeys(const KeyHash& hash, HashKeys* hash_keys) : hash_(hash), hash_keys_(hash_keys) {}

    void write(const uint64_t* keys, const double* weights, int64_t size, uint32_t* columns, T* data) {
        if (signs_.size() < static_cast<std::size_t>(size)) signs_.resize(static_cast<std::size_t>(size));
        uint64_t* signs = signs_.data();
        if (hash_keys_) {
            hash_keys_(keys, size, hash_, columns, signs);
        } else {
            const KeyHash own = hash_;  // a copy, which no store can change
            for (int64_t j = 0; j < size; ++j) {
                const uint64_t value = own.value(keys[j]);
                columns[j] = static_cast<uint32_t>(own.bucket(value));
                signs[j] = ~value << 63;
            }
        }
        for (int64_t j = 0; j < size; ++j) data[j] = static_cast<T>(with_sign(weights[j], signs[j]));
    }

  private:
    KeyHash hash_;
    HashKeys* hash_keys_;
    std::vector<uint64_t> signs_;
};

// Adds up the entries of a row that share a column. Nearly all columns differ.
template <class T>
class ColumnSums {
  public:
    ColumnSums(const KeyHash& hash, HashKeys* hash_keys) : hashed_(hash, hash_keys) {}

    // Hash a row of keys into columns and data; the entries of equal columns are added to the first of them. Returns how
    // many entries are left, in the order of their keys.
    int64_t write(const uint64_t* keys, const double* weights, int64_t size, int32_t* columns, T* data) {
        if (columns_.size() < static_cast<std::size_t>(size)) columns_.resize(static_cast<std::size_t>(size));
        hashed_.write(keys, weights, size, columns_.data(), data);
        for (int64_t j = 0; j < size; ++j) columns[j] = static_cast<int32_t>(columns_[static_cast<std::size_t>(j)]);
        gone_.clear();
        places_.find_repeated(columns_.data(), size, [this, data](uint32_t j, uint32_t place) {
            data[place] += data[j];
            gone_.push_back(j);
        });
        if (!std::is_sorted(gone_.begin(), gone_.end())) std::sort(gone_.begin(), gone_.end());
        return close_gaps(size, columns, data);
    }

  private:
    // Moves the entries between those that are gone to the front.
    int64_t close_gaps(int64_t size, int32_t* columns, T* data) const {
        const std::size_t n_gone = gone_.size();
        int64_t end = n_gone ? static_cast<int64_t>(gone_[0]) : size;
        for (std::size_t q = 0; q < n_gone; ++q) {
            const int64_t from = static_cast<int64_t>(gone_[q]) + 1;
            const int64_t number = (q + 1 < n_gone ? static_cast<int64_t>(gone_[q + 1]) : size) - from;
            std::memmove(columns + end, columns + from, static_cast<std::size_t>(number) * sizeof(int32_t));
            std::memmove(data + end, data + from, static_cast<std::size_t>(number) * sizeof(T));
            end += number;
        }
        return end;
    }

    HashedKeys<T> hashed_;
    FirstPlaces<uint32_t> places_;
    std::vector<uint32_t> columns_, gone_;
};

// The hashed columns of counted keys; keys of a row that share a bucket are added. Columns come as their keys do.
template <class T>
void hash_columns(const KeyedRows& rows, const KeyHash& hash, HashKeys* hash_keys, int64_t* pointers, int32_t* columns,
                  T* data) {
    ColumnSums<T> sums(hash, hash_keys);
    int64_t end = pointers[0] = 0;
    for (int64_t i = 0; i < rows.n_rows; ++i) {
        const int64_t first = rows.pointers[i], size = rows.pointers[i + 1] - first;
        end += sums.write(rows.keys + first, rows.weights + first, size, columns + end, data + end);
        pointers[i + 1] = end;
    }
}

}  // namespace mercer
