// Nearest centres of rows; see reference/clusters.py. Included inside the namespace of one instruction set.

constexpr float kInfinite = HUGE_VALF;
constexpr float kLargest = 1e38f;  // of a margin: of a single centre it has no end
constexpr float kRounding = 1.1920929e-7f;  // of a margin, which is float32 whatever the features are

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

template <class T>
constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));

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

MERCER_INLINE float square_root(float t) { return MERCER_BUILTIN(sqrtf)(t); }

// By how much a centre is farther that is by `gap` > 0 farther in squares: sqrt(u + gap) - sqrt(u), u the square of the
// own centre's distance.
MERCER_INLINE float positive_margin(float own, float gap) {
    return gap / (square_root(own + gap) + square_root(own)) * (1 - 8 * kRounding);
}

MERCER_INLINE float margin_of(float own, float gap) {
    return gap > 0 ? positive_margin(own, gap < kLargest ? gap : kLargest) : -1.0f;
}

// The nearest of some centres, from the row's products with them, and the row's margin: `chosen` holds their numbers, or
// null where they are all centres. The centres left out are farther by the gap that stands in the margin's place.
template <class T>
int32_t settle_row(T* products, const int32_t* chosen, int64_t n_chosen, const T* lengths, const ClusterScale& scale,
                   int64_t row, const ClusterRows& rows) {
    const auto norm = static_cast<T>(rows.norms[row]);
    for (int64_t c = 0; c < n_chosen; ++c) products[c] = norm - 2 * products[c] + lengths[chosen ? chosen[c] : c];
    int64_t best = 0;
    for (int64_t c = 1; c < n_chosen; ++c) best = products[c] < products[best] ? c : best;
    const T nearest = products[best];
    products[best] = static_cast<T>(HUGE_VAL);
    T second = products[0];
    for (int64_t c = 1; c < n_chosen; ++c) second = products[c] < second ? products[c] : second;
    const double slack = scale.relative * (rows.norms[row] + scale.longest);
    const double apart = static_cast<double>(second) - static_cast<double>(nearest) - 2 * slack;
    const double others = chosen ? static_cast<double>(rows.margins[row]) : HUGE_VAL;
    const double own = (nearest > 0 ? static_cast<double>(nearest) : 0.0) + slack;
    rows.margins[row] = margin_of(static_cast<float>(own), static_cast<float>(apart < others ? apart : others));
    return chosen ? chosen[best] : static_cast<int32_t>(best);
}

