"""Plain losses and their smoothing: derivatives as limits of differences, bounds, feasible duals."""

import numpy as np
import pytest

from mercer.solvers import PlainLoss

LOSSES = [PlainLoss(one_sided=True), PlainLoss(one_sided=False, epsilon=0.2), PlainLoss(one_sided=False)]


def _scores(rng, loss):
    S, Y = rng.standard_normal((2, 200, 2))
    return S, np.sign(Y) if loss.one_sided else Y


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_derivatives_are_limits_of_differences(rng, loss):
    S, Y = _scores(rng, loss)
    width, h = np.array([0.5, 2.0]), 1e-6

    def value(scores):
        return loss.smoothed(loss.excess(scores, Y), width)

    excess = loss.excess(S, Y)
    slope = -loss.signs(S, Y) * loss.slopes(excess, width)
    np.testing.assert_allclose((value(S + h) - value(S - h)) / (2 * h), slope, atol=2 * h)
    up, down = (loss.slopes(excess + sign * h, width) for sign in (1, -1))
    smooth = (np.abs(excess) > 2 * h) & (np.abs(excess - width) > 2 * h)  # away from the two kinks of the slope
    np.testing.assert_allclose(((up - down) / (2 * h))[smooth], loss.bends(excess, width)[smooth], atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_smoothing_lowers_a_loss_by_at_most_half_the_width(rng, loss):
    S, Y = _scores(rng, loss)
    excess = loss.excess(S, Y)
    for width in (1e-3, 0.1, 3.0):
        less = np.maximum(excess, 0.0) - loss.smoothed(excess, width)
        assert less.min() >= -1e-15
        assert less.max() <= width / 2 + 1e-15
        assert loss.slopes(excess, width).min() >= 0
        assert loss.slopes(excess, width).max() <= 1


def test_the_excess_is_that_of_the_textbook():
    S, Y = np.array([[0.3], [-2.0]]), np.array([[1.0], [-1.0]])
    np.testing.assert_allclose(LOSSES[0].excess(S, Y).ravel(), [0.7, -1.0])
    np.testing.assert_allclose(LOSSES[1].excess(S, Y).ravel(), [0.5, 0.8])
