"""Shares of two models in their mean: the least error, noise, and errors that exceed those of new rows."""

import numpy as np
import pytest

from mercer.learners.local.shares import BestShare, blend

ONES, UNIT = np.ones(500), np.ones(1)


def test_the_mean_has_the_least_error_and_noise_does_not_decide(rng):
    first, second = rng.standard_normal((2, 500, 1))
    share = blend(first, second, ONES, UNIT)
    tried = np.linspace(0, 1, 1001)
    errors = [np.mean(((1 - b) * first + b * second) ** 2) for b in tried]
    assert abs(share - tried[np.argmin(errors)]) < 2e-3
    assert blend(first, 3 * first, ONES, UNIT) == 0.0
    assert blend(first, first, ONES, UNIT) == 0.0
    # a second model whose errors are nearly those of the first, and no better
    assert blend(first, first + 0.01 * rng.standard_normal((500, 1)), ONES, UNIT) in (0.0, 1.0)


def test_the_gain_is_what_the_mean_takes_off_the_error(rng):
    first, second = rng.standard_normal((2, 500, 2))
    weight, variance = rng.uniform(0.5, 2, 500), np.array([1.0, 4.0])
    best = BestShare.of(first, second, weight, variance)
    mean = (1 - best.share) * first + best.share * second
    errors = [np.sum(np.average(one**2, axis=0, weights=weight) / variance) for one in (first, mean)]
    assert best.gain == pytest.approx(errors[0] - errors[1])


def test_a_surplus_is_as_good_as_a_second_model_without_that_variance(rng):
    n = 200_000
    first, second, noise = rng.standard_normal((3, n, 1)) * np.array([1.0, 1.0, 0.7])[:, None, None]
    weight = np.ones(n)
    known = BestShare.of(first, second + noise, weight, UNIT, surplus=np.array([0.49]))
    expected = BestShare.of(first, second, weight, UNIT)
    # Means of n products of variance 2 at most, of sums of some of them: six standard errors.
    assert known.share == pytest.approx(expected.share, abs=6 * (4 / n) ** 0.5)
    assert known.gain == pytest.approx(expected.gain, abs=6 * (4 / n) ** 0.5)
    blind = BestShare.of(first, second + noise, weight, UNIT)
    assert blind.share == pytest.approx(1 / 2.49, abs=6 * (4 / n) ** 0.5)


def test_a_surplus_beyond_the_difference_leaves_a_finite_share(rng):
    first = rng.standard_normal((500, 1))
    best = BestShare.of(first, 0.9 * first, ONES, UNIT, surplus=np.array([5.0]))
    assert best.share == 1.0


def test_few_rows_leave_the_share_near_one_half(rng):
    """Uniform shares, few rows: the expected share is nearer to the truth than the best share on these rows."""
    closer = []
    for _ in range(400):
        truth = rng.uniform()
        difference, noise = rng.standard_normal((2, 30, 1))
        first = truth * difference + 2 * noise
        best = BestShare.of(first, first - difference, np.ones(30), UNIT)
        closer.append((best.share - truth) ** 2 - (best.expected - truth) ** 2)
    assert np.mean(closer) > 4.9 * np.std(closer) / 400**0.5
    one = np.array([[1.0], [-1.0], [0.5]])
    assert BestShare.of(one, 1e-3 * rng.standard_normal((3, 1)), np.ones(3), UNIT).share == pytest.approx(1, abs=0.01)


def test_many_rows_say_what_the_share_is(rng):
    first, second = rng.standard_normal((2, 100_000, 1))
    best = BestShare.of(first, second, np.ones(100_000), UNIT)
    assert best.expected == pytest.approx(best.share, abs=1e-3)


def test_a_model_that_gains_next_to_nothing_has_no_share(rng):
    first, second = rng.standard_normal((2, 100_000, 1))
    best = BestShare.of(first, 40 * second, np.ones(100_000), UNIT)
    assert 0 < best.share < 1e-2
    assert best.expected == 0.0
