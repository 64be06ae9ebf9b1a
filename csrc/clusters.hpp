// Nearest centres of rows with bounds; see reference/clusters.py. Included inside the namespace of one instruction set.

constexpr int kProductRows = 3;     // 3 x 4 sums leave 4 of 16 registers for operands
constexpr int kProductCentres = 4;
constexpr int64_t kRowsAtOnce = 12;  // rows that stay in the first-level cache while the centres pass

constexpr float kInfinite = HUGE_VALF;
constexpr float kRounding = 1.1920929e-7f;  // of a bound, which is float32 whatever the features are

MERCER_INLINE float square_root(float t) { return MERCER_BUILTIN(sqrtf)(t); }
MERCER_INLINE double square_root(double t) { return MERCER_BUILTIN(sqrt)(t); }

// Rows whose last columns, fewer than there are lanes, stand in `tails` with zeros behind them.
template <class T>
struct TailedRows {
    const T* const* rows;
    const T* tails;
};

template <class T>
void copy_tail(const T* row, int64_t n_columns, T* tail) {
    const int64_t whole = n_columns - n_columns % kLanes<T>;
    for (int64_t l = 0; l < kLanes<T>; ++l) tail[l] = whole + l < n_columns ? row[whole + l] : T(0);
}

// totals[i] = the sum over the lanes of sums[i]
template <class T, int kSums>
MERCER_INLINE void add_lanes(const Lanes<T> (&sums)[kSums], T* totals) {
    MERCER_UNROLL
    for (int first = 0; first < kSums; first += kLanes<T>) {
        Lanes<T> group[kLanes<T>] = {};
        MERCER_UNROLL
        for (int i = 0; i < kLanes<T>; ++i) {
            if (first + i < kSums) group[i] = sums[first + i];
        }
        transpose(group);
        Lanes<T> total = group[0];
        MERCER_UNROLL
        for (int i = 1; i < kLanes<T>; ++i) total = total + group[i];
        store<T>(totals + first, total);
    }
}

// products[r * n_centres + c] = <row r, centre c> for kProductRows rows and kCentres centres
template <class T, int kCentres>
void tile_of_products(const TailedRows<T>& z, const TailedRows<T>& centres, int64_t n_columns, T* products,
                      int64_t n_centres) {
    Lanes<T> sum[kProductRows * kCentres];
    MERCER_UNROLL
    for (int r = 0; r < kProductRows; ++r) {
        const Lanes<T> tail = load<T>(z.tails + r * kLanes<T>);
        MERCER_UNROLL
        for (int c = 0; c < kCentres; ++c) sum[r * kCentres + c] = tail * load<T>(centres.tails + c * kLanes<T>);
    }
    for (int64_t i = 0; i + kLanes<T> <= n_columns; i += kLanes<T>) {
        Lanes<T> row[kProductRows];
        MERCER_UNROLL
        for (int r = 0; r < kProductRows; ++r) row[r] = load<T>(z.rows[r] + i);
        MERCER_UNROLL
        for (int c = 0; c < kCentres; ++c) {
            const Lanes<T> centre = load<T>(centres.rows[c] + i);
            MERCER_UNROLL
            for (int r = 0; r < kProductRows; ++r) sum[r * kCentres + c] = sum[r * kCentres + c] + row[r] * centre;
        }
    }
    T totals[kProductRows * kCentres + kLanes<T>];
    add_lanes<T>(sum, totals);
    for (int r = 0; r < kProductRows; ++r) {
        for (int c = 0; c < kCentres; ++c) products[r * n_centres + c] = totals[r * kCentres + c];
    }
}

template <class T>
constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));

// Columns first to last of the rows that come next, to be fetched while these are worked on: rows in doubt are far
// apart, and the processor does not guess them.
template <class T>
struct Ahead {
    const T* const* rows;
    int64_t first, last;
};

template <class T, int kCentres>
void strip_of_products(const TailedRows<T>& z, const TailedRows<T>& centres, int64_t n_columns, T* products,
                       int64_t n_centres, const Ahead<T>& ahead) {
    for (int64_t r = 0; r < kRowsAtOnce; r += kProductRows) {
        for (int64_t q = r; q < r + kProductRows; ++q) {
            for (int64_t i = ahead.first; i < ahead.last; i += kLine<T>) MERCER_PREFETCH(ahead.rows[q] + i);
        }
        tile_of_products<T, kCentres>({z.rows + r, z.tails + r * kLanes<T>}, centres, n_columns,
                                      products + r * n_centres, n_centres);
    }
}

