// Tensor Sketch of short rows, term by term. Included inside the namespace of one instruction set.
//
// A row of n entries has n^p products of p entries, and each goes to one bucket: the sum of its factors' buckets modulo
// D. For short rows that is less work than transforms. The products of the first p - 1 factors are the left terms, the
// entries of the last factor the right ones, and every left term meets every right one.

// True where `n_terms` products cost less than the transforms of p factors and back. One product, on all lanes of a
// bucket, was measured to take the time of one of the D log2(D) elements of a transform.
inline bool terms_are_fewer(double n_terms, int64_t n_factors, int64_t length) {
    double levels = 0;
    for (int64_t rest = length; rest > 1; rest /= 2) ++levels;
    return n_terms <= 0.5 * double(n_factors + 1) * double(length) * levels;
}

inline double power(double base, int64_t exponent) {
    double result = 1;
    for (int64_t i = 0; i < exponent; ++i) result *= base;
    return result;
}

// Products of one entry of each of `n_factors` consecutive factors, sorted by bucket.
template <class T>
struct Terms {
    int64_t count, n_factors;
    int32_t* bucket;
    int32_t* columns;  // n_factors of them a term
    T* weight;
};

template <class T>
struct TermTables {
    Terms<T> left, right;
    int64_t n_buckets, n_columns;  // n_columns: hashed ones, the constant included
};

constexpr int64_t kLeftTile = 8;  // left terms that share one load of a right term

// Term number `term` written in base n_columns gives its columns. Returns its bucket.
inline int64_t term_columns(const HashTable& hashes, int64_t first_factor, int64_t n_factors, int64_t term,
                            int64_t n_buckets, int32_t* columns) {
    int64_t bucket = 0;
    for (int64_t f = 0; f < n_factors; ++f, term /= hashes.n_columns) {
        columns[f] = static_cast<int32_t>(term % hashes.n_columns);
        bucket += hashes.index[(first_factor + f) * hashes.n_columns + columns[f]];
    }
    return bucket % n_buckets;
}

// A counting sort; `next` has room for n_buckets + 1 counts.
template <class T>
void sort_terms(const HashTable& hashes, const Augmentation& augmentation, int64_t first_factor, int64_t n_buckets,
                int64_t* next, int32_t* columns, Terms<T>& terms) {
    const int64_t k = terms.n_factors;
    std::memset(next, 0, (n_buckets + 1) * sizeof(int64_t));
    for (int64_t t = 0; t < terms.count; ++t) ++next[term_columns(hashes, first_factor, k, t, n_buckets, columns) + 1];
    for (int64_t b = 0; b < n_buckets; ++b) next[b + 1] += next[b];
    for (int64_t t = 0; t < terms.count; ++t) {
        const int64_t bucket = term_columns(hashes, first_factor, k, t, n_buckets, columns);
        const int64_t place = next[bucket]++;
        T weight = 1;
        for (int64_t f = 0; f < k; ++f) {
            const bool constant = augmentation.constant != 0 && columns[f] == hashes.n_columns - 1;
            weight *= T(constant ? augmentation.constant : augmentation.scale) *
                      T(hashes.sign[(first_factor + f) * hashes.n_columns + columns[f]]);
            terms.columns[place * k + f] = columns[f];
        }
        terms.bucket[place] = static_cast<int32_t>(bucket);
        terms.weight[place] = weight;
    }
}

template <class T>
Terms<T> carve_terms(int64_t count, int64_t n_factors, char*& memory) {
    const int64_t padded = count + kLeftTile;
    Terms<T> terms = {count, n_factors, nullptr, nullptr, nullptr};
    terms.weight = reinterpret_cast<T*>(memory);
    terms.bucket = reinterpret_cast<int32_t*>(terms.weight + padded);
    terms.columns = terms.bucket + padded;
    memory += (padded * (sizeof(T) + sizeof(int32_t) * (1 + n_factors)) + 7) / 8 * 8;
    return terms;
}

