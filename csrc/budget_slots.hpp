// Slots of support vectors; see reference/budget/slots.py. Included inside the namespace of one instruction set.

constexpr double kLargestExponent = 1e150;

// Working memory of a block: vectors as long as there are slots, and as there are columns of scores.
struct BudgetScratch {
    double *values, *image, *gain, *losses, *places, *left, *right, *exponents;
    double *coef, *other;
};

inline int64_t budget_scratch_doubles(int64_t slots, int64_t n_columns) { return 8 * slots + 2 * n_columns; }

inline BudgetScratch budget_scratch(double* memory, int64_t slots, int64_t n_columns) {
    double *const coef = memory + 8 * slots, *const m = memory;
    return {m,
            m + slots,
            m + 2 * slots,
            m + 3 * slots,
            m + 4 * slots,
            m + 5 * slots,
            m + 6 * slots,
            m + 7 * slots,
            coef,
            coef + n_columns};
}

inline double squared_length(const double* values, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += values[i] * values[i];
    return sum;
}

// out[i] = gamma |x - row i|^2, at most kLargestExponent, for n rows: four sums at a time hide each other's latency.
inline void point_exponents(const double* x, const Matrix<double>& rows, int64_t n, double gamma, double* out) {
    constexpr int kTogether = 4;
    const int64_t depth = rows.n_columns;
    for (int64_t first = 0; first < n; first += kTogether) {
        const double* row[kTogether];
        Lanes<double> sums[kTogether] = {};
        for (int r = 0; r < kTogether; ++r) row[r] = rows.data + (first + r < n ? first + r : n - 1) * rows.stride;
        int64_t c = 0;
        for (; c + kLanes<double> <= depth; c += kLanes<double>) {
            const Lanes<double> point = load<double>(x + c);
            MERCER_UNROLL
            for (int r = 0; r < kTogether; ++r) {
                const Lanes<double> gap = point - load<double>(row[r] + c);
                sums[r] = sums[r] + gap * gap;
            }
        }
        for (int r = 0; r < kTogether && first + r < n; ++r) {
            double sum = 0;
            for (int64_t l = 0; l < kLanes<double>; ++l) sum += sums[r][l];
            for (int64_t i = c; i < depth; ++i) sum += (x[i] - row[r][i]) * (x[i] - row[r][i]);
            out[first + r] = gamma * sum < kLargestExponent ? gamma * sum : kLargestExponent;
        }
    }
}

// The kernel values of row t and the slots. Below an exponent of -708 the value is 0.
inline void slot_values(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t, double* MERCER_RESTRICT values) {
    const int64_t n = *state.count;
    if (rule.maintenance == BudgetMaintenance::merge) {
        point_exponents(rows.rows.data + t * rows.rows.stride, state.rows, n, rows.gamma, values);
        for (int64_t i = 0; i < n; ++i) values[i] = -values[i];
        return exp_all<double>(values, n);
    }
    const double* cross = rows.cross.data + t * rows.cross.stride;
    if (!(rows.gamma > 0)) {
        for (int64_t i = 0; i < n; ++i) values[i] = cross[state.column[i]];
        return;
    }
    for (int64_t i = 0; i < n; ++i) values[i] = -cross[state.column[i]];
    exp_all<double>(values, n);
}

inline void slot_scores(const BudgetState& state, const double* values, int64_t n_columns, double* scores) {
    const int64_t n = *state.count;
    if (n_columns == 1) {
        scores[0] = dot(state.coef, values, n);
        return;
    }
    for (int64_t k = 0; k < n_columns; ++k) scores[k] = 0;
    for (int64_t i = 0; i < n; ++i) add_multiple(scores, state.coef + i * n_columns, values[i], n_columns);
}

