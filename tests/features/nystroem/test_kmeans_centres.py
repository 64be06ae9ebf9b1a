"""Centres of k-means: both algorithms, both precisions and layouts, and few distinct rows."""

import numpy as np
import pytest
from scipy import sparse

import mercer
from mercer import Gaussian
from mercer.features.nystroem import kmeans_centres, landmarks
from mercer.testing import sample_rows

KERNEL = Gaussian(gamma=1.0)


def test_mini_batches_on_many_rows(monkeypatch):
    monkeypatch.setattr(kmeans_centres, "_LLOYD_ENTRIES", 10)
    X = np.vstack([sample_rows(500, 2), sample_rows(500, 2) + 9])
    chosen = landmarks.kmeans(KERNEL, X, 2, random_state=0)
    assert sorted(round(value) for value in chosen.points[:, 0]) == [0, 9]


@pytest.mark.parametrize("n_rows", [500, 3000])
def test_centres_of_float32_rows_far_from_the_origin(n_rows, monkeypatch):
    """k-means by Lloyd's algorithm and in mini-batches, at an offset where float32 products lose the distances."""
    monkeypatch.setattr(kmeans_centres, "_LLOYD_ENTRIES", 10_000)
    X = (np.random.RandomState(0).standard_normal((n_rows, 3)) + 1e4).astype(np.float32)
    centres = kmeans_centres.kmeans_centres(X, 10, np.random.RandomState(0))
    expected = kmeans_centres.kmeans_centres(X.astype(np.float64) - 1e4, 10, np.random.RandomState(0)) + 1e4
    np.testing.assert_allclose(centres, expected, atol=1e-6)


def test_as_many_clusters_as_rows_are_the_rows():
    X = sample_rows(4)
    for rows in (X, sparse.csr_array(X)):
        centres = kmeans_centres.kmeans_centres(rows, 9, np.random.RandomState(0))
        np.testing.assert_allclose(centres, X, atol=1e-12)


def test_repeated_rows_give_each_centre_once():
    X = np.repeat([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], 16, axis=0)  # their mean is exactly 0
    assert kmeans_centres.kmeans_centres(X, 10, np.random.RandomState(0)).shape == (4, 2)


def test_dense_centres_of_wide_csr_rows_are_refused_beyond_the_memory():
    X = sparse.random_array((500, 100_000), density=1e-4, format="csr", rng=0)
    with (
        mercer.config_context(memory="50MB"),
        pytest.raises(MemoryError, match=r"dense centres of 100000 columns.*rpchol"),
    ):
        kmeans_centres.kmeans_centres(X, 100, np.random.RandomState(0))
