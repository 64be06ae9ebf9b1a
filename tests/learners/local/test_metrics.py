"""Learned metrics: errors by refits, columns that do not matter, rotations, and weights."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import Gaussian, OrthogonalFeatures, config_context
from mercer.learners.local import metrics
from mercer.learners.local.metrics import MetricRows, MetricTrials, first_fit, learned_metrics


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((400, 4))
    Y = np.sin(X[:, :1] + X[:, 1:2]) + 0.1 * rng.standard_normal((400, 1))
    return MetricRows(X, Y, np.ones(400), np.ones(400), 64, 0)


@pytest.mark.parametrize("judged", [1, 4])
def test_the_error_is_that_of_refits(rows, judged, monkeypatch):
    monkeypatch.setattr(metrics, "_ALPHAS", np.array([0.1]))
    fit = MetricTrials(replace(rows, judged=judged), np.eye(4)).fit(1.0)
    kernel = Gaussian(gamma=0.5 / fit.unit**2)
    Z = OrthogonalFeatures(kernel, n_components=64, structured=False, random_state=0).fit_transform(rows.X)
    squares = []
    for i in range(0, 400, judged):
        kept = np.arange(400) != i
        Zi, mean = Z[kept] - Z[kept].mean(axis=0), rows.Y[kept].mean()
        coef = np.linalg.solve(Zi.T @ Zi + 0.1 * np.eye(64), Zi.T @ (rows.Y[kept] - mean))
        squares.append((rows.Y[i] - mean - (Z[i] - Z[kept].mean(axis=0)) @ coef) ** 2)
    assert fit.error == pytest.approx(np.mean(squares) / np.mean((rows.Y - rows.Y.mean())[::judged] ** 2), rel=1e-6)


def test_columns_that_do_not_matter_are_shortened(rows):
    first = first_fit(rows)
    last = list(learned_metrics(first, rows, full=[False]))[-1][0]
    lengths = np.diagonal(last.transform)
    assert lengths[:2].min() > 3 * lengths[2:].max()
    assert last.error < first.error


def test_a_full_metric_finds_the_direction(rows):
    """The target is a function of x0 + x1 alone."""
    fits = [fit for (fit,) in learned_metrics(first_fit(rows), rows, full=[True])]
    best = min(fits, key=lambda fit: fit.error)
    _, vectors = np.linalg.eigh(best.gradients)
    assert abs(vectors[:, -1] @ [0.5**0.5, 0.5**0.5, 0, 0]) > 0.95
    diagonal = min((fit for (fit,) in learned_metrics(first_fit(rows), rows, full=[False])), key=lambda fit: fit.error)
    assert best.error < diagonal.error


def test_weights_are_repetitions(rows, rng):
    counts = rng.randint(1, 4, 400)
    weighted = MetricRows(rows.X, rows.Y, counts.astype(float), np.minimum(counts, 1.0), 64, 0)
    repeated = [np.repeat(values, counts, axis=0) for values in (rows.X, rows.Y)]
    many = MetricRows(*repeated, np.ones(counts.sum()), np.ones(counts.sum()), 64, 0)
    unit = MetricTrials(rows, np.eye(4)).fit(1.0).unit
    one, other = (MetricTrials(some, np.eye(4)).fit(1.0) for some in (weighted, many))
    # More than 1000 rows are sampled for the median distance, whose length scale then differs a little.
    assert one.unit == pytest.approx(other.unit, rel=0.1) == pytest.approx(unit, rel=0.1)
    assert one.error == pytest.approx(other.error, rel=0.02)


def test_a_target_without_gradients_keeps_the_metric(rows):
    constant = MetricRows(rows.X, np.zeros((400, 1)), rows.weight, rows.left_out, 64, 0)
    for full in (False, True):
        for (fit,) in learned_metrics(first_fit(constant), constant, full=[full]):
            np.testing.assert_array_equal(fit.transform, np.eye(4))


def test_metrics_that_are_learned_side_by_side_are_those_of_one_after_the_other(rows):
    first = first_fit(rows)
    both = list(learned_metrics(first, rows, full=[False, True]))
    for which, full in enumerate((False, True)):
        alone = [fit for (fit,) in learned_metrics(first, rows, full=[full])]
        together = [fits[which] for fits in both if fits[which] is not None]
        assert [fit.error for fit in together] == [fit.error for fit in alone]
        np.testing.assert_array_equal(together[-1].transform, alone[-1].transform)
    with config_context(threads=1):
        again = list(learned_metrics(first_fit(rows), rows, full=[False, True]))
    assert [[fit and fit.error for fit in fits] for fits in again] == [
        [fit and fit.error for fit in fits] for fits in both
    ]


def test_first_fits_stop_at_the_first_length_scale_that_is_worse(rows, monkeypatch):
    asked, own = [], MetricTrials.fit

    def noted(self, length):
        asked.append(length)
        return own(self, length)

    monkeypatch.setattr(MetricTrials, "fit", noted)
    best = first_fit(rows)
    assert set(asked[:2]) == {1.0, 0.5}
    errors = {length: own(MetricTrials(rows, np.eye(4)), length).error for length in (1.0, 0.5, 0.25)}
    assert (0.25 in asked) == (errors[0.5] < errors[1.0])
    assert best.error == min(errors[length] for length in asked)
