"""The search: what it must choose on tables of known truth, deadlines, and the kernel of a choice."""

import time

import numpy as np
import pytest

from mercer import Metric
from mercer.fitting import HeldTargets, Numbers
from mercer.kernels import ScaledColumns
from mercer.learners.local.search import Search

FLOAT64 = np.dtype(np.float64)


def search_of(X, y, **params):
    held = HeldTargets.of(Numbers("test"), ((y - y.mean()) / y.std())[:, None])
    return Search(X, held, dtype=FLOAT64, leaf_rows=params.pop("leaf_rows", 200), seed=0, **params)


@pytest.fixture
def rotated(rng):
    """A target of one direction that no column is: a full metric is the right one."""
    X = rng.standard_normal((800, 6))
    return X, np.sin(2 * X.sum(axis=1) / 6**0.5)


def test_a_rotated_target_asks_for_a_full_metric(rotated):
    search = search_of(*rotated)
    _, _, choice = search.run()
    assert choice.metric == "full"
    assert isinstance(search.kernel(choice), Metric)


def test_a_target_of_one_column_asks_for_a_diagonal_metric(rng):
    X = rng.standard_normal((800, 6))
    search = search_of(X, np.sign(X[:, 2]) + 0.01 * rng.standard_normal(800))
    _, _, choice = search.run()
    assert choice.metric == "diagonal"
    kernel = search.kernel(choice)
    assert isinstance(kernel, ScaledColumns)
    assert np.argmax(np.abs(kernel.weights)) == 2
    assert np.argmax(search.importances) == 2


def test_many_columns_of_one_kind_ask_for_no_metric(rng):
    """The distance to two centres in 60 columns: no direction matters more than another."""
    centres = rng.standard_normal((2, 60))
    X = centres[rng.randint(2, size=700)] + rng.standard_normal((700, 60))
    y = np.linalg.norm(X - centres[0], axis=1) - np.linalg.norm(X - centres[1], axis=1)
    search = search_of(X, np.tanh(y) * np.linalg.norm(X, axis=1))
    search.run()
    tried = {trial.what.split(", ")[1] for trial in search.log.trials if trial.step == "kernel"}
    assert "no metric" in tried


def test_what_is_not_promising_is_not_improved(rotated):
    asked = []

    def is_promising(rows, residuals):
        asked.append((rows, residuals))
        return False

    search = search_of(*rotated, is_promising=is_promising)
    _, _, choice = search.run()
    assert len(asked) == 1
    assert len(asked[0][0]) == len(asked[0][1])
    assert not any(trial.step == "scale" for trial in search.log.trials)
    assert choice.error == min(trial.error for trial in search.log.trials if trial.step == "kernel")


def test_heavy_tails_ask_for_ranks_or_bent_columns(rng):
    X = np.exp(4 * rng.standard_normal((600, 3)))
    scaling, rows, _ = search_of(X, np.sin(np.log(X[:, 0]))).run()
    assert scaling.method == "rank"
    np.testing.assert_array_equal(rows, scaling.transform(X, FLOAT64))


def test_the_choice_has_the_least_error_that_was_tried(rotated):
    told = []
    search = search_of(*rotated, tell=told.append)
    _, _, choice = search.run()
    tried = [trial.error for trial in search.log.trials if trial.step in ("kernel", "scale", "alpha")]
    assert choice.error == min(tried)
    assert told == search.log.trials
    assert len({trial.what for trial in search.log.trials if trial.step in ("kernel", "scale", "alpha")}) == len(tried)


def test_a_search_with_leaders_tries_their_kernels_and_few_others(rng):
    X = rng.standard_normal((800, 6))
    y = np.sign(X[:, 2]) + 0.01 * rng.standard_normal(800)
    first = search_of(X, y)
    _, _, plain = first.run()
    assert first.leaders == sorted(first.leaders, key=lambda choice: choice.error)
    more = np.column_stack([X, np.sign(X[:, 2])])
    second = search_of(more, y, leaders=first.leaders)
    _, _, choice = second.run()
    steps = "kernel", "alpha"
    kernels = [
        {tuple(trial.what.split(", ")[:2]) for trial in one.log.trials if trial.step in steps}
        for one in (first, second)
    ]
    leaders = [(one.family, f"{one.metric} metric") for one in first.leaders[:2] if one.metric in second.metrics]
    assert len(kernels[1]) <= 4 < len(kernels[0])
    assert all(pair in kernels[1] for pair in leaders)
    assert choice.error < plain.error  # the new column is the target without its noise


