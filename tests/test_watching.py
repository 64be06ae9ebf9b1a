"""States that are told to watchers, who may ask to stop."""

import numpy as np
import pytest

from mercer import KernelKMeans, KernelLogisticRegression, KernelSVC, config_context
from mercer.solvers import Status
from mercer.watching import State, is_watched, told, watching


def test_nobody_watches_outside_the_block():
    assert not is_watched()
    with watching(lambda state: None):
        assert is_watched()
    assert not is_watched()
    assert not told(State("a stage"))


def test_every_watcher_is_told_and_one_can_stop():
    seen = []
    with watching(lambda state: seen.append(state.iteration)), watching(lambda state: state.iteration == 2):
        assert [told(State("descent", iteration=i)) for i in (1, 2)] == [False, True]
    assert seen == [1, 2]


def test_only_true_stops():
    with watching(lambda state: "a text"):
        assert not told(State("descent"))


LEARNERS = [
    KernelSVC(n_components=64, C=100.0, tol=1e-10, random_state=0),
    KernelLogisticRegression(n_components=64, C=100.0, random_state=0),
    KernelKMeans(n_clusters=5, n_components=64, random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_callback_sees_each_iteration_and_stops_a_fit_without_a_warning(learner, rng):
    X = rng.standard_normal((600, 4))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(600) > 0).astype(int)
    states = []
    with config_context(callback=states.append):
        whole = learner.fit(X, y).solution_.iterations
    told_of = [state for state in states if state.iteration is not None]
    assert len(told_of) >= 3
    assert all(np.isfinite(state.gap) and state.tol is not None for state in told_of)
    with config_context(callback=lambda state: (state.iteration or 0) >= 1):
        learner.fit(X, y)
    assert learner.solution_.status is Status.CALLBACK
    assert learner.solution_.iterations < whole
    assert np.isfinite(learner.predict(X)).all()


def test_verbose_shows_the_iterations_of_a_fit(rng, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "rich", None)
    X = rng.standard_normal((300, 3))
    KernelSVC(n_components=16, verbose=1, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert "dual coordinate descent: iteration " in capsys.readouterr().err
