"""The inverse root of a Gram matrix: by Cholesky what eigenvectors give, or not at all."""

import numpy as np
import pytest
from scipy.linalg import eigh

from mercer import Gaussian, Linear, Matern, Nystroem, Polynomial
from mercer.features.nystroem import inverse_root
from mercer.features.nystroem.inverse_root import eigenvectors, trapezoidal, triangular_inverse_root
from mercer.testing import sample_rows

KERNELS = [Gaussian(gamma=2.0), Matern(0.5, length_scale=1.0), Polynomial(3, coef0=1.0)]


def by_eigenvectors(W):
    values, vectors = eigh(W)
    return trapezoidal(vectors / np.sqrt(values))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_is_the_rotated_root_of_the_eigenvectors(kernel):
    X = np.random.RandomState(0).standard_normal((60, 8))
    W = kernel(X)
    values, root = triangular_inverse_root(W, np.finfo(float).eps)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(W), rtol=1e-9, atol=1e-13 * values[-1])
    assert np.array_equal(root, np.triu(root))
    # Both are backward stable: a few n eps times the condition number.
    atol = 8 * 60 * np.finfo(float).eps * values[-1] / values[0] * np.abs(root).max()
    np.testing.assert_allclose(root, by_eigenvectors(W), atol=atol)
    np.testing.assert_allclose(root @ root.T @ W, np.eye(60), atol=atol * np.abs(W).max())


def test_it_declines_where_an_eigenvalue_is_cut():
    eps = np.finfo(float).eps
    X = np.random.RandomState(0).standard_normal((30, 5))
    assert triangular_inverse_root(Linear()(X), eps) is None  # rank 5
    repeated = Gaussian(gamma=1.0)(np.vstack([X, X[:1]]))
    assert triangular_inverse_root(repeated, eps) is None
    assert triangular_inverse_root(-np.eye(3), eps) is None
    W = np.diag([1.0, 1e-6])
    assert triangular_inverse_root(W, 1e-7) is not None
    assert triangular_inverse_root(W, 1e-5) is None


def test_eigenvectors_are_those_of_the_matrix():
    W = Gaussian(gamma=1.0)(np.random.RandomState(0).standard_normal((20, 3)))
    values, vectors = eigenvectors(W.copy())
    np.testing.assert_allclose((vectors * values) @ vectors.T, W, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_nystroem_is_the_same_with_and_without(monkeypatch, kernel, dtype):
    X = sample_rows(80).astype(dtype)
    make = Nystroem(kernel, n_components=40, landmarks="uniform", random_state=0)
    fast = make.fit(X)
    grams = [fast.transform(X).astype(float)]
    rank, eigenvalues = fast.rank_, fast.eigenvalues_
    monkeypatch.setattr(inverse_root, "_SAFETY", np.inf)
    slow = make.fit(X)
    grams.append(slow.transform(X).astype(float))
    assert slow.rank_ == rank
    np.testing.assert_allclose(slow.eigenvalues_, eigenvalues, atol=1e-13 * eigenvalues[0])
    # in float32, features of small eigenvalues carry their rounding times 1 / sqrt(eps) at most
    atol = 1e-9 if dtype == np.float64 else 1e-3
    K = kernel(X.astype(float))
    np.testing.assert_allclose(*(Z @ Z.T for Z in grams), atol=atol * np.abs(K).max())
    for Z in grams if dtype == np.float64 else ():
        assert np.linalg.eigvalsh(K - Z @ Z.T)[0] > -1e-9 * np.abs(K).max()