// Centres ready for products, their last columns, fewer than there are lanes, apart; and their squared lengths.
template <class T>
struct Centres {
    const T* const* rows;
    const T* tails;
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
    return {rows, tails, lengths};
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
void take_label(const T* z, int64_t row, int32_t label, const ClusterRows& rows, const ClusterChanges& changes) {
    const int32_t old = rows.labels[row];
    if (label == old) return;
    rows.labels[row] = label;
    change_cluster<T>(z, changes.row_weight ? changes.row_weight[row] : 1.0, old, label, changes);
}

// Rows that may be nearest to any centre, from their products with all.
template <class T>
void nearest_of_all(const Matrix<const T>& Z, const RowOrder& order, const Matrix<const T>& products,
                    const Centres<T>& centres, const ClusterScale& scale, const ClusterRows& state,
                    const ClusterChanges& changes) {
    const int64_t n = products.n_columns;
    auto* distances = static_cast<T*>(scratch(Slot::panel, n * static_cast<int64_t>(sizeof(T))));
    const bool gathered = Z.n_rows == order.size;
    for (int64_t j = 0; j < order.size; ++j) {
        const int64_t row = order.rows[j];
        const T* z = Z.data + (gathered ? j : row) * Z.stride;
        if (state.labels[row] < 0) state.norms[row] = squared_length(z, Z.n_columns);
        for (int64_t c = 0; c < n; ++c) distances[c] = products.data[j * products.stride + c];
        const int32_t label = settle_row<T>(distances, nullptr, n, centres.lengths, scale, row, state);
        take_label<T>(z, row, label, state, changes);
    }
}

// products[c] = <row, centre c> for kCentres centres
template <class T, int kCentres>
void products_of_row(const T* row, const T* tail, const T* const* centres, const T* const* tails, int64_t n_columns,
                     T* products) {
    Lanes<T> sum[kCentres];
    const Lanes<T> last = load<T>(tail);
    MERCER_UNROLL
    for (int c = 0; c < kCentres; ++c) sum[c] = last * load<T>(tails[c]);
    for (int64_t i = 0; i + kLanes<T> <= n_columns; i += kLanes<T>) {
        const Lanes<T> z = load<T>(row + i);
        MERCER_UNROLL
        for (int c = 0; c < kCentres; ++c) sum[c] = sum[c] + z * load<T>(centres[c] + i);
    }
    T totals[kCentres + kLanes<T>];
    add_lanes<T>(sum, totals);
    for (int c = 0; c < kCentres; ++c) products[c] = totals[c];
}

// The numbers of the bits that are set; returns how many.
inline int64_t bits_set(const uint64_t* words, int64_t n_words, int64_t n_bits, int32_t* numbers) {
    int64_t n = 0;
    for (int64_t w = 0; w < n_words; ++w) {
        if (!words[w]) continue;
        for (int64_t bit = 64 * w; bit < 64 * (w + 1) && bit < n_bits; ++bit) {
            numbers[n] = static_cast<int32_t>(bit);
            n += static_cast<int64_t>(words[w] >> (bit & 63) & 1);
        }
    }
    return n;
}

constexpr int64_t kRowsAhead = 2;

// Rows that may be nearest to some centres, those of the bits set in `candidates`.
template <class T>
void nearest_of_some(const Matrix<const T>& Z, const RowOrder& order, const Matrix<const uint64_t>& candidates,
                     const Centres<T>& centres, int64_t n, const ClusterScale& scale, const ClusterRows& state,
                     const ClusterChanges& changes) {
    constexpr int kAtOnce = 4;
    const int64_t width = Z.n_columns, room = round_up(n + 1, kAtOnce);
    auto* products = static_cast<T*>(scratch(Slot::panel, room * static_cast<int64_t>(sizeof(T) + sizeof(int32_t))));
    auto* chosen = reinterpret_cast<int32_t*>(products + room);
    const bool gathered = Z.n_rows == order.size;
    for (int64_t j = 0; j < order.size; ++j) {
        const int64_t row = order.rows[j], ahead = j + kRowsAhead < order.size ? j + kRowsAhead : j;
        const T* z = Z.data + (gathered ? j : row) * Z.stride;
        const T* next = Z.data + (gathered ? ahead : order.rows[ahead]) * Z.stride;
        for (int64_t i = 0; i < width; i += kLine<T>) MERCER_PREFETCH(next + i);
        const int64_t count = bits_set(candidates.data + j * candidates.stride, candidates.n_columns, n, chosen);
        if (count == 0) continue;
        int32_t label = chosen[0];
        if (count > 1) {
            T tail[kLanes<T>];
            copy_tail<T>(z, width, tail);
            for (int64_t c = 0; c < count; c += kAtOnce) {
                const T *some[kAtOnce], *tails[kAtOnce];
                for (int64_t i = 0; i < kAtOnce; ++i) {
                    const int32_t centre = chosen[c + i < count ? c + i : count - 1];
                    some[i] = centres.rows[centre];
                    tails[i] = centres.tails + centre * kLanes<T>;
                }
                if (count - c > 2) {
                    products_of_row<T, kAtOnce>(z, tail, some, tails, width, products + c);
                } else {
                    products_of_row<T, 2>(z, tail, some, tails, width, products + c);
                }
            }
            label = settle_row<T>(products, chosen, count, centres.lengths, scale, row, state);
        }
        take_label<T>(z, row, label, state, changes);
    }
}

template <class T>
void nearest_centres(const Matrix<const T>& Z, const RowOrder& order, const Matrix<const uint64_t>& candidates,
                     const Matrix<const T>& products, const Matrix<const T>& centres, const ClusterScale& scale,
                     const ClusterRows& state, const ClusterChanges& changes) {
    const Centres<T> prepared = prepare_centres<T>(centres);
    if (products.n_columns > 0) {
        nearest_of_all<T>(Z, order, products, prepared, scale, state, changes);
    } else {
        nearest_of_some<T>(Z, order, candidates, prepared, centres.n_rows, scale, state, changes);
    }
}