template <class T>
TermTables<T> term_tables(const HashTable& hashes, const Augmentation& augmentation, int64_t n_buckets) {
    const int64_t n = hashes.n_columns, k = hashes.n_factors - 1;
    const auto n_left = static_cast<int64_t>(power(double(n), k));
    const int64_t bytes = (n_left + n + 2 * kLeftTile) * (16 + 4 * k) + (n_buckets + 3) * 8 + 4 * k;
    char* memory = static_cast<char*>(scratch(Slot::hashes, bytes));
    auto* next = reinterpret_cast<int64_t*>(memory);
    memory += (n_buckets + 1) * sizeof(int64_t);
    TermTables<T> tables = {{}, {}, n_buckets, n};
    tables.left = carve_terms<T>(n_left, k, memory);
    tables.right = carve_terms<T>(n, 1, memory);
    auto* columns = reinterpret_cast<int32_t*>(memory);
    sort_terms<T>(hashes, augmentation, 0, n_buckets, next, columns, tables.left);
    sort_terms<T>(hashes, augmentation, k, n_buckets, next, columns, tables.right);
    for (int64_t t = n_left; t < n_left + kLeftTile; ++t) tables.left.bucket[t] = tables.left.bucket[n_left - 1];
    return tables;
}

template <class T>
void term_values(const Terms<T>& terms, const T* entries, T* values) {
    for (int64_t t = 0; t < terms.count; ++t) {
        Lanes<T> value = Lanes<T>{} + terms.weight[t];
        const int32_t* columns = terms.columns + t * terms.n_factors;
        for (int64_t f = 0; f < terms.n_factors; ++f) value = value * load<T>(entries + columns[f] * kLanes<T>);
        store<T>(values + t * kLanes<T>, value);
    }
}

template <class T>
void scatter_terms(const TermTables<T>& tables, const T* left, const T* right, T* buffer) {
    for (int64_t i = 0; i < tables.left.count; i += kLeftTile) {
        Lanes<T> values[kLeftTile];
        T* targets[kLeftTile];
        MERCER_UNROLL
        for (int k = 0; k < kLeftTile; ++k) {
            values[k] = load<T>(left + (i + k) * kLanes<T>);
            targets[k] = buffer + tables.left.bucket[i + k] * kLanes<T>;
        }
        for (int64_t j = 0; j < tables.right.count; ++j) {
            const Lanes<T> value = load<T>(right + j * kLanes<T>);
            const int64_t shift = tables.right.bucket[j] * kLanes<T>;
            MERCER_UNROLL
            for (int k = 0; k < kLeftTile; ++k) {
                store<T>(targets[k] + shift, load<T>(targets[k] + shift) + values[k] * value);
            }
        }
    }
}

// All products of a group of rows, given its entries: n_columns lanes.
template <class T>
void multiply_out(const TermTables<T>& tables, const T* entries, T* values, T* buffer) {
    T* left = values;
    T* right = values + (tables.left.count + kLeftTile) * kLanes<T>;
    term_values<T>(tables.left, entries, left);
    term_values<T>(tables.right, entries, right);
    std::memset(left + tables.left.count * kLanes<T>, 0, kLeftTile * MERCER_LANE_BYTES);
    std::memset(buffer, 0, 2 * tables.n_buckets * MERCER_LANE_BYTES);
    scatter_terms<T>(tables, left, right, buffer);
    for (int64_t b = 0; b < tables.n_buckets * kLanes<T>; b += kLanes<T>) {
        store<T>(buffer + b, load<T>(buffer + b) + load<T>(buffer + tables.n_buckets * kLanes<T> + b));
    }
}

template <class T>
void tensor_sketch_by_terms(const Matrix<const T>& X, const HashTable& hashes, const Augmentation& augmentation,
                            const Matrix<T>& out) {
    const TermTables<T> tables = term_tables<T>(hashes, augmentation, out.n_columns);
    T* entries = static_cast<T*>(scratch(Slot::spectrum, (hashes.n_columns + kLanes<T>)*MERCER_LANE_BYTES));
    const int64_t n_values = tables.left.count + tables.right.count + kLeftTile;
    T* values = static_cast<T*>(scratch(Slot::panel, n_values * MERCER_LANE_BYTES));
    T* buffer = static_cast<T*>(scratch(Slot::product, 2 * out.n_columns * MERCER_LANE_BYTES));
    for (int64_t row = 0; row < out.n_rows; row += kLanes<T>) {
        load_group<T>(row_group<T>(X, row), X.n_columns, entries);
        if (hashes.n_columns > X.n_columns) store<T>(entries + X.n_columns * kLanes<T>, Lanes<T>{} + T(1));
        multiply_out<T>(tables, entries, values, buffer);
        store_group<T>(buffer, T(1), row, out);
    }
}