// Products of kRowsAtOnce rows with all centres.
template <class T>
void products_with_centres(const TailedRows<T>& z, const TailedRows<T>& centres, int64_t n_columns, T* products,
                           int64_t n_centres, const T* const* next) {
    const int64_t strips = (n_centres + kProductCentres - 1) / kProductCentres;
    const int64_t share = round_up((n_columns + strips - 1) / strips, kLine<T>);
    for (int64_t c = 0; c < n_centres; c += kProductCentres) {
        const TailedRows<T> some = {centres.rows + c, centres.tails + c * kLanes<T>};
        const int64_t from = c / kProductCentres * share, to = from + share < n_columns ? from + share : n_columns;
        const Ahead<T> ahead = {next, from, to};
        switch (n_centres - c) {
            case 1: strip_of_products<T, 1>(z, some, n_columns, products + c, n_centres, ahead); break;
            case 2: strip_of_products<T, 2>(z, some, n_columns, products + c, n_centres, ahead); break;
            case 3: strip_of_products<T, 3>(z, some, n_columns, products + c, n_centres, ahead); break;
            default: strip_of_products<T, 4>(z, some, n_columns, products + c, n_centres, ahead);
        }
    }
}

template <class T>
double squared_length(const T* row, int64_t n) {
    constexpr int kSums = 4;  // as many as hide the latency of an addition
    Lanes<T> sum[kSums] = {};
    int64_t i = 0;
    for (; i + kSums * kLanes<T> <= n; i += kSums * kLanes<T>) {
        MERCER_UNROLL
        for (int s = 0; s < kSums; ++s) {
            const Lanes<T> z = load<T>(row + i + s * kLanes<T>);
            sum[s] = sum[s] + z * z;
        }
    }
    const Lanes<T> lanes = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    T total = 0;
    for (int64_t l = 0; l < kLanes<T>; ++l) total += lanes[l];
    for (; i < n; ++i) total += row[i] * row[i];
    return static_cast<double>(total);
}

template <class T>
void add_row(double* MERCER_RESTRICT target, const T* MERCER_RESTRICT row, double factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) target[i] += factor * static_cast<double>(row[i]);
}

// The distances of one row from its products, in their place: its nearest centre and its bounds.
template <class T>
int32_t settle_row(T* products, const T* lengths, const ClusterScale& scale, int64_t row, const ClusterBounds& bounds) {
    const auto norm = static_cast<T>(bounds.norms[row]);
    const int64_t n = bounds.n_clusters;
    for (int64_t c = 0; c < n; ++c) products[c] = norm - 2 * products[c] + lengths[c];
    int32_t label = 0;
    for (int64_t c = 1; c < n; ++c) label = products[c] < products[label] ? static_cast<int32_t>(c) : label;
    const double slack = scale.relative * (bounds.norms[row] + scale.longest);
    const double nearest = static_cast<double>(products[label]);
    bounds.upper[row] =
        static_cast<float>(MERCER_BUILTIN(sqrt)((nearest > 0 ? nearest : 0) + slack)) * (1 + 4 * kRounding);
    const auto off = static_cast<T>(slack);
    for (int64_t c = 0; c < n; ++c) {
        const T square = products[c] - off;
        products[c] = square_root(square > 0 ? square : T(0));
    }
    float* lower = bounds.lower + row;
    for (int64_t c = 0; c < n; ++c) {
        lower[c * bounds.lower_stride] = static_cast<float>(products[c]) * (1 - 4 * kRounding);
    }
    lower[label * bounds.lower_stride] = kInfinite;
    return label;
}

// Centres ready for products, and their squared lengths.
template <class T>
struct Centres {
    TailedRows<T> rows;
    const T* lengths;
};

template <class T>
Centres<T> prepare_centres(const Matrix<const T>& centres) {
    const int64_t n = centres.n_rows, n_values = n * (kLanes<T> + 1), n_pointers = n;
    auto* memory = static_cast<char*>(scratch(
        Slot::packed_weights, n_pointers * static_cast<int64_t>(sizeof(T*)) + n_values * static_cast<int64_t>(sizeof(T))));
    auto** rows = reinterpret_cast<const T**>(memory);
    T* tails = reinterpret_cast<T*>(memory + n_pointers * sizeof(T*));
    T* lengths = tails + n * kLanes<T>;
    for (int64_t c = 0; c < n; ++c) {
        rows[c] = centres.data + c * centres.stride;
        copy_tail<T>(rows[c], centres.n_columns, tails + c * kLanes<T>);
        lengths[c] = static_cast<T>(squared_length(rows[c], centres.n_columns));
    }
    return {{rows, tails}, lengths};
}

