// L1 distances to fixed rows. Included inside the namespace of one instruction set.

// Vectors of sums that stay in registers, and rows that share the loads of the fixed ones.
constexpr int kAbsoluteVectors = 4;
constexpr int kAbsoluteRows = 2;

template <class T>
constexpr int64_t kAbsoluteWidth = kAbsoluteVectors * kLanes<T>;

template <class T>
MERCER_INLINE Lanes<T> absolute(const Lanes<T>& v) {
    return where_less<T>(v, Lanes<T>{}, -v, v);
}

// The distances of kAbsoluteRows rows from kAbsoluteWidth fixed rows; entry k of these is at strip + k * kAbsoluteWidth.
template <class T>
MERCER_INLINE void absolute_tile(const T* const* rows, const T* strip, int64_t n_columns, T (*sums)[kAbsoluteWidth<T>]) {
    Lanes<T> sum[kAbsoluteRows][kAbsoluteVectors] = {};
    for (int64_t k = 0; k < n_columns; ++k, strip += kAbsoluteWidth<T>) {
        MERCER_UNROLL
        for (int v = 0; v < kAbsoluteVectors; ++v) {
            const Lanes<T> other = load<T>(strip + v * kLanes<T>);
            MERCER_UNROLL
            for (int r = 0; r < kAbsoluteRows; ++r) {
                sum[r][v] = sum[r][v] + absolute<T>(all_lanes<T>(rows[r][k]) - other);
            }
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kAbsoluteRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kAbsoluteVectors; ++v) store<T>(sums[r] + v * kLanes<T>, sum[r][v]);
    }
}

// Copies n of the fixed rows side by side, and zeros in place of those that lack to a whole strip.
template <class T>
void pack_strip(const Matrix<const T>& fixed, int64_t first, int64_t n, T* strip) {
    for (int64_t j = 0; j < kAbsoluteWidth<T>; ++j) {
        const T* row = fixed.data + (first + j) * fixed.stride;
        for (int64_t k = 0; k < fixed.n_columns; ++k) strip[k * kAbsoluteWidth<T> + j] = j < n ? row[k] : T(0);
    }
}

// out[i, j] = sum_k |X[i, k] - fixed[j, k]|
template <class T>
void absolute_distances(const Matrix<const T>& X, const Matrix<const T>& fixed, const Matrix<T>& out) {
    constexpr int64_t width = kAbsoluteWidth<T>;
    const int64_t bytes = X.n_columns * width * static_cast<int64_t>(sizeof(T));
    T* strip = static_cast<T*>(scratch(Slot::packed_rows, bytes));
    for (int64_t first = 0; first < fixed.n_rows; first += width) {
        const int64_t n = first + width <= fixed.n_rows ? width : fixed.n_rows - first;
        pack_strip<T>(fixed, first, n, strip);
        for (int64_t i = 0; i < X.n_rows; i += kAbsoluteRows) {
            const int64_t m = i + kAbsoluteRows <= X.n_rows ? kAbsoluteRows : X.n_rows - i;
            const T* rows[kAbsoluteRows];
            for (int64_t r = 0; r < kAbsoluteRows; ++r) rows[r] = X.data + (i + (r < m ? r : 0)) * X.stride;
            T sums[kAbsoluteRows][width];
            absolute_tile<T>(rows, strip, X.n_columns, sums);
            for (int64_t r = 0; r < m; ++r) std::memcpy(out.data + (i + r) * out.stride + first, sums[r], n * sizeof(T));
        }
    }
}
