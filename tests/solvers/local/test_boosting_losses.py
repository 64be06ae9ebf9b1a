"""Losses of boosted trees: derivatives of the loss itself, starts without a slope, and what scores expect."""

from itertools import islice

import numpy as np
import pytest

from mercer.solvers.local.boosting import Bins, boosted
from mercer.solvers.local.boosting_losses import LogisticLoss, SquaredLoss


def values(loss, Y, scores):
    return (Y - scores) ** 2 / 2 if isinstance(loss, SquaredLoss) else np.log1p(np.exp(-2 * Y * scores))


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
@pytest.mark.parametrize("k", [1, 3])
def test_slopes_and_curvatures_are_those_of_the_loss(loss, k, rng):
    Y, scores, weight = rng.choice([-1.0, 1.0], (40, k)), rng.standard_normal((40, k)), rng.uniform(0.5, 2, 40)
    slopes, curvatures, weights = loss.derivatives(Y, scores, weight)
    step = 1e-4
    below, here, above = (values(loss, Y, scores + s) for s in (-step, 0, step))
    np.testing.assert_allclose(slopes, weight[:, None] * (below - above) / (2 * step), rtol=1e-5, atol=1e-6)
    second = weight[:, None] * (below - 2 * here + above) / step**2
    np.testing.assert_allclose(np.broadcast_to(curvatures, second.shape), second, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights, np.broadcast_to(curvatures, second.shape).mean(axis=1))


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
def test_no_constant_is_better_than_the_start(loss, rng):
    Y, weight = np.where(rng.uniform(size=(60, 2)) < 0.3, 1.0, -1.0), rng.uniform(0.5, 2, 60)
    start = np.tile(loss.start(Y, weight), (60, 1))
    rounded = np.float32 if isinstance(loss, LogisticLoss) else np.float64  # scores and their hyperbolic tangents
    atol = 2 * weight.sum() * np.finfo(rounded).eps
    np.testing.assert_allclose(loss.derivatives(Y, start, weight).slopes.sum(axis=0), 0, atol=atol)
    np.testing.assert_allclose(loss.expected(start)[0], weight @ Y / weight.sum())


def test_a_class_without_rows_has_a_finite_score():
    assert np.isfinite(LogisticLoss().start(np.ones((5, 1)), np.ones(5))).all()


def test_rows_in_no_doubt_have_no_slope():
    slopes, _, _ = LogisticLoss().derivatives(np.ones((1, 1)), np.full((1, 1), 30.0), np.ones(1))
    assert slopes[0, 0] == 0
    assert SquaredLoss().derivatives(np.ones((1, 1)), np.full((1, 1), 30.0), np.ones(1)).slopes[0, 0] == -29


def test_classes_are_learned_better_than_by_squares(rng):
    """The expected squared error of probabilities, on a table of two noisy classes."""
    X = rng.standard_normal((9000, 4))
    odds = 3 * X[:, 0] * (X[:, 1] > 0) + 2 * X[:, 2]
    truth = np.tanh(odds)
    Y = np.where(rng.uniform(size=9000) < (1 + truth) / 2, 1.0, -1.0)[:, None]
    errors = {}
    for loss in (SquaredLoss(), LogisticLoss()):
        growing = boosted(Bins.of(X), Y, np.ones(9000), np.arange(6000, dtype=np.int32), 0, loss)
        expected = (loss.expected(scores[6000:, 0]) for _, scores in islice(growing, 120))
        errors[type(loss)] = min(np.mean((found - truth[6000:]) ** 2) for found in expected)
    assert errors[LogisticLoss] < errors[SquaredLoss]
