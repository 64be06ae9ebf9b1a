// Plain data that the border hands to the arithmetic. Structs only: an inline function here would be compiled once per
// instruction set, and the linker would keep any one of the bodies for all of them.
#pragma once

#include <cstdint>

namespace mercer {

// A matrix with unit column stride; rows start `stride` elements apart.
template <class T>
struct Matrix {
    T* data;
    int64_t n_rows, n_columns, stride;
};

// The polynomial of degree 3 mod 2^61 - 1 that gives bucket and sign of a key.
struct KeyPolynomial {
    uint64_t coefficients[4];
    uint64_t n_buckets;
};

// Writes the columns of keys, and for each the highest bit if its sign is negative, else 0.
typedef void HashKeys(const uint64_t* keys, int64_t n_keys, const KeyPolynomial& hash, uint32_t* columns,
                      uint64_t* signs);

constexpr uint8_t kNoLetter = 255;

// Strings, one after the other.
struct Text {
    const uint8_t* letters;
    const int64_t* offsets;
    int64_t n_strings;
    const uint8_t* codes;  // 256 codes from 0 on; kNoLetter ends every window
};

// CSR rows: `indptr` has n_rows + 1 pointers into all of `data` and `indices`. Pointers are checked at the border,
// columns where they are used, so that a call costs its own non-zeros only.
template <class T, class I>
struct CsrRows {
    const T* data;
    const I* indices;
    const I* indptr;
    int64_t n_rows, n_columns;
};

// Subsequences of `length` letters, each weighing decay^(its span); those of j letters have their sums in the first
// widths[j] places.
struct Subsequences {
    double decay;
    const int64_t* widths;
};

// Signed hashes of `n_columns` columns for each of `n_factors` count sketches, row-major.
struct HashTable {
    const int32_t* index;
    const int8_t* sign;
    int64_t n_factors, n_columns;
};

// The tensor power is taken of the row [scale * x, constant]; the constant is hashed by the table's last column, which
// exists only when it is not zero.
struct Augmentation {
    double scale, constant;
};

// Factors side by side: factor j is the next widths[j] columns of `weights`, and multiplies the first widths[j]
// features.
template <class T>
struct Projections {
    Matrix<const T> weights;
    const int64_t* widths;
    int64_t n_factors;
};

// The same with weights +-1: bit k of codes[g * n_projections + j] is set where projection j adds column 8 g + k, and
// clear where it subtracts it. scales[i] multiplies feature i < widths[0].
template <class T>
struct SignProjections {
    const uint8_t* codes;
    int64_t n_projections;
    const int64_t* widths;
    int64_t n_factors;
    const T* scales;
};

// The last step of Fourier features: turns become scale * cos and scale * sin in place. With n_offsets single features,
// the other columns are pairs; see reference/fourier.py for the layout.
template <class T>
struct Phases {
    const T* offsets;
    int64_t n_offsets;
    double scale;
};

// Blocks of H D_s ... H D_2 P H D_1 on rows padded to `size`, a power of two from 8 on. `diagonals` is
// (n_stages, n_blocks, size), `permutation` (n_blocks, size) or null.
template <class T>
struct StructuredProjection {
    const T* diagonals;
    const int32_t* permutation;
    int64_t n_stages, n_blocks, size;
    const T* lengths;
    int64_t n_frequencies;
};

// One row per grid, one column per column of X.
template <class T>
struct Grids {
    const T* inverse_pitches;
    const T* shifts;
    const uint32_t* multipliers;
};

// A pair is near if its entry is at most the sum of the bounds of its row and of its fixed row.
template <class T>
struct NearBounds {
    const T* rows;
    const T* fixed;
};

// (1 + linear t + quadratic t^2) exp(-t) with t = sqrt(scale q)
struct MaternShape {
    double scale;
    double linear;
    double quadratic;
};

// Column j of `weights` uses its first `first` + j rows; the others hold zeros.
template <class T>
struct LandmarkProjection {
    Matrix<const T> weights;
    int64_t first;
};

// Rows in the order in which they are visited.
struct RowOrder {
    const int64_t* rows;
    int64_t size;
};

// Linear problems side by side in their duals, which share their rows: see reference/coordinate_descent.py. Tables of
// rows by problems are (n_rows, n_problems), `bounds` is (n_rows, 3): upper bound, ridge and squared norm of a row. A
// problem with a negative threshold is left alone.
template <class T>
struct BoxProblems {
    const T* targets;
    const T* bounds;
    T* duals;
    uint8_t* shrunk;
    T* intercepts;
    const double* thresholds;
    double* gaps;
    double* violations;
    int64_t n_problems;
    bool one_sided;
    double epsilon, constant;
};

// Rows in clusters: see reference/clusters.py.
struct ClusterRows {
    int64_t n_rows, n_clusters;
    double* norms;
    int32_t* labels;
    float* margins;
};

// Rows by their products with a few directions, and the lengths of what these leave; the same of the centres, with the
// distances of their rests from each other (n_clusters x n_clusters) and from their mean.
struct ClusterHeads {
    Matrix<const float> rows, centres;
    const float* rests;
    const float* lengths;
    const float* centre_rests;
    const float* spreads;
    const float* apart;
};

// Rows in doubt, and the centres that each may be nearest to, a bit each.
struct ClusterDoubts {
    int64_t* rows;
    Matrix<uint64_t> candidates;
};

// What rounding may take from a squared distance, as a part of the two squared lengths, and the longest centre's.
struct ClusterScale {
    double relative, longest;
};

// What rows that change their clusters take from and add to the clusters' sums; no row_weight means 1.
struct ClusterChanges {
    const double* row_weight;
    Matrix<double> sums;
    double* weight;
    int64_t* n_moves;
};

// The losses of online learning, in the order of reference/online.py.
enum class Loss { hinge, squared_hinge, logistic, squared, absolute };

// `y` holds signs or values for one column of scores, class numbers (checked at the border) for several.
struct OnlineTargets {
    const double* y;
    Loss loss;
};

// The length of each row's step, and the factor of the weights at each row: 1 forgets nothing.
struct OnlineSteps {
    const double* lengths;
    double decay;
};

// What learning in the space of a Gram matrix writes: scores before each row, coefficients and numbers of the rows with
// a loss, up to `limit` of them, and the numbers of rows done and of those with a loss.
struct OnlineResult {
    Matrix<double> scores, coef;
    int64_t* active;
    int64_t* counts;
    int64_t limit;
};

enum class Status { ok, column_out_of_range, bucket_out_of_range };

// One pass of a mixed-radix FFT: butterflies of `radix` points, `span` apart. Row j of `twiddle` holds the radix - 1
// complex factors w^j, w^2j, ... with w = exp(-2 pi i / (radix * span)).
template <class T>
struct FftPass {
    int64_t radix, span;
    const T* twiddle;
};

// `position[k]` is where the forward transform, which does not reorder, leaves frequency k.
template <class T>
struct FftPlan {
    int64_t length, n_passes;
    const FftPass<T>* passes;
    const int32_t* position;
};

// Where to find the frequencies k and D/2 - k of real sequences of even length D, with w^k = cosine + i sine, w =
// exp(-2 pi i / D). Two sequences packed in one transform of length D need the mirror images; one sequence in a
// transform of length D/2 needs the positions of k and D/2 - k there (slot D/2 is an extra one, for the frequency D/2).
template <class T>
struct SpectrumPair {
    int32_t full, full_mirror, other, other_mirror;
    int32_t half, half_other;
    T cosine, sine;
};

// Transforms of real sequences. An odd length has no half-length transform: `half` is empty and `pairs` is null.
template <class T>
struct RealPlan {
    FftPlan<T> full, half;
    const SpectrumPair<T>* pairs;
    int64_t n_pairs;
};

}  // namespace mercer
