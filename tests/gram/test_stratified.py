"""Stratified samples of rows: unbiased totals, large rows with certainty, intervals that widen."""

import numpy as np

from mercer.gram.stratified import RowSample
from mercer.testing import assert_mean_close


def test_a_sample_of_all_rows_is_whole():
    sample = RowSample.of(np.ones(20), 50, np.random.RandomState(0))
    assert sample.is_whole
    np.testing.assert_array_equal(np.sort(sample.rows), np.arange(20))


def test_rows_of_a_large_size_are_always_drawn_and_none_twice():
    sizes = np.ones(200)
    sizes[:3] = 1e4
    for seed in range(20):
        rows = RowSample.of(sizes, 30, np.random.RandomState(seed)).rows
        assert set(range(3)) <= set(rows.tolist())
        assert len(np.unique(rows)) == len(rows)


def test_sums_over_pairs_are_unbiased():
    M = np.random.RandomState(0).standard_exponential((40, 40))
    M += M.T
    expected = M.sum() - np.trace(M)
    found = []
    for seed in range(400):
        sample = RowSample.of(M.sum(axis=1), 15, np.random.RandomState(seed))
        found.append(sample.pairs(M[np.ix_(sample.rows, sample.rows)]).value)
    assert_mean_close(found, expected, false_alarm=1e-6)


def test_more_confidence_means_a_wider_interval():
    sample = RowSample.of(np.ones(100), 20, np.random.RandomState(0))
    replicates = np.random.RandomState(1).standard_normal(len(sample.rows))
    narrow, wide = (sample.offsets(replicates, confidence) for confidence in (0.8, 0.99))
    assert narrow[0] < wide[0]
    assert narrow[1] < wide[1]
