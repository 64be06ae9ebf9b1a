"""Scaling of columns: its three ways against their definitions, weights, extremes, and what no fit makes."""

import numpy as np
import pytest
from scipy.stats import norm

from mercer.learners.local.scaling import ColumnScaling, weighted_median
from mercer.state import UnsoundError, check_stored

METHODS = ("rank", "clip", "common")
FLOAT64 = np.dtype(np.float64)


def scaled(X, method, weight=None):
    scaling = ColumnScaling.of(X, method, np.random.RandomState(0), weight)
    check_stored(scaling)
    return scaling.transform(X, FLOAT64)


def test_ranks_become_normal_scores(rng):
    X = np.exp(3 * rng.standard_normal((500, 1)))
    ranks = (np.argsort(np.argsort(X[:, 0])) + 0.5) / 500
    expected = np.clip(norm.ppf(ranks), -3, 3)
    np.testing.assert_allclose(scaled(X, "rank")[:, 0], expected / expected.std(), rtol=1e-6, atol=1e-9)


def test_clip_bends_and_has_variance_one(rng):
    x = rng.standard_t(3, size=2000)
    t = (x - x.mean()) / x.std()
    bent = t / np.sqrt(1 + (t / 4) ** 2)
    np.testing.assert_allclose(scaled(x[:, None], "clip")[:, 0], bent / bent.std(), rtol=1e-12)


def test_common_keeps_the_proportions_of_the_columns(rng):
    X = rng.standard_normal((300, 2)) * [1.0, 10.0] + 5
    found = scaled(X, "common")
    assert found[:, 1].std() / found[:, 0].std() == pytest.approx(X[:, 1].std() / X[:, 0].std())
    assert np.mean(found.var(axis=0)) == pytest.approx(1.0)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("method", ["rank", "clip"])
def test_columns_of_two_values_stay_0_and_1(method):
    X = np.array([[3.0], [7.0], [3.0], [3.0]])
    np.testing.assert_array_equal(scaled(X, method)[:, 0], [0, 1, 0, 0])


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repetitions(rng, method):
    X = np.column_stack([rng.standard_normal(50), rng.randint(0, 2, 50), rng.randint(0, 5, 50)])
    counts = rng.randint(1, 4, 50)
    one = ColumnScaling.of(X, method, np.random.RandomState(0), counts.astype(float))
    many = ColumnScaling.of(np.repeat(X, counts, axis=0), method, np.random.RandomState(0))
    np.testing.assert_allclose(one.transform(X, FLOAT64), many.transform(X, FLOAT64), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_no_new_row_lies_far_outside_and_nothing_overflows(rng, method):
    X = rng.standard_normal((200, 2)) * [1.0, 1e300]
    scaling = ColumnScaling.of(X, method, np.random.RandomState(0))
    far = scaling.transform(np.array([[1e308, -1e308], [-1e308, 1e308]]), np.dtype(np.float32))
    assert np.isfinite(far).all()
    if method != "common":
        assert np.abs(far).max() < 6


def test_many_rows_are_sampled_and_many_values_have_few_knots(rng):
    scaling = ColumnScaling.of(rng.standard_normal((30_000, 1)), "rank", np.random.RandomState(0))
    assert len(scaling.knots[0]) <= 1000
    x = rng.standard_normal((1000, 1))
    # 20,000 rows: the standard error of a rank is 0.0035 at most, and that of a score 0.02 within two deviations
    inside = np.abs(x[:, 0]) < 2
    np.testing.assert_allclose(scaling.transform(x, FLOAT64)[inside, 0], x[inside, 0], atol=0.12)


def test_the_weighted_median():
    assert weighted_median(np.array([5.0, 1.0]), np.ones(2)) == 3.0
    assert weighted_median(np.array([5.0, 1.0, 9.0]), np.array([1.0, 1.0, 3.0])) == 9.0
    assert weighted_median(np.array([2.0]), np.array([0.5])) == 2.0


def test_what_no_fit_makes_is_refused(rng):
    scaling = ColumnScaling.of(rng.standard_normal((20, 1)), "rank", np.random.RandomState(0))
    scaling.knots[0][:2] = scaling.knots[0][:2][::-1].copy()
    with pytest.raises(UnsoundError, match="knots must ascend"):
        check_stored(scaling)
