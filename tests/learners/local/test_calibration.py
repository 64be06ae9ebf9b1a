"""Calibration: isotonic steps against scikit-learn, the factor against a fine grid, weights as repetitions."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.isotonic import IsotonicRegression

from mercer.learners.local.calibration import Calibration
from mercer.state import UnsoundError, check_stored


@pytest.fixture
def two(rng):
    scores = rng.standard_normal(2000)
    return scores[:, None], np.where(rng.random_sample(2000) < 1 / (1 + np.exp(-2 * scores)), 1.0, -1.0)[:, None]


def test_steps_are_those_of_isotonic_regression_to_one_row(two):
    scores, targets = two
    calibration = Calibration.of(scores, targets)
    expected = IsotonicRegression(out_of_bounds="clip").fit(scores.ravel(), targets.ravel() > 0)
    inner = np.linspace(-1.5, 1.5, 50)
    np.testing.assert_allclose(calibration.probabilities(inner[:, None])[:, 1], expected.predict(inner), atol=0.05)
    ends = calibration.probabilities(np.array([[-100.0], [100.0]]))
    assert ends.min() > 0
    check_stored(calibration)


def test_probabilities_are_those_of_the_law(two):
    scores, targets = two
    grid = np.linspace(-2, 2, 40)[:, None]
    found = Calibration.of(scores, targets).probabilities(grid)[:, 1]
    # 2000 rows: a step of 100 rows has a standard error of 0.05 at most; the mean over 40 points is far closer
    assert np.mean(np.abs(found - 1 / (1 + np.exp(-2 * grid[:, 0])))) < 0.05


def test_the_factor_has_the_least_log_loss(rng):
    scores = rng.standard_normal((1000, 4))
    codes = np.array([rng.choice(4, p=np.exp(row)) for row in log_softmax(3 * scores, axis=1)])
    targets = np.where(codes[:, None] == np.arange(4), 1.0, -1.0)
    calibration = Calibration.of(scores, targets)

    def loss(factor):
        return -log_softmax(factor * scores, axis=1)[np.arange(1000), codes].mean()

    grid = np.linspace(1, 6, 2001)
    assert loss(calibration.factor) <= min(map(loss, grid)) + 1e-8
    check_stored(calibration)


@pytest.mark.parametrize("columns", [1, 3])
def test_weights_are_repetitions_and_rows_without_weight_do_not_count(rng, columns):
    scores = rng.standard_normal((60, columns))
    targets = np.where(scores + rng.standard_normal((60, columns)) > 0, 1.0, -1.0)
    counts = rng.randint(0, 3, 60)
    weighted = Calibration.of(scores, targets, counts.astype(float))
    repeated = Calibration.of(np.repeat(scores, counts, axis=0), np.repeat(targets, counts, axis=0))
    new = rng.standard_normal((20, columns))
    np.testing.assert_allclose(weighted.probabilities(new), repeated.probabilities(new), rtol=1e-6)


def test_what_no_fit_makes_is_refused():
    for broken in (
        Calibration(1, np.array([1.0, 0.0]), np.array([0.1, 0.2])),
        Calibration(1, np.array([0.0, 1.0]), np.array([0.3, 0.2])),
        Calibration(1, np.array([0.0, 1.0]), np.array([0.3, 2.0])),
        Calibration(3, np.array([0.0]), np.array([0.3])),
        Calibration(1, np.empty(0), np.empty(0)),
    ):
        with pytest.raises(UnsoundError):
            check_stored(broken)
