"""A uniform sample that merges: the same rows however they are cut, and every row equally likely."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from mercer.stats import RowSample
from mercer.stats.row_sample import last_key, row_keys
from mercer.testing import assert_mean_close


def rows_of(n_rows):
    return np.arange(n_rows, dtype=np.float64)[:, None]


def merged(X, size, seed, cuts):
    total = RowSample(size, seed)
    for a, b in pairwise([0, *sorted(cuts), X.shape[0]]):
        total.merge(total.zero().update(X[a:b], a, np.arange(a, b) / 2))
    return total


@given(st.lists(st.integers(0, 200), max_size=8), st.integers(1, 60), st.integers(0, 2**31 - 2))
def test_the_cuts_are_irrelevant(cuts, size, seed):
    X = rows_of(200)
    whole, parts = RowSample(size, seed).update(X, 0, np.arange(200) / 2), merged(X, size, seed, cuts)
    for one in (parts, RowSample(size, seed).merge(whole)):
        np.testing.assert_array_equal(one.rows, whole.rows)
        np.testing.assert_array_equal(one.numbers, whole.numbers)
        np.testing.assert_array_equal(one.values, whole.values)
    np.testing.assert_array_equal(whole.rows[:, 0], whole.numbers)
    assert (np.diff(whole.numbers) > 0).all()


@given(st.lists(st.integers(0, 100), min_size=2, max_size=2), st.integers(1, 40))
def test_merging_is_associative(cuts, size):
    X, (a, b) = rows_of(100), sorted(cuts)

    def parts():
        return [RowSample(size, 3).update(X[i:j], i) for i, j in pairwise([0, a, b, 100])]

    left, right = parts(), parts()
    one = left[0].merge(left[1]).merge(left[2])
    other = right[0].merge(right[1].merge(right[2]))
    np.testing.assert_array_equal(one.numbers, other.numbers)


def test_sparse_rows_stay_sparse():
    X = sparse.random_array((300, 6), density=0.3, format="csr", rng=np.random.default_rng(0))
    sample = merged(X, 20, 0, [50, 51, 200])
    assert sparse.issparse(sample.rows)
    np.testing.assert_array_equal(sample.rows.toarray(), X.toarray()[sample.numbers])


def test_few_rows_are_all_there():
    sample = merged(rows_of(30), 40, 0, [7])
    np.testing.assert_array_equal(sample.numbers, np.arange(30))
    assert RowSample(4, 0).is_empty


def test_memory_is_that_of_the_sample():
    sample = RowSample(10, 0)
    for first in range(0, 10_000, 25):
        sample.update(np.zeros((25, 2)), first)
        assert sum(len(part.keys) for part in sample._parts) <= 2 * 10 + 25


def test_pairs_of_rows_are_equally_likely_across_blocks():
    """All pairs among 12 rows in three merged blocks, over 2,000 seeds."""
    counts = []
    for seed in range(2000):
        chosen = np.zeros(12)
        chosen[merged(rows_of(12), 5, seed, [3, 7]).numbers] = 1
        counts.append(np.outer(chosen, chosen)[np.triu_indices(12)])
    expected = np.where(np.eye(12), 5 / 12, 5 * 4 / (12 * 11))[np.triu_indices(12)]
    assert_mean_close(counts, expected, detect=0.5)


def test_a_large_sample_is_spread_evenly_over_the_stream():
    """The counts in 50 stretches of a stream are those of draws without replacement: chi-square, false alarm 1e-6."""
    n_rows, size, n_cells = 100_000, 4096, 50
    for seed in range(5):
        numbers = merged(rows_of(n_rows), size, seed, range(4096, n_rows, 4096)).numbers
        counts = np.bincount(numbers * n_cells // n_rows, minlength=n_cells)
        # without replacement the variance of each count is (1 - size / n_rows) of the multinomial's
        chi_square = ((counts - size / n_cells) ** 2).sum() / (size / n_cells * (1 - size / n_rows))
        low, high = stats.chi2.ppf([1e-7, 1 - 1e-7], n_cells - 1)  # 5 seeds, two sides: 1e-6 in all
        assert low < chi_square < high


def test_keys_are_uniform_and_those_of_neighbouring_seeds_independent():
    keys = np.array([row_keys(seed, 0, 20_000) for seed in range(4)]).astype(np.float64) / 2.0**64
    for row in keys:
        assert stats.kstest(row, "uniform").pvalue > 1e-7
    for one, other in pairwise(keys):
        # the correlation of independent keys is normal with deviation 1 / sqrt(n): beyond 5.4 once in 1.5e7 draws
        assert abs(np.corrcoef(one, other)[0, 1]) * np.sqrt(len(one)) < 5.4
        assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) * np.sqrt(len(one)) < 5.4


@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 4095, 2**40 + 1])
def test_a_key_belongs_to_the_number_of_its_row(first):
    np.testing.assert_array_equal(row_keys(5, first, 9)[3:], row_keys(5, first + 3, 6))


@pytest.mark.parametrize(("n_rows", "size"), [(40, 7), (2**18 + 5, 1000), (2**19, 2**18 + 1)])
def test_the_last_key_tells_the_sample_from_row_numbers_alone(n_rows, size):
    numbers = np.flatnonzero(row_keys(3, 0, n_rows) <= np.uint64(last_key(3, n_rows, size)))
    np.testing.assert_array_equal(numbers, RowSample(size, 3).update(np.zeros((n_rows, 1))).numbers)


def test_a_sample_of_all_rows_has_no_last_key():
    assert last_key(0, 5, 5) is None
    assert last_key(0, 6, 5) is not None
