// Projection of a support vector; see reference/budget/projection.py. Included inside the namespace of one instruction
// set.

constexpr double kDependent = 1e-10;

// out = square[:n, :n] @ vector, of a symmetric matrix
inline void square_times(const Matrix<double>& square, const double* vector, int64_t n, double* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = dot(square.data + i * square.stride, vector, n);
}

// square[:n, :n] += factor * vector vector^T
inline void add_outer(const Matrix<double>& square, const double* vector, double factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) add_multiple(square.data + i * square.stride, vector, factor * vector[i], n);
}

inline void append_inverse(const Matrix<double>& inverse, int64_t n, double* image, double rest) {
    image[n] = -1;
    double* last = inverse.data + n * inverse.stride;
    for (int64_t i = 0; i <= n; ++i) last[i] = inverse.data[i * inverse.stride + n] = 0;
    add_outer(inverse, image, 1 / rest, n + 1);
}

inline void downdate_inverse(const Matrix<double>& inverse, int64_t n, int64_t slot, double* column) {
    const double* row = inverse.data + slot * inverse.stride;
    for (int64_t i = 0; i < n; ++i) column[i] = row[i];
    add_outer(inverse, column, -1 / column[slot], n);
}

// coef[i] += shares[i] * added
inline void add_shares(const BudgetState& state, const double* shares, const double* added, int64_t n,
                       int64_t n_columns) {
    if (n_columns == 1) return add_multiple(state.coef, shares, added[0], n);
    for (int64_t i = 0; i < n; ++i) add_multiple(state.coef + i * n_columns, added, shares[i], n_columns);
}

// Projectron++: writes the step along the projection, of squared length `norm`, and returns whether there is one.
inline bool margin_step(const BudgetRule& rule, const BudgetRows& rows, int64_t t, double norm, double rest,
                        double* step) {
    const double* scores = rows.scores.data + t * rows.scores.stride;
    const double loss = 1 - margin_direction(scores, rows.n_columns, rows.y[t], step);
    if (!(loss > 0 && loss < 1) || !(norm > 0) || !(rule.tolerance > 0)) return false;
    const double square = norm * (rows.n_columns == 1 ? 1 : 2);
    const double safe = loss - MERCER_BUILTIN(sqrt)(rest) / rule.tolerance;
    if (!(safe > 0)) return false;
    double length = loss < 2 * safe ? loss / square : 2 * safe / square;
    if (length > 1) length = 1;
    for (int64_t k = 0; k < rows.n_columns; ++k) step[k] *= length;
    return true;
}

inline void project_least(const BudgetState& state, int64_t n_columns, const BudgetScratch& scratch) {
    const int64_t n = *state.count;
    for (int64_t i = 0; i < n; ++i) {
        scratch.losses[i] = squared_length(state.coef + i * n_columns, n_columns) /
                            state.inverse.data[i * state.inverse.stride + i];
    }
    const int64_t slot = least_of(scratch.losses, n);
    downdate_inverse(state.inverse, n, slot, scratch.gain);
    const double pivot = scratch.gain[slot];
    for (int64_t i = 0; i < n; ++i) scratch.losses[i] = -scratch.gain[i] / pivot;
    for (int64_t k = 0; k < n_columns; ++k) scratch.other[k] = state.coef[slot * n_columns + k];
    add_shares(state, scratch.losses, scratch.other, n, n_columns);
    leave_slot(state, n_columns, slot);
}

inline void join_by_projection(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                               bool joins, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    square_times(state.inverse, scratch.values, n, scratch.image);
    const double norm = rows.norms[t], inside = dot(scratch.values, scratch.image, n);
    const double rest = norm > inside ? norm - inside : 0;
    if (!joins) {
        if (margin_step(rule, rows, t, norm - rest, rest, scratch.coef)) {
            add_shares(state, scratch.image, scratch.coef, n, n_columns);
        }
        return;
    }
    const bool full = n == rule.budget;
    if (rest <= rule.tolerance * rule.tolerance * norm ||
        (full && rule.maintenance == BudgetMaintenance::project_newest)) {
        return add_shares(state, scratch.image, scratch.coef, n, n_columns);
    }
    join_slot(rows, state, t, scratch.coef, scratch.values);
    append_inverse(state.inverse, n, scratch.image, rest);
    if (full) project_least(state, n_columns, scratch);
}

inline int64_t nearest_slot(const BudgetState& state, int64_t slot, int64_t n) {
    const double* between = state.between.data + slot * state.between.stride;
    double best = 0;
    int64_t found = -1;
    for (int64_t i = 0; i < n; ++i) {
        if (i == slot || !(state.norms[i] > 0)) continue;
        const double closeness = between[i] * between[i] / state.norms[i];
        if (closeness > best) {
            best = closeness;
            found = i;
        }
    }
    return found;
}

// The projection of a slot onto the incoming row and a neighbour: their shares, and the squared length.
struct PairShares {
    double incoming, neighbour, square;
    int64_t slot;  // of the neighbour, -1 without one
};

inline PairShares pair_shares(const BudgetState& state, int64_t slot, int64_t other, const double* values, double norm) {
    const double first = values[slot];
    if (other >= 0) {
        const double second = state.between.data[slot * state.between.stride + other];
        const double cross = values[other], diagonal = state.norms[other];
        const double determinant = norm * diagonal - cross * cross;
        if (!(determinant <= kDependent * norm * diagonal)) {
            const double one = (diagonal * first - cross * second) / determinant;
            const double two = (norm * second - cross * first) / determinant;
            return {one, two, one * first + two * second, other};
        }
    }
    return {first / norm, 0, first * (first / norm), -1};
}

inline void absorb_slot(const BudgetRule& rule, const BudgetState& state, int64_t n_columns,
                        const BudgetScratch& scratch) {
    const int64_t last = *state.count - 1;
    const double norm = state.norms[last];
    if (last == 0) return leave_slot(state, n_columns, 0);
    if (!(norm > 0)) return leave_slot(state, n_columns, last);
    const bool paired = rule.maintenance == BudgetMaintenance::absorb_nearest;
    double least = 0;
    int64_t slot = -1;
    PairShares shares = {0, 0, 0, -1};
    for (int64_t i = 0; i < last; ++i) {
        const PairShares found = pair_shares(state, i, paired ? nearest_slot(state, i, last) : -1, scratch.values, norm);
        const double rest = state.norms[i] > found.square ? state.norms[i] - found.square : 0;
        const double loss = squared_length(state.coef + i * n_columns, n_columns) * rest;
        if (slot < 0 || loss < least) {
            least = loss;
            slot = i;
            shares = found;
        }
    }
    const double* coef = state.coef + slot * n_columns;
    add_multiple(state.coef + last * n_columns, coef, shares.incoming, n_columns);
    if (shares.slot >= 0) add_multiple(state.coef + shares.slot * n_columns, coef, shares.neighbour, n_columns);
    leave_slot(state, n_columns, slot);
}
