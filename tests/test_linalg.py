"""Squared lengths and distances of rows against their definitions, dense and CSR."""

import numpy as np
import pytest
from scipy import sparse

from mercer.linalg import nearest_of, squared_distances, squared_norms, squares_of
from mercer.testing import rounding


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "csr"])
def rows(request, rng):
    Z = np.where(rng.random_sample((9, 5)) < 0.5, rng.standard_normal((9, 5)), 0.0)
    return Z, request.param(Z)


def test_squared_norms(rows):
    dense, Z = rows
    np.testing.assert_allclose(squared_norms(Z), (dense**2).sum(axis=1), atol=rounding(float, 5))


def test_squared_norms_of_single_precision_are_double(rows):
    assert squared_norms(rows[1].astype(np.float32)).dtype == np.float64


def test_squared_distances(rows, rng):
    dense, Z = rows
    centres = rng.standard_normal((3, 5))
    expected = np.square(centres[:, None] - dense).sum(axis=2)
    np.testing.assert_allclose(squared_distances(Z, squared_norms(Z), centres), expected, atol=100 * rounding(float, 5))
    np.testing.assert_allclose(
        squares_of(centres @ dense.T, squared_norms(Z), centres), expected, atol=100 * rounding(float, 5)
    )


def test_the_first_of_equal_entries_is_the_nearest(rng):
    squares = rng.randint(3, size=(6, 40)).astype(float)
    labels, least = nearest_of(squares)
    np.testing.assert_array_equal(labels, squares.argmin(axis=0))
    np.testing.assert_array_equal(least, squares.min(axis=0))
