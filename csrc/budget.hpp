// Online learning with a budget of support vectors, a row at a time; see reference/budget/loop.py. Included inside the
// namespace of one instruction set.

inline void learn_row(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                      const Matrix<const double>& table, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    double* scores = rows.scores.data + t * rows.scores.stride;
    slot_scores(state, scratch.values, n_columns, scores);
    const bool joins = budget_coefficients(rule, rows, t, scratch.coef);
    const bool perceptron = rule.update == BudgetUpdate::perceptron || rule.update == BudgetUpdate::margin_perceptron;
    if (perceptron && joins) state.totals[1] += 1;
    if (rows.shrinks[t] != 1) {
        for (int64_t i = 0; i < n * n_columns; ++i) state.coef[i] *= rows.shrinks[t];
    }
    if (rule.maintenance == BudgetMaintenance::project || rule.maintenance == BudgetMaintenance::project_newest) {
        if (joins || rule.update == BudgetUpdate::margin_perceptron) {
            join_by_projection(rule, rows, state, t, joins, scratch);
        }
        return;
    }
    if (!joins) return;
    const bool merges = rule.maintenance == BudgetMaintenance::merge;
    join_slot(rows, state, t, scratch.coef, scratch.values);
    if (n < rule.budget) return;
    if (merges) {
        merge_slots(rows, state, table, scratch);
    } else if (rule.maintenance == BudgetMaintenance::absorb || rule.maintenance == BudgetMaintenance::absorb_nearest) {
        absorb_slot(rule, state, n_columns, scratch);
    } else {
        remove_slot(rule, state, n_columns, rows.uniforms[t], scratch);
    }
}

inline void budget_learn(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t slots,
                         const Matrix<const double>& table) {
    const int64_t n_doubles = budget_scratch_doubles(slots, rows.n_columns);
    auto* memory = static_cast<double*>(scratch(Slot::panel, n_doubles * static_cast<int64_t>(sizeof(double))));
    const BudgetScratch work = budget_scratch(memory, slots, rows.n_columns);
    for (int64_t t = 0; t < rows.n_rows; ++t) {
        slot_values(rule, rows, state, t, work.values);
        if (rule.update == BudgetUpdate::newton) {
            newton_row(rule, rows, state, t, work);
        } else {
            learn_row(rule, rows, state, t, table, work);
        }
    }
    if (rule.update == BudgetUpdate::newton) set_coefficients(state, rows.n_columns);
}
