"""First centres: distinct rows, the probabilities of k-means++, weights, and too few distinct rows."""

import numpy as np
import pytest
from scipy import stats

from mercer.solvers.clustering.seeding import kmeans_plus_plus, random_rows


def _seeds(Z, weight, k, rng):
    return kmeans_plus_plus(Z, np.square(Z).sum(axis=1), weight, k, rng)


def test_separate_groups_each_get_a_centre(rng):
    """Groups 1000 apart, of width 1: a second centre in one group leaves 1e6 times the inertia of any other draw."""
    group = np.repeat(np.arange(6), 30)
    Z = 1000.0 * group[:, None] + rng.standard_normal((180, 2))
    assert sorted(group[_seeds(Z, np.ones(180), 6, rng)]) == list(range(6))


def test_the_first_centre_is_drawn_by_weight(rng):
    """3000 draws; a chi-squared test with a false-alarm rate of 1e-6."""
    weight, Z = np.array([1.0, 2.0, 3.0, 4.0]), np.arange(4.0)[:, None]
    first = [_seeds(Z, weight, 1, rng)[0] for _ in range(3000)]
    assert stats.chisquare(np.bincount(first, minlength=4), 300 * weight).pvalue > 1e-6


def test_rows_of_weight_zero_are_never_drawn(rng):
    Z, weight = rng.standard_normal((30, 2)), np.where(np.arange(30) < 10, 1.0, 0.0)
    for draw in (lambda: _seeds(Z, weight, 5, rng), lambda: random_rows(weight, 5, rng)):
        assert max(max(draw()) for _ in range(50)) < 10


def test_distinct_rows_are_drawn_once_while_there_are_any(rng):
    Z = np.repeat(rng.standard_normal((4, 3)), 5, axis=0)
    chosen = _seeds(Z, np.ones(20), 4, rng)
    assert len(np.unique(Z[chosen], axis=0)) == 4
    more = _seeds(Z, np.ones(20), 7, rng)
    assert len(more) == 7
    assert len(np.unique(Z[more], axis=0)) == 4


def test_rounding_is_no_distance(rng):
    """Rows that differ in their last digits count as one row: both groups have a centre among the first two."""
    Z = np.array([[1e8], [1e8 + 1e-8], [0.0]])
    for _ in range(20):
        assert {float(round(row)) for row in Z[_seeds(Z, np.ones(3), 2, rng)].ravel()} == {0.0, 1e8}


def test_it_is_better_than_random_rows(rng):
    """Mean inertia of 100 seeds each, on 10 groups, where random rows almost surely leave a group without a centre."""
    Z = 10.0 * np.repeat(rng.standard_normal((10, 2)), 20, axis=0) + rng.standard_normal((200, 2))

    def inertia(chosen):
        return np.square(Z[:, None] - Z[chosen]).sum(axis=2).min(axis=1).sum()

    careful = [inertia(_seeds(Z, np.ones(200), 10, rng)) for _ in range(100)]
    random = [inertia(random_rows(np.ones(200), 10, rng)) for _ in range(100)]
    assert stats.ttest_ind(careful, random, alternative="less", equal_var=False).pvalue < 1e-6


def test_random_rows_come_once_and_again_only_where_there_are_too_few(rng):
    assert sorted(random_rows(np.ones(6), 6, rng)) == list(range(6))
    more = random_rows(np.array([1.0, 0.0, 1.0]), 5, rng)
    assert sorted(more[:2]) == [0, 2]
    assert set(more) == {0, 2}


def test_the_same_generator_gives_the_same_centres(rng):
    Z = rng.standard_normal((50, 3))
    one, other = (_seeds(Z, np.ones(50), 5, np.random.RandomState(3)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_any_precision(rng, dtype):
    Z = rng.standard_normal((30, 2)).astype(dtype)
    assert len(set(_seeds(Z, np.ones(30), 4, rng).tolist())) == 4
