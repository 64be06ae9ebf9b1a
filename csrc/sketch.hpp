// Count sketches of groups of rows. Included inside the namespace of one instruction set.
//
// A source fills a buffer with the sketches of one or two consecutive factors of the group that starts at `first_row`:
// element (b * kFactors + f) * kLanes + i is bucket b of factor f of row i. So one factor is a real sequence, and two
// are the real and imaginary parts of a complex one.

template <class T>
struct WeightedBucket {
    int32_t bucket;
    T weight;
};

// Signs become weights once a call. Where factors are transformed in pairs, the two entries of a column are side by
// side (an odd last factor is alone).
template <class T>
WeightedBucket<T>* weighted_buckets(const HashTable& hashes, const Augmentation& augmentation, bool in_pairs) {
    const int64_t n_columns = hashes.n_columns;
    auto* buckets = static_cast<WeightedBucket<T>*>(
        scratch(Slot::hashes, hashes.n_factors * n_columns * static_cast<int64_t>(sizeof(WeightedBucket<T>))));
    for (int64_t factor = 0; factor < hashes.n_factors; ++factor) {
        const int64_t partner = factor % 2;  // of a pair: 0 the first, 1 the second
        const bool paired = in_pairs && factor - partner + 1 < hashes.n_factors;
        const int64_t step = paired ? 2 : 1;
        WeightedBucket<T>* entry = buckets + (paired ? (factor - partner) * n_columns + partner : factor * n_columns);
        const int32_t* index = hashes.index + factor * n_columns;
        const int8_t* sign = hashes.sign + factor * n_columns;
        for (int64_t j = 0; j < n_columns; ++j) entry[j * step] = {index[j], T(augmentation.scale) * T(sign[j])};
        if (augmentation.constant != 0) {
            entry[(n_columns - 1) * step].weight = T(augmentation.constant) * T(sign[n_columns - 1]);
        }
    }
    return buckets;
}

template <class T>
struct DenseSource {
    Matrix<const T> X;
    const WeightedBucket<T>* buckets;
    int64_t n_buckets, n_hashed;  // n_hashed: columns of X, and the constant if there is one

    template <int kFactors>
    Status fill(int64_t first_row, int64_t factor, T* buffer) const {
        std::memset(buffer, 0, n_buckets * kFactors * kLanes<T> * sizeof(T));
        const RowGroup<T> group = row_group<T>(X, first_row);
        const WeightedBucket<T>* entry = buckets + factor * n_hashed;
        Lanes<T> columns[kLanes<T>];
        int64_t j = 0;
        for (; j + kLanes<T> <= X.n_columns; j += kLanes<T>, entry += kFactors * kLanes<T>) {
            load_columns<T>(group, j, columns);
            MERCER_UNROLL
            for (int c = 0; c < kLanes<T>; ++c) scatter<kFactors>(columns[c], entry + c * kFactors, buffer);
        }
        load_last_columns<T>(group, j, X.n_columns - j, columns);
        for (int c = 0; j + c < X.n_columns; ++c, entry += kFactors) scatter<kFactors>(columns[c], entry, buffer);
        if (n_hashed > X.n_columns) scatter<kFactors>(Lanes<T>{} + T(1), entry, buffer);
        return Status::ok;
    }

    template <int kFactors>
    static MERCER_INLINE void scatter(const Lanes<T>& values, const WeightedBucket<T>* entry, T* buffer) {
        MERCER_UNROLL
        for (int f = 0; f < kFactors; ++f) {
            T* bucket = buffer + (entry[f].bucket * int64_t{kFactors} + f) * kLanes<T>;
            store<T>(bucket, load<T>(bucket) + values * entry[f].weight);
        }
    }
};

template <class T, class I>
struct CsrSource {
    CsrRows<T, I> X;
    HashTable hashes;
    Augmentation augmentation;
    int64_t n_buckets;
    const int64_t* chosen;  // the rows to take, or null for all
    int64_t n_rows;

