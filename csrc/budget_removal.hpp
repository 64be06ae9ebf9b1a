// Removal of a support vector; see reference/budget/removal.py. Included inside the namespace of one instruction set.

constexpr double kForgetronShare = 15.0 / 32.0;
constexpr double kLargestStep = 1.0;

inline double largest_factor(double square, double linear, double constant) {
    if (square + linear + constant <= 0) return 1;
    double factor;
    if (square == 0) {
        factor = -constant / linear;
    } else {
        const double inside = linear * linear - 4 * square * constant;
        factor = -2 * constant / (linear + MERCER_BUILTIN(sqrt)(inside > 0 ? inside : 0));
    }
    return factor < 0 ? 0 : factor > 1 ? 1 : factor;
}

inline void shrink_and_remove(const BudgetState& state, int64_t n_columns, const BudgetScratch& scratch) {
    const int64_t n = *state.count, oldest = oldest_slot(state);
    const double* coef = state.coef + oldest * n_columns;
    double size = 0, margin = 0;
    for (int64_t k = 0; k < n_columns; ++k) {
        const double absolute = coef[k] < 0 ? -coef[k] : coef[k];
        size = absolute > size ? absolute : size;
        scratch.other[k] = 0;
    }
    if (size > 0) {
        const double* between = state.between.data + oldest;  // a column: its rows are those of younger slots
        for (int64_t i = 0; i < n; ++i) scratch.values[i] = between[i * state.between.stride];
        slot_scores(state, scratch.values, n_columns, scratch.other);
        for (int64_t k = 0; k < n_columns; ++k) margin += coef[k] * scratch.other[k];
        margin /= size;
        const double square = squared_length(coef, n_columns) * state.norms[oldest] - 2 * size * margin;
        const double factor = largest_factor(square, 2 * size, state.totals[0] - kForgetronShare * state.totals[1]);
        state.totals[0] += square * factor * factor + 2 * size * factor;
        for (int64_t i = 0; i < n * n_columns; ++i) state.coef[i] *= factor;
    }
    leave_slot(state, n_columns, oldest);
}

// Replaces sizes by chances to stay, of which one less than all are expected.
inline void chances_to_stay(double* sizes, double* MERCER_RESTRICT stays, int64_t n) {
    const int64_t least = least_of(sizes, n);
    if (!(sizes[least] > 0)) {
        for (int64_t i = 0; i < n; ++i) sizes[i] = i == least ? 0 : 1;
        return;
    }
    for (int64_t i = 0; i < n; ++i) stays[i] = 0;  // 1 where capped
    for (int64_t n_capped = 0;;) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += stays[i] == 0 ? sizes[i] : 0;
        const double factor = static_cast<double>(n - 1 - n_capped) / sum;
        int64_t more = 0;
        for (int64_t i = 0; i < n; ++i) {
            if (stays[i] == 0 && factor * sizes[i] > 1) {
                stays[i] = 1;
                ++more;
            }
        }
        n_capped += more;
        if (more) continue;
        for (int64_t i = 0; i < n; ++i) sizes[i] = stays[i] == 1 ? 1 : factor * sizes[i];
        return;
    }
}

inline int64_t chosen_to_leave(const double* stays, int64_t n, double uniform) {
    double total = 0, sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < n; ++i) total += 1 - stays[i];
    for (int64_t i = 0; i < n; ++i) {
        const double chance = 1 - stays[i];
        if (!(chance > 0)) continue;
        last = i;
        sum += chance;
        if (sum > uniform * total) break;
    }
    return last;
}

inline void remove_by_chance(const BudgetRule& rule, const BudgetState& state, int64_t n_columns, double uniform,
                             const BudgetScratch& scratch) {
    const int64_t n = *state.count - 1;
    if (n == 0) return leave_slot(state, n_columns, 0);
    double* stays = scratch.losses;
    int64_t slot;
    if (rule.maintenance == BudgetMaintenance::stochastic) {
        for (int64_t i = 0; i < n; ++i) stays[i] = 1 - 1 / static_cast<double>(n);
        slot = static_cast<int64_t>(uniform * static_cast<double>(n));
        slot = slot < n ? slot : n - 1;
    } else {
        squared_lengths(state, n_columns, stays);
        for (int64_t i = 0; i < n; ++i) stays[i] = MERCER_BUILTIN(sqrt)(stays[i] * state.norms[i]);
        chances_to_stay(stays, scratch.places, n);
        slot = chosen_to_leave(stays, n, uniform);
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; i != slot && k < n_columns; ++k) {
            const double coef = state.coef[i * n_columns + k] / stays[i];
            state.coef[i * n_columns + k] = coef > kLargestStep ? kLargestStep : coef < -kLargestStep ? -kLargestStep : coef;
        }
    }
    leave_slot(state, n_columns, slot);
}

inline void remove_slot(const BudgetRule& rule, const BudgetState& state, int64_t n_columns, double uniform,
                        const BudgetScratch& scratch) {
    const int64_t n = *state.count;
    switch (rule.maintenance) {
        case BudgetMaintenance::remove:
            squared_lengths(state, n_columns, scratch.losses);
            for (int64_t i = 0; i < n; ++i) scratch.losses[i] *= state.norms[i];
            return leave_slot(state, n_columns, least_of(scratch.losses, n));
        case BudgetMaintenance::oldest: return leave_slot(state, n_columns, oldest_slot(state));
        case BudgetMaintenance::random: {
            const auto slot = static_cast<int64_t>(uniform * static_cast<double>(n - 1));
            return leave_slot(state, n_columns, n > 1 ? (slot < n - 2 ? slot : n - 2) : 0);
        }
        case BudgetMaintenance::shrink: return shrink_and_remove(state, n_columns, scratch);
        default: return remove_by_chance(rule, state, n_columns, uniform, scratch);
    }
}
