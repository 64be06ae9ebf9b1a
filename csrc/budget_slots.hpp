// Slots of support vectors; see reference/budget/slots.py. Included inside the namespace of one instruction set.

// Working memory of a block: vectors as long as there are slots, and as there are columns of scores.
struct BudgetScratch {
    double *values, *image, *gain, *losses, *places, *left, *right;
    double *coef, *other;
    double* later;  // as many as there are rows
};

inline int64_t budget_scratch_doubles(int64_t slots, int64_t n_columns) { return 7 * slots + 2 * n_columns; }

inline BudgetScratch budget_scratch(double* memory, int64_t slots, int64_t n_columns) {
    double* const coef = memory + 7 * slots;
    return {memory,         memory + slots, memory + 2 * slots, memory + 3 * slots, memory + 4 * slots,
            memory + 5 * slots, memory + 6 * slots, coef,       coef + n_columns,   coef + 2 * n_columns};
}

inline double squared_length(const double* values, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += values[i] * values[i];
    return sum;
}

// values[i] = -cross of the slots; then e^values. Below -708 the value is 0.
inline void slot_values(const BudgetRows& rows, const BudgetState& state, int64_t t, double* MERCER_RESTRICT values) {
    const double* cross = rows.cross.data + t * rows.cross.stride;
    const int64_t n = *state.count;
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

// `between`: kernel values, or null where the exponents of the block are meant.
inline void join_slot(const BudgetRows& rows, const BudgetState& state, int64_t t, const double* coef,
                      const double* between) {
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
        const double* cross = rows.cross.data + t * rows.cross.stride;
        double* row = state.between.data + n * state.between.stride;
        for (int64_t i = 0; i < n; ++i) {
            row[i] = between ? between[i] : cross[state.column[i]];
            state.between.data[i * state.between.stride + n] = row[i];
        }
        row[n] = between ? rows.norms[t] : 0;
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
