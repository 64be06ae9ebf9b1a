// The only file that knows Python: one thin function for each primitive. The typed stub is src/mercer/_core.pyi.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdlib>
#include <limits>
#include <vector>

#include "arguments.hpp"
#include "dispatch.hpp"
#include "plan.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

template <class T>
const Kernels<T>& kernels() {
    if constexpr (sizeof(T) == sizeof(float)) {
        return current_level().float32;
    } else {
        return current_level().float64;
    }
}

template <class T, class I>
const CsrKernels<T, I>& csr_kernels() {
    if constexpr (sizeof(I) == sizeof(int32_t)) {
        return kernels<T>().csr32;
    } else {
        return kernels<T>().csr64;
    }
}

void require_transformable(int64_t length) {
    if (!is_smooth(length)) {
        fail("out.shape[1] must have no prime factor but 2, 3 and 5, got " + std::to_string(length) + ".");
    }
    if (length > std::numeric_limits<int32_t>::max()) fail("out.shape[1] must be below 2^31, the range of index.");
}

// The columns of X that the table hashes: all of its own but that of the constant.
int64_t hashed_columns(const HashTable& hashes, const Augmentation& augmentation) {
    const int64_t n_columns = hashes.n_columns - (augmentation.constant != 0 ? 1 : 0);
    if (n_columns < 0) fail("index must have a column for the constant, which is not 0.");
    return n_columns;
}

template <class T>
void count_sketch(const Array<const T, 2>& X, const Array<const int32_t, 1>& index, const Array<const int8_t, 1>& sign,
                  const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const HashTable hashes = hash_table(index, sign);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("len(index)", hashes.n_columns, "X.shape[1]", rows.n_columns);
    const nb::gil_scoped_release released;
    require_buckets(hashes, target.n_columns);
    kernels<T>().count_sketch(rows, hashes, target);
}

template <class T, class I>
void count_sketch_csr(const Array<const T, 1>& data, const Array<const I, 1>& indices, const Array<const I, 1>& indptr,
                      const Array<const int32_t, 1>& index, const Array<const int8_t, 1>& sign,
                      const Array<T, 2>& out) {
    const Matrix<T> target = matrix<T, 2>("out", out);
    const HashTable hashes = hash_table(index, sign);
    const CsrRows<T, I> rows = csr_rows<T, I>(data, indices, indptr, hashes.n_columns);
    require_equal("out.shape[0]", target.n_rows, "len(indptr) - 1", rows.n_rows);
    const nb::gil_scoped_release released;
    require_ok(csr_kernels<T, I>().count_sketch(rows, hashes, target), rows.n_columns, target.n_columns);
}

template <class T>
void tensor_sketch(const Array<const T, 2>& X, const Array<const int32_t, 2>& index, const Array<const int8_t, 2>& sign,
                   double scale, double constant, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const HashTable hashes = hash_table(index, sign);
    const Augmentation augmentation = {scale, constant};
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("X.shape[1]", rows.n_columns, "index.shape[1] - (constant != 0)",
                  hashed_columns(hashes, augmentation));
    require_transformable(target.n_columns);
    const nb::gil_scoped_release released;
    require_buckets(hashes, target.n_columns);
    kernels<T>().tensor_sketch(rows, hashes, augmentation, real_plan<T>(target.n_columns), target);
}

template <class T, class I>
void tensor_sketch_csr(const Array<const T, 1>& data, const Array<const I, 1>& indices, const Array<const I, 1>& indptr,
                       const Array<const int32_t, 2>& index, const Array<const int8_t, 2>& sign, double scale,
                       double constant, const Array<T, 2>& out) {
    const Matrix<T> target = matrix<T, 2>("out", out);
    const HashTable hashes = hash_table(index, sign);
    const Augmentation augmentation = {scale, constant};
    const CsrRows<T, I> rows = csr_rows<T, I>(data, indices, indptr, hashed_columns(hashes, augmentation));
    require_equal("out.shape[0]", target.n_rows, "len(indptr) - 1", rows.n_rows);
    require_transformable(target.n_columns);
    const nb::gil_scoped_release released;
    const RealPlan<T>& plan = real_plan<T>(target.n_columns);
    const Status status = csr_kernels<T, I>().tensor_sketch(rows, hashes, augmentation, plan, target);
    require_ok(status, rows.n_columns, target.n_columns);
}

template <class T>
void convolve(const Array<const T, 3>& sketches, const Array<T, 2>& out) {
    const Matrix<T> target = matrix<T, 2>("out", out);
    std::vector<Matrix<const T>> factors;
    for (std::size_t i = 0; i < sketches.shape(0); ++i) {
        factors.push_back(matrix<const T, 3>("sketches", sketches, static_cast<int64_t>(i)));
    }
    if (factors.empty()) fail("sketches must hold at least one sketch, got 0.");
    require_equal("out.shape[0]", target.n_rows, "sketches.shape[1]", factors[0].n_rows);
    require_equal("out.shape[1]", target.n_columns, "sketches.shape[2]", factors[0].n_columns);
    require_transformable(target.n_columns);
    const nb::gil_scoped_release released;
    kernels<T>().convolve(factors.data(), static_cast<int64_t>(factors.size()), real_plan<T>(target.n_columns), target);
}

