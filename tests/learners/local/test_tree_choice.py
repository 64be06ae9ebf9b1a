"""Whether predictions of trees become columns: on tables that jump, not on smooth ones; saved models, importances."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import TunedClassifier, TunedRegressor
from mercer.data import as_blocks
from mercer.learners.local import cross_fit, tree_choice
from mercer.learners.local.cross_fit import CrossFit
from mercer.state import UnsoundError, check_stored
from mercer.storage import dumps, loads


def jumps(rng, n):
    """Boxes of two columns and a smooth direction of others."""
    X = rng.uniform(-1, 1, (n, 6))
    boxes = sum(s * ((X[:, a] > t) & (X[:, b] < u)) for s, a, b, t, u in BOXES)
    return X, boxes + np.sin(2 * X[:, 4] + X[:, 5])


BOXES = [(1.5, 0, 1, -0.3, 0.4), (-1.2, 1, 2, 0.1, 0.6), (1.0, 0, 2, 0.5, -0.1), (2.0, 3, 0, 0.2, 0.3)]


@pytest.fixture(scope="module")
def pair():
    """The tuned regressor with columns of trees, the one without trees, new rows, and their targets."""
    rng = np.random.RandomState(0)
    X, f = jumps(rng, 4000)
    y = f + 0.3 * rng.standard_normal(4000)
    small = {"random_state": 0, "leaf_rows": 500, "n_landmarks": 100}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_choice, "_CLEARLY", np.inf)  # a mean with trees is nearly as good here
        model = TunedRegressor(**small).fit(X[:1500], y[:1500])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_choice, "_LEAST_ROWS", 10**9)
        alone = TunedRegressor(**small).fit(X[:1500], y[:1500])
    return model, alone, X[1500:], y[1500:]


def test_columns_of_trees_lower_the_error_on_jumps(pair):
    model, alone, X, y = pair
    assert alone.preparation_.encoding_.trees is None
    assert model.preparation_.encoding_.trees is not None
    assert "boosted trees" in model.report_.chosen
    assert "trees" in model.report_.steps
    gains = (alone.predict(X) - y) ** 2 - (model.predict(X) - y) ** 2
    assert gains.mean() > 4.75 * gains.std() / len(y) ** 0.5  # of no gain, that is a false alarm in 1e-6 runs


def test_the_leave_one_out_score_is_not_fooled(pair):
    """Predictions of other rows' trees have seen a row: its leave-one-out residual must still be about right."""
    model, _, X, y = pair
    errors = (model.predict(X) - y) ** 2 / y.var()
    assert abs(model.loo_score_ - (1 - errors.mean())) < 4.9 * errors.std() * (1 / len(y) + 1 / 1500) ** 0.5


def test_saved_models_predict_the_same(pair):
    model, _, X, _ = pair
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.preparation_.get_feature_names_out()[-1] == "prediction of trees"


