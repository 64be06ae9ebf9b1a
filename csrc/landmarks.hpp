// Features from Gaussian kernel values at landmarks. Included inside the namespace of one instruction set.
//
// exp(left @ right) @ projection: the values of a block of rows are made and used in the second-level cache. Rows lie in
// the lanes, so that the values leave the first product in the layout that the second one reads.

constexpr int64_t kGroupColumns = 8 * kTileRows;  // columns of the result that are written together: whole cache lines
constexpr int64_t kValueBytes = 384 * 1024;       // kernel values at a time
constexpr int64_t kMostTiles = 8;

// Rows that column j of the projection uses; the others hold zeros.
template <class T>
int64_t used_rows(const LandmarkProjection<T>& projection, int64_t j) {
    const int64_t used = projection.first + j;
    return used < projection.weights.n_rows ? used : projection.weights.n_rows;
}

// Strips of kTileRows columns, each with its columns interleaved over the rows in use, the last one padded with zeros.
template <class T>
void pack_columns(const Matrix<const T>& W, int64_t first, int64_t n_rows, T* packed) {
    const int64_t count = W.n_columns - first < kTileRows ? W.n_columns - first : kTileRows;
    for (int64_t k = 0; k < n_rows; ++k, packed += kTileRows) {
        const T* row = W.data + k * W.stride + first;
        for (int64_t c = 0; c < kTileRows; ++c) packed[c] = c < count ? row[c] : T(0);
    }
}

// kStrip rows in the lanes, one column after the other; past the last row of X that row is repeated.
template <class T>
void pack_lanes(const Matrix<const T>& X, int64_t first, T* packed) {
    for (int64_t i = 0; i < kStrip<T>; ++i) {
        const T* row = X.data + (first + i < X.n_rows ? first + i : X.n_rows - 1) * X.stride;
        for (int64_t k = 0; k < X.n_columns; ++k) packed[k * kStrip<T> + i] = row[k];
    }
}

// The kernel values of kStrip rows at all landmarks.
template <class T>
void kernel_values(const T* rows, const T* right, int64_t depth, int64_t n_landmarks, T* values) {
    for (int64_t j = 0; j < n_landmarks; j += kTileRows, right += kTileRows * depth, values += kTileRows * kStrip<T>) {
        std::memset(values, 0, kTileRows * kStrip<T> * sizeof(T));
        accumulate_tile<T>(right, rows, depth, values);
        exp_all<T>(values, kTileRows * kStrip<T>);
    }
}

// out[first_row + i, first_column + j] = sums[j][i] for the rows and columns that exist.
template <class T>
void store_columns(const T* sums, int64_t first_row, int64_t first_column, const Matrix<T>& out) {
    const int64_t rows_left = out.n_rows - first_row, columns_left = out.n_columns - first_column;
    const int64_t n_columns = columns_left < kGroupColumns ? columns_left : kGroupColumns;
    for (int64_t i = 0; i < kStrip<T> && i < rows_left; i += kLanes<T>) {
        T* target = out.data + (first_row + i) * out.stride + first_column;
        int64_t j = 0;
        if (rows_left - i >= kLanes<T>) {
            for (; j + kLanes<T> <= n_columns; j += kLanes<T>) {
                Lanes<T> tile[kLanes<T>];
                MERCER_UNROLL
                for (int c = 0; c < kLanes<T>; ++c) tile[c] = load<T>(sums + (j + c) * kStrip<T> + i);
                transpose(tile);
                MERCER_UNROLL
                for (int r = 0; r < kLanes<T>; ++r) store<T>(target + r * out.stride + j, tile[r]);
            }
        }
        for (int64_t r = 0; r < kLanes<T> && i + r < rows_left; ++r) {
            for (int64_t c = j; c < n_columns; ++c) target[r * out.stride + c] = sums[c * kStrip<T> + i + r];
        }
    }
}

template <class T>
T* packed_projection(const LandmarkProjection<T>& projection) {
    const Matrix<const T>& W = projection.weights;
    const int64_t size = round_up(W.n_columns, kTileRows) * W.n_rows;
    T* const packed = static_cast<T*>(scratch(Slot::packed_weights, size * static_cast<int64_t>(sizeof(T))));
    T* next = packed;
    for (int64_t j = 0; j < W.n_columns; j += kTileRows) {
        const int64_t n_rows = used_rows<T>(projection, j + kTileRows - 1);
        pack_columns<T>(W, j, n_rows, next);
        next += n_rows * kTileRows;
    }
    return packed;
}

// The features of n_tiles tiles of rows, whose kernel values stand one after the other.
template <class T>
void project_values(const T* values, int64_t n_tiles, int64_t tile_size, const LandmarkProjection<T>& projection,
                    const T* packed, int64_t first_row, const Matrix<T>& out) {
    T sums[kMostTiles * kGroupColumns * kStrip<T>];
    for (int64_t group = 0; group < out.n_columns; group += kGroupColumns) {
        std::memset(sums, 0, sizeof sums);
        for (int64_t j = group; j < group + kGroupColumns && j < out.n_columns; j += kTileRows) {
            const int64_t n_rows = used_rows<T>(projection, j + kTileRows - 1);
            for (int64_t k = 0; k < n_rows; k += kDepth) {
                const int64_t depth = n_rows - k < kDepth ? n_rows - k : kDepth;
                for (int64_t i = 0; i < n_tiles; ++i) {
                    accumulate_tile<T>(packed + k * kTileRows, values + i * tile_size + k * kStrip<T>, depth,
                                       sums + (i * kGroupColumns + j - group) * kStrip<T>);
                }
            }
            packed += n_rows * kTileRows;
        }
        for (int64_t i = 0; i < n_tiles; ++i) {
            store_columns<T>(sums + i * kGroupColumns * kStrip<T>, first_row + i * kStrip<T>, group, out);
        }
    }
}

template <class T>
void landmark_features(const Matrix<const T>& left, const Matrix<const T>& right,
                       const LandmarkProjection<T>& projection, const Matrix<T>& out) {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
    const int64_t depth = left.n_columns, n_landmarks = right.n_columns;
    const T* packed = packed_projection<T>(projection);
    T* points = static_cast<T*>(scratch(Slot::panel, round_up(n_landmarks, kTileRows) * depth * kBytes));
    for (int64_t j = 0; j < n_landmarks; j += kTileRows) pack_columns<T>(right, j, depth, points + j * depth);
    T* rows = static_cast<T*>(scratch(Slot::packed_rows, depth * kStrip<T> * kBytes));
    const int64_t tile_size = round_up(n_landmarks, kTileRows) * kStrip<T>;
    int64_t most = n_landmarks ? kValueBytes / (tile_size * kBytes) : 1;
    most = most < 1 ? 1 : (most > kMostTiles ? kMostTiles : most);
    T* values = static_cast<T*>(scratch(Slot::product, most * tile_size * kBytes));
    for (int64_t first = 0; first < out.n_rows; first += most * kStrip<T>) {
        int64_t n_tiles = 0;
        for (; n_tiles < most && first + n_tiles * kStrip<T> < out.n_rows; ++n_tiles) {
            pack_lanes<T>(left, first + n_tiles * kStrip<T>, rows);
            kernel_values<T>(rows, points, depth, n_landmarks, values + n_tiles * tile_size);
        }
        project_values<T>(values, n_tiles, tile_size, projection, packed, first, out);
    }
}
