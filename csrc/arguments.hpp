// From Python's arrays to plain views: every size, stride and bound is checked here, and named when it is wrong.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include "types.hpp"

namespace mercer {

namespace nb = nanobind;

template <class T, int kDimensions>
using Array = nb::ndarray<T, nb::ndim<kDimensions>, nb::device::cpu>;

[[noreturn]] inline void fail(const std::string& message) { throw nb::value_error(message.c_str()); }

inline void require_equal(const char* what, int64_t got, const char* rule, int64_t expected) {
    if (got == expected) return;
    fail(std::string(what) + " must be " + rule + " = " + std::to_string(expected) + ", got " + std::to_string(got) +
         ".");
}

inline void require_unit_stride(const char* name, int64_t size, int64_t stride) {
    if (size <= 1 || stride == 1) return;
    fail(std::string(name) + " must have contiguous rows (C order), got elements " + std::to_string(stride) +
         " apart; pass numpy.ascontiguousarray(" + name + ").");
}

// Axes -2 and -1 of the array, the `i`-th matrix along axis 0 if it has three.
template <class T, int kDimensions>
Matrix<T> matrix(const char* name, const Array<T, kDimensions>& array, int64_t i = 0) {
    constexpr std::size_t row = kDimensions - 2, column = kDimensions - 1;
    const auto n_rows = static_cast<int64_t>(array.shape(row)), n_columns = static_cast<int64_t>(array.shape(column));
    if (n_rows > 0) require_unit_stride(name, n_columns, array.stride(column));
    T* data = array.data();
    if constexpr (kDimensions == 3) data += i * array.stride(0);
    return {data, n_rows, n_columns, array.stride(row)};
}

template <class T>
T* vector(const char* name, const Array<T, 1>& array) {
    require_unit_stride(name, static_cast<int64_t>(array.shape(0)), array.stride(0));
    return array.data();
}

template <class T>
void require_packed(const char* name, const Matrix<T>& table) {
    if (table.n_rows <= 1 || table.stride == table.n_columns) return;
    fail(std::string(name) + " must be C-contiguous; pass numpy.ascontiguousarray(" + name + ").");
}

template <class T>
T* table(const char* name, const Array<T, 2>& array, int64_t n_rows, int64_t n_columns) {
    const Matrix<T> result = matrix<T, 2>(name, array);
    require_equal((std::string(name) + ".shape[0]").c_str(), result.n_rows, "the number of rows", n_rows);
    require_equal((std::string(name) + ".shape[1]").c_str(), result.n_columns, "the number of columns", n_columns);
    require_packed(name, result);
    return result.data;
}

inline HashTable hash_table(const Array<const int32_t, 1>& index, const Array<const int8_t, 1>& sign) {
    const auto n_columns = static_cast<int64_t>(index.shape(0));
    require_equal("len(sign)", static_cast<int64_t>(sign.shape(0)), "len(index)", n_columns);
    return {vector<const int32_t>("index", index), vector<const int8_t>("sign", sign), 1, n_columns};
}

inline HashTable hash_table(const Array<const int32_t, 2>& index, const Array<const int8_t, 2>& sign) {
    const Matrix<const int32_t> indices = matrix<const int32_t, 2>("index", index);
    const Matrix<const int8_t> signs = matrix<const int8_t, 2>("sign", sign);
    require_equal("sign.shape[0]", signs.n_rows, "index.shape[0]", indices.n_rows);
    require_equal("sign.shape[1]", signs.n_columns, "index.shape[1]", indices.n_columns);
    require_packed("index", indices);
    require_packed("sign", signs);
    if (indices.n_rows == 0) fail("index must have at least one row, one for each factor of the tensor power, got 0.");
    return {indices.data, signs.data, indices.n_rows, indices.n_columns};
}

[[noreturn]] inline void fail_bucket(int64_t n_buckets) {
    fail("index must lie in [0, out.shape[1]) = [0, " + std::to_string(n_buckets) + "), but a bucket lies outside.");
}

inline void require_buckets(const HashTable& hashes, int64_t n_buckets) {
    bool inside = true;
    for (int64_t i = 0; i < hashes.n_factors * hashes.n_columns; ++i) {
        inside &= hashes.index[i] >= 0 && hashes.index[i] < n_buckets;
    }
    if (!inside) fail_bucket(n_buckets);
}

template <class T, class I>
CsrRows<T, I> csr_rows(const Array<const T, 1>& data, const Array<const I, 1>& indices, const Array<const I, 1>& indptr,
                       int64_t n_columns) {
    const auto n_stored = static_cast<int64_t>(data.shape(0)), n_pointers = static_cast<int64_t>(indptr.shape(0));
    require_equal("len(indices)", static_cast<int64_t>(indices.shape(0)), "len(data)", n_stored);
    if (n_pointers == 0) fail("indptr must hold n + 1 pointers for n rows, got none.");
    const CsrRows<T, I> rows = {vector<const T>("data", data), vector<const I>("indices", indices),
                                vector<const I>("indptr", indptr), n_pointers - 1, n_columns};
    bool inside = rows.indptr[0] >= 0 && rows.indptr[rows.n_rows] <= n_stored;
    for (int64_t i = 0; i < rows.n_rows; ++i) inside &= rows.indptr[i] <= rows.indptr[i + 1];
    if (!inside) {
        fail("indptr must not decrease and must lie in [0, len(data)] = [0, " + std::to_string(n_stored) + "].");
    }
    return rows;
}

inline void require_ok(Status status, int64_t n_columns, int64_t n_buckets) {
    if (status == Status::bucket_out_of_range) fail_bucket(n_buckets);
    if (status == Status::column_out_of_range) {
        fail("indices must lie in [0, " + std::to_string(n_columns) + "), but a column lies outside.");
    }
}

}  // namespace mercer
