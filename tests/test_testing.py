"""The kit itself: it accepts what is right at the stated rate, and refuses what is wrong."""

import numpy as np
import pytest
from scipy import stats

from mercer import Linear, Polynomial, TensorSketch
from mercer.features.hashes import draw_hashes
from mercer.kernels import DotProductKernel
from mercer.testing import assert_mean_close, check_feature_map, check_kernel


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


class _Biased(TensorSketch):
    """One table for all factors: the classic mistake."""

    def _draw(self, kernel, X, n_components, rng):
        super()._draw(kernel, X, n_components, rng)
        self.index_[:, 1:], self.sign_[:, 1:] = self.index_[:, :1], self.sign_[:, :1]
        return n_components


class _TooOptimistic(TensorSketch):
    def _variance(self, X, Y):
        return 0.5 * super()._variance(X, Y)


class _Forgetful(TensorSketch):
    """Draws anew at each transform."""

    def _writer(self, X):
        self.index_, self.sign_ = draw_hashes(np.random.RandomState(), self.n_components, self.index_.shape)
        return super()._writer(X)


@pytest.mark.parametrize("wrong", [_Biased, _TooOptimistic, _Forgetful])
def test_a_wrong_map_is_refused(wrong):
    with pytest.raises(AssertionError):
        check_feature_map(wrong(Polynomial(2), n_components=16), sklearn_checks=False)


class _NotPositive(DotProductKernel):
    def _profile(self, t):
        return -t

    def coefficient(self, n):
        return -float(n == 1)


def test_a_wrong_kernel_is_refused():
    check_kernel(Linear())
    with pytest.raises(AssertionError, match="not positive semi-definite"):
        check_kernel(_NotPositive())
