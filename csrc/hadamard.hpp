// Products of Hadamard and diagonal matrices, a group of rows at a time. Included inside the namespace of one
// instruction set.
//
// Element j of a buffer is the kLanes values of column j, so that a butterfly of columns is plain arithmetic of lanes.

// Transforms of this many elements stay in the first-level cache (16 KiB of lanes).
constexpr int64_t kCachedTransform = 16384 / MERCER_LANE_BYTES;

template <class T, int kRadix>
MERCER_INLINE void butterfly(Lanes<T> (&v)[kRadix]) {
    MERCER_UNROLL
    for (int h = 1; h < kRadix; h *= 2) {
        MERCER_UNROLL
        for (int i = 0; i < kRadix; ++i) {
            if (i & h) continue;
            const Lanes<T> a = v[i], b = v[i + h];
            v[i] = a + b;
            v[i + h] = a - b;
        }
    }
}

// One pass of all transforms of kRadix * span consecutive elements.
template <class T, int kRadix>
void hadamard_pass(T* buffer, int64_t length, int64_t span) {
    for (int64_t start = 0; start < length; start += kRadix * span) {
        for (int64_t j = start; j < start + span; ++j) {
            Lanes<T> v[kRadix];
            MERCER_UNROLL
            for (int k = 0; k < kRadix; ++k) v[k] = load<T>(buffer + (j + k * span) * kLanes<T>);
            butterfly<T, kRadix>(v);
            MERCER_UNROLL
            for (int k = 0; k < kRadix; ++k) store<T>(buffer + (j + k * span) * kLanes<T>, v[k]);
        }
    }
}

// All transforms of `size` consecutive elements, `size` a power of two, in passes of radix 8 and 4: radix 2 would touch
// the memory once more for a third of the work.
template <class T>
void hadamard_passes(T* buffer, int64_t length, int64_t size) {
    int levels = 0;
    while ((int64_t{1} << levels) < size) ++levels;
    while (levels > 0) {
        const int taken = levels % 3 == 0 ? 3 : (levels == 1 ? 1 : 2);
        levels -= taken;
        const int64_t span = int64_t{1} << levels;
        if (taken == 3) hadamard_pass<T, 8>(buffer, length, span);
        if (taken == 2) hadamard_pass<T, 4>(buffer, length, span);
        if (taken == 1) hadamard_pass<T, 2>(buffer, length, span);
    }
}

// The same for a buffer of any length: large transforms are cut in eight first, small ones worked together.
template <class T>
void hadamard_transforms(T* buffer, int64_t length, int64_t size) {
    if (size > kCachedTransform) {
        for (int64_t start = 0; start < length; start += size) {
            T* one = buffer + start * kLanes<T>;
            hadamard_pass<T, 8>(one, size, size / 8);
            hadamard_transforms<T>(one, size, size / 8);
        }
        return;
    }
    for (int64_t start = 0; start < length; start += kCachedTransform) {
        const int64_t part = length - start < kCachedTransform ? length - start : kCachedTransform;
        hadamard_passes<T>(buffer + start * kLanes<T>, part, size);
    }
}

// Elements of a buffer times a diagonal.
template <class T>
struct Scaled {
    const T* elements;
    const T* diagonal;

    MERCER_INLINE Lanes<T> operator()(int64_t j) const { return load<T>(elements + j * kLanes<T>) * diagonal[j]; }
};

// The same, gathered by a permutation.
template <class T>
struct Gathered {
    const T* elements;
    const T* diagonal;
    const int32_t* permutation;

    MERCER_INLINE Lanes<T> operator()(int64_t j) const {
        return load<T>(elements + permutation[j] * kLanes<T>) * diagonal[j];
    }
};

// The first `kept` elements of the transform of `size` elements of a source; both are powers of two, kept >= 8. Those
// elements see the source only through the sums of elements `kept` apart. The diagonal rides on the loads of the first
// pass, which may be in place unless the source is gathered.
template <class T, class Source>
void transform_of(const Source& source, int64_t size, int64_t kept, T* target) {
    const int64_t part = kept / 8;
    for (int64_t j = 0; j < part; ++j) {
        Lanes<T> v[8];
        MERCER_UNROLL
        for (int k = 0; k < 8; ++k) v[k] = source(j + k * part);
        for (int64_t fold = kept; fold < size; fold += kept) {
            MERCER_UNROLL
            for (int k = 0; k < 8; ++k) v[k] = v[k] + source(j + k * part + fold);
        }
        butterfly<T, 8>(v);
        MERCER_UNROLL
        for (int k = 0; k < 8; ++k) store<T>(target + (j + k * part) * kLanes<T>, v[k]);
    }
    hadamard_transforms<T>(target, kept, part);
}

template <class T>
void load_padded(const Matrix<const T>& X, int64_t first_row, int64_t size, T* buffer) {
    const RowGroup<T> group = row_group<T>(X, first_row);
    std::memset(buffer + X.n_columns * kLanes<T>, 0, (size - X.n_columns) * kLanes<T> * sizeof(T));
    Lanes<T> columns[kLanes<T>];
    int64_t j = 0;
    for (; j + kLanes<T> <= X.n_columns; j += kLanes<T>) {
        load_columns<T>(group, j, columns);
        MERCER_UNROLL
        for (int c = 0; c < kLanes<T>; ++c) store<T>(buffer + (j + c) * kLanes<T>, columns[c]);
    }
    if (j == X.n_columns) return;
    load_last_columns<T>(group, j, X.n_columns - j, columns);
    for (int64_t c = j; c < X.n_columns; ++c) store<T>(buffer + c * kLanes<T>, columns[c - j]);
}

