// Tiles of kernels of distances. Included inside the namespace of one instruction set.

// Entries of a row that are compared with their bounds at once: seldom is one of them near.
constexpr int64_t kComparedEntries = 64;

// Squares the differences of those pairs of rows whose q is at most the sum of their bounds.
template <class T>
void near_squares(const Matrix<const T>& X, const Matrix<const T>& fixed, const NearBounds<T>& bounds,
                  const Matrix<T>& q) {
    for (int64_t i = 0; i < q.n_rows; ++i) {
        T* row = q.data + i * q.stride;
        const T* x = X.data + i * X.stride;
        const T bound = bounds.rows[i];
        for (int64_t first = 0; first < q.n_columns; first += kComparedEntries) {
            const int64_t stop = first + kComparedEntries < q.n_columns ? first + kComparedEntries : q.n_columns;
            int any = 0;
            for (int64_t j = first; j < stop; ++j) any |= row[j] <= bound + bounds.fixed[j];
            if (!any) continue;
            for (int64_t j = first; j < stop; ++j) {
                if (!(row[j] <= bound + bounds.fixed[j])) continue;
                const T* y = fixed.data + j * fixed.stride;
                T sum = 0;
                for (int64_t k = 0; k < X.n_columns; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
                row[j] = sum;
            }
        }
    }
}

MERCER_INLINE float root_of(float x) { return MERCER_BUILTIN(sqrtf)(x); }
MERCER_INLINE double root_of(double x) { return MERCER_BUILTIN(sqrt)(x); }

// Every value is 0 from here on. A polynomial of an infinite root times 0 would have no value.
constexpr int kFarRoot = 1000000;

// Roots that are found before their exponentials: compilers vectorise short loops, not one long one.
constexpr int64_t kRoots = 256;

// values <- (1 + linear t + quadratic t^2) exp(-t) with t = sqrt(scale values)
template <class T>
void matern_values(const MaternShape& shape, const Matrix<T>& values) {
    const T scale = static_cast<T>(shape.scale), linear = static_cast<T>(shape.linear);
    const T quadratic = static_cast<T>(shape.quadratic);
    T roots[kRoots];
    for (int64_t i = 0; i < values.n_rows; ++i) {
        for (int64_t first = 0; first < values.n_columns; first += kRoots) {
            T* MERCER_RESTRICT part = values.data + i * values.stride + first;
            const int64_t count = first + kRoots < values.n_columns ? kRoots : values.n_columns - first;
            for (int64_t j = 0; j < count; ++j) {
                const T root = root_of(scale * part[j]);
                roots[j] = root > T(kFarRoot) ? T(kFarRoot) : root;  // NaN stays
                part[j] = -roots[j];
            }
            exp_all<T>(part, count);
            for (int64_t j = 0; j < count; ++j) part[j] *= T(1) + roots[j] * (linear + roots[j] * quadratic);
        }
    }
}

// values <- exp(min(factor values, 0))
template <class T>
void decays(T factor, const Matrix<T>& values) {
    for (int64_t i = 0; i < values.n_rows; ++i) {
        T* MERCER_RESTRICT row = values.data + i * values.stride;
        for (int64_t first = 0; first < values.n_columns; first += kRoots) {  // multiplied while in cache
            const int64_t count = first + kRoots < values.n_columns ? kRoots : values.n_columns - first;
            for (int64_t j = first; j < first + count; ++j) row[j] *= factor;
            exp_all<T>(row + first, count);
        }
    }
}
