"""The leading part of a second-moment matrix: its eigenvectors, and the inverse that conjugate gradients take."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import LowRank, conjugate_gradients
from mercer.solvers.smooth.low_rank import RowCombinations
from mercer.stats.slabs import SlabRows


def _rows(rng, n_rows=200, n_features=30, decay=0.7):
    return 3.0 + rng.standard_normal((n_rows, n_features)) * decay ** np.arange(n_features)


def in_slabs(Z, width):
    """Return rows of which ``width`` columns are given at a time."""
    starts = range(0, Z.shape[1], width)
    return SlabRows(Z.shape, Z.dtype, lambda: ((slice(i, i + width), Z[:, i : i + width]) for i in starts))


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_largest_eigenpairs(rng, centre, is_sparse):
    Z, weight = _rows(rng), rng.rand(200)
    weight /= weight.sum()
    apart = Z - weight @ Z if centre else Z
    values, vectors = np.linalg.eigh(apart.T @ (weight[:, None] * apart))
    found = LowRank.of(sparse.csr_array(Z) if is_sparse else Z, weight, 5, centre=centre)
    np.testing.assert_allclose(found.values, values[::-1][:5], rtol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(found.vectors * vectors[:, ::-1][:, :5], axis=0)), 1.0, rtol=1e-6)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-8)


def test_the_inverse_is_that_of_the_leading_part(rng):
    Z, weight = _rows(rng), np.full(200, 1 / 200)
    found = LowRank.of(Z, weight, 6)
    V, values = found.vectors, 7.0 * found.values + 0.3
    expected = V @ np.diag(1 / values) @ V.T + (np.eye(30) - V @ V.T) / values[-1]
    right = rng.standard_normal((30, 2))
    np.testing.assert_allclose(found.inverse(7.0, 0.3)(right), expected @ right, atol=1e-10)
    assert np.linalg.eigvalsh(expected).min() > 0


def test_rows_that_are_all_the_same_leave_nothing(rng):
    Z = np.ones((20, 4))
    right = rng.standard_normal((4, 1))
    found = LowRank.of(Z, np.full(20, 0.05), 5, centre=True)
    assert np.isfinite(found.inverse(1.0, 0.1)(right)).all()


def test_there_is_one_eigenvector_for_every_four_rows(rng):
    assert LowRank.of(rng.rand(40, 20), np.full(40, 1 / 40), 100).vectors.shape == (20, 10)


def test_it_saves_products_of_conjugate_gradients(rng):
    Z = _rows(rng, 2000, 100, 0.85)
    A, right = Z.T @ Z + 1e-3 * np.eye(100), rng.standard_normal((100, 2))
    sample = Z[:200]
    inverse = LowRank.of(sample, np.full(200, 1 / 200), 50).inverse(2000.0, 1e-3)
    plain = conjugate_gradients(lambda v: A @ v, right, tol=1e-8)
    found = conjugate_gradients(lambda v: A @ v, right, precondition=inverse, tol=1e-8)
    assert found.success
    assert found.iterations < plain.iterations / 2
    np.testing.assert_allclose(A @ found.value, right, atol=1e-6)


@pytest.mark.parametrize("centre", [False, True])
def test_rows_in_slabs_give_the_same_part(rng, centre):
    Z, weight = _rows(rng), rng.rand(200)
    weight /= weight.sum()
    whole = LowRank.of(Z, weight, 5, centre=centre)
    parts = LowRank.of(in_slabs(Z, 7), weight, 5, centre=centre)
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-10)
    np.testing.assert_allclose(parts.mean, weight @ Z, rtol=1e-10)
    np.testing.assert_allclose(whole.mean, weight @ Z, rtol=1e-10)
    right = rng.standard_normal((30, 2))
    np.testing.assert_allclose(parts.inverse(3.0, 0.1)(right), whole.inverse(3.0, 0.1)(right), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigenvectors_that_are_not_stored_give_the_same_inverse(rng, dtype):
    Z, weight = _rows(rng).astype(dtype), rng.rand(200)
    weight /= weight.sum()
    stored = LowRank.of(Z, weight, 5, centre=True)
    found = LowRank.of(in_slabs(Z, 7), weight, 5, centre=True, stored=False)
    assert isinstance(found.vectors, RowCombinations)
    assert found.vectors.coefs.shape == (200, 5)
    np.testing.assert_allclose(found.mean, stored.mean, rtol=1e-5)
    right = rng.standard_normal((30, 2))
    tolerance = 1e-8 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(found.inverse(3.0, 0.1)(right), stored.inverse(3.0, 0.1)(right), atol=tolerance)


def test_the_approximate_eigenvectors_of_many_rows_are_orthogonal_and_large(rng):
    """Of 1200 rows, beyond those whose eigenvectors are exact: Ritz vectors, whose values are never too large."""
    Z = rng.standard_normal((1200, 400)) / np.arange(1, 401) ** 0.7
    weight = np.full(1200, 1 / 1200)
    found = LowRank.of(Z, weight, 100)
    exact = np.linalg.eigvalsh(Z.T @ Z / 1200)[::-1][:100]
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(100), atol=1e-8)
    assert (found.values <= exact * (1 + 1e-10)).all()
    assert found.values.sum() > 0.95 * exact.sum()


def test_without_eigenvectors_the_inverse_is_that_of_the_penalty(rng):
    empty = LowRank(np.empty((4, 0)), np.empty(0), np.zeros(4))
    right = rng.standard_normal((4, 1))
    np.testing.assert_allclose(empty.inverse(1.0, 0.5)(right), right / 0.5)
