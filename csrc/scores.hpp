// Products of rows with few columns of weights: BLAS, made for wide ones, takes nearly twice as long for ten columns.
// Included inside the namespace of one instruction set.

constexpr int kScoredRows = 4;        // with 3 columns, 12 sums leave 4 of 16 registers for operands
constexpr int kRowsOfOne = 8;         // with 1 column: as many sums as hide the latency of an addition
constexpr int64_t kScoredBlock = 32;  // rows whose sums are kept while a chunk of the weights stays in cache

template <class T>
constexpr int64_t kChunk = 2048 / static_cast<int64_t>(sizeof(T));

// Adds to sums[r * n_columns + c] the products of entries of kRows rows of Z with those of kColumns rows of W.
template <class T, int kRows, int kColumns>
void add_tile(const T* z, int64_t z_stride, const T* w, int64_t w_stride, int64_t n, Lanes<T>* sums,
              int64_t n_columns) {
    Lanes<T> sum[kRows * kColumns];
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        MERCER_UNROLL
        for (int c = 0; c < kColumns; ++c) sum[r * kColumns + c] = sums[r * n_columns + c];
    }
    for (int64_t i = 0; i + kLanes<T> <= n; i += kLanes<T>) {
        Lanes<T> weight[kColumns];
        MERCER_UNROLL
        for (int c = 0; c < kColumns; ++c) weight[c] = load<T>(w + c * w_stride + i);
        MERCER_UNROLL
        for (int r = 0; r < kRows; ++r) {
            const Lanes<T> entries = load<T>(z + r * z_stride + i);
            MERCER_UNROLL
            for (int c = 0; c < kColumns; ++c) sum[r * kColumns + c] = sum[r * kColumns + c] + entries * weight[c];
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        MERCER_UNROLL
        for (int c = 0; c < kColumns; ++c) sums[r * n_columns + c] = sum[r * kColumns + c];
    }
}

template <class T, int kRows>
void add_strip(const T* z, int64_t z_stride, const Matrix<const T>& W, int64_t start, int64_t n, Lanes<T>* sums) {
    const T* w = W.data + start;
    int64_t c = 0;
    const auto add = [&](auto tile, int64_t width) {
        tile(z, z_stride, w + c * W.stride, W.stride, n, sums + c, W.n_rows);
        c += width;
    };
    // The last four are two and two: one alone would take as long as two.
    while (W.n_rows - c > 4 || W.n_rows - c == 3) add(add_tile<T, kRows, 3>, 3);
    while (W.n_rows - c >= 2) add(add_tile<T, kRows, 2>, 2);
    if (c < W.n_rows) add(add_tile<T, kRows, 1>, 1);
}

// out = Z W^T, the rows of W being the columns of weights.
template <class T>
void scores(const Matrix<const T>& Z, const Matrix<const T>& W, const Matrix<T>& out) {
    const int64_t whole = Z.n_columns - Z.n_columns % kLanes<T>, n_columns = W.n_rows;
    auto* sums = static_cast<Lanes<T>*>(
        scratch(Slot::panel, kScoredBlock * n_columns * static_cast<int64_t>(sizeof(Lanes<T>))));
    for (int64_t first = 0; first < Z.n_rows; first += kScoredBlock) {
        const int64_t left = Z.n_rows - first, count = left < kScoredBlock ? left : kScoredBlock;
        for (int64_t i = 0; i < count * n_columns; ++i) sums[i] = Lanes<T>{};
        for (int64_t start = 0; start < whole; start += kChunk<T>) {
            const int64_t n = whole - start < kChunk<T> ? whole - start : kChunk<T>;
            const T* z = Z.data + first * Z.stride + start;
            int64_t r = 0;
            for (; n_columns == 1 && r + kRowsOfOne <= count; r += kRowsOfOne) {
                add_tile<T, kRowsOfOne, 1>(z + r * Z.stride, Z.stride, W.data + start, W.stride, n, sums + r, 1);
            }
            for (; r + kScoredRows <= count; r += kScoredRows) {
                add_strip<T, kScoredRows>(z + r * Z.stride, Z.stride, W, start, n, sums + r * n_columns);
            }
            for (; r < count; ++r) add_strip<T, 1>(z + r * Z.stride, Z.stride, W, start, n, sums + r * n_columns);
        }
        for (int64_t r = 0; r < count; ++r) {
            const T* z = Z.data + (first + r) * Z.stride;
            for (int64_t c = 0; c < n_columns; ++c) {
                T total = sum_of_lanes<T>(sums[r * n_columns + c]);
                for (int64_t i = whole; i < Z.n_columns; ++i) total += z[i] * W.data[c * W.stride + i];
                out.data[(first + r) * out.stride + c] = total;
            }
        }
    }
}
