// Symmetric matrices of the slots, changed by rank-one terms. Included inside the namespace of one instruction set.
//
// A matrix of 500 slots does not fit the second-level cache, so it is read and changed once for kBatch rows: their
// products with it are made together, and the terms that they add wait until the batch ends.

constexpr int64_t kBatch = kBudgetBatch;
constexpr int kBatchVectors = static_cast<int>(kBatch / kLanes<double>);
constexpr int kSquareRows = kLanes<double> > 4 ? static_cast<int>(kLanes<double>) : 4;
constexpr int64_t kMostTerms = 3 * kBatch;

// sums[r] = the products of row `first + r` of a matrix and the lanes of a panel, over n columns, one after the other
template <int kVectors>
MERCER_INLINE void strip_products(const Matrix<double>& matrix, int64_t first, int64_t n, const double* panel,
                                  Lanes<double> (&sums)[kSquareRows][kVectors]) {
    constexpr int64_t kWidth = kVectors * kLanes<double>;
    Lanes<double> own[kSquareRows][kVectors] = {};
    const double* rows = matrix.data + first * matrix.stride;
    for (int64_t j = 0; j < n; ++j) {
        Lanes<double> values[kVectors];
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) values[v] = load<double>(panel + j * kWidth + v * kLanes<double>);
        MERCER_UNROLL
        for (int r = 0; r < kSquareRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kVectors; ++v) own[r][v] = own[r][v] + values[v] * rows[r * matrix.stride + j];
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kSquareRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) sums[r][v] = own[r][v];
    }
}

// scale * (base + sum_p factor_p u_p u_p^T), where rows and columns of `base` at replaced slots count as 0.
struct LazySquare {
    Matrix<double> base;  // rows and columns: a multiple of kBatch; zeros past the slots in use
    double* terms;        // (kMostTerms, base.n_rows)
    double* products;     // (base.n_rows, kBatch): base @ the values of the batch
    double* diagonal;
    double factors[kMostTerms];
    int64_t replaced[kBatch];
    int64_t n_terms, n_replaced;
    double scale;

    static int64_t doubles(int64_t slots) { return (kMostTerms + kBatch + 1) * slots; }

    void begin(const Matrix<double>& square, int64_t n, double* memory) {
        base = square;
        terms = memory;
        products = terms + kMostTerms * base.n_rows;
        diagonal = products + kBatch * base.n_rows;
        n_terms = n_replaced = 0;
        scale = 1;
        for (int64_t i = 0; i < base.n_rows; ++i) {
            double* row = base.data + i * base.stride;
            for (int64_t j = i < n ? n : 0; j < base.n_rows; ++j) row[j] = 0;
            diagonal[i] = row[i];
        }
    }

    bool is_replaced(int64_t slot) const {
        bool found = false;
        for (int64_t r = 0; r < n_replaced; ++r) found |= replaced[r] == slot;
        return found;
    }

    double* term(int64_t p) const { return terms + p * base.n_rows; }

