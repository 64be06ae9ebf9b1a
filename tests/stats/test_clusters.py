"""Cluster sums: their laws, centres and inertia as the definitions, moves as fresh sums; the farthest rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.stats import ClusterSums, Farthest
from mercer.testing import check_statistic, rounding


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@settings(max_examples=40)
@given(n=st.integers(1, 30), seed=st.integers(0, 2**31 - 1), cuts=st.lists(st.integers(0, 30), max_size=5))
def test_the_laws(make, n, seed, cuts):
    rng = np.random.RandomState(seed)
    Z, labels, weight = make(rng.standard_normal((n, 4))), rng.randint(3, size=n), rng.random_sample(n)
    cuts = [min(cut, n) for cut in cuts]
    check_statistic(ClusterSums.of(3, 4), (Z, labels, weight), cuts, rtol=rounding(np.float64, 30))
    distances = rng.permutation(n).astype(float)
    check_statistic(Farthest.of(5, 4), (Z, distances, labels, weight), cuts, rtol=0.0)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((50, 3)), rng.randint(4, size=50), rng.random_sample(50)


def test_centres_inertia_and_variance_are_as_defined(rows):
    Z, labels, weight = rows
    sums = ClusterSums.of(5, 3).update(Z, labels, weight)
    otherwise = np.full((5, 3), 7.0)
    centres = sums.centres(otherwise)
    for k in range(4):
        np.testing.assert_allclose(centres[k], np.average(Z[labels == k], axis=0, weights=weight[labels == k]))
    np.testing.assert_array_equal(centres[4], otherwise[4])
    np.testing.assert_array_equal(sums.empty(), [4])
    anywhere = np.arange(15.0).reshape(5, 3)
    np.testing.assert_allclose(sums.inertia(anywhere), weight @ np.square(Z - anywhere[labels]).sum(axis=1))
    mean = np.average(Z, axis=0, weights=weight)
    np.testing.assert_allclose(sums.variance(), np.average(np.square(Z - mean), axis=0, weights=weight).mean())


def test_moves_are_fresh_sums(rows, rng):
    Z, labels, weight = rows
    new = rng.randint(4, size=50)
    moved = ClusterSums.of(4, 3).update(Z, labels, weight).move(Z, labels, new, weight)
    fresh = ClusterSums.of(4, 3).update(Z, new, weight)
    assert moved.moves == np.count_nonzero(labels != new)
    for name in ("weight", "sums", "squares"):
        np.testing.assert_allclose(getattr(moved, name), getattr(fresh, name), atol=1e-13, err_msg=name)


def test_a_cluster_that_all_rows_left_is_empty(rng):
    Z, weight = rng.standard_normal((40, 2)), rng.random_sample(40)
    old, new = np.zeros(40, dtype=int), np.ones(40, dtype=int)
    sums = ClusterSums.of(2, 2).update(Z, old, weight)
    for i in rng.permutation(40):  # one at a time, so that the weights do not cancel to the bit
        sums.move(Z[i : i + 1], old[i : i + 1], new[i : i + 1], weight[i : i + 1])
    np.testing.assert_array_equal(sums.empty(), [0])


def test_the_farthest_rows_have_weight(rows):
    Z, labels, _ = rows
    distances, weight = np.arange(50.0), np.arange(50) < 48
    far = Farthest.of(2, 3).update(Z, distances, labels, weight.astype(float))
    np.testing.assert_array_equal(far.distances, [47, 46])
    np.testing.assert_array_equal(far.rows, Z[[47, 46]])
    assert len(Farthest.of(9, 3).update(Z[:4], distances[:4], labels[:4]).labels) == 4
