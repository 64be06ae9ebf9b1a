"""Trials on leaves: walks within bounds, nothing twice, and one unit for the leaves of two metrics."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import config_context
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.choice import Choice
from mercer.learners.local.leaf_trials import LeafTrials
from mercer.learners.local.metrics import MetricRows, first_fit
from mercer.learners.local.trial_log import OutOfTimeError, TrialLog

EASY, HARD = "diagonal", "no"
PAIRS = [(EASY, "Laplace"), (HARD, "Matern 3/2"), (EASY, "Gaussian")]


@pytest.fixture
def trials(rng):
    """Two metrics of one transform: the leaves of one have little noise, those of the other much."""
    X = rng.standard_normal((2000, 2))
    y = np.sin(2 * X[:, 1]) + np.where(X[:, 0] > 0, 1.0, 0.05) * rng.standard_normal(2000)
    held = HeldTargets.of(Numbers("test"), ((y - y.mean()) / y.std())[:, None])
    quick = first_fit(MetricRows(X, held.Y, held.weight, held.left_out, 64, 0))
    trials = LeafTrials(X, held, {EASY: quick, HARD: quick}, quick, seed=0, log=TrialLog())
    for metric, queries in ((EASY, X[:, 0].argsort()[:2]), (HARD, X[:, 0].argsort()[-2:])):
        trials.prepare([metric], queries, 200, 64)
    return trials


def test_equal_kernels_of_two_metrics_have_equal_errors_in_one_unit(trials):
    """What is left between them before is that the quick fit, of few features, is no judge of leaves this easy."""
    starts = [trials.tried("kernel", Choice(metric, "Laplace", 2.0, 0.5)) for metric in (EASY, HARD)]
    assert abs(starts[0].error / starts[1].error - 1) > 0.02
    found = trials.in_one_unit(starts)
    assert found[0].error == pytest.approx(found[1].error, rel=1e-9)
    assert found == trials.found
    # The walk goes on in the new unit.
    more = [trials.tried("scale", Choice(metric, "Laplace", 2.0, 0.5)) for metric in (EASY, HARD)]
    assert more == found


def test_a_metric_that_is_far_behind_keeps_its_unit(trials):
    near = trials.tried("kernel", Choice(EASY, "Laplace", 2.0, 0.5))
    far = trials.tried("kernel", Choice(HARD, "Gaussian", 0.05, 1e-3))
    assert far.error > 1.6 * near.error
    assert trials.in_one_unit([near, far]) == [near, far]


def test_nothing_is_tried_twice(trials):
    choice = Choice(EASY, "Laplace", 2.0, 0.5)
    assert trials.tried("kernel", choice) == trials.tried("alpha", choice)
    assert len(trials.found) == 1


def test_a_walk_goes_downhill_both_ways_within_bounds(trials, monkeypatch):
    for best in (0.1, 1.0, 8.0, 1000.0):

        def tried_all(step, choices, best=best):
            return [replace(choice, error=abs(np.log(choice.scale / best))) for choice in choices]

        monkeypatch.setattr(trials, "tried_all", tried_all)
        start = trials.tried("scale", Choice("full", "Laplace", 1.0, 0.1))
        found = trials.walk("scale", start, scale=2.0)
        assert abs(np.log2(found.scale / min(best, 32.0))) <= 0.5
        assert 0.05 <= found.scale <= 60


def test_choices_that_are_tried_at_once_have_the_errors_of_one_after_the_other(trials):
    choices = [Choice(metric, "Laplace", scale, 0.5) for metric in (EASY, HARD) for scale in (2.0, 1.0)]
    expected = [trials.tried("kernel", choice) for choice in choices]
    names = [trial.what for trial in trials._log.trials]
    for threads in (1, 2, 3):
        trials.found, trials._held, trials._log = [], {}, TrialLog()
        with config_context(threads=threads):
            assert trials.tried_all("kernel", [*choices, choices[0]]) == [*expected, expected[0]]
        assert trials.found == expected
        assert [trial.what for trial in trials._log.trials] == names


def test_walks_side_by_side_end_where_single_ones_do(trials):
    starts = [trials.tried("kernel", Choice(metric, family, 4.0, 0.5)) for metric, family in PAIRS]
    together = trials.walk_all("scale", starts, scale=2.0)
    trials.found = []
    assert [trials.walk("scale", start, scale=2.0) for start in starts] == together
    assert any(one.scale != 4.0 for one in together)


def test_residuals_are_those_of_the_rows_of_the_leaves(trials):
    choice = trials.tried("kernel", Choice(EASY, "Laplace", 2.0, 0.5))
    rows, residuals = trials.judged(choice)
    assert len(np.unique(rows)) == len(rows) == len(residuals)
    held = trials._Y[rows]
    assert np.mean(residuals**2) < 0.5 * held.var()


def test_no_trial_begins_after_the_deadline(trials):
    late = TrialLog(deadline=-np.inf)
    trials._log = late
    with pytest.raises(OutOfTimeError):
        trials.tried("kernel", Choice(EASY, "Laplace", 2.0, 0.5))
    assert late.ended == "time_budget"
    assert late.trials == []
