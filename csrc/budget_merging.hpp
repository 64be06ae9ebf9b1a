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

inline double searched_place(double exponent, double square, double other, double product) {
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

// The place of the largest merged square, by Newton's method from the place h of the table. The derivative of the square is
// 4 e r^2 ((1 - h) A q^2 + (1 - 2 h) P q - h B), where r is the greater one's kernel value, q = exp(-e (1 - 2 h)) the
// lesser one's over it, and A, P, B are square, product and other. One exponential per step, and about four steps, take the
// place of the golden section, which is searched where they do not end near h.
inline double best_place(double exponent, double square, double other, double product, double h) {
    constexpr int kSteps = 8;
    constexpr double kLargestMove = 0.02, kClose = 1e-9;
    const double first = h;
    for (int step = 0; step < kSteps; ++step) {
        const double q = exp_of_negative(-exponent * (1 - 2 * h)), one = square * q * q, two = product * q;
        const double value = (1 - h) * one + (1 - 2 * h) * two - h * other;
        const double slope = (4 * exponent * (1 - h) - 1) * one + (2 * exponent * (1 - 2 * h) - 2) * two - other;
        if (!(slope < 0)) break;
        const double move = value / slope;
        h -= move;
        if (!(h >= 0 && h <= 0.5) || h - first > kLargestMove || first - h > kLargestMove) break;
        if (move < kClose && move > -kClose) return h;
    }
    return searched_place(exponent, square, other, product);
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
    squared_lengths(state, n_columns, scratch.gain);
    const int64_t i = least_of(scratch.gain, n);
    const double* coef = state.coef + i * n_columns;
    for (int64_t s = 0; n_columns == 1 && s < n; ++s) scratch.image[s] = coef[0] * state.coef[s];
    for (int64_t s = 0; n_columns > 1 && s < n; ++s) {
        double product = 0;
        for (int64_t k = 0; k < n_columns; ++k) product += coef[k] * state.coef[s * n_columns + k];
        scratch.image[s] = product;
    }
    return i;
}

// Slots that may be merged with the one of the least coefficient, side by side: what merging loses is found for all at once.
struct MergeCandidates {
    static constexpr int64_t kMost = 128;
    double exponents[kMost], squares[kMost], products[kMost], places[kMost], values[kMost], losses[kMost];
    int64_t slots[kMost], count;

    // Takes the slots from `start` on whose exponents are not beyond `farthest`, without a branch that depends on them.
    void choose(int64_t start, int64_t stop, double farthest, const BudgetScratch& scratch) {
        count = 0;
        for (int64_t s = start; s < stop; ++s) {
            slots[count] = s;
            count += scratch.exponents[s] <= farthest;
        }
        for (int64_t c = 0; c < count; ++c) {
            exponents[c] = scratch.exponents[slots[c]];
            squares[c] = scratch.gain[slots[c]];
            products[c] = scratch.image[slots[c]];
        }
    }

    // Finds places and losses; `square` is the least squared coefficient.
    void evaluate(const Matrix<const double>& table, double square) {
        const double size = MERCER_BUILTIN(sqrt)(square);
        for (int64_t c = 0; c < count; ++c) values[c] = -exponents[c];
        exp_all<double>(values, count);
        for (int64_t c = 0; c < count; ++c) {
            losses[c] = square + squares[c] + 2 * products[c] * values[c];
            const double sizes = size + MERCER_BUILTIN(sqrt)(squares[c]);
            places[c] = products[c] > 0 ? first_place(table, values[c], sizes > 0 ? size / sizes : 0) : 0;
        }
        double left[kMost], right[kMost];
        for (int64_t c = 0; c < count; ++c) {
            left[c] = -exponents[c] * (1 - places[c]) * (1 - places[c]);
            right[c] = -exponents[c] * places[c] * places[c];
        }
        exp_all<double>(left, count);
        exp_all<double>(right, count);
        for (int64_t c = 0; c < count; ++c) {
            losses[c] -= square * left[c] * left[c] + 2 * products[c] * left[c] * right[c] + squares[c] * right[c] * right[c];
        }
    }
};

// The largest exponent of a pair whose merging may lose as little as `loss`, where `square` is the lesser squared
// coefficient a^2. A pair of kernel value v loses at least 2 a^2 (1 - sqrt(v))^2, what two coefficients a at equal
// distances from the new row lose, as long as this is below 0.75 a^2: a greater second coefficient loses more.
inline double farthest_exponent(double loss, double square) {
    constexpr double kLargestShare = 0.75, kSlack = 1e-9;
    const double share = square > 0 ? (loss > 0 ? loss / square : 0) + kSlack : 1;
    if (share >= kLargestShare) return kLargestExponent;
    const double root = 1 - MERCER_BUILTIN(sqrt)(share / 2);
    return -2 * MERCER_BUILTIN(log)(root);
}

// The slot that loses least when it is merged with slot i, and its place; the nearest one is tried first, since it rules
// most of the others out.
struct Merger {
    double loss, place;
    int64_t slot;
};

inline Merger best_merger(const Matrix<const double>& table, int64_t i, int64_t n, const BudgetScratch& scratch) {
    const double square = scratch.gain[i];
    const int64_t nearest = least_of(scratch.exponents, n);
    MergeCandidates found;
    found.choose(nearest, nearest + 1, kLargestExponent, scratch);
    found.evaluate(table, square);
    Merger best = {found.losses[0], found.places[0], nearest};
    for (int64_t start = 0; start < n; start += MergeCandidates::kMost) {
        const int64_t stop = start + MergeCandidates::kMost < n ? start + MergeCandidates::kMost : n;
        found.choose(start, stop, farthest_exponent(best.loss, square), scratch);
        found.evaluate(table, square);
        for (int64_t c = 0; c < found.count; ++c) {
            const bool before = found.losses[c] == best.loss && found.slots[c] < best.slot;
            if (found.losses[c] < best.loss || before) best = {found.losses[c], found.places[c], found.slots[c]};
        }
    }
    return best;
}

// The exponents of kBatch rows and the slots, made together and mended as slots change. Batches end where the number of a
// row in the stream is a multiple of kBatch; bits do not depend on where they end.
struct MergeBatch {
    SlotPanels panels;
    double* exponents;     // (kBatch, slots in whole panels)
    double* lanes;         // the rows of the batch side by side
    double squares[kBatch];
    int64_t first, stop, width;

    static int64_t doubles(int64_t slots, int64_t depth) {
        return SlotPanels::rounded(slots) * (depth + 1 + kBatch) + kBatch * depth;
    }

    void begin(const BudgetState& state, int64_t slots, double* memory) {
        const int64_t depth = state.rows.n_columns;
        first = stop = 0;
        width = SlotPanels::rounded(slots);
        std::memset(memory, 0, static_cast<std::size_t>(doubles(slots, depth)) * sizeof(double));
        exponents = memory;
        lanes = exponents + kBatch * width;
        panels = {lanes + kBatch * depth, lanes + kBatch * depth + width * depth, depth};
        panels.fill(state.rows, *state.count);
    }

    // Writes the kernel values of row t, the first of a batch or a later one.
    void values_of(const BudgetRows& rows, const BudgetState& state, int64_t t, double* values) {
        const int64_t n = *state.count;
        if (t == stop) {
            first = t;
            stop = t + kBatch - rows.numbers[t] % kBatch;
            stop = stop < rows.n_rows ? stop : rows.n_rows;
            start_batch(rows, n);
        }
        const double* own = exponents + (t - first) * width;
        for (int64_t i = 0; i < n; ++i) values[i] = -own[i];
        exp_all<double>(values, n);
    }

    void start_batch(const BudgetRows& rows, int64_t n) {
        const double* batch_rows[kBatch];
        for (int64_t b = 0; b < kBatch; ++b) {
            batch_rows[b] = rows.rows.data + (first + b < stop ? first + b : stop - 1) * rows.rows.stride;
            set_lane(batch_rows[b], panels.depth, kBatch, lanes + b);
        }
        panel_squares<kBatchVectors>(lanes, kBatch, panels.depth, squares);
        panels.exponents_of_all(batch_rows, squares, stop - first, n, rows.gamma, exponents, width);
    }

    // A slot has got another row.
    void set(int64_t slot, const double* row, double gamma) {
        panels.set(slot, row);
        const double* const points[1] = {row};
        double found[1][kBatch];
        const ExponentPanel batch = {lanes, squares, kBatch, panels.depth};
        panel_exponents<1, kBatchVectors>(points, panels.squares + slot, batch, gamma, found);
        for (int64_t b = 0; b < kBatch; ++b) exponents[b * width + slot] = found[0][b];
    }

    // Slot `to` has got the row of slot `last`.
    void move(int64_t last, int64_t to) {
        panels.move(last, to);
        for (int64_t b = 0; b < kBatch; ++b) exponents[b * width + to] = exponents[b * width + last];
    }
};

inline void merge_slots(const BudgetRows& rows, const BudgetState& state, const Matrix<const double>& table,
                        MergeBatch& batch, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    const int64_t i = least_coefficient(state, n_columns, scratch);
    const double* row = state.rows.data + i * state.rows.stride;
    batch.panels.exponents(row, batch.panels.squares[i], n, rows.gamma, scratch.exponents);
    scratch.exponents[i] = 2 * kLargestExponent;  // beyond all others
    const Merger best = best_merger(table, i, n, scratch);
    const int64_t j = best.slot;
    const double exponent = scratch.exponents[j], square = scratch.gain[i], product = scratch.image[j];
    const double h = product > 0 ? best_place(exponent, square, scratch.gain[j], product, best.place) : best.place;
    replace_by_merged(state, n_columns, i, j, h, exponent);
    batch.set(j, state.rows.data + j * state.rows.stride, rows.gamma);
    batch.move(n - 1, i);
    leave_slot(state, n_columns, i);
}
