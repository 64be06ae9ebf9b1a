// Square tiles of kLanes x kLanes elements: rows in memory, columns in lanes. Included inside the namespace of one
// instruction set.

#if defined(__GNUC__) && !defined(MERCER_PLAIN_LANES) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define MERCER_SHUFFLES
#endif
#endif

#if defined(MERCER_SHUFFLES)

#if MERCER_LANE_BYTES == 16
MERCER_INLINE void transpose(Lanes<double> (&t)[2]) {
    const Lanes<double> a = t[0], b = t[1];
    t[0] = __builtin_shufflevector(a, b, 0, 2);
    t[1] = __builtin_shufflevector(a, b, 1, 3);
}

MERCER_INLINE void transpose(Lanes<float> (&t)[4]) {
    const Lanes<float> a = __builtin_shufflevector(t[0], t[1], 0, 4, 1, 5);
    const Lanes<float> b = __builtin_shufflevector(t[0], t[1], 2, 6, 3, 7);
    const Lanes<float> c = __builtin_shufflevector(t[2], t[3], 0, 4, 1, 5);
    const Lanes<float> d = __builtin_shufflevector(t[2], t[3], 2, 6, 3, 7);
    t[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    t[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    t[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    t[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
#endif

#if MERCER_LANE_BYTES == 32
// Every shuffle but the last stage stays inside 128-bit halves, where AVX2 needs one instruction for each.
MERCER_INLINE void transpose(Lanes<double> (&t)[4]) {
    const Lanes<double> a = __builtin_shufflevector(t[0], t[1], 0, 4, 2, 6);
    const Lanes<double> b = __builtin_shufflevector(t[0], t[1], 1, 5, 3, 7);
    const Lanes<double> c = __builtin_shufflevector(t[2], t[3], 0, 4, 2, 6);
    const Lanes<double> d = __builtin_shufflevector(t[2], t[3], 1, 5, 3, 7);
    t[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    t[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    t[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    t[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

MERCER_INLINE void transpose(Lanes<float> (&t)[8]) {
    Lanes<float> pairs[8];  // pairs[2i], pairs[2i + 1]: rows 2i and 2i + 1 interleaved
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = __builtin_shufflevector(t[i], t[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pairs[i + 1] = __builtin_shufflevector(t[i], t[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    Lanes<float> fours[8];  // fours[c], fours[4 + c]: columns c and c + 4 of rows 0-3, and of rows 4-7
    for (int h = 0; h < 8; h += 4) {
        for (int i = 0; i < 2; ++i) {
            fours[h + 2 * i] = __builtin_shufflevector(pairs[h + i], pairs[h + i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            fours[h + 2 * i + 1] = __builtin_shufflevector(pairs[h + i], pairs[h + i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int c = 0; c < 4; ++c) {
        t[c] = __builtin_shufflevector(fours[c], fours[c + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        t[c + 4] = __builtin_shufflevector(fours[c], fours[c + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#endif

#if MERCER_LANE_BYTES == 64
MERCER_INLINE void transpose(Lanes<double> (&t)[8]) {
    Lanes<double> pairs[8];  // pairs[2i], pairs[2i + 1]: even and odd columns of rows 2i and 2i + 1
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = __builtin_shufflevector(t[i], t[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pairs[i + 1] = __builtin_shufflevector(t[i], t[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    Lanes<double> fours[8];  // fours[c], fours[4 + c]: columns c and c + 4 of rows 0-3, and of rows 4-7
    for (int h = 0; h < 8; h += 4) {
        for (int i = 0; i < 2; ++i) {
            fours[h + i] = __builtin_shufflevector(pairs[h + i], pairs[h + i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            fours[h + i + 2] = __builtin_shufflevector(pairs[h + i], pairs[h + i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int c = 0; c < 4; ++c) {
        t[c] = __builtin_shufflevector(fours[c], fours[c + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        t[c + 4] = __builtin_shufflevector(fours[c], fours[c + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#endif

#else
template <class V, int kSize>
MERCER_INLINE void transpose(V (&t)[kSize]) {
    for (int i = 0; i < kSize; ++i) {
        for (int j = 0; j < i; ++j) {
            const auto a = t[i][j];
            t[i][j] = t[j][i];
            t[j][i] = a;
        }
    }
}
#endif

// The rows in the lanes. A group past the last row of the matrix repeats that row, so that no load needs a mask.
template <class T>
struct RowGroup {
    const T* row[kLanes<T>];
};

template <class T>
RowGroup<T> row_group(const Matrix<const T>& X, int64_t first) {
    RowGroup<T> group;
    for (int64_t i = 0; i < kLanes<T>; ++i) {
        const int64_t row = first + i < X.n_rows ? first + i : X.n_rows - 1;
        group.row[i] = X.data + row * X.stride;
    }
    return group;
}

// columns[j] becomes column first + j of the group.
template <class T>
MERCER_INLINE void load_columns(const RowGroup<T>& group, int64_t first, Lanes<T> (&columns)[kLanes<T>]) {
    MERCER_UNROLL
    for (int i = 0; i < kLanes<T>; ++i) columns[i] = load<T>(group.row[i] + first);
    transpose(columns);
}

// The same for the last `count` < kLanes columns; the others become 0.
template <class T>
void load_last_columns(const RowGroup<T>& group, int64_t first, int64_t count, Lanes<T> (&columns)[kLanes<T>]) {
    for (int i = 0; i < kLanes<T>; ++i) {
        columns[i] = Lanes<T>{};
        std::memcpy(&columns[i], group.row[i] + first, count * sizeof(T));
    }
    transpose(columns);
}

// All columns of the group, one after the other; `columns` has room for kLanes more.
template <class T>
void load_group(const RowGroup<T>& group, int64_t n_columns, T* columns) {
    Lanes<T> tile[kLanes<T>];
    for (int64_t j = 0; j < n_columns; j += kLanes<T>) {
        if (j + kLanes<T> <= n_columns) {
            load_columns<T>(group, j, tile);
        } else {
            load_last_columns<T>(group, j, n_columns - j, tile);
        }
        MERCER_UNROLL
        for (int c = 0; c < kLanes<T>; ++c) store<T>(columns + (j + c) * kLanes<T>, tile[c]);
    }
}

// kTiles tiles side by side: row i of memory is lane i of each column, times `scale`.
template <class T, int kTiles>
MERCER_INLINE void store_tiles(const T* columns, T scale, T* rows, int64_t stride) {
    Lanes<T> tiles[kTiles][kLanes<T>];
    MERCER_UNROLL
    for (int t = 0; t < kTiles; ++t) {
        MERCER_UNROLL
        for (int i = 0; i < kLanes<T>; ++i) tiles[t][i] = load<T>(columns + (t * kLanes<T> + i) * kLanes<T>) * scale;
        transpose(tiles[t]);
    }
    MERCER_UNROLL
    for (int i = 0; i < kLanes<T>; ++i) {
        MERCER_UNROLL
        for (int t = 0; t < kTiles; ++t) store<T>(rows + i * stride + t * kLanes<T>, tiles[t][i]);
    }
}

template <class T>
void store_partial_tile(const T* columns, T scale, T* rows, int64_t stride, int64_t n_rows, int64_t n_columns) {
    for (int64_t i = 0; i < n_rows; ++i) {
        for (int64_t j = 0; j < n_columns; ++j) rows[i * stride + j] = columns[j * kLanes<T> + i] * scale;
    }
}

// out[first_row + i, j] = scale * columns[j][i] for the rows that exist.
template <class T>
void store_group(const T* columns, T scale, int64_t first_row, const Matrix<T>& out) {
    // Whole cache lines at a time: rows a power of two apart compete for the same cache sets.
    constexpr int kTiles = 64 / MERCER_LANE_BYTES;
    constexpr int64_t kWidth = kTiles * kLanes<T>;
    const int64_t left = out.n_rows - first_row;
    T* rows = out.data + first_row * out.stride;
    int64_t j = 0;
    if (left >= kLanes<T>) {
        for (; j + kWidth <= out.n_columns; j += kWidth) {
            store_tiles<T, kTiles>(columns + j * kLanes<T>, scale, rows + j, out.stride);
        }
    }
    const int64_t n_rows = left < kLanes<T> ? left : kLanes<T>;
    store_partial_tile<T>(columns + j * kLanes<T>, scale, rows + j, out.stride, n_rows, out.n_columns - j);
}
