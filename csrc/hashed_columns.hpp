// The hashed columns of counted keys, each once per row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hashing.hpp"
#include "key_counts.hpp"

namespace mercer {

// Adds up the entries of a row that share a column. Nearly all columns differ.
template <class T>
class ColumnSums {
  public:
    // Hash a row of keys into columns and data; the entries of equal columns are added to the first of them. Returns how
    // many entries are left, in the order of their keys.
    int64_t write(const uint64_t* keys, const double* weights, int64_t size, const KeyHash& hash, int32_t* columns,
                  T* data) {
        const KeyHash own = hash;  // a copy, which no store can change
        if (columns_.size() < static_cast<std::size_t>(size)) columns_.resize(static_cast<std::size_t>(size));
        for (int64_t j = 0; j < size; ++j) {
            const uint64_t value = own.value(keys[j]);
            columns[j] = static_cast<int32_t>(own.bucket(value));
            columns_[static_cast<std::size_t>(j)] = static_cast<uint32_t>(columns[j]);
            data[j] = static_cast<T>(signed_by(value, weights[j]));
        }
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

    FirstPlaces<uint32_t> places_;
    std::vector<uint32_t> columns_, gone_;
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
