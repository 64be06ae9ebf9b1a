// Projection of the newest row where the budget is full; see reference/budget/projection.py. Included inside the namespace
// of one instruction set.
//
// The slots and the inverse stay what they are, and only rows with a loss need their product with the inverse. A product of
// one row reads the whole matrix. So where a row needs one, the products of later rows are made with it: of those that
// would have a loss now, and of those nearest to it. A wrong guess costs time alone: the bits of a product do not depend on
// the other rows.
//
// Where many rows have a loss, products with a triangle take the place of these: K^-1 = W^T W, where W is the inverse of the
// Cholesky factor of the Gram matrix K. The vectors w = W k of a window of rows take half the multiplications, and have the
// inner products of the projections. A row with a loss adds a multiple of its w to a sum b. A later row of the window has the
// score k^T c + w^T b, and c takes over W^T b at the end of the window.
//
// A perceptron needs the sign of a score alone. So its vectors w are products in float32, with a bound of their error: a
// score nearer to 0 than the bound is made again in float64. The sum q of the rows k with a loss is exact, and c takes over
// W^T W q: coefficients are those of float64, and only the scores that are reported carry the error, which is below the bound.

// Rows that are looked at together: a window. Windows end where the number of a row in the stream is a multiple.
constexpr int64_t kSettledRows = 64;
// Rows of the triangle that are fetched ahead: a row is too short for the processor to see a stream in it.
constexpr int64_t kAheadRows = 3;
// Triangles are used from one row with a loss in so many on: about as many rows as would need a product in vain.
constexpr int64_t kFewLosses = 3;
// Rows whose products with the triangle are made together: sixteen sums in registers.
constexpr int kTriangleVectors = kBatchVectors > 1 ? kBatchVectors : 2;
constexpr int64_t kTriangleRows = kTriangleVectors * kLanes<double>;
// Products that are made together.
constexpr int64_t kMostImages = 4 * kBatch;
// Windows are in float32 if the bound is at most this part of a usual score: few scores are then made again.
constexpr double kLargestDoubt = 0.25;
// Rows of a window that may take a step of Projectron++, each of which costs a product in float64.
constexpr int64_t kMostSteps = 4;

struct SettledRows {
    const LazySquare* inverse;
    double *values, *images;  // (kSettledRows, width): kernel values of rows, and their products where they are known
    double* panels;           // the values of rows side by side: (kMostImages / kBatch, width, kBatch) or of all rows
    double* sum;              // (width, columns of scores): b of a window with triangles
    double* moved;            // (width): q of a window in float32
    RoundedTriangle triangle;
    double lengths[kSettledRows];  // |k - m| of the rows of a window in float32
    double reach, along;           // the sum of these lengths times their steps, of what is in q; and |b|
    int64_t first, stop, width;
    // Whether products are with a triangle, in float32; whether b is not 0; and whether c has changed since look_ahead.
    bool known[kSettledRows], triangular, rounded, pending, stale;
    bool in_place;  // slot i has column i

    static int64_t doubles(int64_t slots, int64_t n_columns) {
        return (3 * kSettledRows + n_columns + 1) * SlotPanels::rounded(slots);
    }

    // Begins before row t.
    void begin(const LazySquare& square, const BudgetState& state, int64_t slots, int64_t n_columns, int64_t t,
               double* memory) {
        inverse = &square;
        triangle.begin(state, slots, sum_of(square.diagonal, *state.count));
        width = SlotPanels::rounded(slots);
        values = memory;
        images = values + kSettledRows * width;
        panels = images + kSettledRows * width;
        sum = panels + kSettledRows * width;
        moved = sum + n_columns * width;
        first = stop = t;
        for (int64_t i = 0; i < width; ++i) moved[i] = 0;
        reach = along = 0;
        pending = false;
        in_place = true;
        for (int64_t i = 0; i < *state.count; ++i) in_place &= state.column[i] == i;
    }

    void look_ahead(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t, double* coef) {
        first = t;
        stop = t + kSettledRows - rows.numbers[t] % kSettledRows;
        stop = stop < rows.n_rows ? stop : rows.n_rows;
        int64_t n_wanted = 0;
        double margin;
        for (int64_t u = first; u < stop; ++u) {
            slot_values(rows, state, u, values + (u - first) * width, in_place);
            known[u - first] = false;
            n_wanted += state.factor.n_rows && is_wanted(rule, rows, state, u, coef, margin);
        }
        triangular = n_wanted * kFewLosses > stop - first;
        stale = !triangular;
        if (!triangular) return;
        for (int64_t i = 0; i < width * rows.n_columns; ++i) sum[i] = 0;
        rounded = multiply_in_float32(rule, rows, *state.count);
        if (!rounded) multiply_by_triangle(state);
    }

