"""Calibration: isotonic steps against scikit-learn, exponent and floor against a grid, weights as repetitions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.isotonic import IsotonicRegression

from mercer.learners.local import calibration as calibration_module
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


@pytest.fixture
def four(rng):
    """Noisy estimates 2 p - 1 of the probabilities p of four classes, one of them rare, with targets and p."""
    p = rng.dirichlet([2.0, 1.0, 1.0, 0.05], 4000)
    codes = np.array([rng.choice(4, p=row) for row in p])
    scores = 2 * p - 1 + 0.05 * rng.standard_normal(p.shape)
    return scores, np.where(codes[:, None] == np.arange(4), 1.0, -1.0), p


def _log_loss(calibration, scores, targets):
    return -np.mean(np.log(calibration.probabilities(scores)[targets > 0]))


def test_exponent_and_floor_have_the_least_log_loss(four):
    scores, targets, _ = four
    found = Calibration.of(scores, targets)
    check_stored(found)
    assert 0.001 < found.floor < 0.4  # else the grid would not tell
    losses = [
        _log_loss(replace(found, exponent=found.exponent * a, floor=found.floor * b), scores, targets)
        for a in (0.9, 0.97, 1.0, 1.03, 1.1)
        for b in (0.8, 0.95, 1.0, 1.05, 1.25)
    ]
    assert np.argmin(losses) == 12
    assert _log_loss(found, scores, targets) < min(losses[:12] + losses[13:])


def test_estimates_of_probabilities_stay_nearly_what_they_are(four):
    """A temperature of such scores, the textbook's way, would be far from the probabilities of a rare class."""
    scores, targets, p = four
    found = Calibration.of(scores, targets).probabilities(scores)
    assert np.abs(found - p).mean() < 0.04  # the noise of the scores is 0.05 / 2 with a mean size of 0.02
    assert abs(found[:, 3].mean() - p[:, 3].mean()) < 0.01
    textbook = min(-log_softmax(c * scores, axis=1)[targets > 0].mean() for c in np.linspace(0.5, 10, 200))
    assert -np.log(found[targets > 0]).mean() < textbook


def test_the_largest_score_has_the_largest_probability_and_none_is_zero(four, rng):
    calibration = Calibration.of(*four[:2])
    wild = 3 * rng.standard_normal((500, 4))
    wild[0] = [-1e6, -1e6 + 1, -1.0, 1e6]
    chances = calibration.probabilities(wild)
    np.testing.assert_array_equal(chances.argmax(axis=1), wild.argmax(axis=1))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.isfinite(chances).all()


def test_scores_without_error_leave_a_chance_for_one_row_more(rng):
    codes = rng.randint(0, 3, 200)
    targets = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    calibration = Calibration.of(targets, targets)
    assert calibration.floor >= 1 / 203 * (1 - 1e-9)
    assert calibration.probabilities(targets).min() > 0


def test_a_part_of_very_many_rows_decides(four, monkeypatch):
    scores, targets, _ = four
    monkeypatch.setattr(calibration_module, "_MOST_ENTRIES", 4 * 2000)
    some = Calibration.of(scores, targets)
    monkeypatch.undo()
    every_second = Calibration.of(scores[::2], targets[::2])
    assert some.exponent == pytest.approx(every_second.exponent, rel=1e-4)
    assert some.floor == pytest.approx(every_second.floor, rel=1e-3)


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
        Calibration(3, np.empty(0), np.empty(0), 1e9),
        Calibration(3, np.empty(0), np.empty(0), 1.0, 0.7),
    ):
        with pytest.raises(UnsoundError):
            check_stored(broken)