// Factors side by side that do not grow.
inline int64_t sum_of_widths(const Array<const int64_t, 1>& widths, int64_t n_features) {
    const int64_t* width = vector<const int64_t>("widths", widths);
    int64_t previous = n_features, total = 0;
    for (int64_t f = 0; f < static_cast<int64_t>(widths.shape(0)); previous = width[f++]) {
        if (width[f] < 0 || width[f] > previous) {
            fail("widths must not increase and must lie in [0, out.shape[1]] = [0, " + std::to_string(n_features) +
                 "], but widths[" + std::to_string(f) + "] = " + std::to_string(width[f]) + ".");
        }
        total += width[f];
    }
    return total;
}

template <class T>
Projections<T> projections(const Array<const T, 2>& W, const Array<const int64_t, 1>& widths, int64_t n_features) {
    const Projections<T> result = {matrix<const T, 2>("W", W), vector<const int64_t>("widths", widths),
                                   static_cast<int64_t>(widths.shape(0))};
    require_equal("W.shape[1]", result.weights.n_columns, "sum(widths)", sum_of_widths(widths, n_features));
    return result;
}

template <class T>
void sign_products(const Array<const T, 2>& X, const Array<const uint8_t, 2>& codes,
                   const Array<const int64_t, 1>& widths, const Array<const T, 1>& scales, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const Matrix<const uint8_t> table = matrix<const uint8_t, 2>("codes", codes);
    require_packed("codes", table);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("codes.shape[0]", table.n_rows, "ceil(X.shape[1] / 8)", (rows.n_columns + 7) / 8);
    require_equal("codes.shape[1]", table.n_columns, "sum(widths)", sum_of_widths(widths, target.n_columns));
    const auto n_factors = static_cast<int64_t>(widths.shape(0));
    const int64_t* width = vector<const int64_t>("widths", widths);
    require_equal("len(scales)", static_cast<int64_t>(scales.shape(0)), "widths[0]", n_factors ? width[0] : 0);
    const SignProjections<T> signs = {table.data, table.n_columns, width, n_factors,
                                      vector<const T>("scales", scales)};
    const nb::gil_scoped_release released;
    kernels<T>().sign_products(rows, signs, target);
}

template <class T, class I>
void project_product_csr(const Array<const T, 1>& data, const Array<const I, 1>& indices,
                         const Array<const I, 1>& indptr, const Array<const T, 2>& W,
                         const Array<const int64_t, 1>& widths, const Array<T, 2>& out) {
    const Matrix<T> target = matrix<T, 2>("out", out);
    const Projections<T> factors = projections<T>(W, widths, target.n_columns);
    const CsrRows<T, I> rows = csr_rows<T, I>(data, indices, indptr, factors.weights.n_rows);
    require_equal("out.shape[0]", target.n_rows, "len(indptr) - 1", rows.n_rows);
    const nb::gil_scoped_release released;
    require_ok(csr_kernels<T, I>().project_product(rows, factors, target), rows.n_columns, target.n_columns);
}

template <class T>
void fft(const Array<const T, 2>& X, const Array<std::complex<T>, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<std::complex<T>> target = matrix<std::complex<T>, 2>("out", out);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("out.shape[1]", target.n_columns, "X.shape[1]", rows.n_columns);
    require_transformable(target.n_columns);
    const nb::gil_scoped_release released;
    const Matrix<T> parts = {reinterpret_cast<T*>(target.data), target.n_rows, 2 * target.n_columns, 2 * target.stride};
    kernels<T>().fft(rows, real_plan<T>(target.n_columns).full, parts);
}

template <class T>
Phases<T> phases(const Array<const T, 1>& offsets, double scale, const Matrix<T>& out) {
    const Phases<T> result = {vector<const T>("offsets", offsets), static_cast<int64_t>(offsets.shape(0)), scale};
    const int64_t paired = out.n_columns - result.n_offsets;
    if (paired < 0 || paired % 2) {
        fail("out.shape[1] - len(offsets) must be even and not negative, got " + std::to_string(paired) + ".");
    }
    return result;
}

template <class T>
bool cos_sin(const Array<T, 2>& out, const Array<const T, 1>& offsets, double scale) {
    const Matrix<T> target = matrix<T, 2>("out", out);
    const Phases<T> last = phases<T>(offsets, scale, target);
    const nb::gil_scoped_release released;
    return kernels<T>().cos_sin(last, target);
}