    // kSquareRows x kBatch entries from row `first` and column j on.
    void change_tile(int64_t first, int64_t j, const double (&left)[kMostTerms][kSquareRows], bool mirrors) const {
        Lanes<double> tile[kSquareRows][kBatchVectors];
        double* rows = base.data + first * base.stride + j;
        MERCER_UNROLL
        for (int r = 0; r < kSquareRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kBatchVectors; ++v) {
                tile[r][v] = load<double>(rows + r * base.stride + v * kLanes<double>) * scale;
            }
        }
        for (int64_t p = 0; p < n_terms; ++p) {
            const double* right = term(p) + j;
            MERCER_UNROLL
            for (int v = 0; v < kBatchVectors; ++v) {
                const Lanes<double> vector = load<double>(right + v * kLanes<double>);
                MERCER_UNROLL
                for (int r = 0; r < kSquareRows; ++r) tile[r][v] = tile[r][v] + vector * left[p][r];
            }
        }
        MERCER_UNROLL
        for (int r = 0; r < kSquareRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kBatchVectors; ++v) {
                store<double>(rows + r * base.stride + v * kLanes<double>, tile[r][v]);
            }
        }
        if (mirrors) mirror_tile(first, j);
    }

    void mirror_tile(int64_t first, int64_t j) const {
        for (int r = 0; r < kSquareRows; r += static_cast<int>(kLanes<double>)) {
            for (int v = 0; v < kBatchVectors; ++v) {
                const int64_t column = j + v * kLanes<double>;
                Lanes<double> square[kLanes<double>];
                MERCER_UNROLL
                for (int l = 0; l < kLanes<double>; ++l) {
                    square[l] = load<double>(base.data + (first + r + l) * base.stride + column);
                }
                transpose(square);
                MERCER_UNROLL
                for (int l = 0; l < kLanes<double>; ++l) {
                    store<double>(base.data + (column + l) * base.stride + first + r, square[l]);
                }
            }
        }
    }

    // Adds the terms to base: the half right of the diagonal, and its mirror image. With a panel, products = base @ panel:
    // a strip of rows is complete after its own change, and half of it is still in cache.
    void apply(int64_t n, const double* panel = nullptr) {
        if (!n_terms && !n_replaced && scale == 1) {
            if (panel) multiply(panel, n);
            return;
        }
        for (int64_t first = 0; first < n; first += kSquareRows) {
            const int64_t corner = first / kBatch * kBatch;
            double left[kMostTerms][kSquareRows];
            for (int64_t p = 0; p < n_terms; ++p) {
                for (int r = 0; r < kSquareRows; ++r) left[p][r] = scale * factors[p] * term(p)[first + r];
            }
            for (int64_t r = first; r < first + kSquareRows; ++r) {
                double* row = base.data + r * base.stride;
                for (int64_t k = 0; k < n_replaced; ++k) {
                    if (replaced[k] >= corner) row[replaced[k]] = 0;
                }
                for (int64_t j = corner; is_replaced(r) && j < base.n_rows; ++j) row[j] = 0;
            }
            for (int64_t j = corner; j < n; j += kBatch) change_tile(first, j, left, j > corner);
            if (panel) multiply_strip(panel, first, n);
        }
        if (panel) clear_products(n);
        n_terms = n_replaced = 0;
        scale = 1;
        for (int64_t i = 0; i < n; ++i) diagonal[i] = base.data[i * base.stride + i];
    }

    // products = base @ panel, of n slots; nothing waits.
    void multiply(const double* panel, int64_t n) const {
        for (int64_t first = 0; first < n; first += kSquareRows) multiply_strip(panel, first, n);
        clear_products(n);
    }

    void multiply_strip(const double* panel, int64_t first, int64_t n) const {
        Lanes<double> sums[kSquareRows][kBatchVectors];
        strip_products(base, first, n, panel, sums);
        for (int r = 0; r < kSquareRows; ++r) {
            for (int v = 0; v < kBatchVectors; ++v) {
                store<double>(products + (first + r) * kBatch + v * kLanes<double>, sums[r][v]);
            }
        }
    }

    void clear_products(int64_t n) const {
        for (int64_t i = n * kBatch; i < base.n_rows * kBatch; ++i) products[i] = 0;
    }

    // out = the matrix @ values, those of row b of the batch
    void product(int64_t b, const double* values, int64_t n, double* out) const {
        for (int64_t i = 0; i < n; ++i) out[i] = products[i * kBatch + b];
        for (int64_t p = 0; p < n_terms; ++p) add_multiple(out, term(p), factors[p] * dot(term(p), values, n), n);
        for (int64_t i = 0; scale != 1 && i < n; ++i) out[i] *= scale;
    }

    void column(int64_t slot, int64_t n, double* out) const {
        const double* row = base.data + slot * base.stride;
        const bool none = is_replaced(slot);
        for (int64_t i = 0; i < n; ++i) out[i] = none ? 0 : row[i];
        for (int64_t r = 0; r < n_replaced; ++r) {
            if (replaced[r] < n) out[replaced[r]] = 0;
        }
        for (int64_t p = 0; p < n_terms; ++p) add_multiple(out, term(p), factors[p] * term(p)[slot], n);
        for (int64_t i = 0; scale != 1 && i < n; ++i) out[i] *= scale;
    }

    // The matrix += factor * vector vector^T
    void add(const double* vector, double factor, int64_t n) {
        double* to = term(n_terms);
        std::memcpy(to, vector, static_cast<std::size_t>(n) * sizeof(double));
        std::memset(to + n, 0, static_cast<std::size_t>(base.n_rows - n) * sizeof(double));
        factors[n_terms++] = factor / scale;
        for (int64_t i = 0; i < n; ++i) diagonal[i] += factor / scale * vector[i] * vector[i];
    }

    // The slot `last` takes the place of another one; it is younger than the batch, so that its row of base is 0.
    void leave(int64_t slot, int64_t last, const double* panel) {
        if (slot != last && !is_replaced(slot)) {
            double* row = base.data + slot * base.stride;
            for (int64_t r = 0; r < n_replaced; ++r) row[replaced[r]] = 0;
            Lanes<double> gone[kBatchVectors];
            MERCER_UNROLL
            for (int v = 0; v < kBatchVectors; ++v) gone[v] = load<double>(panel + slot * kBatch + v * kLanes<double>);
            for (int64_t i = 0; i < last; ++i) {
                MERCER_UNROLL
                for (int v = 0; v < kBatchVectors; ++v) {
                    double* product = products + i * kBatch + v * kLanes<double>;
                    store<double>(product, load<double>(product) - gone[v] * row[i]);
                }
            }
            std::memset(products + slot * kBatch, 0, kBatch * sizeof(double));
            replaced[n_replaced++] = slot;
        }
        for (int64_t p = 0; p < n_terms; ++p) {
            term(p)[slot] = term(p)[last];
            term(p)[last] = 0;
        }
        diagonal[slot] = diagonal[last];
        diagonal[last] = 0;
    }

    void multiply_all(double factor) {
        for (int64_t i = 0; i < base.n_rows; ++i) {
            for (int64_t j = 0; j < base.n_rows; ++j) base.data[i * base.stride + j] *= factor;
            for (int64_t b = 0; b < kBatch; ++b) products[i * kBatch + b] *= factor;
            diagonal[i] *= factor;
        }
        for (int64_t p = 0; p < n_terms; ++p) factors[p] *= factor;
    }
};

