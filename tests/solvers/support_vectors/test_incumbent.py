"""The best point seen: never above 0 or an earlier one, with a bound that never falls."""

import numpy as np

from mercer.solvers.support_vectors.incumbent import Incumbent


def test_it_never_gets_worse(rng):
    best = Incumbent(3, 2)
    best.offer_zero(np.array([5.0, 5.0, 5.0]))
    bounds = np.zeros(3)
    for _ in range(50):
        objectives, gaps = 2 + 8 * rng.random_sample(3), 3 * rng.random_sample(3)
        gaps = np.maximum(gaps, objectives - 2)  # no bound is above the minimum
        before, bound = best.objectives.copy(), best.objectives - best.gaps
        best.offer(np.tile(objectives[:, None], 2), objectives, gaps)
        bounds = np.maximum(bounds, objectives - gaps)
        assert np.all(best.objectives <= before * (1 + 1e-13))
        assert np.all(best.objectives - best.gaps >= bound - 1e-12)
        np.testing.assert_allclose(best.objectives - best.gaps, bounds, atol=1e-12)
        seen = best.objectives < 5
        np.testing.assert_array_equal(best.value[seen, 0], best.objectives[seen])
        assert not best.value[~seen].any()


def test_what_is_not_finite_or_not_chosen_is_left_out():
    best = Incumbent(3, 1)
    best.offer_zero(np.full(3, 4.0))
    offered = np.array([np.nan, np.inf, 1.0])
    kept = best.offer(np.ones((3, 1)), offered, offered, np.array([True, True, False]))
    assert not kept.any()
    assert not best.value.any()
    assert best.gaps.tolist() == [4.0] * 3


def test_of_equal_objectives_the_smaller_gap_is_kept():
    best = Incumbent(1, 1)
    best.offer(np.ones((1, 1)), np.ones(1), np.full(1, 1e-3))
    best.offer(np.full((1, 1), 2.0), np.ones(1) + 1e-15, np.full(1, 1e-9))
    assert best.value[0, 0] == 2.0
    assert best.gaps[0] == 1e-9