// One entry of a sparse row in one factor, or a product of such entries.
template <class T>
struct SparseTerm {
    int64_t bucket;
    T value;
};

template <class T, class I>
Status sparse_entries(const CsrRows<T, I>& X, int64_t row, const HashTable& hashes, const Augmentation& augmentation,
                      int64_t factor, int64_t n_buckets, SparseTerm<T>* entries) {
    const int32_t* index = hashes.index + factor * hashes.n_columns;
    const int8_t* sign = hashes.sign + factor * hashes.n_columns;
    const T scale = T(augmentation.scale);
    for (int64_t e = X.indptr[row]; e < X.indptr[row + 1]; ++e, ++entries) {
        const int64_t column = X.indices[e];
        if (column < 0 || column >= X.n_columns) return Status::column_out_of_range;
        *entries = {index[column], X.data[e] * scale * T(sign[column])};
        if (entries->bucket < 0 || entries->bucket >= n_buckets) return Status::bucket_out_of_range;
    }
    if (augmentation.constant == 0) return Status::ok;
    *entries = {index[X.n_columns], T(augmentation.constant) * T(sign[X.n_columns])};
    return entries->bucket < 0 || entries->bucket >= n_buckets ? Status::bucket_out_of_range : Status::ok;
}

// Every term with every entry, from the end, so that `terms` grows in place.
template <class T>
void multiply_terms(SparseTerm<T>* terms, int64_t n_terms, const SparseTerm<T>* entries, int64_t n_entries,
                    int64_t n_buckets) {
    for (int64_t t = n_terms - 1; t >= 0; --t) {
        const SparseTerm<T> term = terms[t];
        for (int64_t e = n_entries - 1; e >= 0; --e) {
            const int64_t bucket = term.bucket + entries[e].bucket;
            terms[t * n_entries + e] = {bucket < n_buckets ? bucket : bucket - n_buckets, term.value * entries[e].value};
        }
    }
}

template <class T, class I>
int64_t n_entries(const CsrRows<T, I>& X, int64_t row, const Augmentation& augmentation) {
    return X.indptr[row + 1] - X.indptr[row] + (augmentation.constant != 0);
}

// A transform serves kLanes rows at once, and products of single lanes were measured to take longer than those of all.
constexpr double kScalarTerm = 3.5;

template <class T, class I>
bool is_short(const CsrRows<T, I>& X, int64_t row, const HashTable& hashes, const Augmentation& augmentation,
              int64_t length) {
    const double n_terms = power(double(n_entries(X, row, augmentation)), hashes.n_factors);
    return terms_are_fewer(kScalarTerm * kLanes<T> * n_terms, hashes.n_factors, length);
}

template <class T, class I>
Status sketch_short_row(const CsrRows<T, I>& X, int64_t row, const HashTable& hashes,
                        const Augmentation& augmentation, int64_t n_buckets, T* out) {
    const int64_t n = n_entries(X, row, augmentation);
    const auto most = static_cast<int64_t>(power(double(n), hashes.n_factors - 1)) + 1;
    auto* entries = static_cast<SparseTerm<T>*>(scratch(Slot::hashes, n * sizeof(SparseTerm<T>)));
    auto* terms = static_cast<SparseTerm<T>*>(scratch(Slot::panel, most * sizeof(SparseTerm<T>)));
    int64_t n_terms = 1;
    terms[0] = {0, T(1)};
    for (int64_t factor = 0; factor < hashes.n_factors; ++factor) {
        const Status status = sparse_entries<T, I>(X, row, hashes, augmentation, factor, n_buckets, entries);
        if (status != Status::ok) return status;
        if (factor + 1 == hashes.n_factors) break;
        multiply_terms<T>(terms, n_terms, entries, n, n_buckets);
        n_terms *= n;
    }
    std::memset(out, 0, n_buckets * sizeof(T));
    for (int64_t t = 0; t < n_terms; ++t) {
        for (int64_t e = 0; e < n; ++e) {
            const int64_t bucket = terms[t].bucket + entries[e].bucket;
            out[bucket < n_buckets ? bucket : bucket - n_buckets] += terms[t].value * entries[e].value;
        }
    }
    return Status::ok;
}
