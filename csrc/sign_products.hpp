// Products of projections on vectors of signs. Included inside the namespace of one instruction set.
//
// Eight columns have 256 sums with signs. A table of them, for the lanes of a group of rows, turns eight multiplications
// of a projection into one addition (the method of Arlazarov, Dinic, Kronrod and Faradzev, 1970): less than half the time
// of a matrix product.

constexpr int64_t kSigns = 8;            // columns a table
constexpr int64_t kTable = 1 << kSigns;  // sums a table
constexpr int64_t kTables = 2;           // at a time: they share the first-level cache with the running sums

// table[c] = sum over k of x_k where bit k of c is set and -x_k where it is not.
template <class T>
void sums_with_signs(const T* columns, int64_t n_columns, T* table) {
    Lanes<T> least = Lanes<T>{};
    for (int64_t k = 0; k < n_columns; ++k) least = least - load<T>(columns + k * kLanes<T>);
    store<T>(table, least);
    for (int64_t k = 0; k < kSigns; ++k) {
        const Lanes<T> twice = k < n_columns ? load<T>(columns + k * kLanes<T>) * T(2) : Lanes<T>{};
        T* upper = table + (kLanes<T> << k);
        for (int64_t c = 0; c < (kLanes<T> << k); c += kLanes<T>) store<T>(upper + c, load<T>(table + c) + twice);
    }
}

// sums[j] += the sum that codes[j] selects, of each of kCount tables.
template <class T, int kCount>
void add_selected(const T* tables, const uint8_t* codes, int64_t n_projections, T* sums) {
    for (int64_t j = 0; j < n_projections; ++j) {
        Lanes<T> sum = load<T>(sums + j * kLanes<T>);
        MERCER_UNROLL
        for (int t = 0; t < kCount; ++t) {
            sum = sum + load<T>(tables + (t * kTable + codes[t * n_projections + j]) * kLanes<T>);
        }
        store<T>(sums + j * kLanes<T>, sum);
    }
}

// The projections of a group of rows, given its columns.
template <class T>
void project_on_signs(const T* columns, int64_t n_columns, const SignProjections<T>& signs, T* tables, T* sums) {
    std::memset(sums, 0, signs.n_projections * MERCER_LANE_BYTES);
    const int64_t n_tables = (n_columns + kSigns - 1) / kSigns;
    for (int64_t first = 0; first < n_tables; first += kTables) {
        const int64_t count = n_tables - first < kTables ? n_tables - first : kTables;
        for (int64_t t = 0; t < count; ++t) {
            const int64_t column = (first + t) * kSigns, left = n_columns - column;
            sums_with_signs<T>(columns + column * kLanes<T>, left < kSigns ? left : kSigns,
                               tables + t * kTable * kLanes<T>);
        }
        const uint8_t* codes = signs.codes + first * signs.n_projections;
        if (count == kTables) {
            add_selected<T, kTables>(tables, codes, signs.n_projections, sums);
        } else {
            for (int64_t t = 0; t < count; ++t) {
                add_selected<T, 1>(tables + t * kTable * kLanes<T>, codes + t * signs.n_projections,
                                   signs.n_projections, sums);
            }
        }
    }
}

// Factor j multiplies the first widths[j] features; the product takes the place of factor 0.
template <class T>
void multiply_factors(const SignProjections<T>& signs, T* sums) {
    for (int64_t j = 0; signs.n_factors && j < signs.widths[0]; ++j) {
        store<T>(sums + j * kLanes<T>, load<T>(sums + j * kLanes<T>) * signs.scales[j]);
    }
    const T* factor = sums + (signs.n_factors ? signs.widths[0] * kLanes<T> : 0);
    for (int64_t f = 1; f < signs.n_factors; ++f) {
        for (int64_t i = 0; i < signs.widths[f] * kLanes<T>; i += kLanes<T>, factor += kLanes<T>) {
            store<T>(sums + i, load<T>(sums + i) * load<T>(factor));
        }
    }
}

template <class T>
void sign_products(const Matrix<const T>& X, const SignProjections<T>& signs, const Matrix<T>& out) {
    T* columns = static_cast<T*>(scratch(Slot::packed_rows, (X.n_columns + kLanes<T>)*MERCER_LANE_BYTES));
    T* tables = static_cast<T*>(scratch(Slot::panel, kTables * kTable * MERCER_LANE_BYTES));
    T* sums = static_cast<T*>(scratch(Slot::product, signs.n_projections * MERCER_LANE_BYTES));
    const int64_t width = signs.n_factors ? signs.widths[0] : 0;
    const Matrix<T> target = {out.data, out.n_rows, width, out.stride};
    for (int64_t row = 0; row < X.n_rows; row += kLanes<T>) {
        load_group<T>(row_group<T>(X, row), X.n_columns, columns);
        project_on_signs<T>(columns, X.n_columns, signs, tables, sums);
        multiply_factors<T>(signs, sums);
        store_group<T>(sums, T(1), row, target);
    }
    fill_ones<T>(out, width);
}
