"""Conjugate gradients: the laws of a solver, few products, columns that end apart, and an indefinite matrix."""

import numpy as np
import pytest

from mercer.solvers import conjugate_gradients
from mercer.testing import check_solver


@pytest.fixture
def problem(rng):
    Z, Y = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))
    return Z.T @ Z, Z.T @ Y, Z, Y


@pytest.mark.parametrize(("tol", "max_iter"), [(1e-10, 500), (1e-12, 2)])
def test_it_keeps_the_laws_of_a_solver(problem, tol, max_iter):
    gram, cross, _, _ = problem
    check_solver(
        lambda: conjugate_gradients(lambda v: gram @ v, cross, tol=tol, max_iter=max_iter),
        objective=lambda w: np.einsum("ij,ij->j", w, gram @ w) / 2 - np.einsum("ij,ij->j", w, cross),
        tol=tol,
        certificate=lambda solution: solution.history[-1],
    )


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


def test_a_matrix_that_is_not_positive_ends_at_the_last_lower_point():
    A = np.diag([1.0, 2.0, -1e-3])
    right = np.array([[1.0, 1.0], [1.0, 0.0], [1e-3, 0.0]])
    solution = conjugate_gradients(lambda v: A @ v, right, tol=1e-12)
    assert solution.status == "stalled"
    assert np.isfinite(solution.value).all()
    assert np.all(np.einsum("ij,ij->j", solution.value, A @ solution.value / 2 - right) <= 0)
    np.testing.assert_allclose(solution.value[:, 1], [1.0, 0.0, 0.0])


def test_the_exact_inverse_as_preconditioner_needs_one_product(problem):
    gram, cross, _, _ = problem
    inverse = np.linalg.inv(gram)
    solution = conjugate_gradients(lambda v: gram @ v, cross, precondition=lambda v: inverse @ v, tol=1e-9)
    assert (solution.success, solution.iterations) == (True, 1)
    np.testing.assert_allclose(solution.value, inverse @ cross, atol=1e-9)


def test_a_preconditioner_changes_the_way_and_not_the_end(problem):
    gram, cross, _, _ = problem
    scale = np.diag(1 / np.diag(gram))
    check_solver(
        lambda: conjugate_gradients(lambda v: gram @ v, cross, precondition=lambda v: scale @ v, tol=1e-10),
        objective=lambda w: np.einsum("ij,ij->j", w, gram @ w) / 2 - np.einsum("ij,ij->j", w, cross),
        tol=1e-10,
        certificate=lambda solution: solution.history[-1],
    )
