"""The adapters for river: the learner's own answers, keys, labels and warm-up, and river's checks where it is there.

River is no dependency of the tests: ``test_river_s_own_checks`` is skipped without it.
"""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from mercer import FOGDClassifier, FOGDRegressor, Gaussian, NOGDClassifier, NOGDRegressor
from mercer.datasets import rotating_drift
from mercer.learners.river import RiverClassifier, RiverRegressor

KERNEL = Gaussian(gamma=1.0)


def _dicts(X):
    return [{"b": row[1], "a": row[0]} for row in X]


@pytest.mark.parametrize("kind", [FOGDClassifier, NOGDClassifier])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_rows_one_by_one_are_the_learner_s_partial_fit(kind, loss):
    stream = rotating_drift(120, random_state=0)
    learner = kind(KERNEL, n_components=20, loss=loss, decay=0.99, random_state=0)
    model = RiverClassifier(learner, warm_up=30)
    for x, y in zip(_dicts(stream.X), stream.y, strict=True):
        model.learn_one(x, bool(y))
    assert not hasattr(learner, "coef_")
    codes = (stream.y != stream.y[0]).astype(int)  # the first label is class 0
    learner.partial_fit(stream.X[:30], codes[:30], classes=[0, 1])
    for t in range(30, 120):
        learner.partial_fit(stream.X[t : t + 1], codes[t : t + 1])
    np.testing.assert_array_equal(model.fitted.coef_, learner.coef_)
    scores = learner.decision_function(stream.X)
    for x, score in zip(_dicts(stream.X), scores, strict=True):
        label = model.predict_one(x)
        assert type(label) is bool
        assert label == ((score > 0) != bool(stream.y[0]))
        if loss == "logistic":
            assert model.predict_proba_one(x)[not stream.y[0]] == pytest.approx(1 / (1 + np.exp(-score)))
    if loss == "hinge":
        with pytest.raises(NotImplementedError, match=r"loss='hinge' are no probabilities\. Take loss='logistic'"):
            model.predict_proba_one({"a": 0.0})


@pytest.mark.parametrize("kind", [FOGDRegressor, NOGDRegressor])
def test_a_regressor_learns_row_by_row(rng, kind):
    X = rng.random_sample((60, 2))
    y = X[:, 0] - X[:, 1] ** 2
    learner = kind(KERNEL, n_components=20, random_state=0)
    model = RiverRegressor(learner, warm_up=20)
    assert model.predict_one({"a": 1.0}) == 0.0
    for t, x in enumerate(_dicts(X)):
        model.learn_one(x, y[t])
        if t == 18:
            assert model.predict_one(x) == pytest.approx(y[:19].mean())
    learner.partial_fit(X[:20], y[:20])
    for t in range(20, 60):
        learner.partial_fit(X[t : t + 1], y[t : t + 1])
    one_by_one = [model.predict_one(x) for x in _dicts(X)]
    assert one_by_one == pytest.approx(learner.predict(X).tolist(), rel=1e-9)  # rounding depends on the block
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_one({"a": 0.5, "b": 0.5}) == model.predict_one({"a": 0.5, "b": 0.5})


def test_labels_of_any_kind_come_at_any_time(rng):
    """The warm-up waits for a second label, and a third one comes later."""
    model = RiverClassifier(FOGDClassifier(KERNEL, n_components=30, loss="logistic", random_state=0), warm_up=10)
    assert model.predict_one({"a": 0.0}) is None
    assert model.predict_proba_one({"a": 0.0}) == {}
    centres = {("tuple",): -3.0, "text": 0.0, 7: 3.0}
    for label in [("tuple",)] * 25 + ["text", ("tuple",)] * 20 + [7, "text", ("tuple",)] * 60:
        model.learn_one({"a": centres[label] + 0.3 * rng.standard_normal()}, label)
    assert model.labels == [("tuple",), "text", 7]
    assert {label: model.predict_one({"a": centre}) for label, centre in centres.items()} == {
        label: label for label in centres
    }
    probabilities = model.predict_proba_one({"a": 3.0})
    assert sum(probabilities.values()) == pytest.approx(1)
    assert max(probabilities, key=probabilities.get) == 7


def test_missing_keys_are_0_and_unknown_ones_are_ignored_or_refused(rng):
    rows = _dicts(rng.standard_normal((10, 2)))
    for unknown_keys in ("ignore", "refuse"):
        model = RiverRegressor(FOGDRegressor(KERNEL, random_state=0), warm_up=10, unknown_keys=unknown_keys)
        for x in rows[:9]:
            model.learn_one(x, x["a"])
        model.learn_one({"b": 0.5}, 1.0)
        assert model.predict_one({"b": 0.5}) == model.predict_one({"a": 0.0, "b": 0.5})
        if unknown_keys == "ignore":
            assert model.predict_one({"b": 0.5, "c": 9.0}) == model.predict_one({"b": 0.5})
        else:
            with pytest.raises(ValueError, match="the key 'c', which no row of the warm-up had"):
                model.predict_one({"b": 0.5, "c": 9.0})


@pytest.mark.parametrize("value", ["red", None, np.nan, np.inf])
@pytest.mark.parametrize("n_before", [0, 20])
def test_values_that_are_no_numbers_are_named_and_the_model_stays(rng, value, n_before):
    model = RiverRegressor(FOGDRegressor(KERNEL, random_state=0), warm_up=10)
    for x in _dicts(rng.standard_normal((n_before, 2))):
        model.learn_one(x, x["a"])
    before = model.predict_one({"a": 1.0})
    with pytest.raises(ValueError, match=r"RiverRegressor: the value of 'a' must be a finite number, got"):
        model.learn_one({"a": value}, 0.0)
    assert model.predict_one({"a": 1.0}) == before


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match="RiverClassifier: warm_up must be an integer >= 2, got 1"):
        RiverClassifier(warm_up=1)
    with pytest.raises(ValueError, match=r"unknown_keys must be one of \['ignore', 'refuse'\], got 'keep'"):
        RiverRegressor(unknown_keys="keep")


def test_mercer_does_not_import_river():
    code = "import sys, mercer.learners, mercer.datasets; mercer.FOGDClassifier; assert 'river' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "model",
    [
        lambda: RiverClassifier(FOGDClassifier(loss="logistic", n_components=20, random_state=0), warm_up=20),
        lambda: RiverClassifier(NOGDClassifier(decay=0.99, n_components=20, random_state=0), warm_up=20),
        lambda: RiverRegressor(FOGDRegressor(n_components=20, random_state=0), warm_up=20),
        lambda: RiverRegressor(NOGDRegressor(n_components=20, random_state=0), warm_up=20),
    ],
    ids=["FOGDClassifier", "NOGDClassifier", "FOGDRegressor", "NOGDRegressor"],
)
def test_river_s_own_checks(model):
    """All checks of ``river.checks``: run with river on the path; nothing is skipped but what river itself skips."""
    checks = pytest.importorskip("river.checks", reason="river is not installed; its checks run where it is")
    with warnings.catch_warnings():
        # the data sets of river are not scaled: rows far from the warm-up are warned of
        warnings.simplefilter("ignore")
        for check in checks.yield_checks(model()):
            check(model())
