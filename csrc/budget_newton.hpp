// Kernel recursive least squares on a budget; see reference/budget/newton.py. Included inside the namespace of one
// instruction set.

// A smaller decay is applied at once: a product of eight of them could underflow.
constexpr double kLazyDecay = 0.5;

inline void forget_towards_prior(const BudgetState& state, double decay, int64_t n_columns, LazySquare& reduction) {
    if (decay >= kLazyDecay) {
        reduction.scale *= decay;
    } else {
        reduction.multiply_all(decay);
    }
    const double root = MERCER_BUILTIN(sqrt)(decay);
    for (int64_t i = 0; i < *state.count * n_columns; ++i) state.coef[i] *= root;
}

// The reduction C becomes P C P^T with P = I - column e^T / pivot, for the column of the inverse at the slot e: the terms
// -(q d^T + d q^T) with q = column / pivot and d = C e - (e^T C e / 2) q, as a difference of two squares.
inline void project_reduction(LazySquare& reduction, int64_t slot, int64_t n, const double* column,
                              const BudgetScratch& scratch) {
    double *sum = scratch.places, *difference = scratch.exponents;
    reduction.column(slot, n, difference);
    const double half = difference[slot] / 2, pivot = column[slot];
    double squares = 0, others = 0;
    for (int64_t i = 0; i < n; ++i) {
        sum[i] = column[i] / pivot;
        difference[i] -= half * sum[i];
        squares += sum[i] * sum[i];
        others += difference[i] * difference[i];
    }
    if (!(others > 0)) return;
    const double even = MERCER_BUILTIN(sqrt)(MERCER_BUILTIN(sqrt)(others / squares));  // both parts of one length
    for (int64_t i = 0; i < n; ++i) {
        const double one = even * sum[i], two = difference[i] / even;
        sum[i] = one + two;
        difference[i] = one - two;
    }
    reduction.add(sum, -0.5, n);
    reduction.add(difference, 0.5, n);
}

inline void remove_by_projection(const BudgetRule& rule, const BudgetState& state, int64_t n_columns,
                                 BudgetBatch& batch, const BudgetScratch& scratch) {
    const int64_t n = *state.count;
    int64_t slot;
    if (rule.maintenance == BudgetMaintenance::oldest) {
        slot = oldest_slot(state);
    } else {  // the change of the mean at the slot
        squared_lengths(state, n_columns, scratch.losses);
        for (int64_t i = 0; i < n; ++i) {
            const double entry = batch.inverse.diagonal[i];
            scratch.losses[i] /= entry * entry;
        }
        slot = least_of(scratch.losses, n);
    }
    project_slot(state, n_columns, slot, batch.inverse, scratch);
    project_reduction(batch.reduction, slot, n, scratch.gain, scratch);
    batch.leave(state, slot, n - 1);
    leave_slot(state, n_columns, slot);
}

inline void newton_row(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                       BudgetBatch& batch, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns, b = t - batch.first;
    double *image = scratch.image, *known = scratch.gain, *scores = rows.scores.data + t * rows.scores.stride;
    slot_scores(state, scratch.values, n_columns, scores);
    const double decay = rows.shrinks[t], root = decay < 1 ? MERCER_BUILTIN(sqrt)(decay) : 1;
    if (decay < 1) forget_towards_prior(state, decay, n_columns, batch.reduction);
    batch.inverse.product(b, scratch.values, n, image);
    batch.reduction.product(b, scratch.values, n, known);
    const double norm = rows.norms[t], inside = dot(scratch.values, image, n), told = dot(scratch.values, known, n);
    const double rest = norm > inside ? norm - inside : 0, variance = norm > told ? norm - told : 0;
    const double total = rule.ridge + variance;
    double* error = scratch.coef;
    for (int64_t k = 0; k < n_columns; ++k) {
        error[k] = (budget_target(rows.y[t], n_columns, k) - root * scores[k]) / total;
    }
    const bool joins = rest > rule.tolerance * rule.tolerance * norm;
    for (int64_t i = 0; i < n; ++i) known[i] = joins ? -known[i] : image[i] - known[i];
    add_shares(state.coef, known, error, n, n_columns);
    if (!joins) return batch.reduction.add(known, 1 / total, n);
    known[n] = 1;
    batch.reduction.add(known, 1 / total, n + 1);
    join_slot(rows, state, t, error, scratch.values);
    batch.join(rows, state, t);
    append_inverse(batch.inverse, n, image, rest);
    if (n + 1 > rule.budget) remove_by_projection(rule, state, n_columns, batch, scratch);
}
