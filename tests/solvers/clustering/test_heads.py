"""Heads and rests: products stay within what the rests allow; directions that hold most of the rows."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import Heads, leading_directions


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_heads_and_rests_bound_the_differences_of_products(rng, dtype):
    Z, centres = rng.standard_normal((80, 30)).astype(dtype), rng.standard_normal((7, 30))
    directions = np.linalg.qr(rng.standard_normal((30, 5)))[0].astype(dtype)
    heads = Heads(80, directions)
    for rows in (slice(0, 50), slice(50, 80)):
        assert heads.directions_of(rows) is directions
        heads.keep(rows, Z[rows] @ directions, np.square(Z[rows].astype(float)).sum(axis=1))
        assert heads.directions_of(rows) is None
    of_rows, rests = heads.of_rows(slice(0, 80))
    of_centres, (lengths, centre_rests, spreads), apart = heads.of_centres(centres)
    wide = directions.astype(float)
    rest = centres - centres @ wide @ wide.T
    np.testing.assert_allclose(lengths, np.square(centres).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(centre_rests, np.linalg.norm(rest, axis=1), rtol=2e-6)
    np.testing.assert_allclose(spreads, np.linalg.norm(rest - rest.mean(axis=0), axis=1), rtol=2e-6)
    np.testing.assert_allclose(apart, np.linalg.norm(rest[:, None] - rest, axis=2), rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(rests, np.linalg.norm(Z - Z @ wide @ wide.T, axis=1), rtol=1e-4)
    error = Z.astype(float) @ centres.T - of_rows.astype(float) @ of_centres.T
    rounding = 1e-4
    assert (abs(error) <= rests[:, None] * centre_rests + rounding).all()
    assert (abs(error[:, :, None] - error[:, None]) <= rests[:, None, None] * apart + rounding).all()
    assert Heads.row_bytes(5) == (of_rows.nbytes + rests.nbytes) / 80


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_directions_hold_nearly_what_singular_vectors_do(rng, dtype, make):
    Z = (rng.standard_normal((600, 90)) * 0.9 ** np.arange(90)).astype(dtype)
    directions = leading_directions(make(Z), 12)
    assert directions.shape == (90, 12)
    assert directions.dtype == dtype
    np.testing.assert_allclose(directions.T @ directions, np.eye(12), atol=100 * np.finfo(dtype).eps)
    held, best = np.square(Z @ directions).sum(), np.square(np.linalg.svd(Z)[1][:12]).sum()
    assert 0.99 * best < held <= 1.0001 * best


def test_directions_of_few_columns_and_of_few_rows(rng):
    np.testing.assert_array_equal(leading_directions(rng.standard_normal((9, 4)), 5), np.eye(4))
    Z = rng.standard_normal((3, 40))
    directions = leading_directions(Z, 8)  # three rows have three directions
    np.testing.assert_allclose(Z @ directions @ directions.T, Z)
    zero = leading_directions(np.zeros((30, 40)), 8)
    np.testing.assert_allclose(zero.T @ zero, np.eye(8), atol=1e-12)
