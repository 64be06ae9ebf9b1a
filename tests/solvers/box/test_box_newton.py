"""Problems in a box: scipy's optimum, the box to rounding, certified gaps, singular and separable problems."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit

from mercer.solvers import box_newton, box_quadratic
from mercer.solvers.box.box_newton import Expansion, box_gap
from mercer.testing import check_solver


def _rows(rng, n=60, d=12):
    Z = np.cos(rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + rng.uniform(0, 6, d))
    return Z, Z[:, 0] - 2 * Z[:, 1] + 0.5 * rng.standard_normal(n)


def _logistic(Z, Y):
    def expand(w):
        margins = Y * (Z @ w)
        wrong = expit(-margins)
        hessians = np.array([(Z * (p * (1 - p))[:, None]).T @ Z / len(Z) for p in wrong.T])
        return Expansion(np.logaddexp(0, -margins).mean(axis=0), -Z.T @ (Y * wrong) / len(Z), hessians)

    return expand


@pytest.mark.parametrize("bound", [1e-3, 0.1, 1.0, 100.0])
def test_a_quadratic_has_scipy_s_optimum(rng, bound):
    Z, y = _rows(rng)
    solution = box_quadratic(Z.T @ Z, Z.T @ y, bound)
    exact = lsq_linear(Z, y, (-bound, bound), method="bvls", tol=1e-14).x
    assert solution.success
    np.testing.assert_allclose(solution.value, exact, atol=1e-6 * min(bound, 1))
    risk = lambda w: 0.5 * np.sum((Z @ w - y) ** 2)  # noqa: E731
    assert risk(solution.value) - risk(exact) < 1e-9 * risk(0 * exact)
    assert np.abs(solution.value).max() <= bound
    assert (np.abs(exact) == bound).any() == (bound < 100)  # both a box that binds and one that does not


@pytest.mark.parametrize("bound", [1e-2, 0.5, 20.0])
def test_the_gap_bounds_what_is_left(rng, bound):
    """At any point of the box; at the end it is 1e-12 of the first, or rounding."""
    Z, y = _rows(rng)
    H, h = Z.T @ Z, Z.T @ y
    best = box_quadratic(H, h, bound)
    least = 0.5 * best.value @ H @ best.value - h @ best.value
    for _ in range(20):
        w = rng.uniform(-bound, bound, len(h))
        assert box_gap(H @ w - h, w, bound) >= 0.5 * w @ H @ w - h @ w - least
    assert best.history[-1] <= 1e-11 * best.history[0]


def test_singular_and_empty_problems(rng):
    Z = np.repeat(rng.standard_normal((20, 3)), 40, axis=1)  # rank 3 of 120
    solution = box_quadratic(Z.T @ Z, Z.T @ Z[:, 0], 0.01)
    assert solution.success
    assert np.abs(solution.value).max() <= 0.01
    assert not box_quadratic(np.eye(3), np.zeros(3), 1.0).value.any()
    linear = box_quadratic(np.zeros((2, 2)), np.array([1.0, -2.0]), 0.5)  # no curvature at all: a corner
    np.testing.assert_allclose(linear.value, [0.5, -0.5], rtol=1e-9)


@pytest.mark.parametrize("bound", [0.05, 1.0, 30.0])
def test_newton_has_scipy_s_optimum(rng, bound):
    Z, y = _rows(rng)
    Y = np.where(np.column_stack([y, y - 1]) > 0, 1.0, -1.0)
    solution = box_newton(_logistic(Z, Y), np.zeros((12, 2)), bound, tol=1e-9)
    assert solution.success
    assert np.abs(solution.value).max() <= bound
    for j in range(2):
        expand = _logistic(Z, Y[:, [j]])
        found = minimize(
            lambda w: (expand(w[:, None]).values[0], expand(w[:, None]).gradients[:, 0]),  # noqa: B023
            np.zeros(12),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-bound, bound)] * 12,
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
        )
        value = expand(solution.value[:, [j]]).values[0]
        assert value <= found.fun + 1e-9
        np.testing.assert_allclose(value, found.fun, atol=1e-7)


def test_separable_classes_end_at_the_walls(rng):
    """Without the box the weights would grow for ever."""
    Z = rng.standard_normal((50, 3))
    solution = box_newton(_logistic(Z, np.sign(Z[:, :1])), np.zeros((3, 1)), 1e3)
    assert solution.success
    assert solution.value[0, 0] > 100


def test_too_few_steps_are_said(rng):
    Z, y = _rows(rng)
    solution = box_newton(_logistic(Z, np.sign(y)[:, None]), np.zeros((12, 1)), 30.0, tol=1e-12, max_iter=2)
    assert solution.status == "iteration limit"
    assert "2 steps left a gap of" in solution.advice
    short = box_quadratic(Z.T @ Z, Z.T @ y, 0.5, max_iter=2)
    assert short.status == "iteration limit"


@pytest.mark.parametrize("bound", [0.05, 30.0])
@pytest.mark.parametrize("max_iter", [2, 50])
def test_newton_keeps_the_laws_of_a_solver(rng, bound, max_iter):
    Z, y = _rows(rng)
    expand = _logistic(Z, np.where(np.column_stack([y, y - 1]) > 0, 1.0, -1.0))
    check_solver(
        lambda: box_newton(expand, np.zeros((12, 2)), bound, tol=1e-9, max_iter=max_iter),
        objective=lambda w: expand(w).values,
        tol=1e-9,
        resume=lambda solution: box_newton(expand, solution.value, bound, tol=1e-8),
    )


@pytest.mark.parametrize("bound", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("max_iter", [3, 60])
def test_a_quadratic_keeps_the_laws_of_a_solver(rng, bound, max_iter):
    Z, y = _rows(rng)
    H, h = Z.T @ Z, Z.T @ y
    check_solver(lambda: box_quadratic(H, h, bound, max_iter=max_iter), tol=1e-11)
    found = box_quadratic(H, h, bound)
    check_solver(lambda: found, objective=lambda w: 0.5 * w @ H @ w - h @ w)
