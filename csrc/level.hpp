// All arithmetic for one instruction set. A level_*.cpp defines MERCER_LEVEL (its namespace), MERCER_LEVEL_NAME and
// MERCER_LANE_BYTES, and includes this file once.

#include <cstdint>
#include <cstring>
#include <math.h>  // C's, for compilers without builtins: no inline function of ours may have linkage

#include "scratch.hpp"
#include "table.hpp"

namespace mercer {
namespace MERCER_LEVEL {
namespace {  // nothing but the table may have linkage: see types.hpp

#include "lanes.hpp"
#include "transpose.hpp"
#include "fft.hpp"
#include "sketch.hpp"
#include "explicit_product.hpp"
#include "tensor_sketch.hpp"
#include "projection.hpp"
#include "sign_products.hpp"
#include "fourier.hpp"
#include "tile.hpp"
#include "fourier_dense.hpp"
#include "hadamard.hpp"
#include "binning.hpp"
#include "distances.hpp"
#include "exponential.hpp"
#include "radial.hpp"
#include "landmarks.hpp"
#include "coordinate_descent.hpp"
#include "scores.hpp"
#include "subsequences.hpp"
#include "online.hpp"
#include "budget_level.hpp"
#include "clusters.hpp"
#include "cluster_heads.hpp"
#include "key_hashes.hpp"

template <class T, class I>
constexpr CsrKernels<T, I> kCsrKernels = {count_sketch_csr<T, I>, tensor_sketch_csr<T, I>, project_product_csr<T, I>,
                                          descend_csr<T, I>};

template <class T>
constexpr Kernels<T> kKernels = {
    count_sketch<T>,
    tensor_sketch<T>,
    convolve<T>,
    sign_products<T>,
    fft<T>,
    cos_sin<T>,
    fourier_features<T>,
    hadamard_features<T>,
    cell_hashes<T>,
    distances<T, Absolute>,
    distances<T, Squared>,
    near_squares<T>,
    matern_values<T>,
    decays<T>,
    landmark_features<T>,
    descend<T>,
    scores<T>,
    nearest_centres<T>,
    subsequence_sketch<T>,
    online_gradient<T>,
    kCsrKernels<T, int32_t>,
    kCsrKernels<T, int64_t>,
};

}  // namespace

extern const Level level;
const Level level = {MERCER_LEVEL_NAME, kKernels<float>, kKernels<double>,
                     {online_kernel_gradient, online_newton}, {budget_learn, gaussian_exponents}, rows_in_doubt,
                     kHashKeys};

}  // namespace MERCER_LEVEL
}  // namespace mercer