    template <int kFactors>
    Status fill(int64_t first_row, int64_t factor, T* buffer) const {
        std::memset(buffer, 0, n_buckets * kFactors * kLanes<T> * sizeof(T));
        for (int64_t i = 0; i < kLanes<T> && first_row + i < n_rows; ++i) {
            const int64_t row = chosen ? chosen[first_row + i] : first_row + i;
            const Status status = fill_row<kFactors>(row, factor, buffer + i);
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }

    template <int kFactors>
    Status fill_row(int64_t row, int64_t factor, T* lane) const {
        const T scale = T(augmentation.scale);
        for (int64_t e = X.indptr[row]; e < X.indptr[row + 1]; ++e) {
            const int64_t column = X.indices[e];
            if (column < 0 || column >= X.n_columns) return Status::column_out_of_range;
            if (!scatter<kFactors>(X.data[e] * scale, column, factor, lane)) return Status::bucket_out_of_range;
        }
        if (augmentation.constant == 0) return Status::ok;
        const bool inside = scatter<kFactors>(T(augmentation.constant), X.n_columns, factor, lane);
        return inside ? Status::ok : Status::bucket_out_of_range;
    }

    template <int kFactors>
    MERCER_INLINE bool scatter(T value, int64_t column, int64_t factor, T* lane) const {
        for (int f = 0; f < kFactors; ++f) {
            const int64_t hash = (factor + f) * hashes.n_columns + column;
            const int64_t bucket = hashes.index[hash];
            if (bucket < 0 || bucket >= n_buckets) return false;
            lane[(bucket * kFactors + f) * kLanes<T>] += value * T(hashes.sign[hash]);
        }
        return true;
    }
};

// Sketches that exist already, to be convolved.
template <class T>
struct SketchSource {
    const Matrix<const T>* sketches;

    template <int kFactors>
    Status fill(int64_t first_row, int64_t factor, T* buffer) const {
        for (int f = 0; f < kFactors; ++f) {
            const Matrix<const T>& sketch = sketches[factor + f];
            const RowGroup<T> group = row_group<T>(sketch, first_row);
            T* target = buffer + f * kLanes<T>;
            Lanes<T> columns[kLanes<T>];
            int64_t j = 0;
            for (; j + kLanes<T> <= sketch.n_columns; j += kLanes<T>) {
                load_columns<T>(group, j, columns);
                MERCER_UNROLL
                for (int c = 0; c < kLanes<T>; ++c) store<T>(target + (j + c) * kFactors * kLanes<T>, columns[c]);
            }
            load_last_columns<T>(group, j, sketch.n_columns - j, columns);
            for (int c = 0; j + c < sketch.n_columns; ++c) {
                store<T>(target + (j + c) * kFactors * kLanes<T>, columns[c]);
            }
        }
        return Status::ok;
    }
};

template <class T, class Source>
Status sketch_rows(const Source& source, const Matrix<T>& out) {
    T* buffer = static_cast<T*>(scratch(Slot::spectrum, out.n_columns * MERCER_LANE_BYTES));
    for (int64_t row = 0; row < out.n_rows; row += kLanes<T>) {
        const Status status = source.template fill<1>(row, 0, buffer);
        if (status != Status::ok) return status;
        store_group<T>(buffer, T(1), row, out);
    }
    return Status::ok;
}

template <class T>
void count_sketch(const Matrix<const T>& X, const HashTable& hashes, const Matrix<T>& out) {
    const DenseSource<T> source = {X, weighted_buckets<T>(hashes, {1, 0}, false), out.n_columns, hashes.n_columns};
    sketch_rows<T>(source, out);
}

template <class T, class I>
Status count_sketch_csr(const CsrRows<T, I>& X, const HashTable& hashes, const Matrix<T>& out) {
    const CsrSource<T, I> source = {X, hashes, {1, 0}, out.n_columns, nullptr, X.n_rows};
    return sketch_rows<T>(source, out);
}
