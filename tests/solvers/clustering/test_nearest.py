"""Nearest centres by margins and heads, as by all distances; distances near zero; first centres."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.linalg import squared_distances
from mercer.solvers import Heads, NearestCentres, distances, kmeans_plus_plus, random_rows
from mercer.stats import ClusterSums
from mercer.testing import assert_mean_close


def _squares(Z, centres):
    return np.square(Z[:, None].astype(float) - centres).sum(axis=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gathered", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_directions", [None, 2, 4])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**31 - 1), step=st.sampled_from([1e-6, 1e-3, 0.05, 1.0]))
def test_no_nearer_centre_is_missed(dtype, gathered, make, n_directions, seed, step):
    rng = np.random.RandomState(seed)
    Z = (rng.standard_normal((60, 4)) * [1, 1, 0.3, 0.1]).astype(dtype)
    norms, centres, weight = np.square(Z.astype(float)).sum(axis=1), rng.standard_normal((5, 4)), rng.random_sample(60)
    centres *= [1, 1, 0.3, 0.1]
    heads = None if n_directions is None else Heads(60, np.eye(4, dtype=dtype)[:, :n_directions])
    nearest, before, sums = NearestCentres(60, 5, heads, dtype), None, ClusterSums.of(5, 4)
    for _ in range(12):
        ready = nearest.prepare(centres, before)
        for rows in (slice(0, 25), slice(25, 60)):
            if before is None:
                sums.merge(nearest.begin(rows, make(Z[rows]), ready, weight[rows]))
                continue
            doubt, candidates = nearest.in_doubt(rows, ready)
            features = make(Z[rows] if gathered else Z[rows][doubt])
            sums.merge(nearest.settle(rows, doubt, candidates, features, ready, weight[rows]))
        expected = ClusterSums.of(5, 4).update(Z.astype(float), nearest.labels, weight)
        np.testing.assert_allclose(sums.sums, expected.sums, atol=1e-12)
        np.testing.assert_allclose(sums.weight, expected.weight, atol=1e-12)
        np.testing.assert_allclose(sums.squares, expected.squares, rtol=8 * np.finfo(dtype).eps)
        squares = _squares(Z, centres)
        chosen = squares[np.arange(60), nearest.labels]
        # as near as the rounding of the products can tell
        assert (chosen <= squares.min(axis=1) + 64 * np.finfo(dtype).eps * (norms + 20)).all()
        before, centres = centres, centres + step * rng.standard_normal((5, 4)) * [1, 1, 0.3, 0.1]


def _groups(rng, heads=None):
    """Rows in four groups, at their centres' first pass."""
    Z = np.repeat(10 * np.eye(4), 50, axis=0) + rng.standard_normal((200, 4))
    nearest, centres = NearestCentres(200, 4, heads), 10 * np.eye(4)
    nearest.begin(slice(0, 200), Z, nearest.prepare(centres))
    return nearest, centres


def test_small_moves_leave_no_row_in_doubt(rng):
    nearest, centres = _groups(rng)
    for length, n_doubt in ((0.1, 0), (10.0, 200)):
        doubt, candidates = nearest.in_doubt(slice(0, 200), nearest.prepare(centres + length * np.eye(4)[0], centres))
        assert len(doubt) == n_doubt
        assert candidates.shape == (n_doubt, 0)


def test_heads_settle_rows_whose_margin_is_gone(rng):
    """Moves of a length of 10 along all axes take every margin; with the axes for directions nothing is open."""
    for n_directions, most in ((4, 0), (3, 200)):
        nearest, centres = _groups(rng, Heads(200, np.eye(4)[:, :n_directions]))
        doubt, candidates = nearest.in_doubt(slice(0, 200), nearest.prepare(centres + 5, centres))
        assert len(doubt) <= most
        assert candidates.shape == (len(doubt), 1)
        assert n_directions == 4 or len(doubt)


def test_a_margin_is_taken_by_the_fastest_other_centre():
    nearest, centres = NearestCentres(1, 3), np.array([[0.0], [10.0], [20.0]])
    moves = nearest.prepare(centres + np.array([[1.0], [4.0], [2.0]]), centres).moved
    np.testing.assert_allclose(moves, [1 + 4, 4 + 2, 2 + 4], rtol=1e-6)


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
