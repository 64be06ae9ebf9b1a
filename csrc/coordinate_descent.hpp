// Dual coordinate descent on rows in a given order, several problems side by side: a row is read once for all of them.
// Included inside the namespace of one instruction set. See reference/coordinate_descent.py for the mathematics.
//
// The arithmetic of a problem does not depend on which others ride along, so that threads may split the problems.

constexpr int64_t kSums = 4;         // independent sums of a product, to hide the latency of additions
constexpr int64_t kPadding = 8;      // problems side by side in the weights of sparse features are padded to this
constexpr int64_t kCacheLine = 64;
constexpr double kRelaxation = 1.4;  // steps go so much farther than to the least value: a fifth fewer epochs

#if defined(__GNUC__)
#define MERCER_PREFETCH(address) __builtin_prefetch(address)
#else
#define MERCER_PREFETCH(address) ((void)(address))
#endif

template <class T>
MERCER_INLINE T sum_of_lanes(const Lanes<T>& v) {
    T lanes[kLanes<T>];
    store<T>(lanes, v);
    T total = 0;
    for (int64_t i = 0; i < kLanes<T>; ++i) total += lanes[i];
    return total;
}

template <class T>
T dot(const T* MERCER_RESTRICT a, const T* MERCER_RESTRICT b, int64_t n) {
    Lanes<T> sums[kSums] = {};
    int64_t j = 0;
    for (; j + kSums * kLanes<T> <= n; j += kSums * kLanes<T>) {
        MERCER_UNROLL
        for (int64_t s = 0; s < kSums; ++s) {
            sums[s] = sums[s] + load<T>(a + j + s * kLanes<T>) * load<T>(b + j + s * kLanes<T>);
        }
    }
    T total = sum_of_lanes<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; j < n; ++j) total += a[j] * b[j];
    return total;
}

template <class T>
void add_scaled_row(const T* MERCER_RESTRICT row, T factor, T* MERCER_RESTRICT weights, int64_t n) {
    int64_t j = 0;
    for (; j + kLanes<T> <= n; j += kLanes<T>) {
        store<T>(weights + j, load<T>(weights + j) + load<T>(row + j) * factor);
    }
    for (; j < n; ++j) weights[j] += row[j] * factor;
}

// One coordinate: its new value, how far it is from optimal, and how deep in the optimal cone of a bound it lies.
struct Step {
    double dual, violation, inside, gap;
};

MERCER_INLINE double positive(double value) { return value > 0 ? value : 0; }

// The loss of a row of upper bound `upper` and ridge `ridge` whose score is off by `excess` beyond what is free.
MERCER_INLINE double loss_of(double excess, double upper, double ridge) {
    return ridge > 0 ? excess * excess / (2 * ridge) : (excess > 0 ? upper * excess : 0);
}

MERCER_INLINE Step one_sided_step(double score, double target, double dual, double upper, double ridge,
                                  double curvature) {
    const double sign = target < 0 ? -1 : 1;
    const double a = sign * dual, gradient = sign * (score + ridge * dual - target);
    double violation, inside = -1;
    if (a <= 0) {
        violation = positive(-gradient), inside = gradient;
    } else if (a >= upper) {
        violation = positive(gradient), inside = -gradient;
    } else {
        violation = gradient < 0 ? -gradient : gradient;
    }
    const double gap = loss_of(positive(sign * (target - score)), upper, ridge) +
                       dual * (score - target + ridge * dual / 2);
    double moved = a - kRelaxation * gradient / curvature;
    moved = moved < 0 ? 0 : (moved > upper ? upper : moved);
    return {sign * moved, violation, inside, gap};
}

MERCER_INLINE Step two_sided_step(double score, double target, double dual, double upper, double ridge,
                                  double curvature, double epsilon) {
    const double gradient = score + ridge * dual - target;
    const double size = gradient < 0 ? -gradient : gradient;
    const double up = gradient + epsilon, down = gradient - epsilon;
    double violation, inside = -1;
    if (dual == 0) {
        violation = positive(size - epsilon), inside = epsilon - size;
    } else if (dual >= upper) {
        violation = positive(up), inside = -up;
    } else if (dual <= -upper) {
        violation = positive(-down), inside = down;
    } else {
        const double slope = dual > 0 ? up : down;
        violation = slope < 0 ? -slope : slope;
    }
    const double residual = target - score;
    const double gap = loss_of(positive((residual < 0 ? -residual : residual) - epsilon), upper, ridge) -
                       dual * residual + ridge * dual * dual / 2 + epsilon * (dual < 0 ? -dual : dual);
    const double free = curvature * dual - gradient;
    const double least = free > epsilon    ? (free - epsilon) / curvature
                         : free < -epsilon ? (free + epsilon) / curvature
                                           : 0;
    double moved = dual + kRelaxation * (least - dual);
    if (least > 0 ? moved < 0 : (least < 0 ? moved > 0 : true)) moved = 0;  // not beyond the kink
    moved = moved > upper ? upper : (moved < -upper ? -upper : moved);
    return {moved, violation, inside, gap};
}