inline void join_slot(const BudgetRows& rows, const BudgetState& state, int64_t t, const double* coef,
                      const double* values) {
    const int64_t n = *state.count, k = rows.n_columns;
    std::memcpy(state.coef + n * k, coef, static_cast<std::size_t>(k) * sizeof(double));
    state.norms[n] = rows.norms[t];
    state.born[n] = rows.numbers[t];
    state.column[n] = rows.cross.n_columns - rows.n_rows + t;
    if (state.rows.n_rows) {
        const double* row = rows.rows.data + t * rows.rows.stride;
        std::memcpy(state.rows.data + n * state.rows.stride, row,
                    static_cast<std::size_t>(state.rows.n_columns) * sizeof(double));
    }
    if (state.between.n_rows) {
        double* row = state.between.data + n * state.between.stride;
        for (int64_t i = 0; i < n; ++i) row[i] = state.between.data[i * state.between.stride + n] = values[i];
        row[n] = rows.norms[t];
    }
    *state.count = n + 1;
}

inline void move_square(const Matrix<double>& square, int64_t from, int64_t to) {
    if (!square.n_rows) return;
    double *source = square.data + from * square.stride, *target = square.data + to * square.stride;
    for (int64_t i = 0; i <= from; ++i) target[i] = source[i];
    for (int64_t i = 0; i <= from; ++i) square.data[i * square.stride + to] = square.data[i * square.stride + from];
}

inline void leave_slot(const BudgetState& state, int64_t n_columns, int64_t slot) {
    const int64_t last = *state.count - 1;
    const auto bytes = static_cast<std::size_t>(n_columns) * sizeof(double);
    if (slot != last) {
        std::memcpy(state.coef + slot * n_columns, state.coef + last * n_columns, bytes);
        if (state.mean) std::memcpy(state.mean + slot * n_columns, state.mean + last * n_columns, bytes);
        state.norms[slot] = state.norms[last];
        state.born[slot] = state.born[last];
        state.column[slot] = state.column[last];
        if (state.rows.n_rows) {
            std::memcpy(state.rows.data + slot * state.rows.stride, state.rows.data + last * state.rows.stride,
                        static_cast<std::size_t>(state.rows.n_columns) * sizeof(double));
        }
        move_square(state.between, last, slot);
        move_square(state.inverse, last, slot);
        move_square(state.covariance, last, slot);
    }
    *state.count = last;
}

inline int64_t oldest_slot(const BudgetState& state) {
    int64_t oldest = 0;
    for (int64_t i = 1; i < *state.count; ++i) oldest = state.born[i] < state.born[oldest] ? i : oldest;
    return oldest;
}

inline int64_t least_of(const double* values, int64_t n) {
    int64_t least = 0;
    for (int64_t i = 1; i < n; ++i) least = values[i] < values[least] ? i : least;
    return least;
}

// out = gamma |x - y|^2, with the rows of Y in the lanes: no sum across lanes, and no rounding by the other rows.
inline void gaussian_exponents(const Matrix<const double>& X, const Matrix<const double>& Y, double gamma,
                               const Matrix<double>& out) {
    constexpr int kGroup = 4;
    constexpr int64_t kWidth = kGroup * kLanes<double>;
    const int64_t depth = X.n_columns;
    auto* packed = static_cast<double*>(scratch(Slot::packed_rows, depth * kWidth * static_cast<int64_t>(sizeof(double))));
    for (int64_t first = 0; first < Y.n_rows; first += kWidth) {
        const int64_t count = Y.n_rows - first < kWidth ? Y.n_rows - first : kWidth;
        for (int64_t i = 0; i < kWidth; ++i) {
            const double* row = Y.data + (first + (i < count ? i : count - 1)) * Y.stride;
            for (int64_t c = 0; c < depth; ++c) packed[c * kWidth + i] = row[c];
        }
        for (int64_t r = 0; r < X.n_rows; ++r) {
            const double* x = X.data + r * X.stride;
            Lanes<double> sums[kGroup] = {};
            for (int64_t c = 0; c < depth; ++c) {
                const Lanes<double> value = all_lanes<double>(x[c]);
                MERCER_UNROLL
                for (int g = 0; g < kGroup; ++g) {
                    const Lanes<double> gap = value - load<double>(packed + c * kWidth + g * kLanes<double>);
                    sums[g] = sums[g] + gap * gap;
                }
            }
            double found[kWidth];
            for (int g = 0; g < kGroup; ++g) store<double>(found + g * kLanes<double>, sums[g]);
            double* target = out.data + r * out.stride + first;
            for (int64_t i = 0; i < count; ++i) target[i] = gamma * found[i];
        }
    }
}
