"""Nearest centres by bounds, as by all distances; distances near zero; first centres."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.reference.clusters import squared_distances
from mercer.solvers import NearestCentres, distances, kmeans_plus_plus, random_rows
from mercer.stats import ClusterSums
from mercer.testing import assert_mean_close


def _squares(Z, centres):
    return np.square(Z[:, None].astype(float) - centres).sum(axis=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gathered", [True, False])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**31 - 1), step=st.sampled_from([1e-6, 1e-3, 0.05, 1.0]))
def test_bounds_never_miss_a_nearer_centre(dtype, gathered, seed, step):
    rng = np.random.RandomState(seed)
    Z = rng.standard_normal((60, 4)).astype(dtype)
    norms, centres, weight = np.square(Z.astype(float)).sum(axis=1), rng.standard_normal((5, 4)), rng.random_sample(60)
    nearest, moved, sums = NearestCentres(60, 5), np.zeros(5), ClusterSums.of(5, 4)
    for _ in range(12):
        for rows in (slice(0, 25), slice(25, 60)):
            doubt = nearest.in_doubt(rows, moved)
            sums.merge(nearest.settle(rows, doubt, Z[rows] if gathered else Z[rows][doubt], centres, weight[rows]))
        expected = ClusterSums.of(5, 4).update(Z.astype(float), nearest.labels, weight)
        np.testing.assert_allclose(sums.sums, expected.sums, atol=1e-12)
        np.testing.assert_allclose(sums.weight, expected.weight, atol=1e-12)
        np.testing.assert_allclose(sums.squares, expected.squares, rtol=8 * np.finfo(dtype).eps)
        squares = _squares(Z, centres)
        chosen = squares[np.arange(60), nearest.labels]
        # as near as the rounding of the products can tell
        assert (chosen <= squares.min(axis=1) + 64 * np.finfo(dtype).eps * (norms + 20)).all()
        before = centres
        centres = centres + step * rng.standard_normal((5, 4))
        moved = np.linalg.norm(centres - before, axis=1)


def test_small_moves_leave_few_rows_in_doubt(rng):
    Z = np.repeat(10 * np.eye(4), 50, axis=0) + rng.standard_normal((200, 4))
    nearest, centres = NearestCentres(200, 4), 10 * np.eye(4)
    every = nearest.in_doubt(slice(0, 200), np.zeros(4))
    assert len(every) == 200
    assert nearest.settle(slice(0, 200), every, Z, centres).moves == 0
    assert not len(nearest.in_doubt(slice(0, 200), np.full(4, 0.1)))
    assert len(nearest.in_doubt(slice(0, 200), np.full(4, 10.0))) == 200


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_distances_near_zero_keep_their_digits(rng, make):
    Z = 1 + rng.random_sample((20, 6))
    centres = np.vstack([Z[3], Z[5] + 1e-9, np.zeros(6)])
    exact = np.sqrt(_squares(Z, centres))
    np.testing.assert_allclose(distances(make(Z), centres), exact, rtol=1e-6, atol=0)
    assert distances(make(Z), centres)[3, 0] == 0
    np.testing.assert_allclose(squared_distances(make(Z), np.square(Z).sum(axis=1), centres).T, exact**2, atol=1e-13)


def test_seeds_are_drawn_by_squared_distance():
    """Rows at 0, 1 and 3, two clusters, one draw each: the second centre has the law of D^2 weighting."""
    Z = np.array([[0.0], [1.0], [3.0]])
    weight = np.array([1.0, 2.0, 1.0])
    draws = []
    for seed in range(5000):
        chosen = kmeans_plus_plus(Z, Z[:, 0] ** 2, weight, 1, np.random.RandomState(seed))
        draws.append(np.arange(3) == chosen[0])
    assert_mean_close(draws, weight / 4, detect=0.1)
    pairs = []
    for seed in range(5000):
        chosen = kmeans_plus_plus(Z, Z[:, 0] ** 2, weight, 2, np.random.RandomState(seed))
        pairs.append([set(chosen) == {0, 2}, set(chosen) == {1, 2}, set(chosen) == {0, 1}])
    # Two draws of which the better stays. From 0: mass 2, 9; inertia left {0,2}: 2, {0,1}: 4. From 1: mass 1, 4;
    # {1,2}: 1, {0,1}: 4. From 3: mass 9, 8; {0,2}: 2, {1,2}: 1.
    worse = [(2 / 11) ** 2, (1 / 5) ** 2, (9 / 17) ** 2]
    law = [(1 - worse[0]) / 4 + worse[2] / 4, (1 - worse[1]) / 2 + (1 - worse[2]) / 4, worse[0] / 4 + worse[1] / 2]
    assert_mean_close(pairs, law, detect=0.1)


def test_fewer_distinct_rows_than_seeds(rng):
    Z = np.repeat(rng.standard_normal((2, 3)), 4, axis=0)
    chosen = kmeans_plus_plus(Z, np.square(Z).sum(axis=1), np.ones(8), 5, rng)
    assert len(chosen) == 5
    assert {*(chosen[:2] // 4)} == {0, 1}
    weight = np.array([0.0, 1.0, 0.0, 2.0])
    assert sorted(random_rows(weight, 2, rng)) == [1, 3]
    assert set(random_rows(weight, 6, rng)) == {1, 3}
