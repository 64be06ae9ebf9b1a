// Products with a triangle in float32, and how far off they may be. Included inside the namespace of one instruction set.
//
// W is the inverse of the Cholesky factor of the Gram matrix, and w = W k. With W and k rounded to float32, products take
// half the time and half the memory. A product of n entries is rounded at most `rounding_of(n)` times 2^-24 of the sum of
// |W_ij| |k_j|, so that the whole vector is off by at most rounding_of(n) 2^-24 |W|_F |k|. The mean m of k is taken out
// first, W k = W (k - m) + m W 1, since kernel values of a row are often nearly equal.

constexpr int64_t kRoundedLanes = kTrianglePanel;
constexpr int kRoundedVectors = static_cast<int>(kRoundedLanes / kLanes<float>);
// Twelve sums hide each other's latency, and leave registers for their factors.
constexpr int kRoundedRows = 12 / kRoundedVectors;
// Sums of so many terms are added to a total: a term is rounded by few additions.
constexpr int64_t kRoundedChunk = 32;

// Roundings of a term: of its two factors, of their product, in its chunk, and in the total; a little more for their squares.
inline double rounding_of(int64_t n) {
    const auto chunks = static_cast<double>((n + kRoundedChunk - 1) / kRoundedChunk);
    return 1.01 * (3 + static_cast<double>(kRoundedChunk) + chunks) / (1 << 24);
}

// Columns of a panel that stay in the first-level cache.
constexpr int64_t kRoundedDepth = 8 * kRoundedChunk;

// out[r][l] += the sum of panel[j][l] * rows[r][j] over j < n
inline void add_rounded_products(const float* panel, const float* const* rows, int64_t n, double* const* out) {
    float totals[kRoundedRows][kRoundedLanes];
    for (int64_t first = 0; first < n; first += kRoundedChunk) {
        const int64_t stop = first + kRoundedChunk < n ? first + kRoundedChunk : n;
        Lanes<float> sums[kRoundedRows][kRoundedVectors] = {};
        for (int64_t j = first; j < stop; ++j) {
            Lanes<float> factors[kRoundedVectors];
            MERCER_UNROLL
            for (int v = 0; v < kRoundedVectors; ++v) factors[v] = load<float>(panel + j * kRoundedLanes + v * kLanes<float>);
            MERCER_UNROLL
            for (int r = 0; r < kRoundedRows; ++r) {
                MERCER_UNROLL
                for (int v = 0; v < kRoundedVectors; ++v) sums[r][v] = sums[r][v] + factors[v] * rows[r][j];
            }
        }
        MERCER_UNROLL
        for (int r = 0; r < kRoundedRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kRoundedVectors; ++v) {
                float* total = totals[r] + v * kLanes<float>;
                store<float>(total, first ? load<float>(total) + sums[r][v] : sums[r][v]);
            }
        }
    }
    for (int r = 0; r < kRoundedRows; ++r) {
        for (int64_t l = 0; l < kRoundedLanes; ++l) out[r][l] += static_cast<double>(totals[r][l]);
    }
}

inline double sum_of(const double* values, int64_t n) {
    constexpr int64_t kSums = 4;
    Lanes<double> sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums * kLanes<double> <= n; i += kSums * kLanes<double>) {
        MERCER_UNROLL
        for (int64_t v = 0; v < kSums; ++v) sums[v] = sums[v] + load<double>(values + i + v * kLanes<double>);
    }
    const Lanes<double> lanes = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double sum = 0;
    for (int64_t l = 0; l < kLanes<double>; ++l) sum += lanes[l];
    for (; i < n; ++i) sum += values[i];
    return sum;
}

// The triangle in panels: entry (p * slots + j, l) is W[p * kRoundedLanes + l, j].
struct RoundedTriangle {
    Matrix<const float> panels;
    const double* sums;  // W 1
    int64_t slots, n;
    double unit;  // |w' - w| is at most unit |k - m|

    // `squares` is |W|_F^2, the trace of the inverse of the Gram matrix.
    void begin(const BudgetState& state, int64_t n_slots, double squares) {
        panels = state.rounded;
        sums = state.sums;
        slots = n_slots;
        n = *state.count;
        unit = rounding_of(n) * MERCER_BUILTIN(sqrt)(1.01 * squares);
    }

    // Columns of a panel up to the diagonal.
    int64_t depth(int64_t p) const { return (p + 1) * kRoundedLanes < n ? (p + 1) * kRoundedLanes : n; }

    // Writes k - m in float32 and m W 1; returns |k - m|.
    double centre(const double* values, float* MERCER_RESTRICT narrow, double* MERCER_RESTRICT image) const {
        const double mean = sum_of(values, n) / static_cast<double>(n);
        for (int64_t i = 0; i < n; ++i) {
            image[i] = values[i] - mean;
            narrow[i] = static_cast<float>(image[i]);
        }
        const double length = MERCER_BUILTIN(sqrt)(dot(image, image, n));
        for (int64_t i = 0; i < n; ++i) image[i] = mean * sums[i];
        return length;
    }

    // Adds w' of the centred rows, which are `width` apart. Columns of a panel stay in cache for all rows.
    void multiply(const float* rows, int64_t n_rows, int64_t width, double* out) const {
        for (int64_t p = 0; p * kRoundedLanes < n; ++p) {
            for (int64_t j = 0; j < depth(p); j += kRoundedDepth) {
                const int64_t count = depth(p) - j < kRoundedDepth ? depth(p) - j : kRoundedDepth;
                const float* panel = panels.data + (p * slots + j) * kRoundedLanes;
                for (int64_t first = 0; first < n_rows; first += kRoundedRows) {
                    const float* from[kRoundedRows];
                    double *to[kRoundedRows], unused[kRoundedLanes] = {};
                    for (int64_t r = 0; r < kRoundedRows; ++r) {
                        const int64_t row = first + r < n_rows ? first + r : n_rows - 1;
                        from[r] = rows + row * width + j;
                        to[r] = first + r < n_rows ? out + row * width + p * kRoundedLanes : unused;
                    }
                    add_rounded_products(panel, from, count, to);
                }
            }
        }
    }
};
