// One thin function for each primitive of the feature maps.

#include <complex>
#include <limits>
#include <vector>

#include "bindings.hpp"
#include "plan.hpp"

namespace mercer {
namespace {

using namespace nb::literals;

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

template <class T, bool kSquared>
void distances(const Array<const T, 2>& X, const Array<const T, 2>& fixed, const Array<T, 2>& out) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<const T> others = matrix<const T, 2>("fixed", fixed);
    const Matrix<T> target = matrix<T, 2>("out", out);
    require_equal("fixed.shape[1]", others.n_columns, "X.shape[1]", rows.n_columns);
    require_equal("out.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("out.shape[1]", target.n_columns, "fixed.shape[0]", others.n_rows);
    const nb::gil_scoped_release released;
    const Kernels<T>& use = kernels<T>();
    (kSquared ? use.squared_distances : use.absolute_distances)(rows, others, target);
}

template <class T>
void near_squares(const Array<const T, 2>& X, const Array<const T, 2>& fixed, const Array<const T, 1>& bounds,
                  const Array<const T, 1>& fixed_bounds, const Array<T, 2>& q) {
    const Matrix<const T> rows = matrix<const T, 2>("X", X);
    const Matrix<const T> others = matrix<const T, 2>("fixed", fixed);
    const Matrix<T> target = matrix<T, 2>("q", q);
    const NearBounds<T> both = {vector<const T>("bounds", bounds), vector<const T>("fixed_bounds", fixed_bounds)};
    require_equal("fixed.shape[1]", others.n_columns, "X.shape[1]", rows.n_columns);
    require_equal("q.shape[0]", target.n_rows, "X.shape[0]", rows.n_rows);
    require_equal("q.shape[1]", target.n_columns, "fixed.shape[0]", others.n_rows);
    require_equal("len(bounds)", static_cast<int64_t>(bounds.shape(0)), "X.shape[0]", rows.n_rows);
    require_equal("len(fixed_bounds)", static_cast<int64_t>(fixed_bounds.shape(0)), "fixed.shape[0]", others.n_rows);
    const nb::gil_scoped_release released;
    kernels<T>().near_squares(rows, others, both, target);
}

template <class T>
void matern_values(double scale, double linear, double quadratic, const Array<T, 2>& values) {
    const Matrix<T> target = matrix<T, 2>("values", values);
    const nb::gil_scoped_release released;
    kernels<T>().matern_values({scale, linear, quadratic}, target);
}

template <class T>
void decays(double factor, const Array<T, 2>& values) {
    const Matrix<T> target = matrix<T, 2>("values", values);
    const nb::gil_scoped_release released;
    kernels<T>().decays(static_cast<T>(factor), target);
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

template <class T, class I>
void bind_csr(nb::module_& m) {
    m.def("count_sketch_csr", &count_sketch_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(), "out"_a.noconvert());
    m.def("tensor_sketch_csr", &tensor_sketch_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "index"_a.noconvert(), "sign"_a.noconvert(), "scale"_a, "constant"_a,
          "out"_a.noconvert());
    m.def("project_product_csr", &project_product_csr<T, I>, "data"_a.noconvert(), "indices"_a.noconvert(),
          "indptr"_a.noconvert(), "W"_a.noconvert(), "widths"_a.noconvert(), "out"_a.noconvert());
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
    m.def("absolute_distances", &distances<T, false>, "X"_a.noconvert(), "fixed"_a.noconvert(), "out"_a.noconvert());
    m.def("squared_distances", &distances<T, true>, "X"_a.noconvert(), "fixed"_a.noconvert(), "out"_a.noconvert());
    m.def("near_squares", &near_squares<T>, "X"_a.noconvert(), "fixed"_a.noconvert(), "bounds"_a.noconvert(),
          "fixed_bounds"_a.noconvert(), "q"_a.noconvert());
    m.def("matern_values", &matern_values<T>, "scale"_a, "linear"_a, "quadratic"_a, "values"_a.noconvert());
    m.def("decays", &decays<T>, "factor"_a, "values"_a.noconvert());
    m.def("cell_hashes", &cell_hashes<T>, "X"_a.noconvert(), "inverse_pitches"_a.noconvert(), "shifts"_a.noconvert(),
          "multipliers"_a.noconvert(), "out"_a.noconvert());
    m.def("landmark_features", &landmark_features<T>, "left"_a.noconvert(), "right"_a.noconvert(),
          "projection"_a.noconvert(), "first"_a, "out"_a.noconvert());
    bind_csr<T, int32_t>(m);
    bind_csr<T, int64_t>(m);
}

}  // namespace

void bind_features(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace mercer