template <class T>
bool fourier_features(const Array<const T, 2>& X, const Array<const T, 2>& W, const Array<const T, 1>& offsets,
                      double scale, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X), frequencies = matrix<const T, 2>("W", W);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const Phases<T> last = phases<T>(offsets, scale, target);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("W.shape[0]", frequencies.n_rows, "X.shape[1]", rows.n_columns);
    require_equal("out.shape[1]", target.n_columns, "2 * W.shape[1] - len(offsets)",
                  2 * frequencies.n_columns - last.n_offsets);
    const nb::gil_scoped_release released;
    return kernels<T>().fourier_features(rows, frequencies, last, target);
}

template <class T>
StructuredProjection<T> structured(const Array<const T, 3>& diagonals, const Array<const int32_t, 2>& permutation,
                                   const Array<const T, 1>& lengths) {
    const auto n_stages = static_cast<int64_t>(diagonals.shape(0)), n_blocks = static_cast<int64_t>(diagonals.shape(1));
    const auto size = static_cast<int64_t>(diagonals.shape(2));
    if (size < 8 || (size & (size - 1))) {
        fail("diagonals.shape[2] must be a power of two from 8 on, got " + std::to_string(size) + ".");
    }
    if (n_stages < 1) fail("diagonals.shape[0] must be at least 1, got 0.");
    if (diagonals.stride(2) != 1 || diagonals.stride(1) != size || diagonals.stride(0) != n_blocks * size) {
        fail("diagonals must be C-contiguous; pass numpy.ascontiguousarray(diagonals).");
    }
    const Matrix<const int32_t> gather = matrix<const int32_t, 2>("permutation", permutation);
    if (gather.n_rows) {
        require_equal("permutation.shape[0]", gather.n_rows, "diagonals.shape[1]", n_blocks);
        require_equal("permutation.shape[1]", gather.n_columns, "diagonals.shape[2]", size);
        require_packed("permutation", gather);
        bool inside = true;
        for (int64_t i = 0; i < n_blocks * size; ++i) inside &= gather.data[i] >= 0 && gather.data[i] < size;
        if (!inside) fail("permutation must lie in [0, diagonals.shape[2]) = [0, " + std::to_string(size) + ").");
    }
    const auto n_frequencies = static_cast<int64_t>(lengths.shape(0));
    if (n_frequencies > n_blocks * size) {
        fail("len(lengths) must be at most diagonals.shape[1] * diagonals.shape[2] = " + std::to_string(n_blocks * size) +
             ", got " + std::to_string(n_frequencies) + ".");
    }
    return {diagonals.data(), gather.n_rows ? gather.data : nullptr, n_stages, n_blocks, size,
            vector<const T>("lengths", lengths), n_frequencies};
}

template <class T>
bool hadamard_features(const Array<const T, 2>& X, const Array<const T, 3>& diagonals,
                       const Array<const int32_t, 2>& permutation, const Array<const T, 1>& lengths,
                       const Array<const T, 1>& offsets, double scale, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const StructuredProjection<T> projection = structured<T>(diagonals, permutation, lengths);
    const Phases<T> last = phases<T>(offsets, scale, target);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("out.shape[1]", target.n_columns, "2 * len(lengths) - len(offsets)",
                  2 * projection.n_frequencies - last.n_offsets);
    if (rows.n_columns > projection.size) {
        fail("X.shape[1] must be at most diagonals.shape[2] = " + std::to_string(projection.size) + ", got " +
             std::to_string(rows.n_columns) + ".");
    }
    const nb::gil_scoped_release released;
    return kernels<T>().hadamard_features(rows, projection, last, target);
}

template <class T>
void cell_hashes(const Array<const T, 2>& X, const Array<const T, 2>& inverse_pitches, const Array<const T, 2>& shifts,
                 const Array<const uint32_t, 2>& multipliers, const Array<uint32_t, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<uint32_t> target = matrix<uint32_t, 2>("out", out);
    const Matrix<const T> inverse = matrix<const T, 2>("inverse_pitches", inverse_pitches);
    const Matrix<const T> shift = matrix<const T, 2>("shifts", shifts);
    const Matrix<const uint32_t> multiplier = matrix<const uint32_t, 2>("multipliers", multipliers);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("inverse_pitches.shape[0]", inverse.n_rows, "out.shape[1]", target.n_columns);
    require_equal("inverse_pitches.shape[1]", inverse.n_columns, "X.shape[1]", rows.n_columns);
    require_equal("shifts.shape[0]", shift.n_rows, "out.shape[1]", target.n_columns);
    require_equal("shifts.shape[1]", shift.n_columns, "X.shape[1]", rows.n_columns);
    require_equal("multipliers.shape[0]", multiplier.n_rows, "out.shape[1]", target.n_columns);
    require_equal("multipliers.shape[1]", multiplier.n_columns, "X.shape[1]", rows.n_columns);
    require_packed("inverse_pitches", inverse);
    require_packed("shifts", shift);
    require_packed("multipliers", multiplier);
    const nb::gil_scoped_release released;
    kernels<T>().cell_hashes(rows, {inverse.data, shift.data, multiplier.data}, target);
}

