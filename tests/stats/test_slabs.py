"""Rows in slabs: their products are those of the whole matrix."""

import numpy as np
import pytest

from mercer.stats import Gradient
from mercer.stats.base import add_product
from mercer.stats.slabs import SlabRows


def _in_slabs(Z, width):
    """Return rows in slabs that share one buffer, as those of a map do."""
    buffer = np.empty((Z.shape[0], width), dtype=Z.dtype)

    def slabs():
        for start in range(0, Z.shape[1], width):
            part = Z[:, start : start + width]
            buffer[:, : part.shape[1]] = part
            yield slice(start, start + part.shape[1]), buffer[:, : part.shape[1]]

    return SlabRows(Z.shape, Z.dtype, slabs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("width", [1, 4, 11, 20])
def test_products_are_those_of_the_whole_matrix(rng, dtype, k, width):
    Z, W = rng.standard_normal((30, 11)).astype(dtype), rng.standard_normal((11, k)).astype(dtype)
    R, rows = rng.standard_normal((30, k)).astype(dtype), _in_slabs(Z, width)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(rows @ W, Z @ W, atol=tolerance)
    np.testing.assert_allclose(rows.gram(), Z @ Z.T, atol=tolerance)
    total = np.ones((11, k))
    add_product(total, rows, R)
    np.testing.assert_allclose(total, 1.0 + Z.T @ R, atol=10 * tolerance)


def test_a_gradient_takes_them(rng):
    Z, R = rng.standard_normal((30, 11)), rng.standard_normal((30, 2))
    whole, parts = (Gradient.of(11, 2).update(rows, R, 1.5) for rows in (Z, _in_slabs(Z, 4)))
    np.testing.assert_allclose(parts.vector, whole.vector, atol=1e-12)
    np.testing.assert_array_equal(parts.constant, whole.constant)
