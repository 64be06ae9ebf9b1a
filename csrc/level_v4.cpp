// Budgets of support vectors alone: NumPy and BLAS use registers of 64 bytes there, and the other primitives gain little.

#include <cstdint>
#include <cstring>
#include <math.h>

#include "scratch.hpp"
#include "table.hpp"

#define MERCER_LEVEL level_v4
#define MERCER_LANE_BYTES 64

namespace mercer {
namespace MERCER_LEVEL {
namespace {  // nothing but the table may have linkage: see types.hpp

#include "lanes.hpp"
#include "transpose.hpp"
#include "exponential.hpp"
#include "online.hpp"
#include "budget_level.hpp"

}  // namespace

extern const BudgetKernels level;
const BudgetKernels level = {budget_learn, gaussian_exponents};

}  // namespace MERCER_LEVEL
}  // namespace mercer
