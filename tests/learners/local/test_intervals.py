"""Intervals: quantiles of exact ratios, weights, columns that the noise alone depends on, and bad input."""

import numpy as np
import pytest

from mercer import LocalKernelRidge
from mercer.kernels import Matern, ScaledColumns
from mercer.learners.local.intervals import Intervals
from mercer.state import UnsoundError, check_stored


@pytest.fixture
def fitted(rng):
    X = rng.random_sample((600, 2))
    y = np.sin(6 * X[:, 0]) + np.where(X[:, 1] > 0.5, 1.0, 0.1) * rng.standard_normal(600)
    kernel = ScaledColumns(Matern(1.5, length_scale=1.0), [1.0, 0.0])  # as learned: y does not depend on column 1
    return X, LocalKernelRidge(kernel, alpha=1.0, random_state=0).fit(X, y)


def test_noise_may_depend_on_columns_that_the_target_does_not(fitted):
    X, model = fitted
    half = Intervals.of(model, X).half_widths("owner", X, 0.9)[:, 0]
    assert half[X[:, 1] > 0.6].mean() > 4 * half[X[:, 1] < 0.4].mean()


@pytest.mark.parametrize("coverage", [0.1, 0.5, 0.9, 0.999])
def test_the_quantile_is_that_of_n_plus_one_rows(fitted, coverage):
    X, model = fitted
    intervals = Intervals.of(model, X)
    check_stored(intervals)
    rank = min(int(np.ceil(coverage * 601)), 600)
    factor = intervals.half_widths("owner", X, coverage) / np.exp(intervals.size.predict(X))
    np.testing.assert_allclose(factor, intervals.ratios[rank - 1, 0])


def test_rows_are_held_once_where_the_kernel_is_that_of_the_model(rng):
    X = rng.random_sample((200, 1))
    model = LocalKernelRidge(Matern(1.5, length_scale=1.0), alpha=1.0).fit(X, X[:, 0] * rng.standard_normal(200))
    intervals = Intervals.of(model, X)
    assert intervals.size._rows is model._rows


def test_what_no_fit_makes_is_refused(fitted):
    X, model = fitted
    intervals = Intervals.of(model, X)
    for name in ("ratios", "shares"):
        broken = Intervals(intervals.size, intervals.ratios.copy(), intervals.shares.copy())
        getattr(broken, name)[0] = 1e9
        with pytest.raises(UnsoundError, match=f"{name} must ascend"):
            check_stored(broken)


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1, "most"])
def test_a_coverage_outside_0_to_1_is_refused_in_words(fitted, coverage):
    X, model = fitted
    with pytest.raises(ValueError, match="owner: coverage must be"):
        Intervals.of(model, X).half_widths("owner", X, coverage)
