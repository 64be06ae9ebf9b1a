"""Solvers against plain linear algebra, and leave-one-out against leaving one out."""

import numpy as np
import pytest

from mercer.solvers import cholesky, conjugate_gradients, ridge_path, shifted_conjugate_gradients, tridiagonal_path
from mercer.testing import rounding

ALPHAS = np.logspace(-3, 2, 5)


@pytest.fixture
def problem(rng):
    Z, Y = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))
    return Z.T @ Z, Z.T @ Y, Z, Y


@pytest.mark.parametrize("alpha", ALPHAS)
def test_all_solvers_solve_the_same_system(problem, alpha):
    gram, cross, _, _ = problem
    exact = np.linalg.solve(gram + alpha * np.eye(6), cross)
    condition = np.linalg.cond(gram + alpha * np.eye(6))
    tolerance = rounding(np.float64, 6) * condition * np.abs(exact).max()
    solution = cholesky(gram, cross, alpha)
    assert (solution.success, solution.iterations) == (True, 0)
    np.testing.assert_allclose(solution.value, exact, atol=tolerance, rtol=0)
    np.testing.assert_allclose(ridge_path(gram, cross).coef(alpha), exact, atol=tolerance, rtol=0)
    (reduced,) = tridiagonal_path(gram, cross).coefs(np.array([alpha]))
    np.testing.assert_allclose(reduced, exact, atol=tolerance, rtol=0)
    iterative = conjugate_gradients(lambda v: gram @ v + alpha * v, cross, tol=1e-12)
    assert iterative.success
    assert iterative.iterations <= 6 + 2  # D in exact arithmetic
    assert iterative.history[-1] <= 1e-12
    np.testing.assert_allclose(iterative.value, exact, atol=1e-12 * condition * np.linalg.norm(exact), rtol=0)


def test_a_matrix_that_rounding_made_indefinite_is_solved_and_said(problem):
    gram = np.diag([1.0, -1e-8])
    solution = cholesky(gram, np.ones((2, 1)), 1e-9)
    assert solution.status == "ill-conditioned"
    assert "raise it, or pass float64 rows" in solution.advice
    np.testing.assert_allclose(solution.value.ravel(), [1 / (1 + 1e-9), 1e9], rtol=1e-12)


def test_conjugate_gradients_that_stop_early_say_so(problem):
    gram, cross, _, _ = problem
    solution = conjugate_gradients(lambda v: gram @ v, cross, tol=1e-12, max_iter=2)
    assert (solution.status, solution.iterations) == ("iteration limit", 2)
    assert "2 iterations left a residual of" in solution.advice


def test_a_column_of_zeros_and_columns_that_converge_apart():
    A = np.diag([1.0, 2.0, 3.0, 4.0])
    right = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    solution = conjugate_gradients(lambda v: A @ v, right, tol=1e-13)
    np.testing.assert_allclose(solution.value, np.linalg.solve(A, right), atol=1e-12)


@pytest.mark.parametrize("method", [ridge_path, tridiagonal_path])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_residual_and_degrees_of_freedom(problem, alpha, method):
    gram, cross, Z, Y = problem
    path = method(gram, cross)
    hat = Z @ np.linalg.solve(gram + alpha * np.eye(6), Z.T)
    residual = np.sum((Y - hat @ Y) ** 2, axis=0)
    np.testing.assert_allclose(path.residual(alpha, np.sum(Y**2, axis=0)), residual, rtol=1e-10)
    np.testing.assert_allclose(path.degrees_of_freedom(alpha), np.trace(hat), rtol=1e-10)
    score = 30 * residual.sum() / (30 - np.trace(hat) - 1) ** 2
    np.testing.assert_allclose(path.gcv(alpha, np.sum(Y**2, axis=0), 30.0), score, rtol=1e-10)


def test_more_freedom_than_rows_has_no_score():
    assert ridge_path(np.eye(5), np.ones((5, 1))).gcv(1e-9, np.ones(1), 4.0) == np.inf


def _fit(Z, Y, w, alpha):
    z, y = (w @ Z) / w.sum(), (w @ Y) / w.sum()
    gram = (w[:, None] * (Z - z)).T @ (Z - z)
    coef = np.linalg.solve(gram + alpha * np.eye(Z.shape[1]), (w[:, None] * (Z - z)).T @ (Y - y))
    return z, y, coef


@pytest.mark.parametrize("weights", [np.ones(12), np.array([1, 2, 3, 0, 0.5, 1, 1, 2, 1, 1, 0.25, 1])])
def test_leave_one_out_is_leaving_one_out(rng, weights):
    """Refit without row i, or without one of its copies where its weight is more than one."""
    Z, Y = rng.standard_normal((12, 4)), rng.standard_normal((12, 2))
    expected = np.zeros(len(ALPHAS))
    for a, alpha in enumerate(ALPHAS):
        for i in range(12):
            left = weights - min(weights[i], 1) * (np.arange(12) == i)
            z, y, coef = _fit(Z, Y, left, alpha)
            expected[a] += weights[i] * np.sum((Y[i] - y - (Z[i] - z) @ coef) ** 2)
    z, y, _ = _fit(Z, Y, weights, 1.0)
    centred = weights[:, None] * (Z - z)
    path = ridge_path(centred.T @ (Z - z), centred.T @ (Y - y))
    found = path.leave_one_out(Z - z, Y - y, ALPHAS, weights.sum(), weights)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_a_tridiagonal_path_of_any_size_with_eigenvalues_that_rounding_made_negative(rng, size):
    A = rng.standard_normal((20, size))
    gram, cross = A.T @ A, A.T @ rng.standard_normal((20, 2))
    alphas = np.logspace(-3, 3, 4)
    for alpha, coef in zip(alphas, tridiagonal_path(gram, cross).coefs(alphas), strict=True):
        exact = np.linalg.solve(gram + alpha * np.eye(size), cross)
        np.testing.assert_allclose(coef, exact, atol=1e-9 * np.abs(exact).max())
    coefs = tridiagonal_path(gram - 1e-13 * np.eye(size), cross).coefs(np.array([1e-14]))
    assert np.isfinite(coefs).all()


def test_shifted_systems_in_the_products_of_one(rng):
    A = rng.standard_normal((60, 20)) * np.logspace(0, -1, 20)
    gram, right = A.T @ A, np.column_stack([rng.standard_normal((20, 2)), np.zeros(20)])
    alphas = np.logspace(5, -2, 5)
    products = []
    found = shifted_conjugate_gradients(lambda v: products.append(0) or gram @ v, right, alphas, tol=1e-10)
    assert found.converged.all()
    assert found.iterations == len(products)
    for alpha, value in zip(alphas, found.values, strict=True):
        np.testing.assert_allclose(value, np.linalg.solve(gram + alpha * np.eye(20), right), atol=1e-8)
    early = shifted_conjugate_gradients(lambda v: gram @ v, right, alphas, tol=1e-10, max_iter=8)
    assert early.converged[0]
    assert not early.converged[-1]
    stopped = shifted_conjugate_gradients(
        lambda v: gram @ v, right, alphas, tol=1e-10, enough=lambda found: found.converged.sum() >= 2
    )
    assert 2 <= stopped.converged.sum() < 5
