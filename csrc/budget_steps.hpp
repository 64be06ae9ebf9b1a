// Coefficients of an incoming row; see reference/budget/steps.py. Included inside the namespace of one instruction set.

inline double budget_target(double y, int64_t n_columns, int64_t column) {
    if (n_columns == 1) return y;
    return column == static_cast<int64_t>(y) ? 1.0 : -1.0;
}

// Writes the derivative of the margin in the scores, and returns the margin.
inline double margin_direction(const double* scores, int64_t n_columns, double y, double* direction) {
    if (n_columns == 1) {
        direction[0] = y;
        return scores[0] * y;
    }
    const auto label = static_cast<int64_t>(y);
    int64_t rival = label == 0 ? 1 : 0;
    for (int64_t k = 0; k < n_columns; ++k) {
        direction[k] = 0;
        if (k != label && scores[k] > scores[rival]) rival = k;
    }
    direction[label] = 1;
    direction[rival] = -1;
    return scores[label] - scores[rival];
}

inline bool gradient_coefficients(const BudgetRule& rule, const double* scores, int64_t n_columns, double y, double step,
                                  double* coef) {
    if (rule.loss == Loss::squared) {
        for (int64_t k = 0; k < n_columns; ++k) coef[k] = scores[k] - budget_target(y, n_columns, k);
    } else if (rule.loss == Loss::absolute && !(scores[0] - y > rule.epsilon || y - scores[0] > rule.epsilon)) {
        return false;
    } else {
        const OnlineTargets targets = {&y, rule.loss};
        slope(targets, 0, scores, n_columns, coef);
    }
    bool any = false;
    for (int64_t k = 0; k < n_columns; ++k) {
        any |= coef[k] != 0;
        coef[k] *= -step;
    }
    return any;
}

inline bool perceptron_coefficients(const double* scores, int64_t n_columns, double y, double* coef) {
    return margin_direction(scores, n_columns, y, coef) <= 0;
}

inline bool passive_aggressive_coefficients(const BudgetRule& rule, const double* scores, int64_t n_columns, double y,
                                            double norm, double* coef) {
    if (!(norm > 0)) return false;
    if (rule.loss == Loss::squared || rule.loss == Loss::squared_hinge) {
        bool any = false;
        for (int64_t k = 0; k < n_columns; ++k) {
            const double target = budget_target(y, n_columns, k);
            double lacking = target - scores[k];
            if (rule.loss == Loss::squared_hinge && !(target * lacking > 0)) lacking = 0;
            any |= lacking != 0;
            coef[k] = lacking / (norm + rule.ridge);
        }
        return any;
    }
    double loss;
    if (rule.loss == Loss::absolute) {
        const double error = y - scores[0];
        coef[0] = error > 0 ? 1 : error < 0 ? -1 : 0;
        loss = (error < 0 ? -error : error) - rule.epsilon;
    } else {
        loss = 1 - margin_direction(scores, n_columns, y, coef);
    }
    if (!(loss > 0)) return false;
    const double most = 1 / rule.ridge, wanted = loss / (norm * (n_columns == 1 ? 1 : 2));
    for (int64_t k = 0; k < n_columns; ++k) coef[k] *= wanted < most ? wanted : most;
    return true;
}

inline bool budget_coefficients(const BudgetRule& rule, const BudgetRows& rows, int64_t t, double* coef) {
    const double* scores = rows.scores.data + t * rows.scores.stride;
    switch (rule.update) {
        case BudgetUpdate::gradient:
            return gradient_coefficients(rule, scores, rows.n_columns, rows.y[t], rows.steps[t], coef);
        case BudgetUpdate::perceptron:
        case BudgetUpdate::margin_perceptron: return perceptron_coefficients(scores, rows.n_columns, rows.y[t], coef);
        default: break;
    }
    return passive_aggressive_coefficients(rule, scores, rows.n_columns, rows.y[t], rows.norms[t], coef);
}

// Whether row t has a loss, and its coefficients; counts mistakes of perceptrons, and shrinks the other coefficients.
inline bool has_loss(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t, double* coef) {
    const bool joins = budget_coefficients(rule, rows, t, coef);
    const bool perceptron = rule.update == BudgetUpdate::perceptron || rule.update == BudgetUpdate::margin_perceptron;
    if (perceptron && joins) state.totals[1] += 1;
    if (rows.shrinks[t] != 1) {
        for (int64_t i = 0; i < *state.count * rows.n_columns; ++i) state.coef[i] *= rows.shrinks[t];
    }
    return joins;
}