template <class T>
void landmark_features(const Array<const T, 2>& left, const Array<const T, 2>& right,
                       const Array<const T, 2>& projection, int64_t first, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("left", left), points = matrix<const T, 2>("right", right);
    const Matrix<T> target = matrix<T, 2>("out", out);
    const LandmarkProjection<T> weights = {matrix<const T, 2>("projection", projection), first};
    require_equal("right.shape[0]", points.n_rows, "left.shape[1]", rows.n_columns);
    require_equal("projection.shape[0]", weights.weights.n_rows, "right.shape[1]", points.n_columns);
    require_equal("out.shape[0]", target.n_rows, "left.shape[0]", rows.n_rows);
    require_equal("out.shape[1]", target.n_columns, "projection.shape[1]", weights.weights.n_columns);
    if (first < 0 || first > points.n_columns) {
        fail("first must lie in [0, right.shape[1]] = [0, " + std::to_string(points.n_columns) + "], got " +
             std::to_string(first) + ".");
    }
    const nb::gil_scoped_release released;
    kernels<T>().landmark_features(rows, points, weights, target);
}

RowOrder row_order(const Array<const int64_t, 1>& order, int64_t n_rows) {
    const RowOrder result = {vector<const int64_t>("order", order), static_cast<int64_t>(order.shape(0))};
    bool inside = true;
    for (int64_t i = 0; i < result.size; ++i) inside &= result.rows[i] >= 0 && result.rows[i] < n_rows;
    if (!inside) fail("order must lie in [0, number of rows) = [0, " + std::to_string(n_rows) + ").");
    return result;
}

template <class T>
T* table(const char* name, const Array<T, 2>& array, int64_t n_rows, int64_t n_columns) {
    const Matrix<T> result = matrix<T, 2>(name, array);
    require_equal((std::string(name) + ".shape[0]").c_str(), result.n_rows, "the number of rows", n_rows);
    require_equal((std::string(name) + ".shape[1]").c_str(), result.n_columns, "the number of columns", n_columns);
    require_packed(name, result);
    return result.data;
}

template <class T>
BoxProblems<T> box_problems(int64_t n_rows, const Array<const T, 2>& targets, const Array<const T, 2>& bounds,
                            const Array<T, 2>& duals, const Array<uint8_t, 2>& shrunk, const Array<T, 1>& intercepts,
                            const Array<double, 2>& progress, bool one_sided, double epsilon, double constant) {
    const auto n_problems = static_cast<int64_t>(targets.shape(1));
    require_equal("len(intercepts)", static_cast<int64_t>(intercepts.shape(0)), "targets.shape[1]", n_problems);
    double* booked = table<double>("progress", progress, 3, n_problems);
    return {table<const T>("targets", targets, n_rows, n_problems),
            table<const T>("bounds", bounds, n_rows, 3),
            table<T>("duals", duals, n_rows, n_problems),
            table<uint8_t>("shrunk", shrunk, n_rows, n_problems),
            vector<T>("intercepts", intercepts),
            booked,
            booked + n_problems,
            booked + 2 * n_problems,
            n_problems,
            one_sided,
            epsilon,
            constant};
}

template <class T>
void descend(const Array<const T, 2>& Z, const Array<const int64_t, 1>& order, const Array<const T, 2>& targets,
             const Array<const T, 2>& bounds, const Array<T, 2>& duals, const Array<uint8_t, 2>& shrunk,
             const Array<T, 2>& weights, const Array<T, 1>& intercepts, const Array<double, 2>& progress,
             bool one_sided, double epsilon, double constant) {
    const Matrix<const T> rows = matrix<const T, 2>("Z", Z);
    const Matrix<T> target = matrix<T, 2>("weights", weights);
    const BoxProblems<T> problems = box_problems<T>(rows.n_rows, targets, bounds, duals, shrunk, intercepts, progress,
                                                    one_sided, epsilon, constant);
    const RowOrder visits = row_order(order, rows.n_rows);
    require_equal("weights.shape[0]", target.n_rows, "targets.shape[1]", problems.n_problems);
    require_equal("weights.shape[1]", target.n_columns, "Z.shape[1]", rows.n_columns);
    const nb::gil_scoped_release released;
    kernels<T>().descend(rows, visits, problems, target);
}

template <class T, class I>
void descend_csr(const Array<const T, 1>& data, const Array<const I, 1>& indices, const Array<const I, 1>& indptr,
                 const Array<const int64_t, 1>& order, const Array<const T, 2>& targets,
                 const Array<const T, 2>& bounds, const Array<T, 2>& duals, const Array<uint8_t, 2>& shrunk,
                 const Array<T, 2>& weights, const Array<T, 1>& intercepts, const Array<double, 2>& progress,
                 bool one_sided, double epsilon, double constant) {
    const Matrix<T> target = matrix<T, 2>("weights", weights);
    const CsrRows<T, I> rows = csr_rows<T, I>(data, indices, indptr, target.n_rows);
    const BoxProblems<T> problems = box_problems<T>(rows.n_rows, targets, bounds, duals, shrunk, intercepts, progress,
                                                    one_sided, epsilon, constant);
    const RowOrder visits = row_order(order, rows.n_rows);
    const int64_t padded = problems.n_problems == 1 ? 1 : (problems.n_problems + 7) / 8 * 8;
    require_equal("weights.shape[1]", target.n_columns, "targets.shape[1], beyond 1 rounded up to a multiple of 8,",
                  padded);
    require_packed("weights", target);
    const nb::gil_scoped_release released;
    require_ok(csr_kernels<T, I>().descend(rows, visits, problems, target), rows.n_columns, 0);
}

