// Kernel recursive least squares on a budget; see reference/budget/newton.py. Included inside the namespace of one
// instruction set.

// scores = image^T mean
inline void mean_scores(const BudgetState& state, const double* image, int64_t n, int64_t n_columns, double* scores) {
    if (n_columns == 1) {
        scores[0] = dot(image, state.mean, n);
        return;
    }
    for (int64_t k = 0; k < n_columns; ++k) scores[k] = 0;
    for (int64_t i = 0; i < n; ++i) add_multiple(scores, state.mean + i * n_columns, image[i], n_columns);
}

inline void forget_towards_prior(const BudgetState& state, double decay, int64_t n, int64_t n_columns) {
    for (int64_t i = 0; i < n; ++i) {
        double* covariance = state.covariance.data + i * state.covariance.stride;
        const double* between = state.between.data + i * state.between.stride;
        for (int64_t j = 0; j < n; ++j) covariance[j] = decay * covariance[j] + (1 - decay) * between[j];
    }
    const double root = MERCER_BUILTIN(sqrt)(decay);
    for (int64_t i = 0; i < n * n_columns; ++i) state.mean[i] *= root;
}

// Borders the inverse and returns the slot whose removal changes the mean at it least, row by row while it is in cache.
inline int64_t append_and_choose(const BudgetState& state, int64_t n_columns, double rest,
                                 const BudgetScratch& scratch) {
    const Matrix<double>& inverse = state.inverse;
    const int64_t n = *state.count;
    double* image = scratch.image;
    image[n - 1] = -1;
    double* last = inverse.data + (n - 1) * inverse.stride;
    for (int64_t i = 0; i < n; ++i) last[i] = inverse.data[i * inverse.stride + n - 1] = 0;
    for (int64_t i = 0; i < n; ++i) {
        double* row = inverse.data + i * inverse.stride;
        add_multiple(row, image, 1 / rest * image[i], n);
        mean_scores(state, row, n, n_columns, scratch.other);
        scratch.losses[i] = squared_length(scratch.other, n_columns) / (row[i] * row[i]);
    }
    return least_of(scratch.losses, n);
}

inline void newton_row(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                       const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    double *image = scratch.image, *gain = scratch.gain, *scores = rows.scores.data + t * rows.scores.stride;
    square_times(state.inverse, scratch.values, n, image);
    mean_scores(state, image, n, n_columns, scores);
    if (rows.shrinks[t] < 1) forget_towards_prior(state, rows.shrinks[t], n, n_columns);
    const double norm = rows.norms[t], inside = dot(scratch.values, image, n);
    const double rest = norm > inside ? norm - inside : 0;
    square_times(state.covariance, image, n, gain);
    mean_scores(state, image, n, n_columns, scratch.other);
    const double known = dot(image, gain, n), variance = rest + (known > 0 ? known : 0);
    const double total = rule.ridge + variance;
    double* error = scratch.coef;
    for (int64_t k = 0; k < n_columns; ++k) {
        error[k] = (budget_target(rows.y[t], n_columns, k) - scratch.other[k]) / total;
    }
    add_outer(state.covariance, gain, -1 / total, n);
    for (int64_t i = 0; i < n; ++i) add_multiple(state.mean + i * n_columns, error, gain[i], n_columns);
    if (rest <= rule.tolerance * rule.tolerance * norm) return;
    const double shrunk = rule.ridge / total;
    for (int64_t i = 0; i < n; ++i) {
        state.covariance.data[n * state.covariance.stride + i] = gain[i] * shrunk;
        state.covariance.data[i * state.covariance.stride + n] = gain[i] * shrunk;
    }
    state.covariance.data[n * state.covariance.stride + n] = variance * shrunk;
    for (int64_t k = 0; k < n_columns; ++k) state.mean[n * n_columns + k] = scratch.other[k] + variance * error[k];
    join_slot(rows, state, t, error, scratch.values);
    const bool by_age = rule.maintenance == BudgetMaintenance::oldest;
    if (n + 1 <= rule.budget || by_age) append_inverse(state.inverse, n, image, rest);
    if (n + 1 <= rule.budget) return;
    const int64_t slot = by_age ? oldest_slot(state) : append_and_choose(state, n_columns, rest, scratch);
    downdate_inverse(state.inverse, n + 1, slot, gain);
    leave_slot(state, n_columns, slot);
}

// coef = K^-1 mean
inline void set_coefficients(const BudgetState& state, int64_t n_columns) {
    const int64_t n = *state.count;
    for (int64_t i = 0; i < n; ++i) {
        mean_scores(state, state.inverse.data + i * state.inverse.stride, n, n_columns, state.coef + i * n_columns);
    }
}
