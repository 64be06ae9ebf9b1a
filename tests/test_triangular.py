"""Factors and triangular products: those of SciPy, and on threads that do not wait for each other."""

import sys
import threading
import time

import numpy as np
import pytest
from scipy import linalg

from mercer import triangular

SIZES = [1, 2, 7, 64, 65, 129, 300, 600]


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def matrix(request, rng):
    """Return a function to a well-conditioned symmetric matrix of some size."""

    def of(n):
        A = rng.standard_normal((n, 2 * n))
        return np.asfortranarray(A @ A.T + n * np.eye(n), dtype=request.param)

    return of


def _close(found, expected):
    scale = np.abs(expected).max(initial=0) or 1
    np.testing.assert_allclose(found, expected, atol=200 * np.finfo(found.dtype).eps * scale)


@pytest.mark.parametrize("n", SIZES)
def test_a_factor_is_scipy_s_and_leaves_what_is_above_the_diagonal(matrix, n):
    S = matrix(n)
    expected = linalg.cholesky(S, lower=True)
    above = np.triu(np.full((n, n), np.nan, dtype=S.dtype), 1)
    S += above
    assert triangular.factor(S)
    _close(np.tril(S), expected)
    np.testing.assert_array_equal(np.triu(S, 1), above)


def test_a_matrix_without_a_factor_is_told(matrix):
    for n, row in ((7, 3), (600, 10), (600, 590)):
        S = matrix(n)
        S[row, row] = -1
        assert not triangular.factor(S)


@pytest.mark.parametrize("n", SIZES)
def test_an_inverse_is_scipy_s(matrix, n):
    lower = matrix(n)
    assert triangular.factor(lower)
    above = np.triu(np.full((n, n), np.nan, dtype=lower.dtype), 1)
    lower = np.asfortranarray(np.tril(lower) + above)
    before, expected = lower.copy(), linalg.solve_triangular(np.tril(lower), np.eye(n), lower=True)
    _close(np.tril(triangular.inverse(lower)), expected)
    np.testing.assert_array_equal(lower, before)
    assert triangular.inverse(lower, overwrite=True) is lower
    _close(np.tril(lower), expected)
    np.testing.assert_array_equal(np.triu(lower, 1), above)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("columns", [0, 1, 5])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lower_order", ["C", "F"])
def test_solutions_and_products_are_full_ones(matrix, rng, n, transposed, right, columns, order, lower_order):
    lower = matrix(n)
    assert triangular.factor(lower)
    lower = np.array(np.tril(lower), order=lower_order)
    A = lower.T if transposed else lower
    B = np.array(rng.standard_normal((columns, n) if right else (n, columns)), dtype=lower.dtype, order=order)
    before = B.copy()
    solved = triangular.solve(lower, B, transposed=transposed, right=right)
    multiplied = triangular.product(lower, B, transposed=transposed, right=right)
    np.testing.assert_array_equal(B, before)
    _close(solved, (linalg.solve(A.T, B.T).T if right else linalg.solve(A, B)) if columns else B)
    _close(multiplied, B @ A if right else A @ B)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (65, 20), (5, 0)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("factor", [1.0, -0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_are_added_below_the_diagonal_alone(rng, shape, transposed, factor, dtype):
    A = np.asfortranarray(rng.standard_normal(shape), dtype=dtype)
    square = A.T @ A if transposed else A @ A.T
    C = np.asfortranarray(rng.standard_normal(square.shape), dtype=dtype)
    expected = C + dtype(factor) * square
    above = np.triu(C, 1)
    triangular.add_square(C, A, factor, transposed=transposed)
    _close(np.tril(C), np.tril(expected))
    np.testing.assert_array_equal(np.triu(C, 1), above)


def test_a_result_may_take_the_place_of_its_argument(matrix):
    lower = matrix(7)
    assert triangular.factor(lower)
    B = np.ones((7, 2), dtype=lower.dtype, order="F")
    assert triangular.solve(lower, B, overwrite=True) is B
    _close(np.tril(lower) @ B, np.ones((7, 2)))


def test_other_threads_run_while_a_factor_is_computed():
    """A thread gives up the lock of its own will alone here: this one would never see the other inside the call."""
    S = np.asfortranarray(2000 * np.eye(2000) + 1.0)
    inside, seen = [False], 0

    def work():
        inside[0] = True
        triangular.factor(S)
        inside[0] = False

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            seen += inside[0]
            time.sleep(1e-3)
    finally:
        sys.setswitchinterval(interval)
    assert seen > 0
