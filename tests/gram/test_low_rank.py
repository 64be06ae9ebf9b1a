"""Operators Z Z\': eigenvectors, sparse features, and any fitted map."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, LowRankGram, Nystroem, Polynomial, TensorSketch

KERNEL = Gaussian(gamma=1.0)
X = np.random.RandomState(0).standard_normal((90, 3))


def low_rank(rows):
    return LowRankGram.of(Nystroem(KERNEL, n_components=20, landmarks="uniform", random_state=0).fit(rows), rows)


def test_low_rank_eigenvectors():
    operator = low_rank(X)
    values, vectors = operator.eigh()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-5)
    np.testing.assert_allclose(vectors * values @ vectors.T, operator.to_dense(), atol=1e-10)
    top, _ = operator.eigh(3)
    np.testing.assert_allclose(top, np.linalg.eigvalsh(operator.to_dense())[::-1][:3])
    assert operator.memory_bytes == operator.Z.nbytes


def test_low_rank_of_sparse_features():
    Z = sparse.random_array((30, 12), density=0.3, format="csr", rng=np.random.default_rng(0))
    operator = LowRankGram(Z)
    K = Z.toarray() @ Z.toarray().T
    np.testing.assert_allclose(operator.to_dense(), K)
    np.testing.assert_allclose(operator @ np.ones(30), K.sum(axis=1))
    np.testing.assert_allclose(operator.diagonal(), np.diag(K))
    np.testing.assert_allclose(operator.solve(np.ones(30), alpha=1.0), np.linalg.solve(K + np.eye(30), np.ones(30)))
    with pytest.raises(ValueError, match="no kernel is known to compare with"):
        operator.error(X[:30])


def test_low_rank_of_any_fitted_map():
    sketch = TensorSketch(Polynomial(2), n_components=64, random_state=0).fit(X)
    np.testing.assert_allclose(LowRankGram.of(sketch, X).to_dense(), sketch.transform(X) @ sketch.transform(X).T)
    with pytest.raises(ValueError, match="is not fitted"):
        LowRankGram.of(TensorSketch(), X)
