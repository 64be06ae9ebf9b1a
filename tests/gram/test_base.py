"""What every Gram operator does, against the dense matrix."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, eigsh

from mercer import MEKA, ExactGram, Gaussian, LowRankGram, Nystroem
from mercer.gram import BlockGram
from mercer.testing import rounding

KERNEL = Gaussian(gamma=1.0)
X = np.random.RandomState(0).standard_normal((90, 3))


def exact(rows):
    return ExactGram(KERNEL, rows)


def low_rank(rows):
    return LowRankGram.of(Nystroem(KERNEL, n_components=20, landmarks="uniform", random_state=0).fit(rows), rows)


def block(rows):
    return BlockGram(KERNEL, rows, n_clusters=4, random_state=0)


def meka(rows):
    return MEKA(KERNEL, n_clusters=4, rank=8, random_state=0).fit(rows)


MAKERS = [exact, low_rank, block, meka]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_rows_and_diagonal_are_those_of_the_dense_matrix(make, dtype):
    operator = make(X.astype(dtype))
    assert isinstance(operator, LinearOperator)
    K = operator.to_dense().astype(np.float64)
    tolerance = {"atol": rounding(dtype, 90) * 4}
    assert operator.shape == K.shape == (90, 90)
    assert operator.dtype == dtype
    V = np.random.RandomState(1).standard_normal((90, 3))
    np.testing.assert_allclose(operator @ V, K @ V, **tolerance)
    np.testing.assert_allclose(operator @ V[:, 0], K @ V[:, 0], **tolerance)
    np.testing.assert_allclose(operator.T @ V, K @ V, **tolerance)
    np.testing.assert_allclose((2.0 * operator) @ V[:, 1], 2 * K @ V[:, 1], **tolerance)
    np.testing.assert_allclose(operator.diagonal(), np.diag(K), **tolerance)
    np.testing.assert_allclose(operator.rows(7), K[7], **tolerance)
    np.testing.assert_allclose(operator.rows([3, 80, 3]), K[[3, 80, 3]], **tolerance)
    np.testing.assert_allclose(operator.rows(slice(4, 9)), K[4:9], **tolerance)


@pytest.mark.parametrize("make", MAKERS)
def test_it_pickles(make):
    operator = make(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(operator)).to_dense(), operator.to_dense())


@pytest.mark.parametrize("make", MAKERS)
def test_symmetric_and_positive_semi_definite(make):
    K = make(X).to_dense()
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10


@pytest.mark.parametrize("make", MAKERS)
def test_scipy_solvers_take_it(make):
    operator = make(X)
    y = np.sin(X[:, 0])
    K = operator.to_dense()
    solution, status = cg(operator + 0.5 * LinearOperator((90, 90), matvec=lambda v: v), y, rtol=1e-10, maxiter=500)
    assert status == 0
    np.testing.assert_allclose(K @ solution + 0.5 * solution, y, atol=1e-8)
    np.testing.assert_allclose(eigsh(operator, k=2)[0], np.linalg.eigvalsh(K)[-2:], rtol=1e-8)


@pytest.mark.parametrize("make", [low_rank, block, meka])
@pytest.mark.parametrize("shape", [(90,), (90, 2)])
def test_solve_is_ridge_on_the_dense_matrix(make, shape):
    operator = make(X)
    B = np.random.RandomState(2).standard_normal(shape)
    expected = np.linalg.solve(operator.to_dense() + 0.1 * np.eye(90), B)
    np.testing.assert_allclose(operator.solve(B, alpha=0.1), expected, atol=1e-8)
    with pytest.raises(ValueError, match="alpha must be a finite number > 0"):
        operator.solve(B, alpha=0.0)
    with pytest.raises(ValueError, match=r"the right-hand side must have 90 rows, got shape \(3,\)"):
        operator.solve(np.ones(3), alpha=1.0)


@pytest.mark.parametrize("make", MAKERS)
def test_errors_are_those_of_the_whole_matrix(make):
    operator = make(X)
    K = KERNEL(X)
    expected = np.linalg.norm(K - operator.to_dense()) / np.linalg.norm(K)
    np.testing.assert_allclose(operator.frobenius_error(X), expected, atol=1e-12)
    np.testing.assert_allclose(operator.error(X).frobenius.value, expected, atol=1e-7)
    sampled = operator.frobenius_error(X, n_sampled=40)
    assert (sampled > 0) == (expected > 0) or expected < 1e-12
    with pytest.raises(ValueError, match="the 90 rows that the operator was built on, got 5"):
        operator.error(X[:5])


@pytest.mark.parametrize("make", MAKERS)
def test_sparse_rows(make):
    rows = np.where(X > 0.3, X, 0.0)
    np.testing.assert_allclose(make(sparse.csr_array(rows)).to_dense(), make(rows).to_dense(), atol=1e-7)
