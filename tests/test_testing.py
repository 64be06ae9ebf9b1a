"""The kit itself: it accepts what is right at the stated rate, and refuses what is wrong."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse, stats

from mercer import FourierFeatures, Gaussian, KernelRidge, Linear, LinearFeatures, Polynomial, SplitSketch, TensorSketch
from mercer.features import KernelMap
from mercer.features.sketches.hashes import draw_hashes
from mercer.kernels import DotProductKernel
from mercer.testing import (
    assert_mean_close,
    assert_same,
    check_feature_map,
    check_fitted,
    check_kernel,
    check_refits,
    sample_rows,
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


class _Biased(TensorSketch):
    """One table for all factors: the classic mistake."""

    def _draw(self, kernel, X, n_components, rng):
        super()._draw(kernel, X, n_components, rng)
        self.index_[:, 1:], self.sign_[:, 1:] = self.index_[:, :1], self.sign_[:, :1]
        return n_components


class _TooOptimistic(TensorSketch):
    def exact_variance(self, X, Y):
        return 0.5 * super().exact_variance(X, Y)


class _Forgetful(TensorSketch):
    """Draws anew at each transform."""

    def writer(self, X):
        self.index_, self.sign_ = draw_hashes(np.random.RandomState(), self.n_components, self.index_.shape)
        return super().writer(X)


@pytest.mark.parametrize("wrong", [_Biased, _TooOptimistic, _Forgetful])
def test_a_wrong_map_is_refused(wrong):
    with pytest.raises(AssertionError):
        check_feature_map(wrong(Polynomial(2), n_components=16), sklearn_checks=False)


class _CountsNoBias(TensorSketch):
    """Leaves out what the dropped degrees lose."""

    def bias(self, X, Y):
        return 0.0


class _Relearns(SplitSketch):
    """Finds its direction anew on the rows of a re-draw."""

    def exact_variance(self, X, Y):
        return None

    def redrawn(self, rng):
        return KernelMap.redrawn(self, rng)


@pytest.mark.parametrize(
    ("wrong", "others"),
    [
        (_CountsNoBias(Gaussian(gamma=2.0), n_components=20), {"n_sketches": []}),
        (_Relearns(n_components=12), {}),
    ],
    ids=["no bias", "learned anew"],
)
def test_an_error_that_is_not_the_one_claimed_is_refused(wrong, others):
    """On rows far from their anchor, where it matters."""
    with pytest.raises(AssertionError, match=r"standard errors|without spread"):
        check_feature_map(
            wrong,
            1 + sample_rows(),
            n_draws=150,
            sklearn_checks=False,
            unbiased=False,
            data_dependent=True,
            others=others,
        )


class _NotPositive(DotProductKernel):
    def profile(self, t):
        return -t

    def coefficient(self, n):
        return -float(n == 1)


def test_a_wrong_kernel_is_refused():
    check_kernel(Linear())
    with pytest.raises(AssertionError, match="not positive semi-definite"):
        check_kernel(_NotPositive())


class _LeavesATrace(FourierFeatures):
    """A fit of its own, which forgets to forget."""

    def fit(self, X, y=None):
        trace = getattr(self, "trace_", None)
        super().fit(X, y)
        if trace is not None or X.shape[1] > 64:
            self.trace_ = X.shape[1]
        return self


class _BreaksWhenRefused(FourierFeatures):
    def fit(self, X, y=None):
        self.offsets_ = None
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (_LeavesATrace, r"fitted more columns and then as it is: the earlier fit has left \['trace_'\]"),
        (_BreaksWhenRefused, r"the refused fit has changed \['offsets_'\]"),
    ],
)
def test_a_map_that_remembers_is_refused(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_refits(wrong(n_components=8))
    with pytest.raises(AssertionError, match=message):
        check_feature_map(wrong(Gaussian(gamma=1.0), n_components=8), sklearn_checks=False)


def test_a_parameter_without_another_value_is_asked_for():
    class Named(LinearFeatures):
        def __init__(self, kernel=None, *, n_components=100, random_state=None, tone="loud"):
            super().__init__(kernel, n_components=n_components, random_state=random_state)
            self.tone = tone

    with pytest.raises(AssertionError, match=r"others=\{'tone': \[...\]\}"):
        check_refits(Named())
    check_refits(Named(), others={"tone": ["quiet"]})
    with pytest.raises(AssertionError, match=r"others names \['tune'\]"):
        check_refits(Named(), others={"tune": ["quiet"]})


class _ReadsAParameter(LinearFeatures):
    def largest_feature(self, norm, X):
        return float(self.n_components) * super().largest_feature(norm, X)


class _KeepsTheRows(LinearFeatures):
    def _draw(self, kernel, X, n_components, rng):
        self.rows_ = X
        return super()._draw(kernel, X, n_components, rng)

    def writer(self, X):
        write = super().writer(X)

        def shifted(rows, out):
            write(rows, out)
            out += self.rows_.sum()

        return shifted


class _AsksWhetherNone(KernelRidge):
    def predict(self, X):
        return super().predict(X) + (self.random_state is None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (_ReadsAParameter(), "with another n_components after fit is read after fit"),
        (_KeepsTheRows(), "with X overwritten after fit"),
        (_AsksWhetherNone(n_components=8), "with another random_state after fit: predict"),
    ],
)
def test_what_changes_after_fit_is_refused(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_fitted(wrong)


def test_the_same_is_the_same_to_the_last_bit():
    arrays = [np.arange(6.0).reshape(2, 3), sparse.csr_array(np.eye(2)), Linear(), {"a": [1, float("nan")]}]
    assert_same(arrays, deepcopy(arrays))
    for one, other in [
        (np.zeros(2), np.array([0.0, -0.0])),
        (np.zeros((2, 2)), np.asfortranarray(np.zeros((2, 2)))[:, ::-1]),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (1, 1.0),
        (Polynomial(2), Polynomial(3)),
        (TensorSketch(), TensorSketch(n_components=7)),
        ({"a": 1}, {"a": 1, "b": 2}),
        (np.random.RandomState(0), np.random.RandomState(1)),
    ]:
        with pytest.raises(AssertionError, match="it"):
            assert_same(one, other, "it")