def test_importances_go_to_the_columns_of_the_trees(pair):
    model = pair[0]
    assert model.feature_importances_.shape == (6,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[[0, 1, 3]].min() > 0.02


@pytest.fixture
def no_columns(monkeypatch):
    """Let the search with columns of trees always be worse, so that trees can be part of the mean only."""

    monkeypatch.setattr(tree_choice.TreeChoice, "_gain", lambda self, plain, rows, residuals: np.inf)


def test_trees_that_are_no_columns_are_part_of_the_mean(pair, no_columns):
    _, alone, X, y = pair
    rng = np.random.RandomState(0)
    rows, f = jumps(rng, 4000)
    targets = f + 0.3 * rng.standard_normal(4000)
    model = TunedRegressor(random_state=0, leaf_rows=500, n_landmarks=100).fit(rows[:1500], targets[:1500])
    assert model.preparation_.encoding_.trees is None
    assert 0 < model.boosted_share_ <= 1
    assert f"share {model.boosted_share_:.2f}" in model.report_.chosen["boosted trees"]
    # Boosted trees that have most of the mean leave little to the leaves: one tree of these.
    assert len(model.model_.trees_) == (1 if model.boosted_share_ > 0.6 else 3)
    assert not 0.4 < model.boosted_share_ < 0.6
    gains = (alone.predict(X) - y) ** 2 - (model.predict(X) - y) ** 2
    assert gains.mean() > 4.75 * gains.std() / len(y) ** 0.5  # of no gain, that is a false alarm in 1e-6 runs
    # In the units of y, and the mean of both models, whatever the source of the rows.
    leaves = model.model_.predict(model.preparation_.transform(X))[:, 0]
    mean = (1 - model.boosted_share_) * leaves + model.boosted_share_ * model.boosted_.scores(X)[:, 0]
    np.testing.assert_allclose(model.predict(X), mean, rtol=1e-6, atol=1e-6)  # leaves are float32
    np.testing.assert_array_equal(model.predict(as_blocks(X, block_rows=700)), model.predict(X))
    np.testing.assert_array_equal(loads(dumps(model)).predict(X), model.predict(X))
    assert abs(model.loo_score_ - model.score(X, y)) < 0.05
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_search_with_columns_that_are_not_promising_ends_with_the_first_kernels(rng, monkeypatch):
    X, f = jumps(rng, 1200)
    y = f + 0.3 * rng.standard_normal(1200)
    steps = {}
    for promising in (0.0, np.inf):
        monkeypatch.setattr(tree_choice, "_PROMISING", promising)
        model = TunedRegressor(random_state=0, leaf_rows=300, n_landmarks=50).fit(X, y)
        report = model.report_
        tried = zip(report.steps, report.tried, strict=True)
        steps[promising] = {step for step, what in tried if what.endswith("with trees")}
    assert "kernel" in steps[0.0]
    assert "scale" not in steps[0.0]
    assert "scale" in steps[np.inf]


def test_what_no_fit_makes_is_refused(pair, no_columns, rng):
    X, f = jumps(rng, 600)
    model = TunedRegressor(random_state=0, leaf_rows=300, n_landmarks=50).fit(X, f)
    check_stored(model)
    assert model.boosted_ is not None
    sound = model.boosted_
    model.boosted_ = replace(sound, is_logistic=True)
    with pytest.raises(UnsoundError, match="trees must be logistic for classes"):
        check_stored(model)
    model.boosted_, model.boosted_share_ = sound, 1.5
    with pytest.raises(UnsoundError, match="boosted_share_ must be at most 1"):
        check_stored(model)


def test_the_share_of_trees_is_that_of_the_mean_of_their_folds(rng, monkeypatch):
    X = rng.uniform(size=(2000, 4))
    y = (X[:, 0] > 0.3) * (X[:, 1] < 0.6) + (X[:, 2] > 0.5) * (X[:, 3] > 0.5) + rng.standard_normal(2000)
    known = TunedRegressor(random_state=0).fit(X, y)
    monkeypatch.setattr(CrossFit, "_surplus", lambda self, folds, n_trees: np.zeros(1))
    blind = TunedRegressor(random_state=0).fit(X, y)
    assert known.boosted_share_ > blind.boosted_share_ + 0.1
    assert known.loo_score_ > blind.loo_score_


def test_a_smooth_table_does_without_trees(rng):
    X = rng.standard_normal((900, 6))
    model = TunedRegressor(random_state=0, leaf_rows=300).fit(X, np.sin(2 * X.sum(axis=1) / 6**0.5))
    assert model.preparation_.encoding_.trees is None


def test_trees_of_several_classes_are_part_of_a_mean_and_no_columns(rng, monkeypatch):
    monkeypatch.setattr(tree_choice, "_CLEARLY", np.inf)  # whatever the mean
    X, f = jumps(rng, 1000)
    settings = {"random_state": 0, "leaf_rows": 300, "n_landmarks": 50}
    two = TunedClassifier(**settings).fit(X, f > np.median(f))
    assert two.preparation_.encoding_.trees is not None
    several = TunedClassifier(**settings).fit(X, np.digitize(f, np.quantile(f, [0.3, 0.6])))
    assert several.preparation_.encoding_.trees is None
    assert several.boosted_.n_targets == 3
    np.testing.assert_array_equal(loads(dumps(several)).predict_proba(X), several.predict_proba(X))


def test_an_interruption_during_the_trees_keeps_the_model_without(rng, monkeypatch):
    X, f = jumps(rng, 600)

    def interrupt(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(tree_choice.CrossFit, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        TunedRegressor(random_state=0).fit(X, f)
    kept = TunedRegressor(random_state=0, keep_interrupted=True).fit(X, f)
    assert kept.report_.ended == "interrupted"
    assert kept.preparation_.encoding_.trees is None


def test_an_interruption_of_the_second_search_keeps_the_first(rng, monkeypatch):
    X, f = jumps(rng, 600)
    told = []

    def interrupt(self, trial):
        told.append(trial.step)
        if "trees" in told and trial.step == "kernel":
            raise KeyboardInterrupt

    monkeypatch.setattr(TunedRegressor, "_tell", interrupt)
    kept = TunedRegressor(random_state=0, keep_interrupted=True).fit(X, f)
    assert kept.report_.ended == "interrupted"
    assert kept.preparation_.encoding_.trees is None


def test_trees_of_a_smooth_target_end_with_the_first_fold(monkeypatch):
    """A sine of a rotated direction: trees are near enough to be grown, and a mean with them gains nothing."""
    grown, own = [], CrossFit._new_fold

    def new_fold(self, f):
        grown.append(f)
        return own(self, f)

    monkeypatch.setattr(CrossFit, "_new_fold", new_fold)
    monkeypatch.setattr(cross_fit, "_HOPELESS", np.inf)  # whatever the rival
    monkeypatch.setattr(cross_fit, "_NEAR", np.inf)
    rng = np.random.RandomState(0)
    X = rng.standard_normal((2000, 4))
    y = np.sin(X @ [1.0, 0.8, -0.6, 0.3]) + 0.05 * rng.standard_normal(2000)
    model = TunedRegressor(random_state=0, leaf_rows=500, n_landmarks=100, n_jobs=1).fit(X, y)
    assert grown == [0]  # other threads would have begun with others
    assert model.boosted_ is None
    assert not any(step == "trees" for step in model.report_.steps)