// Takes a row to its new cluster, and from its old one where it had one.
template <class T>
void change_cluster(const T* row, double weight, int32_t old, int32_t label, const ClusterChanges& changes) {
    const int64_t width = changes.sums.n_columns;
    add_row<T>(changes.sums.data + label * changes.sums.stride, row, weight, width);
    changes.weight[label] += weight;
    if (old < 0) return;
    add_row<T>(changes.sums.data + old * changes.sums.stride, row, -weight, width);
    changes.weight[old] -= weight;
    ++*changes.n_moves;
}

template <class T>
void nearest_centres(const Matrix<const T>& Z, const RowOrder& order, const Matrix<const T>& centres,
                     const ClusterScale& scale, const ClusterBounds& bounds, const ClusterChanges& changes) {
    const int64_t n = centres.n_rows, width = centres.n_columns;
    const Centres<T> prepared = prepare_centres<T>(centres);
    auto* products = static_cast<T*>(scratch(Slot::panel, kRowsAtOnce * n * static_cast<int64_t>(sizeof(T))));
    T tails[kRowsAtOnce * kLanes<T>];
    const bool gathered = Z.n_rows == order.size;
    for (int64_t first = 0; first < order.size; first += kRowsAtOnce) {
        const T* rows[2 * kRowsAtOnce];  // and those that come next; behind the last one, the last one again
        const int64_t left = order.size - first, count = left < kRowsAtOnce ? left : kRowsAtOnce;
        for (int64_t r = 0; r < 2 * kRowsAtOnce; ++r) {
            const int64_t j = first + (r < left ? r : left - 1);
            rows[r] = Z.data + (gathered ? j : order.rows[j]) * Z.stride;
        }
        for (int64_t r = 0; r < kRowsAtOnce; ++r) copy_tail<T>(rows[r], width, tails + r * kLanes<T>);
        products_with_centres<T>({rows, tails}, prepared.rows, width, products, n, rows + kRowsAtOnce);
        for (int64_t r = 0; r < count; ++r) {
            const int64_t row = order.rows[first + r];
            const int32_t old = bounds.labels[row];
            if (old < 0) bounds.norms[row] = squared_length(rows[r], width);
            const int32_t label = settle_row<T>(products + r * n, prepared.lengths, scale, row, bounds);
            if (label == old) continue;
            bounds.labels[row] = label;
            change_cluster<T>(rows[r], changes.row_weight ? changes.row_weight[row] : 1.0, old, label, changes);
        }
    }
}

constexpr int64_t kBoundsAtOnce = 512;

inline int64_t move_bounds(const float* moved, const ClusterBounds& bounds, int64_t* doubt) {
    float least[kBoundsAtOnce];
    int64_t n_doubt = 0;
    for (int64_t first = 0; first < bounds.n_rows; first += kBoundsAtOnce) {
        const int64_t left = bounds.n_rows - first, count = left < kBoundsAtOnce ? left : kBoundsAtOnce;
        for (int64_t i = 0; i < count; ++i) least[i] = kInfinite;
        for (int64_t c = 0; c < bounds.n_clusters; ++c) {
            float* MERCER_RESTRICT lower = bounds.lower + c * bounds.lower_stride + first;
            const float step = moved[c];
            for (int64_t i = 0; i < count; ++i) {
                const float bound = (lower[i] - step) * (1 - 2 * kRounding);
                lower[i] = bound;
                least[i] = bound < least[i] ? bound : least[i];
            }
        }
        for (int64_t i = 0; i < count; ++i) {
            const int32_t label = bounds.labels[first + i];
            const float step = label < 0 ? 0.0f : moved[label];
            const float bound = (bounds.upper[first + i] + step) * (1 + 2 * kRounding);
            bounds.upper[first + i] = bound;
            doubt[n_doubt] = first + i;
            n_doubt += !(least[i] >= bound) || label < 0;
        }
    }
    return n_doubt;
}
