// The table of kernels that each instruction set fills: the only way into its translation unit.
#pragma once

#include "budget_types.hpp"
#include "types.hpp"

namespace mercer {

template <class T, class I>
struct CsrKernels {
    Status (*count_sketch)(const CsrRows<T, I>& X, const HashTable& hashes, const Matrix<T>& out);
    Status (*tensor_sketch)(const CsrRows<T, I>& X, const HashTable& hashes, const Augmentation& augmentation,
                            const RealPlan<T>& plan, const Matrix<T>& out);
    Status (*project_product)(const CsrRows<T, I>& X, const Projections<T>& projections, const Matrix<T>& out);
    Status (*descend)(const CsrRows<T, I>& Z, const RowOrder& order, const BoxProblems<T>& problems,
                      const Matrix<T>& weights);
};

template <class T>
struct Kernels {
    void (*count_sketch)(const Matrix<const T>& X, const HashTable& hashes, const Matrix<T>& out);
    void (*tensor_sketch)(const Matrix<const T>& X, const HashTable& hashes, const Augmentation& augmentation,
                          const RealPlan<T>& plan, const Matrix<T>& out);
    // `sketches` points to n_sketches matrices of the shape of `out`.
    void (*convolve)(const Matrix<const T>* sketches, int64_t n_sketches, const RealPlan<T>& plan,
                     const Matrix<T>& out);
    void (*sign_products)(const Matrix<const T>& X, const SignProjections<T>& signs, const Matrix<T>& out);
    // `out` holds interleaved real and imaginary parts: twice as many columns as X.
    void (*fft)(const Matrix<const T>& X, const FftPlan<T>& plan, const Matrix<T>& out);
    // The three return whether all turns were finite.
    bool (*cos_sin)(const Phases<T>& phases, const Matrix<T>& out);
    bool (*fourier_features)(const Matrix<const T>& X, const Matrix<const T>& W, const Phases<T>& phases,
                             const Matrix<T>& out);
    bool (*hadamard_features)(const Matrix<const T>& X, const StructuredProjection<T>& projection,
                              const Phases<T>& phases, const Matrix<T>& out);
    void (*cell_hashes)(const Matrix<const T>& X, const Grids<T>& grids, const Matrix<uint32_t>& out);
    void (*absolute_distances)(const Matrix<const T>& X, const Matrix<const T>& fixed, const Matrix<T>& out);
    void (*squared_distances)(const Matrix<const T>& X, const Matrix<const T>& fixed, const Matrix<T>& out);
    void (*near_squares)(const Matrix<const T>& X, const Matrix<const T>& fixed, const NearBounds<T>& bounds,
                         const Matrix<T>& q);
    void (*matern_values)(const MaternShape& shape, const Matrix<T>& values);
    void (*decays)(T factor, const Matrix<T>& values);
    void (*landmark_features)(const Matrix<const T>& left, const Matrix<const T>& right,
                              const LandmarkProjection<T>& projection, const Matrix<T>& out);
    void (*descend)(const Matrix<const T>& Z, const RowOrder& order, const BoxProblems<T>& problems,
                    const Matrix<T>& weights);
    void (*scores)(const Matrix<const T>& Z, const Matrix<const T>& W, const Matrix<T>& out);
    // `products` with all centres take the place of candidates; without columns, there are none.
    void (*nearest_centres)(const Matrix<const T>& Z, const RowOrder& order, const Matrix<const uint64_t>& candidates,
                            const Matrix<const T>& products, const Matrix<const T>& centres, const ClusterScale& scale,
                            const ClusterRows& state, const ClusterChanges& changes);
    // `hashes` has a factor for each letter of a subsequence, and a column for each of 256 codes.
    void (*subsequence_sketch)(const Text& text, const HashTable& hashes, const Subsequences& parts,
                               const Matrix<T>& out);
    // `squares` is empty for plain gradient descent.
    void (*online_gradient)(const Matrix<const T>& Z, const OnlineTargets& targets, const OnlineSteps& steps,
                            const Matrix<double>& W, const Matrix<double>& squares, const Matrix<double>& scores);
    CsrKernels<T, int32_t> csr32;
    CsrKernels<T, int64_t> csr64;
};

struct OnlineKernels {
    void (*kernel_gradient)(const Matrix<const double>& gram, const OnlineTargets& targets, const OnlineSteps& steps,
                            const OnlineResult& result);
    void (*newton)(const Matrix<const double>& gram, const OnlineTargets& targets, const double* row_weight,
                   const Matrix<double>& factor, const OnlineResult& result);
};

struct BudgetKernels {
    void (*learn)(const BudgetRule& rule, const BudgetRows& rows, const BudgetState& state, int64_t slots,
                  const Matrix<const double>& table);
    void (*exponents)(const Matrix<const double>& X, const Matrix<const double>& Y, double gamma, bool lower,
                      const Matrix<double>& out);
};

struct Level {
    const char* name;
    Kernels<float> float32;
    Kernels<double> float64;
    OnlineKernels online;
    BudgetKernels budget;
    // Writes the rows in doubt and returns their number.
    int64_t (*rows_in_doubt)(const float* moved, const ClusterHeads& heads, const ClusterScale& scale,
                             const ClusterRows& state, const ClusterDoubts& doubts);
    HashKeys* hash_keys;  // null where products of 64 bits are faster
};

}  // namespace mercer
