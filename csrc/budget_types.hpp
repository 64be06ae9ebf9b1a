// Plain data of learning with a budget of support vectors; see reference/types.py.
#pragma once

#include "types.hpp"

namespace mercer {

// Rows whose products with matrices of the slots are made together. The number of slots of projections is a multiple.
constexpr int64_t kBudgetBatch = 8;
// Rows of a triangle in float32 that lie side by side.
constexpr int64_t kTrianglePanel = 16;

// In the order of BUDGET_UPDATES and BUDGET_MAINTENANCE.
enum class BudgetUpdate { gradient, perceptron, margin_perceptron, passive_aggressive, newton };
enum class BudgetMaintenance {
    merge,
    project,
    project_newest,
    absorb,
    absorb_nearest,
    remove,
    oldest,
    random,
    shrink,
    stochastic,
    stochastic_weighted
};

struct BudgetRule {
    BudgetUpdate update;
    BudgetMaintenance maintenance;
    Loss loss;
    int64_t budget;
    double epsilon, ridge, tolerance;
};

// A block of rows. `rows` has no columns where the caller keeps the support vectors.
struct BudgetRows {
    Matrix<double> cross;
    double gamma;  // 0: cross holds kernel values; else exponents gamma |x - y|^2
    const double* norms;
    Matrix<const double> rows;
    const int64_t* numbers;
    const double *y, *steps, *shrinks, *uniforms;
    Matrix<double> scores;
    int64_t n_rows, n_columns;  // of scores
};

// Slots of support vectors. Matrices that an algorithm does not need have no rows.
struct BudgetState {
    double* coef;  // (slots, k), packed
    double* norms;
    int64_t *born, *column;
    Matrix<double> rows, between, inverse, reduction;
    double* totals;
    int64_t* count;
    Matrix<double> factor;  // the inverse of the Cholesky factor of the Gram matrix, where the caller knows it
    Matrix<const float> rounded;  // the same in panels of kTrianglePanel rows, or none
    const double* sums;           // of the rows of `factor`, where there is `rounded`
    // Whether both halves of `between` are kept. Else entry (i, j) holds where slot i is not older than slot j.
    bool mirrored;
};

}  // namespace mercer
