"""Ranges of columns, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse

from mercer.stats import ColumnRanges
from mercer.stats.ranges import extremes
from mercer.testing import check_statistic


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_laws(dtype):
    X = np.random.RandomState(0).standard_normal((40, 3)).astype(dtype)
    check_statistic(ColumnRanges.of(3), [X], [0, 4, 4, 30], rtol=0.0)


@pytest.mark.parametrize("density", [0.1, 0.7, 1.0])
def test_sparse_rows_have_the_range_of_dense_ones(density):
    X = sparse.random_array((30, 9), density=density, format="csr", rng=np.random.default_rng(0))
    X.data += 1.0
    X.data[::3] *= -1
    check_statistic(ColumnRanges.of(9), [X], [5, 17], rtol=0.0)
    sparse_ranges, dense = ColumnRanges.of(9).update(X), ColumnRanges.of(9).update(X.toarray())
    np.testing.assert_array_equal(sparse_ranges.low, dense.low)
    np.testing.assert_array_equal(sparse_ranges.high, dense.high)


@pytest.mark.parametrize("shape", [(1, 3), (7, 3), (1000, 1), (1001, 28), (30, 1024), (3, 2000)])
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_extremes_are_those_of_the_columns(shape, layout):
    X = np.random.RandomState(0).standard_normal(shape)
    X = np.asfortranarray(X) if layout == "F" else np.repeat(X, 2, axis=0)[::2] if layout == "strided" else X
    low, high = extremes(X)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
