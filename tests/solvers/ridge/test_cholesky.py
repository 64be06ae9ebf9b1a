"""Every way to solve a ridge system against plain linear algebra, and what an indefinite matrix does."""

import numpy as np
import pytest

from mercer.solvers import cholesky, conjugate_gradients, ridge_path, tridiagonal_path
from mercer.testing import check_solver, rounding

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
    solution = check_solver(
        lambda: cholesky(gram, cross, alpha),
        objective=lambda w: np.einsum("ij,ij->j", w, gram @ w + alpha * w) - 2 * np.einsum("ij,ij->j", w, cross),
    )
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
    assert "raise alpha or pass float64 rows" in solution.advice
    np.testing.assert_allclose(solution.value.ravel(), [1 / (1 + 1e-9), 1e9], rtol=1e-12)