// The kernel values of kBatch rows at a time and their products with matrices of the slots. Batches end where the number
// of a row in the stream is a multiple of kBatch, so that cuts there leave the bits.
struct BudgetBatch {
    LazySquare inverse, reduction;
    double* panel;  // (slots, kBatch)
    int64_t first, stop;

    static int64_t doubles(int64_t slots) { return 2 * LazySquare::doubles(slots) + kBatch * slots; }

    void begin(const BudgetState& state, int64_t slots, double* memory) {
        first = stop = 0;
        panel = memory;
        inverse.begin(state.inverse, *state.count, panel + kBatch * slots);
        if (state.reduction.n_rows) {
            reduction.begin(state.reduction, *state.count, panel + kBatch * slots + LazySquare::doubles(slots));
        }
    }

    void apply(const BudgetState& state) {
        inverse.apply(*state.count);
        if (state.reduction.n_rows) reduction.apply(*state.count);
    }

    // Writes the kernel values of row t, the first of a batch or a later one.
    void values_of(const BudgetRows& rows, const BudgetState& state, int64_t t, double* values) {
        const int64_t n = *state.count;
        if (t == stop) {
            first = t;
            stop = t + kBatch - rows.numbers[t] % kBatch;
            stop = stop < rows.n_rows ? stop : rows.n_rows;
            for (int64_t b = 0; b < kBatch; ++b) {
                if (first + b < stop) slot_values(rows, state, first + b, values);
                for (int64_t i = 0; i < n; ++i) panel[i * kBatch + b] = first + b < stop ? values[i] : 0;
            }
            inverse.apply(n, panel);
            if (state.reduction.n_rows) reduction.apply(n, panel);
        }
        for (int64_t i = 0; i < n; ++i) values[i] = panel[i * kBatch + t - first];
    }

    // Row t has joined in the last slot.
    void join(const BudgetRows& rows, const BudgetState& state, int64_t t) {
        const int64_t last = *state.count - 1;
        for (int64_t b = 0; b < kBatch; ++b) {
            const int64_t later = first + b;
            panel[last * kBatch + b] = later > t && later < stop ? kernel_value(rows, later, state.column[last]) : 0;
        }
    }

    void leave(const BudgetState& state, int64_t slot, int64_t last) {
        inverse.leave(slot, last, panel);
        if (state.reduction.n_rows) reduction.leave(slot, last, panel);
        std::memcpy(panel + slot * kBatch, panel + last * kBatch, kBatch * sizeof(double));
    }
};