    // Writes w of all rows of the window by products in float32, and returns whether most rows are settled by them.
    bool multiply_in_float32(const BudgetRule& rule, const BudgetRows& rows, int64_t n) {
        const bool perceptron = rule.update == BudgetUpdate::perceptron || rule.update == BudgetUpdate::margin_perceptron;
        if (!triangle.panels.n_rows || !perceptron || rows.n_columns > 1) return false;
        auto* narrow = reinterpret_cast<float*>(panels);
        double size = 0, steps = 0, longest = 0;
        for (int64_t u = first; u < stop; ++u) {
            const int64_t place = u - first;
            const double score = rows.scores.data[u * rows.scores.stride];
            const double length = triangle.centre(values + place * width, narrow + place * width, images + place * width);
            lengths[place] = length;
            size += score < 0 ? -score : score;
            if (score * rows.y[u] <= 0) steps += MERCER_BUILTIN(sqrt)(rows.norms[u]);
            longest = length > longest ? length : longest;
        }
        // |b| is at most `steps`, and so is the error of b over that of a row.
        if (!(2 * triangle.unit * longest * steps * static_cast<double>(stop - first) <= kLargestDoubt * size)) return false;
        triangle.multiply(narrow, stop - first, width, images);
        if (rule.update == BudgetUpdate::perceptron) return true;
        int64_t n_steps = 0;
        for (int64_t u = first; u < stop; ++u) n_steps += may_step(rule, rows, u, 1, n);
        return n_steps <= kMostSteps;
    }

    // By how much the score of row t may be off.
    double doubt(int64_t t, int64_t n) const {
        const double *w = images + (t - first) * width, error = triangle.unit * lengths[t - first];
        const double length = MERCER_BUILTIN(sqrt)(dot(w, w, n));
        return 1.01 * (error * along + (length + error) * triangle.unit * reach);
    }

    // Whether a loss of at most `loss` may be large enough for a step of Projectron++.
    bool may_step(const BudgetRule& rule, const BudgetRows& rows, int64_t t, double loss, int64_t n) const {
        const double *w = images + (t - first) * width, error = triangle.unit * lengths[t - first];
        const double square = dot(w, w, n);
        const double rest = rows.norms[t] - square - 1.01 * error * (2 * MERCER_BUILTIN(sqrt)(square) + error);
        return loss > 0 && !(rest >= loss * loss * rule.tolerance * rule.tolerance);
    }

    // c takes over W^T W q, in float64.
    void end_rounded_window(const BudgetState& state) {
        const int64_t n = *state.count;
        for (int64_t i = 0; i < n; ++i) {
            const double *row = state.factor.data + i * state.factor.stride, *later = row + kAheadRows * state.factor.stride;
            for (int64_t j = 0; i + kAheadRows < n && j <= i + kAheadRows; j += 8) MERCER_PREFETCH(later + j);
            add_multiple(state.coef, row, dot(row, moved, i + 1), i + 1);
        }
        for (int64_t i = 0; i < n; ++i) moved[i] = sum[i] = 0;
        reach = along = 0;
        pending = false;
        stale = true;
    }

    // Writes w of one row in float64.
    void exact_image(const BudgetState& state, const double* row, double* image) const {
        for (int64_t i = 0; i < *state.count; ++i) {
            image[i] = dot(state.factor.data + i * state.factor.stride, row, i + 1);
        }
    }

    // Writes w = W k of all rows of the window. A strip of W stays in cache for all of them.
    void multiply_by_triangle(const BudgetState& state) const {
        const int64_t n = *state.count, last = stop - first - 1;
        double* out[kSettledRows];
        for (int64_t b = 0; b < kSettledRows; ++b) {
            const int64_t row = b < last ? b : last;  // the last one again: the same numbers
            double* lane = panels + b / kTriangleRows * kTriangleRows * width + b % kTriangleRows;
            out[b] = images + row * width;
            for (int64_t i = 0; i < n; ++i) lane[i * kTriangleRows] = values[row * width + i];
            for (int64_t i = n; i < n + kBatch && i < width; ++i) lane[i * kTriangleRows] = 0;
        }
        for (int64_t row = 0; row < n; row += kSquareRows) {
            for (int64_t b = 0; b <= last; b += kTriangleRows) {
                Lanes<double> sums[kSquareRows][kTriangleVectors];
                strip_products(state.factor, row, row + kSquareRows, panels + b * width, sums);
                store_strip(sums, row, out + b);
            }
        }
    }

