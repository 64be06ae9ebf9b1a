"""Products with the inverse of the matrix of a leaf: the compiled call, the routines one by one, and NumPy agree."""

import numpy as np
import pytest

from mercer import core, triangular
from mercer.solvers.local.leaf_inverse import column_squares, inverted, solved


def problem(rng, n, m, dtype):
    A = rng.standard_normal((n, 2 * n))
    S = A @ A.T / n + np.eye(n)
    return S, rng.standard_normal((m, n)), dtype


def results(S, B, dtype, function=inverted):
    """Return what a function overwrites and returns; what is above the diagonal of S is not read."""
    S = np.asfortranarray(np.where(np.tri(len(S)), S, np.nan), dtype=dtype)
    B = np.array(B, dtype=dtype, order="F")
    squares, diagonal = function(S, B)
    return B, np.tril(squares), diagonal


@pytest.mark.parametrize(
    "compiled", [pytest.param(True, marks=pytest.mark.skipif(not core.COMPILED, reason="no core")), False]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 3), (128, 0), (129, 5), (300, 33), (515, 9)])
def test_inverted_is_that_of_numpy(rng, monkeypatch, n, m, dtype, compiled):
    monkeypatch.setattr(core, "COMPILED", compiled)
    S, B, dtype = problem(rng, n, m, dtype)
    product, squares, diagonal = results(S, B, dtype)
    inverse = np.linalg.inv(S)
    atol = 50 * np.finfo(dtype).eps * n**0.5
    np.testing.assert_allclose(diagonal, np.diagonal(inverse), rtol=atol)
    np.testing.assert_allclose(product, B @ inverse, atol=10 * atol)
    np.testing.assert_allclose(squares, np.tril(B @ inverse @ B.T), atol=10 * atol * n**0.5)
    assert diagonal.dtype == np.float64


def test_solved_has_the_products_without_the_diagonal(rng):
    S, B, dtype = problem(rng, 150, 4, np.float64)
    one, other = results(S, B, dtype), results(S, B, dtype, solved)
    for expected, found in zip(one[:2], other[:2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert other[2] is None


@pytest.mark.parametrize("function", [inverted, solved])
@pytest.mark.parametrize("compiled", [core.COMPILED, False])
@pytest.mark.parametrize("wrong", [-1.0, np.nan])
def test_a_matrix_without_a_factor_has_none(rng, monkeypatch, function, compiled, wrong):
    monkeypatch.setattr(core, "COMPILED", compiled)
    S, B, _ = problem(rng, 140, 2, np.float64)
    S[100, 100] = wrong
    assert function(np.asfortranarray(S), np.asfortranarray(B)) is None


def test_sums_of_squares_are_in_double_precision(rng):
    A = rng.standard_normal((1000, 3)).astype(np.float32) + 100
    np.testing.assert_allclose(column_squares(A), (A.astype(np.float64) ** 2).sum(axis=0), rtol=1e-6)


@pytest.mark.skipif(not core.COMPILED, reason="the fallback is not checked")
def test_wrong_shapes_are_refused_in_words(rng):
    S, B = np.eye(3, order="F"), np.ones((2, 3), order="F")
    routines = triangular.addresses(("potrf", "trtri", "trmm", "syrk"), S.dtype)
    with pytest.raises(ValueError, match=r"len\(diagonal\) must be"):
        core.invert_leaf(routines, S, B, np.zeros((2, 2), order="F"), np.empty(4))
    with pytest.raises(ValueError, match=r"squares.shape\[0\] must be"):
        core.invert_leaf(routines, S, B, np.zeros((3, 3), order="F"), np.empty(3))
    with pytest.raises(ValueError, match=r"len\(routines\) must be"):
        core.invert_leaf(routines[:3], S, B, np.zeros((2, 2), order="F"), np.empty(3))
    with pytest.raises(ValueError, match=r"B.shape\[0\] must be"):
        core.invert_leaf(routines, S, np.ones((2, 4), order="F"), np.zeros((2, 2), order="F"), np.empty(3))
