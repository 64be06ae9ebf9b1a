"""Means of random samples: false alarms at the stated rate, and wrong means refused."""

import numpy as np
import pytest
from scipy import stats

from mercer.testing import (
    assert_mean_close,
)


@pytest.mark.parametrize("law", ["normal", "exponential", "chi-square of one degree"])
def test_false_alarms_come_at_the_stated_rate(rng, law):
    """At a stated 5 % in 2000 trials of 3 entries, alarms stay within the binomial of a rate a third higher."""
    draw = {
        "normal": rng.standard_normal,
        "exponential": lambda size: rng.standard_exponential(size) - 1,
        "chi-square of one degree": lambda size: rng.standard_normal(size) ** 2 - 1,
    }[law]
    alarms = 0
    for _ in range(2000):
        try:
            assert_mean_close(draw((200, 3)), np.zeros(3), false_alarm=0.05)
        except AssertionError:
            alarms += 1
    assert alarms <= stats.binom.isf(1e-7, 2000, 0.05 * 4 / 3)


def test_a_wrong_mean_is_refused(rng):
    samples = rng.standard_normal((400, 4)) + np.array([0, 0, 0.5, 0])
    with pytest.raises(AssertionError, match="standard errors"):
        assert_mean_close(samples, np.zeros(4))


def test_too_few_samples_to_see_an_error_are_refused(rng):
    with pytest.raises(AssertionError, match=r"20 samples cannot see a relative error of 0.01: \d+ are needed"):
        assert_mean_close(1 + rng.standard_normal((20, 2)), np.ones(2), detect=0.01)


def test_constant_samples_are_compared_to_rounding():
    assert_mean_close(np.ones((5, 2)), np.ones(2))
    with pytest.raises(AssertionError, match="without spread is off by"):
        assert_mean_close(np.ones((5, 2)), np.array([1.0, 1.001]))