    // c takes over W^T b.
    void end_window(const BudgetState& state, int64_t n_columns) {
        if (!pending) return;
        for (int64_t i = 0; i < *state.count; ++i) {
            add_shares(state.coef, state.factor.data + i * state.factor.stride, sum + i * n_columns, i + 1, n_columns);
        }
        pending = false;
    }

    // Whether row u would need its product if it came now, and its margin. Writes its scores, which are written again when
    // the row comes.
    bool is_wanted(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t u, double* coef,
                   double& margin) const {
        double* scores = rows.scores.data + u * rows.scores.stride;
        slot_scores(state, values + (u - first) * width, rows.n_columns, scores);
        margin = margin_direction(scores, rows.n_columns, rows.y[u], coef);
        return budget_coefficients(rule, rows, u, coef) || (rule.update == BudgetUpdate::margin_perceptron && margin < 1);
    }

    // Chooses row t, later rows that would need their products, and those of the least margins until whole batches are full.
    int64_t choose(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t, double* coef,
                   int64_t* chosen) {
        double margins[kSettledRows];
        int64_t others[kSettledRows], n_others = 0, count = 0;
        chosen[count++] = t;
        for (int64_t u = t + 1; u < stop; ++u) {
            if (known[u - first]) continue;
            const bool wanted = is_wanted(rule, rows, state, u, coef, margins[n_others]);
            if (wanted && count < kMostImages) {
                chosen[count++] = u;
            } else {
                others[n_others++] = u;
            }
        }
        for (; count % kBatch && n_others; ++count) {
            const int64_t least = least_of(margins, n_others);
            chosen[count] = others[least];
            margins[least] = margins[--n_others];
            others[least] = others[n_others];
        }
        return count;
    }

    // Makes the products of row t and of later ones.
    void make_images(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t, double* coef) {
        const int64_t n = *state.count;
        int64_t chosen[kMostImages];
        const int64_t count = choose(rule, rows, state, t, coef, chosen);
        double* out[kMostImages];
        for (int64_t b = 0; b < kMostImages; ++b) {
            const int64_t place = chosen[b < count ? b : 0] - first;
            const double* row = values + place * width;
            double* lane = panels + b / kBatch * kBatch * width + b % kBatch;
            out[b] = images + place * width;  // the first one again past the last: the same numbers
            known[place] = true;
            for (int64_t i = 0; b < (count + kBatch - 1) / kBatch * kBatch && i < n; ++i) lane[i * kBatch] = row[i];
        }
        for (int64_t row = 0; row < n; row += kSquareRows) {  // a strip of the inverse stays in cache for all batches
            for (int64_t b = 0; b < count; b += kBatch) write_tile(row, n, panels + b * width, out + b);
        }
    }

    // out[b][row + r] = the product of row `row + r` of the inverse and lane b of a panel
    void write_tile(int64_t row, int64_t n, const double* panel, double* const* out) const {
        Lanes<double> sums[kSquareRows][kBatchVectors];
        strip_products(inverse->base, row, n, panel, sums);
        store_strip(sums, row, out);
    }

    // out[b][row + r] = lane b of sums[r]
    template <int kVectors>
    MERCER_INLINE static void store_strip(const Lanes<double> (&sums)[kSquareRows][kVectors], int64_t row,
                                          double* const* out) {
        for (int r = 0; r < kSquareRows; r += static_cast<int>(kLanes<double>)) {
            for (int v = 0; v < kVectors; ++v) {
                Lanes<double> square[kLanes<double>];
                MERCER_UNROLL
                for (int l = 0; l < kLanes<double>; ++l) square[l] = sums[r + l][v];
                transpose(square);
                MERCER_UNROLL
                for (int l = 0; l < kLanes<double>; ++l) store<double>(out[v * kLanes<double> + l] + row + r, square[l]);
            }
        }
    }
};