def test_a_search_with_leaders_begins_at_their_ridge_and_learns_a_metric_in_one_round(rng):
    X = rng.standard_normal((800, 6))
    y = np.sign(X[:, 2]) + 0.01 * rng.standard_normal(800)
    first = search_of(X, y)
    first.run()
    second = search_of(np.column_stack([X, np.sign(X[:, 2])]), y, leaders=first.leaders)
    second.run()
    assert [trial.step for trial in second.log.trials].index("kernel") < first_place(second, "alpha")
    of_kernels = {trial.what.split(", alpha ")[1] for trial in second.log.trials if trial.step == "kernel"}
    assert of_kernels == {str(first.leaders[0]).split(", alpha ")[1]}
    for name in ("diagonal", "full"):
        assert sum(trial.step == "metric" and trial.what == name for trial in second.log.trials) <= 1


def first_place(search, step):
    """Return the number of the first trial of a step, the number of all trials where there is none."""
    steps = [trial.step for trial in search.log.trials]
    return steps.index(step) if step in steps else len(steps)


def test_all_kernels_are_tried_at_the_best_ridge_of_one_of_them(rng):
    """The quick fit has too small a ridge here: all kernels have the best one of the first trials, not the first."""
    X = rng.standard_normal((800, 3))
    search = search_of(X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(800))
    search.run()
    steps = [trial.step for trial in search.log.trials]
    before = search.log.trials[: steps.index("kernel")]
    tried = {trial.what.split(", alpha ")[1]: trial.error for trial in before if trial.step == "alpha"}
    assert len(tried) >= 3
    assert min(tried, key=tried.get) != next(iter(tried))
    kernels = {trial.what.split(", alpha ")[1] for trial in search.log.trials if trial.step == "kernel"}
    assert kernels == {min(tried, key=tried.get)}


def test_a_deadline_ends_the_search_with_what_was_found(rotated):
    search = search_of(*rotated, deadline=time.monotonic())
    scaling, _, choice = search.run()
    assert search.log.ended == "time_budget"
    assert scaling.method == "rank"
    search.kernel(choice)
    later = search_of(*rotated)
    late = iter([False] * 12 + [True] * 1000)
    later.log.is_late = lambda: next(late)
    _, _, choice = later.run()
    assert np.isfinite(choice.error)


def test_leaves_of_constant_y_are_no_perfect_score(rng):
    """Two boxes in a corner, and leaves of 16 rows: four random leaves would all have y = 0."""
    X = rng.uniform(size=(3000, 2))
    y = 1.0 * ((X[:, 0] < 0.1) & (X[:, 1] < 0.12)) + 1.0 * ((X[:, 0] > 0.85) & (X[:, 1] > 0.95))
    search = search_of(X, y, leaf_rows=16)
    search.run()
    assert all(trial.error > 0 for trial in search.log.trials if trial.step in ("kernel", "scale", "alpha"))


def test_small_leaves_are_more_and_hold_a_rare_target(rng):
    X, y = rng.standard_normal((3000, 2)), np.zeros(3000)
    y[7] = 1.0
    search = search_of(X, y, leaf_rows=16)
    search.run()
    assert 7 in search._drawn_queries(4)
    assert 7 in search._queries
    assert len(search._queries) == 3 * 512 // 16  # as many rows in all as three leaves of the usual size


def test_the_last_ridge_is_chosen_on_leaves_of_the_final_size(rng):
    X = rng.standard_normal((5000, 2))
    search = search_of(X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(5000), leaf_rows=1024)
    _, _, choice = search.run()
    assert not any(trial.step == "last alpha" for trial in search.log.trials)
    last = search.refined(choice)
    errors = [trial.error for trial in search.log.trials if trial.step == "last alpha"]
    assert last.error == min(errors)
    assert (last.metric, last.family, last.scale) == (choice.metric, choice.family, choice.scale)
    search.log.ended = "time_budget"
    assert search.refined(choice) is choice


@pytest.mark.parametrize(("n_targets", "n_rows", "n_features"), [(1, 2048, 256), (12, 3072, 384)])
def test_quick_fits_of_many_targets_have_more_rows_and_features(rng, n_targets, n_rows, n_features):
    X, Y = rng.standard_normal((4000, 2)), rng.standard_normal((4000, n_targets))
    held = HeldTargets.of(Numbers("test", n_dims=2), Y)
    search = Search(X, held, dtype=FLOAT64, leaf_rows=200, seed=0, methods=["rank"])
    search._choose_scaling()
    assert len(search._some) == n_rows
    assert search._first.features.n_components == n_features
