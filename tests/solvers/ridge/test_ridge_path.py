"""Paths of ridge solutions: residuals, degrees of freedom, and leave-one-out against leaving one out."""

import numpy as np
import pytest

from mercer.solvers import ridge_path, tridiagonal_path

ALPHAS = np.logspace(-3, 2, 5)


@pytest.fixture
def problem(rng):
    Z, Y = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))
    return Z.T @ Z, Z.T @ Y, Z, Y


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
