// Projection of a support vector; see reference/budget/projection.py. Included inside the namespace of one instruction
// set.

constexpr double kDependent = 1e-10;

// coef[i] += shares[i] * added
inline void add_shares(double* coef, const double* shares, const double* added, int64_t n, int64_t n_columns) {
    if (n_columns == 1) return add_multiple(coef, shares, added[0], n);
    for (int64_t i = 0; i < n; ++i) add_multiple(coef + i * n_columns, added, shares[i], n_columns);
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

// Borders the inverse of n slots: image = K^-1 k, rest = k(x, x) - k^T K^-1 k.
inline void append_inverse(LazySquare& inverse, int64_t n, double* image, double rest) {
    image[n] = -1;
    inverse.add(image, 1 / rest, n + 1);
}

// Takes a slot out of the sum of kernel functions, by its column of the inverse, and out of the inverse.
inline void project_slot(const BudgetState& state, int64_t n_columns, int64_t slot, LazySquare& inverse,
                         const BudgetScratch& scratch) {
    const int64_t n = *state.count;
    double *column = scratch.gain, *shares = scratch.losses;
    inverse.column(slot, n, column);
    for (int64_t i = 0; i < n; ++i) shares[i] = -column[i] / column[slot];
    for (int64_t k = 0; k < n_columns; ++k) scratch.other[k] = state.coef[slot * n_columns + k];
    add_shares(state.coef, shares, scratch.other, n, n_columns);
    inverse.add(column, -1 / column[slot], n);
}

// The slot whose projection onto the others changes the function least.
inline int64_t least_projection(const BudgetState& state, int64_t n_columns, const LazySquare& inverse, double* losses) {
    const int64_t n = *state.count;
    squared_lengths(state, n_columns, losses);
    for (int64_t i = 0; i < n; ++i) losses[i] /= inverse.diagonal[i];
    return least_of(losses, n);
}

// Row t stays outside: its coefficients, or the step of a margin error, go to the slots along its image K^-1 k.
inline void project_row(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t, bool joins,
                        double rest, const BudgetScratch& scratch) {
    if (joins || margin_step(rule, rows, t, rows.norms[t] - rest, rest, scratch.coef)) {
        add_shares(state.coef, scratch.image, scratch.coef, *state.count, rows.n_columns);
    }
}

inline double rest_of_projection(double norm, const double* values, const double* image, int64_t n) {
    const double inside = dot(values, image, n);
    return norm > inside ? norm - inside : 0;
}

inline void join_by_projection(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                               bool joins, BudgetBatch& batch, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    batch.inverse.product(t - batch.first, scratch.values, n, scratch.image);
    const double norm = rows.norms[t], rest = rest_of_projection(norm, scratch.values, scratch.image, n);
    const bool full = n == rule.budget;
    if (!joins || rest <= rule.tolerance * rule.tolerance * norm ||
        (full && rule.maintenance == BudgetMaintenance::project_newest)) {
        return project_row(rule, rows, state, t, joins, rest, scratch);
    }
    join_slot(rows, state, t, scratch.coef, scratch.values);
    batch.join(rows, state, t);
    append_inverse(batch.inverse, n, scratch.image, rest);
    if (!full) return;
    const int64_t slot = least_projection(state, n_columns, batch.inverse, scratch.losses);
    project_slot(state, n_columns, slot, batch.inverse, scratch);
    batch.leave(state, slot, n);
    leave_slot(state, n_columns, slot);
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

// The slot whose projection onto the incoming row, in the last slot, loses least.
inline int64_t least_absorbed(const BudgetState& state, int64_t n_columns, const double* MERCER_RESTRICT values,
                              double norm, double* MERCER_RESTRICT losses) {
    const int64_t last = *state.count - 1;
    squared_lengths(state, n_columns, losses);
    for (int64_t i = 0; i < last; ++i) {
        const double rest = state.norms[i] - values[i] * (values[i] / norm);
        losses[i] *= rest > 0 ? rest : 0;
    }
    return least_of(losses, last);
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
    if (!paired) {
        slot = least_absorbed(state, n_columns, scratch.values, norm, scratch.losses);
        shares = pair_shares(state, slot, -1, scratch.values, norm);
    }
    for (int64_t i = 0; paired && i < last; ++i) {
        const PairShares found = pair_shares(state, i, nearest_slot(state, i, last), scratch.values, norm);
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