// Takes one step in a coordinate, books what it found, and returns by how much the dual moved.
template <class T>
T step(const BoxProblems<T>& problems, int64_t row, int64_t k, double score) {
    const int64_t at = row * problems.n_problems + k;
    const double target = problems.targets[at], dual = problems.duals[at];
    const T* bounds = problems.bounds + 3 * row;
    const double upper = bounds[0], ridge = bounds[1];
    if (upper <= 0) {  // a row of weight 0
        problems.shrunk[at] = 1;
        return 0;
    }
    double curvature = bounds[2] + ridge;
    if (!(curvature > 1e-300)) curvature = 1e-300;  // a row of zeros: the step then ends at a bound
    const Step found = problems.one_sided
                           ? one_sided_step(score, target, dual, upper, ridge, curvature)
                           : two_sided_step(score, target, dual, upper, ridge, curvature, problems.epsilon);
    problems.gaps[k] += found.gap;
    if (found.violation > problems.violations[k]) problems.violations[k] = found.violation;
    if (found.inside > problems.thresholds[k]) {
        problems.shrunk[at] = 1;
        return 0;
    }
    const T before = problems.duals[at], after = static_cast<T>(found.dual);
    problems.duals[at] = after;
    return after - before;
}

template <class T>
MERCER_INLINE bool is_active(const BoxProblems<T>& problems, int64_t row, int64_t k) {
    return !problems.shrunk[row * problems.n_problems + k] && problems.thresholds[k] >= 0;
}

template <class T>
bool any_active(const BoxProblems<T>& problems, int64_t row) {
    bool any = false;
    for (int64_t k = 0; k < problems.n_problems; ++k) any |= is_active(problems, row, k);
    return any;
}

// The next number in the order, from `start` on, of a row with something left to do.
template <class T>
int64_t next_active(const BoxProblems<T>& problems, const RowOrder& order, int64_t start) {
    while (start < order.size && !any_active(problems, order.rows[start])) ++start;
    return start;
}

template <class T>
void descend(const Matrix<const T>& Z, const RowOrder& order, const BoxProblems<T>& problems, const Matrix<T>& weights) {
    const T constant = static_cast<T>(problems.constant);
    int64_t here = next_active(problems, order, 0);
    while (here < order.size) {
        const int64_t row = order.rows[here], next = next_active(problems, order, here + 1);
        if (next < order.size) {
            const char* ahead = reinterpret_cast<const char*>(Z.data + order.rows[next] * Z.stride);
            const int64_t bytes = Z.n_columns * static_cast<int64_t>(sizeof(T));
            for (int64_t at = 0; at < bytes; at += kCacheLine) MERCER_PREFETCH(ahead + at);
        }
        const T* z = Z.data + row * Z.stride;
        for (int64_t k = 0; k < problems.n_problems; ++k) {
            if (!is_active(problems, row, k)) continue;
            T* w = weights.data + k * weights.stride;
            const T score = dot(z, w, Z.n_columns) + constant * problems.intercepts[k];
            const T moved = step(problems, row, k, static_cast<double>(score));
            if (moved == 0) continue;
            add_scaled_row(z, moved, w, Z.n_columns);
            problems.intercepts[k] += constant * moved;
        }
        here = next;
    }
}

// The scores of one CSR row for kPadding problems: entry e is added to sum e mod kLanes, here as for a single problem.
template <class T, class I>
MERCER_INLINE void csr_dots(const CsrRows<T, I>& Z, int64_t row, const T* weights, int64_t stride, T* scores) {
    constexpr int64_t kVectors = kPadding / kLanes<T>;
    Lanes<T> sums[kLanes<T>][kVectors] = {};
    const int64_t begin = Z.indptr[row], end = Z.indptr[row + 1];
    for (int64_t e = begin; e < end; ++e) {
        const T* w = weights + static_cast<int64_t>(Z.indices[e]) * stride;
        Lanes<T>* sum = sums[(e - begin) % kLanes<T>];
        for (int64_t v = 0; v < kVectors; ++v) sum[v] = sum[v] + load<T>(w + v * kLanes<T>) * Z.data[e];
    }
    for (int64_t v = 0; v < kVectors; ++v) {
        Lanes<T> total = sums[0][v];
        for (int64_t s = 1; s < kLanes<T>; ++s) total = total + sums[s][v];
        store<T>(scores + v * kLanes<T>, total);
    }
}