// A row of a window with triangles, whose w is in scratch.image.
inline void learn_by_triangle(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                              SettledRows& settled, const BudgetScratch& scratch) {
    const int64_t n = *state.count, n_columns = rows.n_columns;
    double *scores = rows.scores.data + t * rows.scores.stride, *sum = settled.sum;
    if (settled.pending) add_products(sum, scratch.image, n, n_columns, scores);
    const bool joins = has_loss(rule, rows, state, t, scratch.coef);
    for (int64_t i = 0; rows.shrinks[t] != 1 && i < n * n_columns; ++i) sum[i] *= rows.shrinks[t];
    settled.stale |= rows.shrinks[t] != 1;
    bool steps = joins;
    if (!joins && rule.update == BudgetUpdate::margin_perceptron) {
        const double rest = rest_of_projection(rows.norms[t], scratch.image, scratch.image, n);
        steps = margin_step(rule, rows, t, rows.norms[t] - rest, rest, scratch.coef);
    }
    if (steps) add_shares(sum, scratch.image, scratch.coef, n, n_columns);
    settled.pending |= steps;
    if (t + 1 == settled.stop) settled.end_window(state, n_columns);
}

// A row of a window in float32, whose w is in scratch.image; scores hold k^T c.
inline void learn_rounded(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                          SettledRows& settled, const BudgetScratch& scratch) {
    const int64_t n = *state.count;
    double& score = rows.scores.data[t * rows.scores.stride];
    double doubt = 0;
    if (settled.pending) {
        const double before = dot(settled.sum, scratch.image, n);
        doubt = settled.doubt(t, n);
        score += before;
        if (!(score > doubt || score < -doubt)) {
            settled.end_rounded_window(state);
            slot_scores(state, scratch.values, 1, &score);
            doubt = 0;
        }
    }
    const bool margin = rule.update == BudgetUpdate::margin_perceptron && score * rows.y[t] > 0 &&
                        settled.may_step(rule, rows, t, 1 - score * rows.y[t] + doubt, n);
    if (margin) {  // the step depends on the score and on w: both in float64
        if (settled.pending) settled.end_rounded_window(state);
        slot_scores(state, scratch.values, 1, &score);
        settled.exact_image(state, scratch.values, scratch.image);
    }
    const bool joins = has_loss(rule, rows, state, t, scratch.coef);
    if (rows.shrinks[t] != 1) {
        for (int64_t i = 0; i < n; ++i) {
            settled.sum[i] *= rows.shrinks[t];
            settled.moved[i] *= rows.shrinks[t];
        }
        settled.reach *= rows.shrinks[t];
        settled.along *= rows.shrinks[t];
        settled.stale = true;
    }
    bool steps = joins;
    if (!joins && margin) {
        const double rest = rest_of_projection(rows.norms[t], scratch.image, scratch.image, n);
        steps = margin_step(rule, rows, t, rows.norms[t] - rest, rest, scratch.coef);
    }
    if (steps) {
        const double step = scratch.coef[0];
        add_multiple(settled.sum, scratch.image, step, n);
        add_multiple(settled.moved, scratch.values, step, n);
        settled.reach += (step < 0 ? -step : step) * settled.lengths[t - settled.first];
        settled.along = MERCER_BUILTIN(sqrt)(dot(settled.sum, settled.sum, n));
        settled.pending = true;
    }
    if (t + 1 == settled.stop && settled.pending) settled.end_rounded_window(state);
}

inline void learn_settled_row(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t t,
                              SettledRows& settled, BudgetScratch scratch) {
    if (t == settled.stop) settled.look_ahead(rule, rows, state, t, scratch.other);
    const int64_t n = *state.count, place = t - settled.first;
    scratch.values = settled.values + place * settled.width;
    scratch.image = settled.images + place * settled.width;
    double* scores = rows.scores.data + t * rows.scores.stride;
    if (settled.stale) slot_scores(state, scratch.values, rows.n_columns, scores);  // else look_ahead wrote them
    if (settled.triangular && settled.rounded) return learn_rounded(rule, rows, state, t, settled, scratch);
    if (settled.triangular) return learn_by_triangle(rule, rows, state, t, settled, scratch);
    const bool joins = has_loss(rule, rows, state, t, scratch.coef);
    if (!joins && rule.update != BudgetUpdate::margin_perceptron) return;
    if (!joins && !(margin_direction(scores, rows.n_columns, rows.y[t], scratch.other) < 1)) return;
    if (!settled.known[place]) settled.make_images(rule, rows, state, t, scratch.other);
    const double rest = joins ? 0 : rest_of_projection(rows.norms[t], scratch.values, scratch.image, n);
    project_row(rule, rows, state, t, joins, rest, scratch);
}
