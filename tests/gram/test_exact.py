"""The exact operator: products without a matrix."""

import numpy as np
import pytest

from mercer import ExactGram, Gaussian, config_context

KERNEL = Gaussian(gamma=1.0)
X = np.random.RandomState(0).standard_normal((90, 3))


def _sums():
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)).sum(axis=1)


def test_an_exact_product_stores_no_matrix():
    with config_context(memory="20kB"):
        operator = ExactGram(KERNEL, X)
        np.testing.assert_allclose(operator @ np.ones(90), _sums(), atol=1e-9)
        with pytest.raises(MemoryError, match="ExactGram: the number of rows=90 needs"):
            operator.to_dense()
    assert operator.memory_bytes == 0
