"""Products of projections in NumPy against their definition."""

import numpy as np
import pytest
from scipy import sparse

from mercer import reference


@pytest.mark.parametrize("widths", [[], [3], [4, 2, 1], [5, 5]])
def test_products_of_projections(rng, widths):
    X = rng.standard_normal((6, 3))
    W = rng.standard_normal((3, sum(widths)))
    dense, csr = np.full((6, 5), np.nan), np.full((6, 5), np.nan)
    expected = np.ones((6, 5))
    start = 0
    for width in widths:
        for feature in range(width):
            expected[:, feature] *= X @ W[:, start + feature]
        start += width
    widths = np.array(widths, dtype=np.int64)
    reference.project_product(X, W, widths, dense)
    np.testing.assert_allclose(dense, expected)
    S = sparse.csr_array(X)
    reference.project_product_csr(S.data, S.indices, S.indptr, W, widths, csr)
    np.testing.assert_allclose(csr, expected)
