// Online learning, a row at a time; see reference/online.py. Included inside the namespace of one instruction set.
//
// Weights and scores are float64 whatever the features are: a stream has no end, and float32 sums would drift.

constexpr double kLeastCurvature = 1e-3;

MERCER_INLINE double dot(const double* a, const double* b, int64_t n) {
    constexpr int kSums = 4;  // as many as hide the latency of an addition
    Lanes<double> sum[kSums] = {};
    int64_t i = 0;
    for (; i + kSums * kLanes<double> <= n; i += kSums * kLanes<double>) {
        MERCER_UNROLL
        for (int s = 0; s < kSums; ++s) {
            const int64_t at = i + s * kLanes<double>;
            sum[s] = sum[s] + load<double>(a + at) * load<double>(b + at);
        }
    }
    const Lanes<double> lanes = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double total = 0;
    for (int64_t l = 0; l < kLanes<double>; ++l) total += lanes[l];
    for (; i < n; ++i) total += a[i] * b[i];
    return total;
}

// target += factor * source
MERCER_INLINE void add_multiple(double* MERCER_RESTRICT target, const double* MERCER_RESTRICT source, double factor,
                                int64_t n) {
    for (int64_t i = 0; i < n; ++i) target[i] += factor * source[i];
}

inline double logistic(double t) {
    const double e = MERCER_BUILTIN(exp)(t >= 0 ? -t : t);
    return t >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// One column of scores: writes the derivative of the loss and returns its curvature, 0 where the row is passed over.
inline double slope_of_one(Loss loss, double score, double y, double* derivative) {
    double curvature = 1;
    switch (loss) {
        case Loss::hinge: *derivative = y * score < 1 ? -y : 0; break;
        case Loss::squared_hinge: *derivative = y * score < 1 ? score - y : 0; break;
        case Loss::logistic: {
            const double wrong = logistic(-y * score);
            *derivative = -y * wrong;
            curvature = wrong * (1 - wrong);
            if (curvature < kLeastCurvature) curvature = kLeastCurvature;
            break;
        }
        case Loss::squared: *derivative = score - y; break;
        case Loss::absolute: *derivative = score > y ? 1 : score < y ? -1 : 0; break;
    }
    return *derivative != 0 ? curvature : 0;
}

inline double hinge_of_classes(const double* scores, int64_t n_classes, int64_t label, double* derivative) {
    int64_t rival = label == 0 ? 1 : 0;
    for (int64_t k = 0; k < n_classes; ++k) {
        derivative[k] = 0;
        if (k != label && scores[k] > scores[rival]) rival = k;
    }
    if (!(scores[label] - scores[rival] < 1)) return 0;
    derivative[label] = -1;
    derivative[rival] = 1;
    return 1;
}

inline double squared_hinge_of_classes(const double* scores, int64_t n_classes, int64_t label, double* derivative) {
    double curvature = 0;
    for (int64_t k = 0; k < n_classes; ++k) {
        const double sign = k == label ? 1 : -1;
        derivative[k] = sign * scores[k] < 1 ? scores[k] - sign : 0;
        if (derivative[k] != 0) curvature = 1;
    }
    return curvature;
}

inline double softmax_of_classes(const double* scores, int64_t n_classes, int64_t label, double* derivative) {
    double largest = scores[0], total = 0, curvature = kLeastCurvature;
    for (int64_t k = 1; k < n_classes; ++k) largest = scores[k] > largest ? scores[k] : largest;
    for (int64_t k = 0; k < n_classes; ++k) {
        derivative[k] = MERCER_BUILTIN(exp)(scores[k] - largest);
        total += derivative[k];
    }
    for (int64_t k = 0; k < n_classes; ++k) {
        const double p = derivative[k] / total;
        if (p * (1 - p) > curvature) curvature = p * (1 - p);
        derivative[k] = p - (k == label ? 1 : 0);
    }
    return curvature;
}

inline double slope(const OnlineTargets& targets, int64_t row, const double* scores, int64_t n_columns,
                    double* derivative) {
    if (n_columns == 1) return slope_of_one(targets.loss, scores[0], targets.y[row], derivative);
    const auto label = static_cast<int64_t>(targets.y[row]);
    if (targets.loss == Loss::hinge) return hinge_of_classes(scores, n_columns, label, derivative);
    if (targets.loss == Loss::squared_hinge) return squared_hinge_of_classes(scores, n_columns, label, derivative);
    return softmax_of_classes(scores, n_columns, label, derivative);
}

inline void adagrad_step(double* MERCER_RESTRICT weights, double* MERCER_RESTRICT squares,
                         const double* MERCER_RESTRICT z, double derivative, double step, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const double gradient = derivative * z[i];
        const double sum = squares[i] + gradient * gradient;
        squares[i] = sum;
        weights[i] -= step * (gradient / MERCER_BUILTIN(sqrt)(sum > 0 ? sum : 1.0));
    }
}

inline void scale(double* values, double factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) values[i] *= factor;
}

// Multiplies a column's weights and squares by the factor that its rows without a derivative have left.
inline void forget(const Matrix<double>& W, const Matrix<double>& squares, int64_t k, double* pending) {
    if (*pending == 1) return;
    scale(W.data + k * W.stride, *pending, W.n_columns);
    if (squares.n_rows) scale(squares.data + k * squares.stride, *pending, W.n_columns);
    *pending = 1;
}

