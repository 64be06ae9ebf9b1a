// Online learning with a budget of support vectors, a row at a time; see reference/budget/loop.py. Included inside the
// namespace of one instruction set.

inline bool projects(const BudgetRule& rule) {
    return rule.update == BudgetUpdate::newton || rule.maintenance == BudgetMaintenance::project ||
           rule.maintenance == BudgetMaintenance::project_newest;
}

// What the rows of a batch share: products with matrices of the slots, or exponents for merging.
struct Batches {
    BudgetBatch squares;
    MergeBatch merging;
};

inline void learn_row(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                      const Matrix<const double>& table, Batches& batches, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    double* scores = rows.scores.data + t * rows.scores.stride;
    slot_scores(state, scratch.values, n_columns, scores);
    const bool joins = has_loss(rule, rows, state, t, scratch.coef);
    if (projects(rule)) {
        if (joins || rule.update == BudgetUpdate::margin_perceptron) {
            join_by_projection(rule, rows, state, t, joins, batches.squares, scratch);
        }
        return;
    }
    if (!joins) return;
    join_slot(rows, state, t, scratch.coef, scratch.values);
    const bool merges = rule.maintenance == BudgetMaintenance::merge;
    if (merges) batches.merging.set(n, rows.rows.data + t * rows.rows.stride, rows.gamma);
    if (n < rule.budget) return;
    if (merges) {
        merge_slots(rows, state, table, batches.merging, scratch);
    } else if (rule.maintenance == BudgetMaintenance::absorb || rule.maintenance == BudgetMaintenance::absorb_nearest) {
        absorb_slot(rule, state, n_columns, scratch);
    } else {
        remove_slot(rule, state, n_columns, rows.uniforms[t], scratch);
    }
}

// Rows from t on of a budget that is full, and whose slots stay.
inline void learn_settled(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t slots, int64_t t,
                          const LazySquare& inverse, const BudgetScratch& work, double* memory) {
    SettledRows settled;
    settled.begin(inverse, state, slots, rows.n_columns, t, memory);
    for (; t < rows.n_rows; ++t) learn_settled_row(rule, rows, state, t, settled, work);
}

inline void budget_learn(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t slots,
                         const Matrix<const double>& table) {
    const bool merges = rule.maintenance == BudgetMaintenance::merge;
    const bool settles = rule.maintenance == BudgetMaintenance::project_newest;
    const int64_t n_own = budget_scratch_doubles(slots, rows.n_columns);
    const int64_t n_shared = projects(rule) ? BudgetBatch::doubles(slots)
                             : merges       ? MergeBatch::doubles(slots, state.rows.n_columns)
                                            : 0;
    const int64_t n_doubles = n_own + n_shared + (settles ? SettledRows::doubles(slots, rows.n_columns) : 0);
    auto* memory = static_cast<double*>(scratch(Slot::panel, n_doubles * static_cast<int64_t>(sizeof(double))));
    const BudgetScratch work = budget_scratch(memory, slots, rows.n_columns);
    Batches batches;
    if (projects(rule)) batches.squares.begin(state, slots, memory + n_own);
    if (merges) batches.merging.begin(state, slots, memory + n_own);
    for (int64_t t = 0; t < rows.n_rows; ++t) {
        if (settles && *state.count == rule.budget && t == batches.squares.stop) {
            batches.squares.apply(state);
            return learn_settled(rule, rows, state, slots, t, batches.squares.inverse, work, memory + n_own + n_shared);
        }
        if (projects(rule)) {
            batches.squares.values_of(rows, state, t, work.values);
        } else if (merges) {
            batches.merging.values_of(rows, state, t, work.values);
        } else {
            slot_values(rows, state, t, work.values);
        }
        if (rule.update == BudgetUpdate::newton) {
            newton_row(rule, rows, state, t, batches.squares, work);
        } else {
            learn_row(rule, rows, state, t, table, batches, work);
        }
    }
    if (projects(rule)) batches.squares.apply(state);
}
