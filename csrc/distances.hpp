// L1 and squared distances to fixed rows, as sums over columns. Included inside the namespace of one instruction set.

// Vectors of sums that stay in registers, and rows that share the loads of the fixed ones.
constexpr int kDistanceVectors = 4;
constexpr int kDistanceRows = 2;

template <class T>
constexpr int64_t kDistanceWidth = kDistanceVectors * kLanes<T>;

struct Absolute {
    template <class T>
    static MERCER_INLINE Lanes<T> of(const Lanes<T>& v) {
        return where_less<T>(v, Lanes<T>{}, -v, v);
    }
};

struct Squared {
    template <class T>
    static MERCER_INLINE Lanes<T> of(const Lanes<T>& v) {
        return v * v;
    }
};

// The distances of kDistanceRows rows from kDistanceWidth fixed rows; entry k of these is at strip + k * kDistanceWidth.
template <class T, class Term>
MERCER_INLINE void distance_tile(const T* const* rows, const T* strip, int64_t n_columns, T (*sums)[kDistanceWidth<T>]) {
    Lanes<T> sum[kDistanceRows][kDistanceVectors] = {};
    for (int64_t k = 0; k < n_columns; ++k, strip += kDistanceWidth<T>) {
        MERCER_UNROLL
        for (int v = 0; v < kDistanceVectors; ++v) {
            const Lanes<T> other = load<T>(strip + v * kLanes<T>);
            MERCER_UNROLL
            for (int r = 0; r < kDistanceRows; ++r) {
                sum[r][v] = sum[r][v] + Term::template of<T>(all_lanes<T>(rows[r][k]) - other);
            }
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kDistanceRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kDistanceVectors; ++v) store<T>(sums[r] + v * kLanes<T>, sum[r][v]);
    }
}

// Copies n of the fixed rows side by side, and zeros in place of those that lack to a whole strip.
template <class T>
void pack_strip(const Matrix<const T>& fixed, int64_t first, int64_t n, T* strip) {
    for (int64_t j = 0; j < kDistanceWidth<T>; ++j) {
        const T* row = fixed.data + (first + j) * fixed.stride;
        for (int64_t k = 0; k < fixed.n_columns; ++k) strip[k * kDistanceWidth<T> + j] = j < n ? row[k] : T(0);
    }
}

// out[i, j] = sum_k term(X[i, k] - fixed[j, k])
template <class T, class Term>
void distances(const Matrix<const T>& X, const Matrix<const T>& fixed, const Matrix<T>& out) {
    constexpr int64_t width = kDistanceWidth<T>;
    const int64_t bytes = X.n_columns * width * static_cast<int64_t>(sizeof(T));
    T* strip = static_cast<T*>(scratch(Slot::packed_rows, bytes));
    for (int64_t first = 0; first < fixed.n_rows; first += width) {
        const int64_t n = first + width <= fixed.n_rows ? width : fixed.n_rows - first;
        pack_strip<T>(fixed, first, n, strip);
        for (int64_t i = 0; i < X.n_rows; i += kDistanceRows) {
            const int64_t m = i + kDistanceRows <= X.n_rows ? kDistanceRows : X.n_rows - i;
            const T* rows[kDistanceRows];
            for (int64_t r = 0; r < kDistanceRows; ++r) rows[r] = X.data + (i + (r < m ? r : 0)) * X.stride;
            T sums[kDistanceRows][width];
            distance_tile<T, Term>(rows, strip, X.n_columns, sums);
            for (int64_t r = 0; r < m; ++r) std::memcpy(out.data + (i + r) * out.stride + first, sums[r], n * sizeof(T));
        }
    }
}
