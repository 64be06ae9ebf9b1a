// Slots of support vectors; see reference/budget/slots.py. Included inside the namespace of one instruction set.

// Working memory of a block: vectors as long as there are slots, and as there are columns of scores.
struct BudgetScratch {
    double *values, *image, *gain, *losses, *places, *exponents;
    double *coef, *other;
};

constexpr int64_t kScratchVectors = 6;

// Vectors have room for whole panels.
inline int64_t budget_scratch_doubles(int64_t slots, int64_t n_columns) {
    return kScratchVectors * SlotPanels::rounded(slots) + 2 * n_columns;
}

inline BudgetScratch budget_scratch(double* memory, int64_t slots, int64_t n_columns) {
    const int64_t n = SlotPanels::rounded(slots);
    double *const coef = memory + kScratchVectors * n, *const m = memory;
    return {m, m + n, m + 2 * n, m + 3 * n, m + 4 * n, m + 5 * n, coef, coef + n_columns};
}

inline double squared_length(const double* values, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += values[i] * values[i];
    return sum;
}

// The squared lengths of the coefficients of all slots.
inline void squared_lengths(const BudgetState& state, int64_t n_columns, double* MERCER_RESTRICT squares) {
    const int64_t n = *state.count;
    if (n_columns == 1) {  // a loop that vectorises
        for (int64_t i = 0; i < n; ++i) squares[i] = state.coef[i] * state.coef[i];
        return;
    }
    for (int64_t i = 0; i < n; ++i) squares[i] = squared_length(state.coef + i * n_columns, n_columns);
}

// The kernel values of row t and the slots. Below an exponent of -708 the value is 0. If slots are `in_place`, slot i has
// column i.
inline void slot_values(const BudgetRows& rows, const BudgetState& state, int64_t t, double* MERCER_RESTRICT values,
                        bool in_place = false) {
    const int64_t n = *state.count;
    const double* cross = rows.cross.data + t * rows.cross.stride;
    if (!(rows.gamma > 0)) {
        for (int64_t i = 0; i < n; ++i) values[i] = cross[state.column[i]];
        return;
    }
    if (in_place) {
        for (int64_t i = 0; i < n; ++i) values[i] = -cross[i];
    } else {
        for (int64_t i = 0; i < n; ++i) values[i] = -cross[state.column[i]];
    }
    exp_all<double>(values, n);
}

inline double kernel_value(const BudgetRows& rows, int64_t t, int64_t column) {
    const double found = rows.cross.data[t * rows.cross.stride + column];
    return rows.gamma > 0 ? exp_of_negative(-found) : found;
}

// scores += sum_i values[i] coef[i]
inline void add_products(const double* coef, const double* values, int64_t n, int64_t n_columns, double* scores) {
    if (n_columns == 1) {
        scores[0] += dot(coef, values, n);
        return;
    }
    for (int64_t i = 0; i < n; ++i) add_multiple(scores, coef + i * n_columns, values[i], n_columns);
}

inline void slot_scores(const BudgetState& state, const double* values, int64_t n_columns, double* scores) {
    for (int64_t k = 0; k < n_columns; ++k) scores[k] = 0;
    add_products(state.coef, values, *state.count, n_columns, scores);
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
        std::memcpy(row, values, static_cast<std::size_t>(n) * sizeof(double));
        row[n] = rows.norms[t];
        for (int64_t i = 0; state.mirrored && i < n; ++i) state.between.data[i * state.between.stride + n] = values[i];
    }
    *state.count = n + 1;
}

inline void move_square(const Matrix<double>& square, int64_t from, int64_t to, bool mirrored) {
    if (!square.n_rows) return;
    double *source = square.data + from * square.stride, *target = square.data + to * square.stride;
    for (int64_t i = 0; i <= from; ++i) target[i] = source[i];
    target[to] = source[from];
    for (int64_t i = 0; mirrored && i <= from; ++i) {
        if (i != to) square.data[i * square.stride + to] = square.data[i * square.stride + from];
    }
}

inline void leave_slot(const BudgetState& state, int64_t n_columns, int64_t slot) {
    const int64_t last = *state.count - 1;
    const auto bytes = static_cast<std::size_t>(n_columns) * sizeof(double);
    if (slot != last) {
        std::memcpy(state.coef + slot * n_columns, state.coef + last * n_columns, bytes);
        state.norms[slot] = state.norms[last];
        state.born[slot] = state.born[last];
        state.column[slot] = state.column[last];
        if (state.rows.n_rows) {
            std::memcpy(state.rows.data + slot * state.rows.stride, state.rows.data + last * state.rows.stride,
                        static_cast<std::size_t>(state.rows.n_columns) * sizeof(double));
        }
        move_square(state.between, last, slot, state.mirrored);
    }
    *state.count = last;
}

inline int64_t oldest_slot(const BudgetState& state) {
    const int64_t* born = state.born;
    int64_t least = born[0], oldest = 0;
    for (int64_t i = 1; i < *state.count; ++i) least = born[i] < least ? born[i] : least;
    while (born[oldest] != least) ++oldest;
    return oldest;
}

// The first place of the least value: the least of each lane, then the first that equals the least of them.
inline int64_t least_of(const double* values, int64_t n) {
    if (n < kLanes<double>) {
        int64_t place = 0;
        for (int64_t i = 1; i < n; ++i) place = values[i] < values[place] ? i : place;
        return place;
    }
    Lanes<double> lanes = load<double>(values);
    int64_t i = kLanes<double>;
    for (; i + kLanes<double> <= n; i += kLanes<double>) {
        const Lanes<double> next = load<double>(values + i);
        lanes = where_less<double>(next, lanes, next, lanes);
    }
    double least = lanes[0];
    for (int64_t l = 1; l < kLanes<double>; ++l) least = lanes[l] < least ? lanes[l] : least;
    for (; i < n; ++i) least = values[i] < least ? values[i] : least;
    for (int64_t place = 0; place < n; ++place) {
        if (values[place] == least) return place;
    }
    return 0;  // where all are NaN
}
