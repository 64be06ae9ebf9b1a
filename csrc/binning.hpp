// Hashes of grid cells. Included inside the namespace of one instruction set.

// Rows that share the loads of a grid's numbers: this many vectors of sums stay in registers.
constexpr int kHashedVectors = 4;

template <class T>
constexpr int64_t kHashedRows = kHashedVectors * kLanes<T>;

MERCER_INLINE uint32_t mixed(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    h ^= h >> 16;
    return h;
}

// Column j of the rows is the kHashedRows values at rows + j * kHashedRows; a missing row repeats the last one.
template <class T>
void gather_rows(const Matrix<const T>& X, int64_t first_row, T* rows) {
    for (int64_t v = 0; v < kHashedVectors; ++v) {
        const RowGroup<T> group = row_group<T>(X, first_row + v * kLanes<T>);
        Lanes<T> columns[kLanes<T>];
        int64_t j = 0;
        for (; j + kLanes<T> <= X.n_columns; j += kLanes<T>) {
            load_columns<T>(group, j, columns);
            for (int64_t c = 0; c < kLanes<T>; ++c) store<T>(rows + (j + c) * kHashedRows<T> + v * kLanes<T>, columns[c]);
        }
        if (j == X.n_columns) continue;
        load_last_columns<T>(group, j, X.n_columns - j, columns);
        for (int64_t c = j; c < X.n_columns; ++c) store<T>(rows + c * kHashedRows<T> + v * kLanes<T>, columns[c - j]);
    }
}

// The numbers of one grid.
template <class T>
struct Grid {
    const T* inverse;
    const T* shift;
    const uint32_t* multiplier;
};

#if defined(__GNUC__) && !defined(MERCER_PLAIN_LANES)

// One 32-bit number per row, whatever the width of T.
template <class T>
struct CellsOf {
    typedef int32_t type __attribute__((vector_size(kLanes<T> * sizeof(int32_t))));
    typedef uint32_t hash __attribute__((vector_size(kLanes<T> * sizeof(uint32_t))));
};

// Truncation, and one less where that went up. A comparison is -1 where it holds.
template <class T>
MERCER_INLINE typename CellsOf<T>::hash cells(const Lanes<T>& t) {
    typedef typename CellsOf<T>::type Cells;
    const Cells truncated = __builtin_convertvector(t, Cells);
    const Lanes<T> back = __builtin_convertvector(truncated, Lanes<T>);
    return (typename CellsOf<T>::hash)(truncated + __builtin_convertvector(t < back, Cells));
}

template <class T>
void hash_rows(const T* rows, const Grid<T>& grid, int64_t n_columns, uint32_t (&hashes)[kHashedRows<T>]) {
    typename CellsOf<T>::hash sums[kHashedVectors] = {};
    for (int64_t j = 0; j < n_columns; ++j, rows += kHashedRows<T>) {
        const T inverse = grid.inverse[j], shift = grid.shift[j];
        const uint32_t multiplier = grid.multiplier[j];
        MERCER_UNROLL
        for (int v = 0; v < kHashedVectors; ++v) {
            sums[v] += cells<T>(load<T>(rows + v * kLanes<T>) * inverse + shift) * multiplier;
        }
    }
    std::memcpy(hashes, sums, sizeof hashes);
}

#else

template <class T>
void hash_rows(const T* rows, const Grid<T>& grid, int64_t n_columns, uint32_t (&hashes)[kHashedRows<T>]) {
    for (int64_t i = 0; i < kHashedRows<T>; ++i) {
        uint32_t sum = 0;
        for (int64_t j = 0; j < n_columns; ++j) {
            const T t = rows[j * kHashedRows<T> + i] * grid.inverse[j] + grid.shift[j];
            const int32_t truncated = static_cast<int32_t>(t);
            sum += static_cast<uint32_t>(truncated - (t < T(truncated))) * grid.multiplier[j];
        }
        hashes[i] = sum;
    }
}

#endif

// Grids whose hashes are written together, one cache line per row: rows a power of two apart compete for the same cache sets.
constexpr int64_t kHashedGrids = 64 / sizeof(uint32_t);

template <class T>
void cell_hashes(const Matrix<const T>& X, const Grids<T>& grids, const Matrix<uint32_t>& out) {
    const int64_t bytes = X.n_columns * kHashedRows<T> * static_cast<int64_t>(sizeof(T));
    T* rows = static_cast<T*>(scratch(Slot::packed_rows, bytes));
    for (int64_t first = 0; first < X.n_rows; first += kHashedRows<T>) {
        const int64_t left = X.n_rows - first;
        const int64_t n_rows = left < kHashedRows<T> ? left : kHashedRows<T>;
        gather_rows<T>(X, first, rows);
        for (int64_t g = 0; g < out.n_columns; g += kHashedGrids) {
            const int64_t n_grids = out.n_columns - g < kHashedGrids ? out.n_columns - g : kHashedGrids;
            uint32_t tile[kHashedGrids][kHashedRows<T>];
            for (int64_t i = 0; i < n_grids; ++i) {
                const int64_t start = (g + i) * X.n_columns;
                hash_rows<T>(rows, {grids.inverse_pitches + start, grids.shifts + start, grids.multipliers + start},
                             X.n_columns, tile[i]);
                for (int64_t r = 0; r < kHashedRows<T>; ++r) tile[i][r] = mixed(tile[i][r]);
            }
            for (int64_t r = 0; r < n_rows; ++r) {
                uint32_t* target = out.data + (first + r) * out.stride + g;
                for (int64_t i = 0; i < n_grids; ++i) target[i] = tile[i][r];
            }
        }
    }
}
