// The tile of a matrix product blocked as in BLAS (Goto and van de Geijn, 2008). Included inside the namespace of one
// instruction set.

constexpr int64_t kTileRows = 6;
constexpr int64_t kTileVectors = 2;  // 6 x 2 accumulators leave 4 of 16 registers for operands
constexpr int64_t kDepth = 256;      // steps of a sum at a time: the operands of a tile stay in the first-level cache

template <class T>
constexpr int64_t kStrip = kTileVectors * kLanes<T>;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// sums (kTileRows x kStrip) += rows (kTileRows x depth) @ strip (depth x kStrip)
template <class T>
void accumulate_tile(const T* rows, const T* strip, int64_t depth, T* sums) {
    Lanes<T> sum[kTileRows][kTileVectors];
    MERCER_UNROLL
    for (int r = 0; r < kTileRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) sum[r][v] = load<T>(sums + (r * kTileVectors + v) * kLanes<T>);
    }
    for (int64_t k = 0; k < depth; ++k, rows += kTileRows, strip += kStrip<T>) {
        Lanes<T> weights[kTileVectors];
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) weights[v] = load<T>(strip + v * kLanes<T>);
        MERCER_UNROLL
        for (int r = 0; r < kTileRows; ++r) {
            MERCER_UNROLL
            for (int v = 0; v < kTileVectors; ++v) sum[r][v] = sum[r][v] + weights[v] * rows[r];
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kTileRows; ++r) {
        MERCER_UNROLL
        for (int v = 0; v < kTileVectors; ++v) store<T>(sums + (r * kTileVectors + v) * kLanes<T>, sum[r][v]);
    }
}
