// Exponents gamma |x - y|^2 of Gaussian kernel values. Included inside the namespace of one instruction set.
//
// The rows y lie in the lanes: no sum across lanes, and no rounding by the other rows. |x - y|^2 is |x|^2 + |y|^2 - 2 x y,
// one multiplication per entry. Where gamma (|x|^2 + |y|^2) is large, this would lose digits, and the differences are
// squared instead. Which of the two is taken depends on the two rows alone, so that cuts of a stream leave the bits.

constexpr double kLargestExponent = 1e150;
// Rounding of sums up to here leaves an error of at most about 1e-14 d in an exponent.
constexpr double kLargestSquares = 32;

// Rows y side by side: `lanes` points to the first of them, whose columns are `stride` apart.
struct ExponentPanel {
    const double *lanes, *squares;  // the rows, and |y|^2
    int64_t stride, depth;
};

// found[v] where gamma (|x|^2 + |y|^2) is not too large, else by squares of differences
template <int kVectors>
inline void exponents_of_far_rows(const double* x, double square, const ExponentPanel& panel, double gamma, double* found) {
    Lanes<double> sums[kVectors] = {};
    const double* lanes = panel.lanes;
    for (int64_t c = 0; c < panel.depth; ++c, lanes += panel.stride) {
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) {
            const Lanes<double> gap = all_lanes<double>(x[c]) - load<double>(lanes + v * kLanes<double>);
            sums[v] = sums[v] + gap * gap;
        }
    }
    for (int64_t i = 0; i < kVectors * kLanes<double>; ++i) {
        if ((square + panel.squares[i]) * gamma <= kLargestSquares) continue;
        const double exponent = sums[i / kLanes<double>][i % kLanes<double>] * gamma;
        found[i] = exponent < kLargestExponent ? exponent : kLargestExponent;
    }
}

// found[r][i] = min(gamma |x_r - y_i|^2, kLargestExponent) for the first kVectors * kLanes rows y of a panel
template <int kRows, int kVectors>
MERCER_INLINE void panel_exponents(const double* const (&x)[kRows], const double* squares, const ExponentPanel& panel,
                                   double gamma, double (&found)[kRows][kVectors * kLanes<double>]) {
    Lanes<double> sums[kRows][kVectors] = {};
    const double* lanes = panel.lanes;
    for (int64_t c = 0; c < panel.depth; ++c, lanes += panel.stride) {
        Lanes<double> row[kVectors];
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) row[v] = load<double>(lanes + v * kLanes<double>);
        MERCER_UNROLL
        for (int r = 0; r < kRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kVectors; ++v) sums[r][v] = sums[r][v] + row[v] * x[r][c];
        }
    }
    const Lanes<double> zero = {};
    Lanes<double> largest = zero;  // of all rows: one look for all of them, since rows are seldom far
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) {
            const Lanes<double> both = load<double>(panel.squares + v * kLanes<double>) + squares[r];
            largest = where_less<double>(largest, both, both, largest);
            const Lanes<double> exponents = (both - sums[r][v] * 2.0) * gamma;
            store<double>(found[r] + v * kLanes<double>, where_less<double>(zero, exponents, exponents, zero));
        }
    }
    bool far = false;
    for (int64_t l = 0; l < kLanes<double>; ++l) far |= !(largest[l] * gamma <= kLargestSquares);
    if (!far) return;
    for (int r = 0; r < kRows; ++r) exponents_of_far_rows<kVectors>(x[r], squares[r], panel, gamma, found[r]);
}

// Puts a row into its lane of a panel.
inline void set_lane(const double* row, int64_t depth, int64_t width, double* lane) {
    for (int64_t c = 0; c < depth; ++c) lane[c * width] = row[c];
}

// |y|^2 of the rows of a panel: summed as the products are, so that a row is at a distance of 0 from itself. All squares
// are made here, since compilers fuse multiplications with additions in some loops and not in others.
template <int kVectors>
inline void panel_squares(const double* lanes, int64_t stride, int64_t depth, double* squares) {
    Lanes<double> sums[kVectors] = {};
    for (int64_t c = 0; c < depth; ++c, lanes += stride) {
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) {
            const Lanes<double> row = load<double>(lanes + v * kLanes<double>);
            sums[v] = sums[v] + row * row;
        }
    }
    MERCER_UNROLL
    for (int v = 0; v < kVectors; ++v) store<double>(squares + v * kLanes<double>, sums[v]);
}

template <int kRows, int kVectors>
inline void exponents_of_rows(const Matrix<const double>& X, const double* squares, int64_t first_row,
                              const ExponentPanel& panel, int64_t first, int64_t count, double gamma,
                              const Matrix<double>& out) {
    const double* x[kRows];
    for (int r = 0; r < kRows; ++r) x[r] = X.data + (first_row + r) * X.stride;
    double found[kRows][kVectors * kLanes<double>];
    panel_exponents<kRows, kVectors>(x, squares + first_row, panel, gamma, found);
    for (int r = 0; r < kRows; ++r) {
        double* target = out.data + (first_row + r) * out.stride + first;
        if (count == kVectors * kLanes<double>) {  // a copy of known size is a few stores
            std::memcpy(target, found[r], sizeof found[r]);
        } else {
            for (int64_t i = 0; i < count; ++i) target[i] = found[r][i];
        }
    }
}

