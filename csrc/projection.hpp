// Products of projections of CSR rows. Included inside the namespace of one instruction set.
//
// Features are taken a panel at a time: its sums stay in registers while a row of X picks its rows of W.

template <class T>
void fill_ones(const Matrix<T>& out, int64_t first_column) {
    for (int64_t i = 0; i < out.n_rows; ++i) {
        for (int64_t j = first_column; j < out.n_columns; ++j) out.data[i * out.stride + j] = T(1);
    }
}

constexpr int64_t kPanelVectors = 8;

template <class T>
constexpr int64_t kPanel = kPanelVectors * kLanes<T>;

// The weights of one panel: `width` <= kPanel columns, rows `stride` apart. A padded one may be read up to kPanel.
template <class T>
struct Panel {
    const T* weights;
    int64_t stride, width;
    bool padded;
};

// Copies the panel into one piece: in place its rows are far apart, often by a power of two, and would share a few
// cache sets.
template <class T>
Panel<T> pack_panel(const Matrix<const T>& W, int64_t first_column, int64_t width) {
    T* packed = static_cast<T*>(scratch(Slot::panel, W.n_rows * kPanel<T> * static_cast<int64_t>(sizeof(T))));
    for (int64_t row = 0; row < W.n_rows; ++row) {
        T* target = packed + row * kPanel<T>;
        std::memcpy(target, W.data + row * W.stride + first_column, width * sizeof(T));
        std::memset(target + width, 0, (kPanel<T> - width) * sizeof(T));
    }
    return {packed, kPanel<T>, width, true};
}

template <class T>
MERCER_INLINE void add_scaled(const T* weights, T value, Lanes<T> (&sums)[kPanelVectors]) {
    MERCER_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums[v] = sums[v] + load<T>(weights + v * kLanes<T>) * value;
}

template <class T, class I>
Status project_panel(const CsrRows<T, I>& X, const Panel<T>& panel, bool first, T* out, int64_t out_stride) {
    T buffer[kPanel<T>] = {};
    for (int64_t row = 0; row < X.n_rows; ++row, out += out_stride) {
        Lanes<T> sums[kPanelVectors] = {};
        for (int64_t e = X.indptr[row]; e < X.indptr[row + 1]; ++e) {
            const int64_t column = X.indices[e];
            if (column < 0 || column >= X.n_columns) return Status::column_out_of_range;
            const T* weights = panel.weights + column * panel.stride;
            if (!panel.padded) weights = static_cast<T*>(std::memcpy(buffer, weights, panel.width * sizeof(T)));
            add_scaled<T>(weights, X.data[e], sums);
        }
        T projected[kPanel<T>];
        MERCER_UNROLL
        for (int v = 0; v < kPanelVectors; ++v) store<T>(projected + v * kLanes<T>, sums[v]);
        for (int64_t j = 0; j < panel.width; ++j) out[j] = first ? projected[j] : out[j] * projected[j];
    }
    return Status::ok;
}

template <class T, class I>
Status project_product_csr(const CsrRows<T, I>& X, const Projections<T>& projections, const Matrix<T>& out) {
    fill_ones<T>(out, projections.n_factors ? projections.widths[0] : 0);
    const Matrix<const T>& W = projections.weights;
    // Packing reads all of W: worth it only if the rows do so too.
    const bool pack = X.indptr[X.n_rows] - X.indptr[0] >= W.n_rows;
    int64_t start = 0;
    for (int64_t factor = 0; factor < projections.n_factors; ++factor) {
        const int64_t factor_width = projections.widths[factor];
        for (int64_t j = 0; j < factor_width; j += kPanel<T>) {
            const int64_t width = factor_width - j < kPanel<T> ? factor_width - j : kPanel<T>;
            const Panel<T> in_place = {W.data + start + j, W.stride, width, width == kPanel<T>};
            const Panel<T> panel = pack ? pack_panel<T>(W, start + j, width) : in_place;
            const Status status = project_panel<T, I>(X, panel, factor == 0, out.data + j, out.stride);
            if (status != Status::ok) return status;
        }
        start += factor_width;
    }
    return Status::ok;
}
