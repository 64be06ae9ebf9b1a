"""Frobenius norms from sampled rows: exact on all rows, unbiased on some, centred or not."""

import numpy as np
import pytest

from mercer.gram.norms import centred_squared_norm, root_interval, squared_norm
from mercer.gram.stratified import RowSample
from mercer.testing import assert_mean_close


def symmetric(n=30, offset=0.0):
    A = np.random.RandomState(0).standard_normal((n, n))
    return A + A.T + offset


def centred(M):
    H = np.eye(len(M)) - 1 / len(M)
    return H @ M @ H


@pytest.mark.parametrize(("norm", "transform"), [(squared_norm, lambda M: M), (centred_squared_norm, centred)])
def test_norms_are_exact_on_all_rows_and_unbiased_on_some(norm, transform):
    M = symmetric(offset=2.0)
    expected = (transform(M) ** 2).sum()
    whole = RowSample.of(np.ones(30), 30, np.random.RandomState(0))
    assert norm(whole, M[np.ix_(whole.rows, whole.rows)], np.diag(M)).value == pytest.approx(expected)
    found = []
    for seed in range(400):
        sample = RowSample.of(np.ones(30), 12, np.random.RandomState(seed))
        found.append(norm(sample, M[np.ix_(sample.rows, sample.rows)], np.diag(M)).value)
    assert_mean_close(found, expected, false_alarm=1e-6)


def test_the_interval_of_a_whole_sample_is_a_point():
    M = symmetric()
    whole = RowSample.of(np.ones(30), 30, np.random.RandomState(0))
    total = squared_norm(whole, M[np.ix_(whole.rows, whole.rows)], np.diag(M))
    value, low, high = root_interval(whole, total, None, 0.95)
    assert low == pytest.approx(value) == pytest.approx(high)
    assert value == pytest.approx(np.linalg.norm(M))