OnlineTargets online_targets(const Array<const double, 1>& y, int64_t loss, int64_t n_rows, int64_t n_columns) {
    require_equal("len(y)", static_cast<int64_t>(y.shape(0)), "the number of rows", n_rows);
    const double* values = vector<const double>("y", y);
    const auto last = static_cast<int64_t>(n_columns == 1 ? Loss::absolute : Loss::logistic);
    if (loss < 0 || loss > last) {
        fail("loss must lie in [0, " + std::to_string(last) + "], got " + std::to_string(loss) + ".");
    }
    bool inside = n_columns > 0;
    for (int64_t i = 0; n_columns > 1 && i < n_rows; ++i) {
        inside &= values[i] >= 0 && values[i] < static_cast<double>(n_columns);
    }
    if (!inside) fail("y must hold class numbers in [0, " + std::to_string(n_columns) + ").");
    return {values, static_cast<Loss>(loss)};
}

template <class T>
void online_gradient(const Array<const T, 2>& Z, const Array<const double, 1>& y, int64_t loss,
                     const Array<const double, 1>& steps, const Array<double, 2>& W, const Array<double, 2>& squares,
                     const Array<double, 2>& scores) {
    const Matrix<const T> rows = matrix<const T, 2>("Z", Z);
    const Matrix<double> weights = matrix<double, 2>("W", W), sums = matrix<double, 2>("squares", squares);
    const Matrix<double> before = matrix<double, 2>("scores", scores);
    require_equal("W.shape[1]", weights.n_columns, "Z.shape[1]", rows.n_columns);
    require_equal("len(steps)", static_cast<int64_t>(steps.shape(0)), "Z.shape[0]", rows.n_rows);
    require_equal("scores.shape[0]", before.n_rows, "Z.shape[0]", rows.n_rows);
    require_equal("scores.shape[1]", before.n_columns, "W.shape[0]", weights.n_rows);
    if (sums.n_rows) {
        require_equal("squares.shape[0]", sums.n_rows, "W.shape[0]", weights.n_rows);
        require_equal("squares.shape[1]", sums.n_columns, "W.shape[1]", weights.n_columns);
    }
    const OnlineTargets targets = online_targets(y, loss, rows.n_rows, weights.n_rows);
    const double* lengths = vector<const double>("steps", steps);
    const nb::gil_scoped_release released;
    kernels<T>().online_gradient(rows, targets, lengths, weights, sums, before);
}

OnlineResult online_result(int64_t n_rows, int64_t limit, const Array<double, 2>& scores, const Array<double, 2>& coef,
                           const Array<int64_t, 1>& active, const Array<int64_t, 1>& counts) {
    const OnlineResult result = {matrix<double, 2>("scores", scores), matrix<double, 2>("coef", coef),
                                 vector<int64_t>("active", active), vector<int64_t>("counts", counts), limit};
    require_equal("scores.shape[0]", result.scores.n_rows, "gram.shape[0]", n_rows);
    require_equal("coef.shape[0]", result.coef.n_rows, "gram.shape[0]", n_rows);
    require_equal("coef.shape[1]", result.coef.n_columns, "scores.shape[1]", result.scores.n_columns);
    require_equal("len(active)", static_cast<int64_t>(active.shape(0)), "gram.shape[0]", n_rows);
    require_equal("len(counts)", static_cast<int64_t>(counts.shape(0)), "rows done and rows with a loss", 2);
    return result;
}

void online_kernel_gradient(const Array<const double, 2>& gram, const Array<const double, 1>& y, int64_t loss,
                            const Array<const double, 1>& steps, int64_t limit, const Array<double, 2>& scores,
                            const Array<double, 2>& coef, const Array<int64_t, 1>& active,
                            const Array<int64_t, 1>& counts) {
    const Matrix<const double> products = matrix<const double, 2>("gram", gram);
    require_equal("gram.shape[1]", products.n_columns, "gram.shape[0]", products.n_rows);
    require_equal("len(steps)", static_cast<int64_t>(steps.shape(0)), "gram.shape[0]", products.n_rows);
    const OnlineResult result = online_result(products.n_rows, limit, scores, coef, active, counts);
    const OnlineTargets targets = online_targets(y, loss, products.n_rows, result.scores.n_columns);
    const double* lengths = vector<const double>("steps", steps);
    const nb::gil_scoped_release released;
    current_level().online.kernel_gradient(products, targets, lengths, result);
}