// Lanes, not scalars: a compiler may vectorise a scalar sum with other roundings than csr_dots has.
template <class T, class I>
T csr_dot(const CsrRows<T, I>& Z, int64_t row, const T* weights) {
    Lanes<T> sums = {};
    T gathered[kLanes<T>], values[kLanes<T>];
    const int64_t end = Z.indptr[row + 1];
    int64_t e = Z.indptr[row];
    for (; e + kLanes<T> <= end; e += kLanes<T>) {
        MERCER_UNROLL
        for (int64_t s = 0; s < kLanes<T>; ++s) gathered[s] = weights[Z.indices[e + s]];
        sums = sums + load<T>(gathered) * load<T>(Z.data + e);
    }
    for (int64_t s = 0; s < kLanes<T>; ++s) {
        const bool there = e + s < end;
        gathered[s] = there ? weights[Z.indices[e + s]] : 0;
        values[s] = there ? Z.data[e + s] : 0;
    }
    return sum_of_lanes<T>(sums + load<T>(gathered) * load<T>(values));
}

template <class T, class I>
bool columns_inside(const CsrRows<T, I>& Z, int64_t row) {
    bool inside = true;
    for (int64_t e = Z.indptr[row]; e < Z.indptr[row + 1]; ++e) {
        inside &= Z.indices[e] >= 0 && static_cast<int64_t>(Z.indices[e]) < Z.n_columns;
    }
    return inside;
}

template <class T, class I>
void step_alone(const CsrRows<T, I>& Z, int64_t row, const BoxProblems<T>& problems, T* weights) {
    const T constant = static_cast<T>(problems.constant);
    const T score = csr_dot(Z, row, weights) + constant * problems.intercepts[0];
    const T moved = step(problems, row, 0, static_cast<double>(score));
    if (moved == 0) return;
    for (int64_t e = Z.indptr[row]; e < Z.indptr[row + 1]; ++e) weights[Z.indices[e]] += Z.data[e] * moved;
    problems.intercepts[0] += constant * moved;
}

// Problems `first` to first + kPadding of one row, some of which may be padding.
template <class T, class I>
void step_together(const CsrRows<T, I>& Z, int64_t row, int64_t first, const BoxProblems<T>& problems,
                   const Matrix<T>& weights) {
    constexpr int64_t kVectors = kPadding / kLanes<T>;
    const T constant = static_cast<T>(problems.constant);
    T scores[kPadding], moves[kPadding] = {};
    csr_dots(Z, row, weights.data + first, weights.stride, scores);
    bool any = false;
    for (int64_t j = 0; j < kPadding && first + j < problems.n_problems; ++j) {
        const int64_t k = first + j;
        if (!is_active(problems, row, k)) continue;
        moves[j] = step(problems, row, k, static_cast<double>(scores[j] + constant * problems.intercepts[k]));
        problems.intercepts[k] += constant * moves[j];
        any |= moves[j] != 0;
    }
    if (!any) return;
    for (int64_t e = Z.indptr[row]; e < Z.indptr[row + 1]; ++e) {
        T* w = weights.data + static_cast<int64_t>(Z.indices[e]) * weights.stride + first;
        for (int64_t v = 0; v < kVectors; ++v) {
            T* target = w + v * kLanes<T>;
            store<T>(target, load<T>(target) + load<T>(moves + v * kLanes<T>) * Z.data[e]);
        }
    }
}

// `weights` is (n_columns, problems): one problem alone, or padded to a multiple of kPadding.
template <class T, class I>
Status descend_csr(const CsrRows<T, I>& Z, const RowOrder& order, const BoxProblems<T>& problems,
                   const Matrix<T>& weights) {
    for (int64_t here = next_active(problems, order, 0); here < order.size;
         here = next_active(problems, order, here + 1)) {
        const int64_t row = order.rows[here];
        if (!columns_inside(Z, row)) return Status::column_out_of_range;
        if (weights.n_columns == 1) {
            step_alone(Z, row, problems, weights.data);
            continue;
        }
        for (int64_t first = 0; first < problems.n_problems; first += kPadding) {
            step_together(Z, row, first, problems, weights);
        }
    }
    return Status::ok;
}
