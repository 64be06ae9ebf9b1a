// Merging of two support vectors; see reference/budget/merging.py. Included inside the namespace of one instruction set.

constexpr double kGolden = 0.6180339887498949;
constexpr int kGoldenSteps = 30;

// The place h of the table, by bilinear interpolation.
inline double first_place(const Matrix<const double>& table, double value, double share) {
    const double x = value * static_cast<double>(table.n_rows - 1);
    const double wide = 2 * share < 1 ? 2 * share : 1, y = wide * static_cast<double>(table.n_columns - 1);
    auto a = static_cast<int64_t>(x), b = static_cast<int64_t>(y);
    a = a < table.n_rows - 2 ? a : table.n_rows - 2;
    b = b < table.n_columns - 2 ? b : table.n_columns - 2;
    const double u = x - static_cast<double>(a), v = y - static_cast<double>(b);
    const double *low = table.data + a * table.stride + b, *high = low + table.stride;
    return (1 - u) * ((1 - v) * low[0] + v * low[1]) + u * ((1 - v) * high[0] + v * high[1]);
}

inline double merged_square(double exponent, double square, double other, double product, double h) {
    const double rest = 1 - h;
    const double left = exp_of_negative(-exponent * rest * rest), right = exp_of_negative(-exponent * h * h);
    return square * left * left + 2 * product * left * right + other * right * right;
}

inline double best_place(double exponent, double square, double other, double product) {
    double low = 0, high = 0.5;
    double one = high - kGolden * (high - low), two = low + kGolden * (high - low);
    double at_one = merged_square(exponent, square, other, product, one);
    double at_two = merged_square(exponent, square, other, product, two);
    for (int step = 0; step < kGoldenSteps; ++step) {
        if (at_one >= at_two) {
            high = two;
            two = one;
            at_two = at_one;
            one = high - kGolden * (high - low);
            at_one = merged_square(exponent, square, other, product, one);
        } else {
            low = one;
            one = two;
            at_one = at_two;
            two = low + kGolden * (high - low);
            at_two = merged_square(exponent, square, other, product, two);
        }
    }
    return (low + high) / 2;
}

inline void replace_by_merged(const BudgetState& state, int64_t n_columns, int64_t i, int64_t j, double h,
                              double exponent) {
    const double rest = 1 - h;
    const double left = exp_of_negative(-exponent * rest * rest), right = exp_of_negative(-exponent * h * h);
    for (int64_t k = 0; k < n_columns; ++k) {
        state.coef[j * n_columns + k] = left * state.coef[i * n_columns + k] + right * state.coef[j * n_columns + k];
    }
    const double* one = state.rows.data + i * state.rows.stride;
    double* two = state.rows.data + j * state.rows.stride;
    for (int64_t c = 0; c < state.rows.n_columns; ++c) two[c] = h * one[c] + rest * two[c];
    state.born[j] = state.born[i] > state.born[j] ? state.born[i] : state.born[j];
}

// Writes squares of coefficients to `gain` and their products with those of slot i to `image`.
inline int64_t least_coefficient(const BudgetState& state, int64_t n_columns, const BudgetScratch& scratch) {
    const int64_t n = *state.count;
    for (int64_t s = 0; s < n; ++s) scratch.gain[s] = squared_length(state.coef + s * n_columns, n_columns);
    const int64_t i = least_of(scratch.gain, n);
    const double* coef = state.coef + i * n_columns;
    for (int64_t s = 0; s < n; ++s) {
        double product = 0;
        for (int64_t k = 0; k < n_columns; ++k) product += coef[k] * state.coef[s * n_columns + k];
        scratch.image[s] = product;
    }
    return i;
}

inline void merge_slots(const BudgetRows& rows, const BudgetState& state, const Matrix<const double>& table,
                        const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    const int64_t i = least_coefficient(state, n_columns, scratch);
    const double *exponents = scratch.exponents, *squares = scratch.gain;
    point_exponents(state.rows.data + i * state.rows.stride, state.rows, n, rows.gamma, scratch.exponents);
    const double square = squares[i], size = MERCER_BUILTIN(sqrt)(square);
    double *values = scratch.values, *places = scratch.places, *losses = scratch.losses;
    for (int64_t s = 0; s < n; ++s) values[s] = -exponents[s];
    exp_all<double>(values, n);
    for (int64_t s = 0; s < n; ++s) {
        const double sizes = size + MERCER_BUILTIN(sqrt)(squares[s]);
        places[s] = scratch.image[s] > 0 ? first_place(table, values[s], sizes > 0 ? size / sizes : 0) : 0;
    }
    for (int64_t s = 0; s < n; ++s) {
        const double h = places[s], rest = 1 - h;
        scratch.left[s] = -exponents[s] * rest * rest;
        scratch.right[s] = -exponents[s] * h * h;
    }
    exp_all<double>(scratch.left, n);
    exp_all<double>(scratch.right, n);
    for (int64_t s = 0; s < n; ++s) {
        const double left = scratch.left[s], right = scratch.right[s], product = scratch.image[s];
        const double merged = square * left * left + 2 * product * left * right + squares[s] * right * right;
        losses[s] = square + squares[s] + 2 * product * values[s] - merged;
    }
    int64_t j = i == 0 ? 1 : 0;
    for (int64_t s = 0; s < n; ++s) j = s != i && losses[s] < losses[j] ? s : j;
    const double exponent = exponents[j], product = scratch.image[j];
    const double h = product > 0 ? best_place(exponent, square, squares[j], product) : places[j];
    replace_by_merged(state, n_columns, i, j, h, exponent);
    leave_slot(state, n_columns, i);
}