void online_newton(const Array<const double, 2>& gram, const Array<const double, 1>& y, int64_t loss, int64_t limit,
                   const Array<double, 2>& scores, const Array<double, 2>& factor, const Array<double, 2>& coef,
                   const Array<int64_t, 1>& active, const Array<int64_t, 1>& counts) {
    const Matrix<const double> products = matrix<const double, 2>("gram", gram);
    const Matrix<double> triangle = matrix<double, 2>("factor", factor);
    require_equal("gram.shape[1]", products.n_columns, "gram.shape[0]", products.n_rows);
    require_equal("factor.shape[0]", triangle.n_rows, "gram.shape[0]", products.n_rows);
    require_equal("factor.shape[1]", triangle.n_columns, "gram.shape[0]", products.n_rows);
    const OnlineResult result = online_result(products.n_rows, limit, scores, coef, active, counts);
    const OnlineTargets targets = online_targets(y, loss, products.n_rows, result.scores.n_columns);
    const nb::gil_scoped_release released;
    current_level().online.newton(products, targets, triangle, result);
}

ClusterRows cluster_rows(int64_t n_clusters, const Array<double, 1>& norms, const Array<int32_t, 1>& labels,
                         const Array<float, 1>& margins) {
    const auto n_rows = static_cast<int64_t>(labels.shape(0));
    require_equal("len(norms)", static_cast<int64_t>(norms.shape(0)), "len(labels)", n_rows);
    require_equal("len(margins)", static_cast<int64_t>(margins.shape(0)), "len(labels)", n_rows);
    return {n_rows, n_clusters, vector<double>("norms", norms), vector<int32_t>("labels", labels),
            vector<float>("margins", margins)};
}

int64_t rows_in_doubt(const Array<const float, 1>& moved, const Array<const float, 2>& heads,
                      const Array<const float, 1>& rests, const Array<const float, 2>& centre_heads,
                      const Array<const float, 2>& centre_sizes, const Array<const float, 2>& apart, double slack,
                      double longest, const Array<double, 1>& norms, const Array<int32_t, 1>& labels,
                      const Array<float, 1>& margins, const Array<int64_t, 1>& doubt,
                      const Array<uint64_t, 2>& candidates) {
    const auto n_clusters = static_cast<int64_t>(moved.shape(0));
    const ClusterRows state = cluster_rows(n_clusters, norms, labels, margins);
    const Matrix<const float> middles = matrix<const float, 2>("centre_heads", centre_heads),
                              sizes = matrix<const float, 2>("centre_sizes", centre_sizes),
                              distances = matrix<const float, 2>("apart", apart);
    const ClusterHeads parts = {matrix<const float, 2>("heads", heads), middles, vector<const float>("rests", rests),
                                sizes.data, sizes.data + sizes.stride, sizes.data + 2 * sizes.stride, distances.data};
    const ClusterDoubts found = {vector<int64_t>("doubt", doubt), matrix<uint64_t, 2>("candidates", candidates)};
    require_equal("len(doubt)", static_cast<int64_t>(doubt.shape(0)), "len(labels)", state.n_rows);
    bool inside = true;
    for (int64_t i = 0; i < state.n_rows; ++i) inside &= state.labels[i] >= 0 && state.labels[i] < n_clusters;
    if (!inside) fail("labels must lie in [0, len(moved)) = [0, " + std::to_string(n_clusters) + ").");
    if (parts.rows.n_columns > 0) {
        require_equal("heads.shape[0]", parts.rows.n_rows, "len(labels)", state.n_rows);
        require_equal("len(rests)", static_cast<int64_t>(rests.shape(0)), "len(labels)", state.n_rows);
        require_equal("centre_heads.shape[0]", middles.n_rows, "len(moved)", n_clusters);
        require_equal("centre_heads.shape[1]", middles.n_columns, "heads.shape[1]", parts.rows.n_columns);
        require_equal("centre_sizes.shape[0]", sizes.n_rows, "lengths, rests and spreads", 3);
        require_equal("centre_sizes.shape[1]", sizes.n_columns, "len(moved)", n_clusters);
        require_equal("apart.shape[0]", distances.n_rows, "len(moved)", n_clusters);
        require_equal("apart.shape[1]", distances.n_columns, "len(moved)", n_clusters);
        require_packed("apart", distances);
        require_equal("candidates.shape[0]", found.candidates.n_rows, "len(labels)", state.n_rows);
        require_equal("candidates.shape[1]", found.candidates.n_columns, "words of 64 centres", (n_clusters + 63) / 64);
    }
    const float* steps = vector<const float>("moved", moved);
    const ClusterScale scale = {slack, longest};
    const nb::gil_scoped_release released;
    return current_level().rows_in_doubt(steps, parts, scale, state, found);
}

