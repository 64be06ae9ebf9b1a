"""Losses of boosted trees: starts without a slope, and what scores expect."""

from itertools import islice

import numpy as np
import pytest

from mercer.solvers.local.boosting import Bins, boosted
from mercer.solvers.local.boosting_losses import LogisticLoss, SquaredLoss


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
def test_no_constant_is_better_than_the_start(loss, rng):
    Y, weight = np.where(rng.uniform(size=(60, 2)) < 0.3, 1.0, -1.0), rng.uniform(0.5, 2, 60)
    start = np.tile(loss.start(Y, weight), (60, 1))
    np.testing.assert_allclose(weight @ (Y - loss.expected(start)), 0, atol=1e-12 * weight.sum())  # the slopes
    np.testing.assert_allclose(loss.expected(start)[0], weight @ Y / weight.sum())


def test_a_class_without_rows_has_a_finite_score():
    assert np.isfinite(LogisticLoss().start(np.ones((5, 1)), np.ones(5))).all()


def test_classes_are_learned_better_than_by_squares(rng):
    """The expected squared error of probabilities, on a table of two noisy classes."""
    X = rng.standard_normal((9000, 4))
    odds = 3 * X[:, 0] * (X[:, 1] > 0) + 2 * X[:, 2]
    truth = np.tanh(odds)
    Y = np.where(rng.uniform(size=9000) < (1 + truth) / 2, 1.0, -1.0)[:, None]
    errors = {}
    for loss in (SquaredLoss(), LogisticLoss()):
        growing = boosted(Bins.of(X), Y, np.ones(9000), np.arange(6000, dtype=np.int32), 0, loss)
        expected = (loss.expected(scores[6000:, 0]) for _, scores, _ in islice(growing, 120))
        errors[type(loss)] = min(np.mean((found - truth[6000:]) ** 2) for found in expected)
    assert errors[LogisticLoss] < errors[SquaredLoss]
