// Products of projections of dense rows. Included inside the namespace of one instruction set.
//
// A matrix product blocked as in BLAS (Goto and van de Geijn, 2008), but the projections of a block of rows on a strip
// of features are multiplied in the first-level cache, factor by factor, and only their product goes to memory.

constexpr int64_t kTileRows = 6;
constexpr int64_t kTileVectors = 2;             // 6 x 2 accumulators leave 4 of 16 registers for operands
constexpr int64_t kBlockRows = 48 * kTileRows;  // rows that use a strip of W before the next one is fetched
constexpr int64_t kDepth = 256;                 // rows of W at a time: a strip of them stays in the first-level cache

template <class T>
constexpr int64_t kStrip = kTileVectors * kLanes<T>;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

template <class T>
void fill_ones(const Matrix<T>& out, int64_t first_column) {
    for (int64_t i = 0; i < out.n_rows; ++i) {
        for (int64_t j = first_column; j < out.n_columns; ++j) out.data[i * out.stride + j] = T(1);
    }
}

// Strips of kStrip columns, each contiguous, the last one padded with zeros.
template <class T>
void pack_strips(const Matrix<const T>& W, int64_t first, int64_t width, T* packed) {
    for (int64_t j = 0; j < width; j += kStrip<T>) {
        const T* row = W.data + first + j;
        const int64_t count = width - j < kStrip<T> ? width - j : kStrip<T>;
        for (int64_t k = 0; k < W.n_rows; ++k, row += W.stride, packed += kStrip<T>) {
            if (count == kStrip<T>) {
                std::memcpy(packed, row, kStrip<T> * sizeof(T));
            } else {
                for (int64_t c = 0; c < kStrip<T>; ++c) packed[c] = c < count ? row[c] : T(0);
            }
        }
    }
}

template <class T>
T* pack_weights(const Projections<T>& projections) {
    const Matrix<const T>& W = projections.weights;
    int64_t n_columns = 0;
    for (int64_t f = 0; f < projections.n_factors; ++f) n_columns += round_up(projections.widths[f], kStrip<T>);
    T* packed = static_cast<T*>(scratch(Slot::packed_weights, n_columns * W.n_rows * static_cast<int64_t>(sizeof(T))));
    int64_t first = 0, target = 0;
    for (int64_t f = 0; f < projections.n_factors; ++f) {
        pack_strips<T>(W, first, projections.widths[f], packed + target * W.n_rows);
        first += projections.widths[f];
        target += round_up(projections.widths[f], kStrip<T>);
    }
    return packed;
}

// Tiles of kTileRows rows, each with its rows interleaved; past the last row of X that row is repeated.
template <class T>
void pack_rows(const Matrix<const T>& X, int64_t first, int64_t n_rows, T* packed) {
    for (int64_t i = first; i < first + n_rows; i += kTileRows) {
        const T* row[kTileRows];
        for (int64_t r = 0; r < kTileRows; ++r) row[r] = X.data + (i + r < X.n_rows ? i + r : X.n_rows - 1) * X.stride;
        for (int64_t c = 0; c < X.n_columns; ++c, packed += kTileRows) {
            MERCER_UNROLL
            for (int r = 0; r < kTileRows; ++r) packed[r] = row[r][c];
        }
    }
}

// sums (kTileRows x kStrip) += rows (kTileRows x depth) @ strip (depth x kStrip)
template <class T>
void accumulate_tile(const T* rows, const T* strip, int64_t depth, T* sums) {
    Lanes<T> sum[kTileRows][kTileVectors];
    MERCER_UNROLL
    for (int r = 0; r < kTileRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) sum[r][v] = load<T>(sums + (r * kTileVectors + v) * kLanes<T>);
    }
    for (int64_t k = 0; k < depth; ++k, rows += kTileRows, strip += kStrip<T>) {
        Lanes<T> weights[kTileVectors];
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) weights[v] = load<T>(strip + v * kLanes<T>);
        MERCER_UNROLL
        for (int r = 0; r < kTileRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kTileVectors; ++v) sum[r][v] = sum[r][v] + weights[v] * rows[r];
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kTileRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) store<T>(sums + (r * kTileVectors + v) * kLanes<T>, sum[r][v]);
    }
}

// The projections of a packed block of rows on one strip of one factor.
template <class T>
void project_strip(const T* rows, int64_t n_rows, const T* strip, int64_t n_columns, T* sums) {
    std::memset(sums, 0, kBlockRows * kStrip<T> * sizeof(T));
    for (int64_t k = 0; k < n_columns; k += kDepth) {
        const int64_t depth = n_columns - k < kDepth ? n_columns - k : kDepth;
        for (int64_t i = 0; i < n_rows; i += kTileRows) {
            accumulate_tile<T>(rows + i * n_columns + k * kTileRows, strip + k * kStrip<T>, depth,
                               sums + i * kStrip<T>);
        }
    }
}

template <class T>
void multiply_into(const T* sums, int64_t count, T* product) {
    for (int64_t i = 0; i < count; i += kLanes<T>) store<T>(product + i, load<T>(product + i) * load<T>(sums + i));
}

// Features beyond the width of a factor keep their product: the factor's padding must not reach them.
template <class T>
void keep_ones_beyond(int64_t width, T* sums) {
    for (int64_t i = 0; i < kBlockRows; ++i) {
        for (int64_t j = width; j < kStrip<T>; ++j) sums[i * kStrip<T> + j] = T(1);
    }
}

// Features [first, first + kStrip) of a block of rows.
template <class T>
void project_block(const T* rows, int64_t n_rows, const T* weights, const Projections<T>& projections, int64_t first,
                   T* product) {
    T sums[kBlockRows * kStrip<T>];
    const int64_t n_columns = projections.weights.n_rows;
    for (int64_t f = 0; f < projections.n_factors && projections.widths[f] > first; ++f) {
        T* target = f == 0 ? product : sums;
        project_strip<T>(rows, n_rows, weights + first * n_columns, n_columns, target);
        if (projections.widths[f] - first < kStrip<T>) keep_ones_beyond<T>(projections.widths[f] - first, target);
        if (f > 0) multiply_into<T>(sums, n_rows * kStrip<T>, product);
        weights += round_up(projections.widths[f], kStrip<T>) * n_columns;
    }
}

template <class T>
void project_product(const Matrix<const T>& X, const Projections<T>& projections, const Matrix<T>& out) {
    const int64_t width = projections.n_factors ? projections.widths[0] : 0;
    fill_ones<T>(out, width);
    const T* weights = pack_weights<T>(projections);
    T* rows = static_cast<T*>(scratch(Slot::packed_rows, kBlockRows * X.n_columns * static_cast<int64_t>(sizeof(T))));
    T product[kBlockRows * kStrip<T>];
    for (int64_t i = 0; i < X.n_rows; i += kBlockRows) {
        const int64_t n_rows = X.n_rows - i < kBlockRows ? X.n_rows - i : kBlockRows;
        pack_rows<T>(X, i, n_rows, rows);
        for (int64_t j = 0; j < width; j += kStrip<T>) {
            project_block<T>(rows, n_rows, weights, projections, j, product);
            const int64_t count = width - j < kStrip<T> ? width - j : kStrip<T>;
            for (int64_t r = 0; r < n_rows; ++r) {
                std::memcpy(out.data + (i + r) * out.stride + j, product + r * kStrip<T>, count * sizeof(T));
            }
        }
    }
}