template <class T>
void scores(const Array<const T, 2>& Z, const Array<const T, 2>& W, const Array<T, 2>& out) {
    const Matrix<const T> features = matrix<const T, 2>("Z", Z), weights = matrix<const T, 2>("W", W);
    const Matrix<T> target = matrix<T, 2>("out", out);
    require_equal("W.shape[1]", weights.n_columns, "Z.shape[1]", features.n_columns);
    require_equal("out.shape[0]", target.n_rows, "Z.shape[0]", features.n_rows);
    require_equal("out.shape[1]", target.n_columns, "W.shape[0]", weights.n_rows);
    const nb::gil_scoped_release released;
    kernels<T>().scores(features, weights, target);
}

template <class T>
int64_t nearest_centres(const Array<const T, 2>& Z, const Array<const int64_t, 1>& rows,
                        const Array<const uint64_t, 2>& candidates, const Array<const T, 2>& products,
                        const Array<const T, 2>& centres, double slack, double longest,
                        const Array<const double, 1>& weight, const Array<double, 1>& norms,
                        const Array<int32_t, 1>& labels, const Array<float, 1>& margins, const Array<double, 2>& sums,
                        const Array<double, 1>& totals) {
    const Matrix<const T> features = matrix<const T, 2>("Z", Z), middles = matrix<const T, 2>("centres", centres);
    const Matrix<const uint64_t> chosen = matrix<const uint64_t, 2>("candidates", candidates);
    const ClusterRows state = cluster_rows(middles.n_rows, norms, labels, margins);
    require_equal("centres.shape[1]", middles.n_columns, "Z.shape[1]", features.n_columns);
    const RowOrder order = {vector<const int64_t>("rows", rows), static_cast<int64_t>(rows.shape(0))};
    if (features.n_rows != order.size) require_equal("Z.shape[0]", features.n_rows, "len(labels)", state.n_rows);
    const Matrix<const T> known = matrix<const T, 2>("products", products);
    if (known.n_columns > 0) {
        require_equal("products.shape[0]", known.n_rows, "len(rows)", order.size);
        require_equal("products.shape[1]", known.n_columns, "centres.shape[0]", middles.n_rows);
    } else {
        require_equal("candidates.shape[0]", chosen.n_rows, "len(rows)", order.size);
        require_equal("candidates.shape[1]", chosen.n_columns, "words of 64 centres", (middles.n_rows + 63) / 64);
    }
    bool inside = true;
    for (int64_t i = 0; i < order.size; ++i) inside &= order.rows[i] >= 0 && order.rows[i] < state.n_rows;
    if (!inside) fail("rows must lie in [0, len(labels)) = [0, " + std::to_string(state.n_rows) + ").");
    for (int64_t i = 0; i < order.size; ++i) {
        const int32_t label = state.labels[order.rows[i]];
        inside &= label >= -1 && label < middles.n_rows;
    }
    if (!inside) fail("labels must lie in [-1, centres.shape[0]).");
    int64_t n_moves = 0;
    const ClusterChanges changes = {weight.shape(0) ? vector<const double>("weight", weight) : nullptr,
                                    matrix<double, 2>("sums", sums), vector<double>("totals", totals), &n_moves};
    if (changes.row_weight) {
        require_equal("len(weight)", static_cast<int64_t>(weight.shape(0)), "len(labels)", state.n_rows);
    }
    require_equal("sums.shape[0]", changes.sums.n_rows, "centres.shape[0]", middles.n_rows);
    require_equal("sums.shape[1]", changes.sums.n_columns, "centres.shape[1]", middles.n_columns);
    require_equal("len(totals)", static_cast<int64_t>(totals.shape(0)), "centres.shape[0]", middles.n_rows);
    const ClusterScale scale = {slack, longest};
    const nb::gil_scoped_release released;
    kernels<T>().nearest_centres(features, order, chosen, known, middles, scale, state, changes);
    return n_moves;
}

void use_simd(const std::string& name) {
    if (use_level(name)) return;
    std::string known;
    for (const std::string& level : level_names()) known += (known.empty() ? "'" : ", '") + level + "'";
    fail("name must be one of " + known + ", got '" + name + "'.");
}

// nanobind would silently copy an array of another dtype or device: noconvert makes it a TypeError.
template <class T, class I>
void bind_csr(nb::module_& m) {
    m.def("count_sketch_csr", &count_sketch_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(), "out"_a.noconvert());
    m.def("tensor_sketch_csr", &tensor_sketch_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(), "scale"_a, "constant"_a,
          "out"_a.noconvert());
    m.def("project_product_csr", &project_product_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "W"_a.noconvert(), "widths"_a.noconvert(), "out"_a.noconvert());
    m.def("descend_csr", &descend_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
          "order"_a.noconvert(), "targets"_a.noconvert(), "bounds"_a.noconvert(), "duals"_a.noconvert(),
          "shrunk"_a.noconvert(), "weights"_a.noconvert(), "intercepts"_a.noconvert(), "progress"_a.noconvert(),
          "one_sided"_a, "epsilon"_a, "constant"_a);
}

