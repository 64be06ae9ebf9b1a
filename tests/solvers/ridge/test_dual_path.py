"""The path in the space of the rows equals the path in the space of the features."""

import numpy as np
import pytest

from mercer.solvers import DualPath, dual_gcv, ridge_path, shift_roots, tridiagonal_path

ALPHAS = np.array([1e-4, 0.1, 1.0, 30.0])


@pytest.fixture(params=["ones", "weights"])
def problem(request):
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(12, 30)), rng.normal(size=(12, 2))
    Z[3] = Z[7]  # a direction without variance next to that of the mean
    weight = np.ones(12) if request.param == "ones" else rng.choice([0.0, 0.5, 1.0, 3.0], size=12)
    total = weight.sum()
    Z, Y = Z - weight @ Z / total, Y - weight @ Y / total
    return Z, Y, weight


def test_solutions_and_scores_are_those_of_the_features(problem):
    Z, Y, weight = problem
    roots = np.sqrt(weight)
    rows, right = roots[:, None] * Z, roots[:, None] * Y
    primal = ridge_path(rows.T @ rows, rows.T @ right, rank=11)
    dual = DualPath.of(rows @ rows.T, right, roots)
    squares, n_counted = (right**2).sum(axis=0), float(weight.sum())
    left_out = primal.leave_one_out(Z, Y, ALPHAS, weight.sum(), weight)
    for alpha, expected in zip(ALPHAS, left_out, strict=True):
        np.testing.assert_allclose(rows.T @ dual.duals(alpha), primal.coef(alpha), atol=1e-9)
        assert dual.leave_one_out(alpha, weight) == pytest.approx(expected, rel=1e-6)
        if n_counted > 12:  # fewer weights than rows leave no degrees of freedom
            assert dual.gcv(alpha, n_counted) == pytest.approx(primal.gcv(alpha, squares, n_counted), rel=1e-6)


def test_leave_one_out_is_that_of_refits(problem):
    """Brute force: each row of weight 1 is left out, and ridge regression with an intercept is solved again."""
    Z, Y, weight = problem
    roots = np.sqrt(weight)
    alpha, errors = 0.3, 0.0
    for i in np.flatnonzero(weight):
        kept = weight.copy()
        kept[i] -= min(weight[i], 1.0)
        mean, centre = kept @ Z / kept.sum(), kept @ Y / kept.sum()
        A, B = np.sqrt(kept)[:, None] * (Z - mean), np.sqrt(kept)[:, None] * (Y - centre)
        coef = np.linalg.solve(A.T @ A + alpha * np.eye(30), A.T @ B)
        errors += weight[i] * np.sum((Y[i] - centre - (Z[i] - mean) @ coef) ** 2)
    rows = roots[:, None] * Z
    path = DualPath.of(rows @ rows.T, roots[:, None] * Y, roots)
    # leaving out a row moves the means too, which the formula takes to first order in 1/W: exact for ridge
    assert path.leave_one_out(alpha, weight) == pytest.approx(errors, rel=1e-9)


def test_scores_from_eigenvalues_alone(problem):
    Z, Y, weight = problem
    roots = np.sqrt(weight)
    rows, right = roots[:, None] * Z, roots[:, None] * Y
    path, gram = DualPath.of(rows @ rows.T, right, roots), rows @ rows.T
    shift = shift_roots(gram, roots)
    reduced = tridiagonal_path(gram, right)
    for alpha, duals in zip(ALPHAS, reduced.coefs(ALPHAS), strict=True):
        np.testing.assert_allclose(duals, path.duals(alpha), atol=1e-8 / alpha)
        expected = path.gcv(alpha, 40.0)
        assert dual_gcv(alpha, duals, reduced.eigenvalues, shift, 40.0) == pytest.approx(expected, rel=1e-6)


def test_rows_without_variance():
    path = DualPath.of(np.zeros((3, 3)), np.ones((3, 1)), np.ones(3))
    assert path.shift == 1.0
    assert np.isfinite(path.gcv(1.0, 3.0))