// kTiles tiles of turns side by side: row i of memory is lane i of each column, times that column's length.
template <class T, int kTiles>
MERCER_INLINE void store_scaled_tiles(const T* columns, const T* lengths, T* rows, int64_t stride) {
    Lanes<T> tiles[kTiles][kLanes<T>];
    MERCER_UNROLL
    for (int t = 0; t < kTiles; ++t) {
        MERCER_UNROLL
        for (int i = 0; i < kLanes<T>; ++i) {
            const int c = t * static_cast<int>(kLanes<T>) + i;
            tiles[t][i] = load<T>(columns + c * kLanes<T>) * lengths[c];
        }
        transpose(tiles[t]);
    }
    MERCER_UNROLL
    for (int i = 0; i < kLanes<T>; ++i) {
        MERCER_UNROLL
        for (int t = 0; t < kTiles; ++t) store<T>(rows + i * stride + t * kLanes<T>, tiles[t][i]);
    }
}

// out[first_row + i, first_column + j] = lengths[j] * columns[j][i] for the rows that exist.
template <class T>
void store_scaled(const T* columns, const T* lengths, int64_t count, int64_t first_row, int64_t first_column,
                  const Matrix<T>& out) {
    // Whole cache lines at a time: rows a power of two apart compete for the same cache sets.
    constexpr int kTiles = 64 / MERCER_LANE_BYTES;
    constexpr int64_t kWidth = kTiles * kLanes<T>;
    const int64_t left = out.n_rows - first_row;
    T* rows = out.data + first_row * out.stride + first_column;
    int64_t j = 0;
    if (left >= kLanes<T>) {
        for (; j + kWidth <= count; j += kWidth) {
            store_scaled_tiles<T, kTiles>(columns + j * kLanes<T>, lengths + j, rows + j, out.stride);
        }
    }
    const int64_t n_rows = left < kLanes<T> ? left : kLanes<T>;
    for (int64_t i = 0; i < n_rows; ++i) {
        for (int64_t c = j; c < count; ++c) rows[i * out.stride + c] = columns[c * kLanes<T> + i] * lengths[c];
    }
}

inline int64_t kept_elements(int64_t needed, int64_t size) {
    int64_t kept = 8;
    while (kept < needed) kept *= 2;
    return kept < size ? kept : size;
}

// Projects one group of rows by block `b` and stores the turns of its frequencies.
template <class T>
void project_block(const StructuredProjection<T>& projection, int64_t b, const T* padded, int64_t first_row,
                   int64_t n_pairs, const Matrix<T>& out) {
    const int64_t size = projection.size, first = b * size;
    const int64_t last = projection.n_frequencies - first < size ? projection.n_frequencies : first + size;
    T* current = static_cast<T*>(scratch(Slot::spectrum, size * MERCER_LANE_BYTES));
    for (int64_t stage = 0; stage < projection.n_stages; ++stage) {
        const T* diagonal = projection.diagonals + (stage * projection.n_blocks + b) * size;
        const int64_t kept = stage + 1 < projection.n_stages ? size : kept_elements(last - first, size);
        if (stage == 1 && projection.permutation) {
            T* other = static_cast<T*>(scratch(Slot::product, size * MERCER_LANE_BYTES));
            transform_of<T>(Gathered<T>{current, diagonal, projection.permutation + b * size}, size, kept, other);
            current = other;
        } else {
            transform_of<T>(Scaled<T>{stage == 0 ? padded : current, diagonal}, size, kept, current);
        }
    }
    const int64_t paired = last < n_pairs ? last : (first > n_pairs ? first : n_pairs);  // pairs come before singles
    store_scaled<T>(current, projection.lengths + first, paired - first, first_row, first, out);
    store_scaled<T>(current + (paired - first) * kLanes<T>, projection.lengths + paired, last - paired, first_row,
                    n_pairs + paired, out);
}

// Returns whether all turns were finite.
template <class T>
bool hadamard_features(const Matrix<const T>& X, const StructuredProjection<T>& projection, const Phases<T>& phases,
                       const Matrix<T>& out) {
    // A single block may overwrite its rows: one buffer of 8192 columns fits the second-level cache, two do not.
    const bool alone = projection.n_frequencies <= projection.size;
    const Slot slot = alone ? Slot::spectrum : Slot::packed_rows;
    T* padded = static_cast<T*>(scratch(slot, projection.size * MERCER_LANE_BYTES));
    const int64_t n_pairs = projection.n_frequencies - phases.n_offsets;
    bool finite = true;
    for (int64_t row = 0; row < out.n_rows; row += kLanes<T>) {
        load_padded<T>(X, row, projection.size, padded);
        for (int64_t b = 0; b < projection.n_blocks; ++b) {
            if (b * projection.size >= projection.n_frequencies) break;
            project_block<T>(projection, b, padded, row, n_pairs, out);
        }
        const int64_t left = out.n_rows - row;
        const Matrix<T> group = {out.data + row * out.stride, left < kLanes<T> ? left : kLanes<T>, out.n_columns,
                                 out.stride};
        finite &= cos_sin<T>(phases, group);
    }
    return finite;
}