// Puts rows into the lanes of a panel, the last one of `count` again where there are fewer than lanes.
inline void fill_panel(const double* rows, int64_t row_stride, int64_t count, int64_t depth, int64_t width, double* lanes) {
    for (int64_t i = 0; i < width; ++i) {
        set_lane(rows + (i < count ? i : count - 1) * row_stride, depth, width, lanes + i);
    }
}

// With `lower`, row r of X is also row r of Y, and of the pairs of rows of X only those with c <= r are sure to be written.
inline void gaussian_exponents(const Matrix<const double>& X, const Matrix<const double>& Y, double gamma, bool lower,
                               const Matrix<double>& out) {
    constexpr int kVectors = 3, kRows = 4;  // 12 sums hide each other's latency, and leave registers for their factors
    constexpr int64_t kWidth = kVectors * kLanes<double>;
    const int64_t depth = X.n_columns, n_doubles = depth * kWidth + X.n_rows + kWidth;
    auto* lanes = static_cast<double*>(scratch(Slot::packed_rows, n_doubles * static_cast<int64_t>(sizeof(double))));
    double* squares = lanes + depth * kWidth;
    for (int64_t first = 0; first < X.n_rows; first += kWidth) {
        fill_panel(X.data + first * X.stride, X.stride, X.n_rows - first, depth, kWidth, lanes);
        panel_squares<kVectors>(lanes, kWidth, depth, squares + first);
    }
    double others[kWidth];
    const ExponentPanel panel = {lanes, others, kWidth, depth};
    for (int64_t first = 0; first < Y.n_rows; first += kWidth) {
        const int64_t count = Y.n_rows - first < kWidth ? Y.n_rows - first : kWidth;
        fill_panel(Y.data + first * Y.stride, Y.stride, count, depth, kWidth, lanes);
        panel_squares<kVectors>(lanes, kWidth, depth, others);
        int64_t r = lower ? first : 0;
        for (; r + kRows <= X.n_rows; r += kRows) {
            exponents_of_rows<kRows, kVectors>(X, squares, r, panel, first, count, gamma, out);
        }
        for (; r < X.n_rows; ++r) exponents_of_rows<1, kVectors>(X, squares, r, panel, first, count, gamma, out);
    }
}

// The rows of all slots in panels, which follow the slots as they change: for merging, whose rows are in no column.
struct SlotPanels {
    static constexpr int kVectors = 8;
    static constexpr int64_t kWidth = kVectors * kLanes<double>;
    double *data, *squares;  // null where nothing is merged
    int64_t depth;

    // Slots in whole panels.
    static int64_t rounded(int64_t slots) { return (slots + kWidth - 1) / kWidth * kWidth; }

    ExponentPanel from(int64_t slot) const {
        const int64_t first = slot / kWidth * kWidth;
        return {data + first * depth + (slot - first), squares + slot, kWidth, depth};
    }

    void set(int64_t slot, const double* row) const {
        double* panel = data + slot / kWidth * kWidth * depth;
        const int64_t lane = slot % kWidth, first = lane / kLanes<double> * kLanes<double>;
        set_lane(row, depth, kWidth, panel + lane);
        panel_squares<1>(panel + first, kWidth, depth, squares + slot - lane + first);
    }

    // Takes the rows of the first n slots; the lanes of the others hold zeros.
    void fill(const Matrix<double>& rows, int64_t n) const {
        for (int64_t i = 0; i < n; ++i) {
            set_lane(rows.data + i * rows.stride, depth, kWidth, data + i / kWidth * kWidth * depth + i % kWidth);
        }
        for (int64_t i = 0; i < n; i += kWidth) panel_squares<kVectors>(data + i * depth, kWidth, depth, squares + i);
    }

    // Slot `to` takes the row of slot `last`.
    void move(int64_t last, int64_t to) const {
        double *target = data + to / kWidth * kWidth * depth + to % kWidth;
        const double* source = data + last / kWidth * kWidth * depth + last % kWidth;
        for (int64_t c = 0; c < depth; ++c) target[c * kWidth] = source[c * kWidth];
        squares[to] = squares[last];
    }

    // out[i] for slot i below n; out has room for whole panels
    void exponents(const double* x, double square, int64_t n, double gamma, double* out) const {
        const double* const points[1] = {x};
        for (int64_t first = 0; first < n; first += kWidth) {
            double found[1][kWidth];
            panel_exponents<1, kVectors>(points, &square, from(first), gamma, found);
            std::memcpy(out + first, found[0], sizeof found[0]);
        }
    }

    // The same for several rows, of which the squares follow each other, and the results `out_stride` apart. A panel stays
    // in the first-level cache for all rows.
    void exponents_of_all(const double* const* x, const double* square, int64_t n_rows, int64_t n, double gamma,
                          double* out, int64_t out_stride) const {
        constexpr int kHalf = kVectors / 2, kRows = 2;
        constexpr int64_t kHalfWidth = kHalf * kLanes<double>;
        for (int64_t first = 0; first < n; first += kHalfWidth) {
            for (int64_t r = 0; r < n_rows; r += kRows) {
                const int64_t next = r + 1 < n_rows ? r + 1 : r;  // an odd last row is taken twice
                const double* const pair[kRows] = {x[r], x[next]};
                const double squares_of_pair[kRows] = {square[r], square[next]};
                double found[kRows][kHalfWidth];
                panel_exponents<kRows, kHalf>(pair, squares_of_pair, from(first), gamma, found);
                std::memcpy(out + r * out_stride + first, found[0], sizeof found[0]);
                std::memcpy(out + next * out_stride + first, found[1], sizeof found[1]);
            }
        }
    }
};
