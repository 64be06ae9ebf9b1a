"""The path of a tridiagonal reduction: any size, and eigenvalues that rounding made negative."""

import numpy as np
import pytest

from mercer.solvers import tridiagonal_path


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
