// Fourier features of dense rows: a few rows at a time, whose turns are made and used in the first-level cache. Included
// inside the namespace of one instruction set.
//
// For frequencies that fit the second-level cache, which every group of rows reads once; beyond that BLAS is quicker.

// Strips of kStrip columns, each one row after the other, the last one padded with zeros.
template <class T>
T* packed_strips(const Matrix<const T>& W) {
    const int64_t size = round_up(W.n_columns, kStrip<T>) * W.n_rows;
    T* const packed = static_cast<T*>(scratch(Slot::packed_weights, size * static_cast<int64_t>(sizeof(T))));
    T* next = packed;
    for (int64_t j = 0; j < W.n_columns; j += kStrip<T>) {
        const int64_t count = W.n_columns - j < kStrip<T> ? W.n_columns - j : kStrip<T>;
        for (int64_t k = 0; k < W.n_rows; ++k, next += kStrip<T>) {
            std::memset(next, 0, kStrip<T> * sizeof(T));
            std::memcpy(next, W.data + k * W.stride + j, static_cast<size_t>(count) * sizeof(T));
        }
    }
    return packed;
}

// The turns of kTileRows rows and kStrip frequencies, into rows of memory `stride` apart.
template <class T>
MERCER_INLINE void project_tile(const T* const (&rows)[kTileRows], const T* strip, int64_t depth, T* turns,
                                int64_t stride) {
    Lanes<T> sum[kTileRows][kTileVectors] = {};
    for (int64_t k = 0; k < depth; ++k, strip += kStrip<T>) {
        Lanes<T> weights[kTileVectors];
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) weights[v] = load<T>(strip + v * kLanes<T>);
        MERCER_UNROLL
        for (int r = 0; r < kTileRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kTileVectors; ++v) sum[r][v] = sum[r][v] + weights[v] * rows[r][k];
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kTileRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) store<T>(turns + r * stride + v * kLanes<T>, sum[r][v]);
    }
}

// The turns of n_rows <= kTileRows rows, in the columns that cos_sin reads: those of the pairs come first, those of
// single features after the room for the pairs' sines.
template <class T>
void project_rows(const Matrix<const T>& X, int64_t first, int64_t n_rows, const Matrix<const T>& W, const T* packed,
                  int64_t n_pairs, const Matrix<T>& out) {
    const T* rows[kTileRows];
    for (int64_t r = 0; r < kTileRows; ++r) rows[r] = X.data + (first + (r < n_rows ? r : 0)) * X.stride;
    T* const target = out.data + first * out.stride;
    for (int64_t j = 0; j < W.n_columns; j += kStrip<T>, packed += kStrip<T> * X.n_columns) {
        const bool paired = j + kStrip<T> <= n_pairs, single = j >= n_pairs && j + kStrip<T> <= W.n_columns;
        if (n_rows == kTileRows && (paired || single)) {
            project_tile<T>(rows, packed, X.n_columns, target + j + (paired ? 0 : n_pairs), out.stride);
            continue;
        }
        T turns[kTileRows * kStrip<T>];
        project_tile<T>(rows, packed, X.n_columns, turns, kStrip<T>);
        for (int64_t r = 0; r < n_rows; ++r) {
            for (int64_t c = j; c < j + kStrip<T> && c < W.n_columns; ++c) {
                target[r * out.stride + c + (c < n_pairs ? 0 : n_pairs)] = turns[r * kStrip<T> + c - j];
            }
        }
    }
}

// Returns whether all turns were finite.
template <class T>
bool fourier_features(const Matrix<const T>& X, const Matrix<const T>& W, const Phases<T>& phases,
                      const Matrix<T>& out) {
    const int64_t n_pairs = W.n_columns - phases.n_offsets;
    const T* packed = packed_strips<T>(W);
    bool finite = true;
    for (int64_t first = 0; first < out.n_rows; first += kTileRows) {
        const int64_t n_rows = out.n_rows - first < kTileRows ? out.n_rows - first : kTileRows;
        project_rows<T>(X, first, n_rows, W, packed, n_pairs, out);
        finite &= cos_sin<T>(phases, {out.data + first * out.stride, n_rows, out.n_columns, out.stride});
    }
    return finite;
}
