"""The interior-point method that all programs share: its ends, its image, and factors of singular matrices."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError, cho_solve

from mercer.solvers.box.box_newton import _Dense
from mercer.solvers.box.interior_point import interior_point, robust_factor


def _program(rng, n=10):
    A = rng.standard_normal((n, n))
    return _Dense(A.T @ A, 10 * rng.standard_normal(n)), np.ones(n), np.full(n, 2.0)


def test_the_image_follows_x(rng):
    quadratic, start, upper = _program(rng)
    found = interior_point(quadratic, start, upper, tol=1e-10)
    assert found.error == min(found.history) <= 1e-10
    assert found.iterations == len(found.history) - 1 < 30
    np.testing.assert_allclose(found.image, quadratic.image(found.x), atol=1e-14)
    assert np.all((found.x > 0) & (found.x <= 2))
    at_bounds = (found.guess == 0) | (found.guess == 2)
    assert at_bounds.any()
    np.testing.assert_array_equal(found.guess[~at_bounds], found.x[~at_bounds])


def test_it_ends_after_its_steps_and_keeps_the_best(rng):
    quadratic, start, upper = _program(rng)
    found = interior_point(quadratic, start, upper, tol=0.0, max_iter=3)
    assert found.iterations == 3
    assert found.error == min(found.history)


def test_a_gap_that_rounding_keeps_from_falling_ends_it(rng):
    quadratic, start, upper = _program(rng)
    found = interior_point(quadratic, start, upper, tol=0.0, max_iter=1000)
    assert found.iterations < 100
    assert found.error <= 1e-11 * found.history[0]


def test_matrices_that_rounding_made_indefinite_are_factored_and_infinite_ones_refused():
    matrix = np.diag([1.0, -1e-17])
    solved = cho_solve(robust_factor(matrix), np.ones(2))
    assert np.isfinite(solved).all()
    assert solved[0] == pytest.approx(1.0, rel=1e-12)
    with pytest.raises(LinAlgError):
        robust_factor(np.diag([np.inf, 1.0]))
