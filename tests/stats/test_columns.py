"""Moments of columns: a mergeable statistic, equal to NumPy's, with missing values and on CSR rows."""

import numpy as np
import pytest
from scipy import sparse

from mercer.stats import ColumnMoments

rng = np.random.RandomState(0)
X = rng.standard_normal((500, 4)) * [1, 1e-3, 1e3, 1] + [0, 1e6, 0, 5]


@pytest.mark.parametrize("cuts", [[], [1], [100, 101, 400]])
@pytest.mark.parametrize("missing", [0, 0.2])
def test_however_rows_are_cut_it_is_numpys(cuts, missing):
    rows = np.where(rng.random_sample(X.shape) < missing, np.nan, X)
    parts = [ColumnMoments.of(4).update(part) for part in np.split(rows, cuts)]
    total = ColumnMoments.of(4)
    for part in parts:
        total.merge(part)
    np.testing.assert_allclose(total.mean, np.nanmean(rows, axis=0), rtol=1e-12)
    np.testing.assert_allclose(total.deviation, np.nanstd(rows, axis=0), rtol=1e-8)
    np.testing.assert_array_equal(total.count, (~np.isnan(rows)).sum(axis=0))
    np.testing.assert_array_equal([total.low, total.high], [np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)])


def test_csr_rows_count_their_zeros():
    dense = np.where(rng.random_sample((200, 5)) < 0.7, 0, rng.standard_normal((200, 5)))
    dense[:, 4] = 0
    one = ColumnMoments.of(5).update(sparse.csr_array(dense[:70])).update(sparse.csr_array(dense[70:]))
    other = ColumnMoments.of(5).update(dense)
    for name in ("count", "mean", "squares", "low", "high"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-14)


def test_a_column_without_values_and_the_identity():
    rows = np.array([[1.0, np.nan], [2.0, np.nan]])
    total = ColumnMoments.of(2).update(rows)
    assert total.count.tolist() == [2, 0]
    assert total.mean.tolist() == [1.5, 0]
    before = total.mean.copy(), total.squares.copy()
    total.merge(total.zero()).update(rows[:0])
    np.testing.assert_array_equal(before, (total.mean, total.squares))