template <class T>
void bind(nb::module_& m) {
    m.def("count_sketch", &count_sketch<T>, "X"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(),
          "out"_a.noconvert());
    m.def("tensor_sketch", &tensor_sketch<T>, "X"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(), "scale"_a,
          "constant"_a, "out"_a.noconvert());
    m.def("convolve", &convolve<T>, "sketches"_a.noconvert(), "out"_a.noconvert());
    m.def("sign_products", &sign_products<T>, "X"_a.noconvert(), "codes"_a.noconvert(), "widths"_a.noconvert(),
          "scales"_a.noconvert(), "out"_a.noconvert());
    m.def("fft", &fft<T>, "X"_a.noconvert(), "out"_a.noconvert());
    m.def("cos_sin", &cos_sin<T>, "out"_a.noconvert(), "offsets"_a.noconvert(), "scale"_a);
    m.def("fourier_features", &fourier_features<T>, "X"_a.noconvert(), "W"_a.noconvert(), "offsets"_a.noconvert(),
          "scale"_a, "out"_a.noconvert());
    m.def("hadamard_features", &hadamard_features<T>, "X"_a.noconvert(), "diagonals"_a.noconvert(),
          "permutation"_a.noconvert(), "lengths"_a.noconvert(), "offsets"_a.noconvert(), "scale"_a, "out"_a.noconvert());
    m.def("cell_hashes", &cell_hashes<T>, "X"_a.noconvert(), "inverse_pitches"_a.noconvert(), "shifts"_a.noconvert(),
          "multipliers"_a.noconvert(), "out"_a.noconvert());
    m.def("landmark_features", &landmark_features<T>, "left"_a.noconvert(), "right"_a.noconvert(),
          "projection"_a.noconvert(), "first"_a, "out"_a.noconvert());
    m.def("descend", &descend<T>, "Z"_a.noconvert(), "order"_a.noconvert(), "targets"_a.noconvert(),
          "bounds"_a.noconvert(), "duals"_a.noconvert(), "shrunk"_a.noconvert(), "weights"_a.noconvert(),
          "intercepts"_a.noconvert(), "progress"_a.noconvert(), "one_sided"_a, "epsilon"_a, "constant"_a);
    m.def("online_gradient", &online_gradient<T>, "Z"_a.noconvert(), "y"_a.noconvert(), "loss"_a, "steps"_a.noconvert(),
          "W"_a.noconvert(), "squares"_a.noconvert(), "scores"_a.noconvert());
    m.def("scores", &scores<T>, "Z"_a.noconvert(), "W"_a.noconvert(), "out"_a.noconvert());
    m.def("nearest_centres", &nearest_centres<T>, "Z"_a.noconvert(), "rows"_a.noconvert(),
          "candidates"_a.noconvert(), "products"_a.noconvert(), "centres"_a.noconvert(), "slack"_a, "longest"_a,
          "weight"_a.noconvert(), "norms"_a.noconvert(), "labels"_a.noconvert(), "margins"_a.noconvert(),
          "sums"_a.noconvert(), "totals"_a.noconvert());
    bind_csr<T, int32_t>(m);
    bind_csr<T, int64_t>(m);
}

void bind_clusters(nb::module_& m) {
    m.def("rows_in_doubt", &rows_in_doubt, "moved"_a.noconvert(), "heads"_a.noconvert(), "rests"_a.noconvert(),
          "centre_heads"_a.noconvert(), "centre_sizes"_a.noconvert(), "apart"_a.noconvert(), "slack"_a, "longest"_a,
          "norms"_a.noconvert(), "labels"_a.noconvert(), "margins"_a.noconvert(), "doubt"_a.noconvert(),
          "candidates"_a.noconvert());
}

void bind_online(nb::module_& m) {
    m.def("online_kernel_gradient", &online_kernel_gradient, "gram"_a.noconvert(), "y"_a.noconvert(), "loss"_a,
          "steps"_a.noconvert(), "limit"_a, "scores"_a.noconvert(), "coef"_a.noconvert(), "active"_a.noconvert(),
          "counts"_a.noconvert());
    m.def("online_newton", &online_newton, "gram"_a.noconvert(), "y"_a.noconvert(), "loss"_a, "limit"_a,
          "scores"_a.noconvert(), "factor"_a.noconvert(), "coef"_a.noconvert(), "active"_a.noconvert(),
          "counts"_a.noconvert());
}

}  // namespace
}  // namespace mercer

NB_MODULE(_core, m) {
    m.doc() = "Compiled primitives, equal to their namesakes in mercer.reference up to rounding.";
    mercer::bind<float>(m);
    mercer::bind<double>(m);
    mercer::bind_online(m);
    mercer::bind_clusters(m);
    m.def("is_smooth", &mercer::is_smooth, nanobind::arg("n"));
    m.def("simd_level", [] { return std::string(mercer::current_level().name); });
    m.def("simd_levels", &mercer::level_names);
    m.def("has_wider_registers", &mercer::has_wider_registers);
    m.def("use_simd", &mercer::use_simd, nanobind::arg("name"));
    const char* wanted = std::getenv("MERCER_SIMD");
    if (wanted && *wanted) mercer::use_simd(wanted);
}
