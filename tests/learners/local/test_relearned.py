"""Residuals of rows whose targets have not taught the metric: by hand, on noise, and where they are computed."""

import numpy as np
import pytest

from mercer import TunedRegressor, config_context
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local import relearned
from mercer.learners.local.choice import Choice
from mercer.learners.local.metrics import MetricRows
from mercer.learners.local.relearned import relearned_residuals


def held(Y):
    targets = Numbers("test", mean=Y.mean(axis=0), n_dims=2)
    return HeldTargets(targets, Y, None, np.ones(len(Y)), np.ones(len(Y)))


def sampler(X, Y):
    def sample_of(some):
        ones = np.ones(len(some))
        return MetricRows(X[some], Y[some], ones, ones, 64, 0)

    return sample_of


CHOICES = [
    Choice("full", "Matern 3/2", 1.0, 0.1),
    Choice("diagonal", "L1 Laplace", 4.0, 0.1),
    Choice("no", "Laplace", 2.0, 0.1),
]


def test_residuals_are_those_of_refits_with_the_metric_of_other_folds(rng):
    X = rng.standard_normal((150, 4))
    Y = np.sin(X[:, :1]) + 0.1 * rng.standard_normal((150, 1))
    found = relearned_residuals(CHOICES, X, held(Y), sampler(X, Y), 2, 7)
    fold = np.random.RandomState(7).permutation(150) % relearned._FOLDS
    for row in (3, 77, 149):
        others = np.flatnonzero(fold != fold[row])
        metrics = relearned._metrics(sampler(X, Y)(others), [choice.metric for choice in CHOICES], 2)
        rest = np.flatnonzero(np.arange(150) != row)
        for choice, residuals in zip(CHOICES, found, strict=True):
            fit = metrics[choice.metric]
            moved = X @ fit.transform / fit.unit
            K = choice.inner(moved[rest]) + choice.alpha * np.eye(149)
            # The intercept of all solutions on leaves is the mean of all targets, as the leave-one-out formula has it.
            centre = Y[rest].mean(axis=0)
            predicted = centre + choice.inner(moved[[row]], moved[rest]) @ np.linalg.solve(K, Y[rest] - centre)
            np.testing.assert_allclose(residuals[row], Y[row] - predicted[0], rtol=1e-6, atol=1e-9)


def test_noise_is_not_predicted(rng):
    """A full metric of many columns that has seen a target predicts it, though its row is left out."""
    relearnt, seen = [], []
    for _ in range(8):
        X, Y = rng.standard_normal((300, 60)), rng.standard_normal((300, 1))
        everything = sampler(X, Y)(np.arange(300))
        for found, sample_of in ((relearnt, sampler(X, Y)), (seen, lambda some, rows=everything: rows)):
            (residuals,) = relearned_residuals(CHOICES[:1], X, held(Y), sample_of, 3, 0)
            found.append(np.corrcoef((Y - residuals).ravel(), Y.ravel())[0, 1])
    # Predictions of noise by other rows do not rise with it: 4.9 standard errors, a false alarm in 1e-6 runs.
    bound = 4.9 / (8 * 300) ** 0.5
    assert np.mean(relearnt) < bound < np.mean(seen)


def test_threads_change_no_bit(rng):
    X = rng.standard_normal((200, 5))
    Y = X[:, :1] ** 2
    found = []
    for threads in (1, 3):
        with config_context(threads=threads):
            found.append(relearned_residuals(CHOICES, X, held(Y), sampler(X, Y), 3, 0))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("n_rows", "leaf_rows", "expected"), [(90, None, 0), (400, None, 1), (400, 100, 0)])
def test_metrics_are_learned_again_for_one_leaf_of_enough_rows(rng, n_rows, leaf_rows, expected):
    X = rng.standard_normal((n_rows, 3))
    model = TunedRegressor(random_state=0, leaf_rows=leaf_rows).fit(X, X[:, 0] + 0.1 * rng.standard_normal(n_rows))
    assert ("new rows" in model.report_.steps) == bool(expected)


def test_the_choice_has_the_least_error_of_new_rows(rng):
    X = rng.standard_normal((250, 40))
    model = TunedRegressor(random_state=0).fit(X, np.sin(X[:, 0]) + rng.standard_normal(250))
    steps = zip(model.report_.steps, model.report_.tried, model.report_.errors, strict=True)
    errors = {what: error for step, what, error in steps if step == "new rows"}
    best = min(errors, key=errors.__getitem__)
    assert len(errors) > 1
    assert f"{model.report_.chosen['metric']} metric" in best
    assert 1 - model.loo_score_ <= errors[best] + 1e-9  # no worse after a mean with other models