// The factor by which a column still has to be multiplied waits in `pending`: a row without a loss costs no pass.
template <class T>
void online_gradient(const Matrix<const T>& Z, const OnlineTargets& targets, const OnlineSteps& steps,
                     const Matrix<double>& W, const Matrix<double>& squares, const Matrix<double>& scores) {
    const int64_t n_columns = W.n_rows, n_features = Z.n_columns;
    const int64_t n_doubles = n_features + 2 * n_columns;
    auto* z = static_cast<double*>(scratch(Slot::panel, n_doubles * static_cast<int64_t>(sizeof(double))));
    double *derivative = z + n_features, *pending = derivative + n_columns;
    for (int64_t k = 0; k < n_columns; ++k) pending[k] = 1;
    for (int64_t t = 0; t < Z.n_rows; ++t) {
        const T* row = Z.data + t * Z.stride;
        for (int64_t i = 0; i < n_features; ++i) z[i] = static_cast<double>(row[i]);
        double* score = scores.data + t * scores.stride;
        for (int64_t k = 0; k < n_columns; ++k) score[k] = pending[k] * dot(W.data + k * W.stride, z, n_features);
        const double curvature = slope(targets, t, score, n_columns, derivative);
        scale(pending, steps.decay, n_columns);
        if (curvature == 0) continue;
        for (int64_t k = 0; k < n_columns; ++k) {
            if (derivative[k] == 0) continue;
            forget(W, squares, k, pending + k);
            double* weights = W.data + k * W.stride;
            if (squares.n_rows) {
                adagrad_step(weights, squares.data + k * squares.stride, z, derivative[k], steps.lengths[t],
                             n_features);
            } else {
                add_multiple(weights, z, -steps.lengths[t] * derivative[k], n_features);
            }
        }
    }
    for (int64_t k = 0; k < n_columns; ++k) forget(W, squares, k, pending + k);
}

inline void add_to_later_scores(const Matrix<double>& scores, const double* products, const double* coef, int64_t t) {
    for (int64_t s = t + 1; s < scores.n_rows; ++s) {
        for (int64_t k = 0; k < scores.n_columns; ++k) scores.data[s * scores.stride + k] += products[s] * coef[k];
    }
}

// Multiplies the coefficients so far, and what they add to the scores of later rows, by `decay`.
inline void forget(const OnlineResult& result, int64_t t, int64_t n_active, double decay) {
    if (decay == 1) return;
    for (int64_t j = 0; j < n_active; ++j) scale(result.coef.data + j * result.coef.stride, decay, result.coef.n_columns);
    for (int64_t s = t + 1; s < result.scores.n_rows; ++s) {
        scale(result.scores.data + s * result.scores.stride, decay, result.scores.n_columns);
    }
}

inline void online_kernel_gradient(const Matrix<const double>& gram, const OnlineTargets& targets,
                                   const OnlineSteps& steps, const OnlineResult& result) {
    const int64_t n = gram.n_rows, n_columns = result.scores.n_columns;
    int64_t t = 0, n_active = 0;
    for (; t < n && n_active < result.limit; ++t) {
        double* coef = result.coef.data + n_active * result.coef.stride;
        forget(result, t, n_active, steps.decay);
        if (slope(targets, t, result.scores.data + t * result.scores.stride, n_columns, coef) == 0) continue;
        for (int64_t k = 0; k < n_columns; ++k) coef[k] *= -steps.lengths[t];
        add_to_later_scores(result.scores, gram.data + t * gram.stride, coef, t);
        result.active[n_active++] = t;
    }
    result.counts[0] = t;
    result.counts[1] = n_active;
}

// Row n_active of the factor: the products of the later rows with u, given those with the u before.
inline void next_products(const Matrix<const double>& gram, const Matrix<double>& factor, int64_t n_active, int64_t t,
                          double diagonal) {
    double* row = factor.data + n_active * factor.stride;
    const double* source = gram.data + t * gram.stride;
    for (int64_t s = 0; s < t; ++s) row[s] = 0;
    for (int64_t s = t; s < factor.n_columns; ++s) row[s] = source[s];
    for (int64_t j = 0; j < n_active; ++j) {
        const double* before = factor.data + j * factor.stride;
        add_multiple(row + t + 1, before + t + 1, -before[t], factor.n_columns - t - 1);
    }
    row[t] = diagonal;
    for (int64_t s = t + 1; s < factor.n_columns; ++s) row[s] /= diagonal;
}

// Row t counts as row_weight[t] rows.
inline void online_newton(const Matrix<const double>& gram, const OnlineTargets& targets, const double* row_weight,
                          const Matrix<double>& factor, const OnlineResult& result) {
    const int64_t n = gram.n_rows, n_columns = result.scores.n_columns;
    auto* along = static_cast<double*>(scratch(Slot::panel, n * static_cast<int64_t>(sizeof(double))));  // z^T P z
    for (int64_t t = 0; t < n; ++t) along[t] = gram.data[t * gram.stride + t];
    int64_t t = 0, n_active = 0;
    for (; t < n && n_active < result.limit; ++t) {
        double* coef = result.coef.data + n_active * result.coef.stride;
        const double curvature =
            slope(targets, t, result.scores.data + t * result.scores.stride, n_columns, coef);
        if (curvature == 0) continue;
        const double diagonal = MERCER_BUILTIN(sqrt)(1 / (row_weight[t] * curvature) + (along[t] > 0 ? along[t] : 0));
        next_products(gram, factor, n_active, t, diagonal);
        for (int64_t k = 0; k < n_columns; ++k) coef[k] /= -curvature * diagonal;
        const double* products = factor.data + n_active * factor.stride;
        for (int64_t s = t + 1; s < n; ++s) along[s] -= products[s] * products[s];
        add_to_later_scores(result.scores, products, coef, t);
        result.active[n_active++] = t;
    }
    result.counts[0] = t;
    result.counts[1] = n_active;
}
