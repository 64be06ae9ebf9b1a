"""What tuned estimators share: seeds, time budgets, interruptions, blocks, and bad input in words."""

import numpy as np
import pytest
from scipy import sparse

from mercer import TunedClassifier, TunedRegressor, config_context
from mercer.data import as_blocks
from mercer.fitting import RowPick
from mercer.storage import dumps, loads


def test_one_seed_is_one_model_whatever_the_threads(table):
    X, y = table
    models = []
    for threads in (1, 2):
        with config_context(threads=threads):
            models.append(TunedRegressor(random_state=3, leaf_rows=200, n_landmarks=50).fit(X, y))
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert models[0].report_ == models[1].report_


def test_a_time_budget_ends_the_search_with_a_model(table):
    X, y = table
    model = TunedRegressor(random_state=0, time_budget=1e-3, leaf_rows=200).fit(X, y)
    assert model.report_.ended == "time_budget"
    assert model.report_.chosen["trees"] == "1"
    assert model.score(X, y) > 0.5


def test_displays_are_told_of_each_stage_before_it_takes_time(table):
    X, y = table
    stages = []
    with config_context(callback=lambda state: stages.append(state.stage.removeprefix("TunedRegressor: ")) and None):
        TunedRegressor(random_state=0, time_budget=1e-3, leaf_rows=200).fit(X, y)
    assert stages[:2] == ["columns", "first trial"]
    assert "final model" in stages[2:]


def test_a_small_table_has_one_leaf_and_is_exact(table):
    X, y = table
    rows, targets = np.tile(X, (2, 1)) + 1e-3 * np.random.RandomState(0).standard_normal((1800, 5)), np.tile(y, 2)
    whole = TunedRegressor(random_state=0).fit(rows, targets)
    assert [tree.n_leaves for tree in whole.model_.trees_] == [1]
    hurried = TunedRegressor(random_state=0, time_budget=1e-3).fit(rows, targets)
    assert [tree.n_leaves for tree in hurried.model_.trees_] == [2]
    chosen = TunedRegressor(random_state=0, leaf_rows=600).fit(rows, targets)
    assert [tree.n_leaves for tree in chosen.model_.trees_] == [3, 3, 3]


@pytest.mark.parametrize("after", [1, 4, 12])
def test_an_interruption_keeps_the_best_so_far_only_where_that_is_asked_for(table, after, monkeypatch):
    X, y = table
    told = []

    def interrupt(self, trial):
        told.append(trial)
        if len(told) == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(TunedRegressor, "_tell", interrupt)
    plain = TunedRegressor(random_state=0, leaf_rows=200)
    with pytest.raises(KeyboardInterrupt):
        plain.fit(X, y)
    assert not hasattr(plain, "model_")
    told.clear()
    kept = TunedRegressor(random_state=0, leaf_rows=200, keep_interrupted=True)
    if after == 1:  # before the columns are scaled there is nothing to keep
        with pytest.raises(KeyboardInterrupt):
            kept.fit(X, y)
        return
    kept.fit(X, y)
    assert kept.report_.ended == "interrupted"
    assert kept.report_.chosen["trees"] == "1"
    assert kept.score(X, y) > 0.5


def test_blocks_and_sparse_rows_give_the_model_of_arrays(table, regressor):
    X, y = table

    def source():
        yield from zip(np.array_split(X[:600], 7), np.array_split(y[:600], 7), strict=True)

    for rows in (as_blocks(source), as_blocks(sparse.csr_array(X[:600]), y[:600])):
        model = TunedRegressor(random_state=0).fit(rows)
        assert model.report_ == regressor.report_
        np.testing.assert_array_equal(model.predict(X[600:]), regressor.predict(X[600:]))
        new = as_blocks(X[600:], y[600:], block_rows=70)
        np.testing.assert_allclose(model.predict(new), regressor.predict(X[600:]), rtol=1e-9)
        assert model.score(new) == pytest.approx(regressor.score(X[600:], y[600:]))
    with pytest.raises(ValueError, match="X has 2 features, but TunedRegressor is expecting 5"):
        regressor.predict(as_blocks(X[:, :2]))
    with pytest.raises(ValueError, match="X is Blocks, which bring their own y"):
        TunedRegressor().fit(as_blocks(X, y), y)


def _source(X, y, parts):
    def source():
        yield from zip(np.array_split(X, parts), np.array_split(y, parts), strict=True)

    return as_blocks(source)


def test_a_longer_source_is_sampled_and_its_other_rows_help(rng):
    """Rows of noise: 400 of 6,000 rows are held, and sums of the others make the model of low order better."""
    X = rng.standard_normal((7000, 3))
    X[rng.rand(7000) < 0.1, 2] = np.nan
    truth = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    y = truth + 1.5 * rng.standard_normal(7000)
    few = {"random_state": 0, "max_rows": 400, "n_landmarks": 50, "leaf_rows": 200}
    model = TunedRegressor(**few).fit(X[:6000], y[:6000])
    assert model.report_.chosen["rows held"] == "400 of 6,000"
    assert sum(tree.n_rows for tree in model.model_.trees_) == 400 * len(model.model_.trees_)
    assert model.low_order_ is not None
    for parts in (5, 11):
        again = TunedRegressor(**few).fit(_source(X[:6000], y[:6000], parts))
        assert again.report_ == model.report_
        np.testing.assert_array_equal(again.predict(X[6000:]), model.predict(X[6000:]))
    loaded = loads(dumps(model))
    np.testing.assert_array_equal(loaded.predict(X[6000:]), model.predict(X[6000:]))
    held = RowPick.of(6000, 400, model.preparation_.random_state).mask(0, 6000)
    alone = TunedRegressor(**few).fit(X[:6000][held], y[:6000][held])
    errors = [np.mean((one.predict(X[6000:]) - truth[6000:]) ** 2) for one in (model, alone)]
    # The error of the low-order part is nearly all variance, which falls with the number of rows.
    assert errors[0] < 0.8 * errors[1]


def test_refits_forget_the_sample(table):
    X, y = table
    model = TunedRegressor(random_state=0, max_rows=500, leaf_rows=200, n_landmarks=50)
    first = model.fit(_source(X, y, 3)).predict(X)
    whole = model.set_params(max_rows=900).fit(X, y)
    assert "rows held" not in whole.report_.chosen
    np.testing.assert_array_equal(model.set_params(max_rows=500).fit(X, y).predict(X), first)


def test_streams_of_strange_targets(table):
    X, _ = table
    few = {"random_state": 0, "max_rows": 200, "leaf_rows": 100, "n_landmarks": 20}
    constant = TunedRegressor(**few).fit(_source(X, np.full(900, 3.0), 4))
    np.testing.assert_allclose(constant.predict(X), 3.0)
    labels = np.where(X[:, 0] > 0, "up", "down").astype(object)
    labels[[3, 4]] = "rare"
    model = TunedClassifier(**few).fit(_source(X, labels, 4))
    assert model.classes_.tolist() == ["down", "rare", "up"]
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.mean(model.predict(X) == labels) > 0.85
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got 1 class: 'a'"):
        TunedClassifier(**few).fit(_source(X, np.full(900, "a"), 4))
    with pytest.raises(ValueError, match=r"at row 300 .*has columns 4, and the source began with 5"):
        TunedRegressor(**few).fit(as_blocks(lambda: iter([(X[:300], X[:300, 0]), (X[300:, :4], X[300:, 0])])))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"time_budget": 0}, r"time_budget must be a finite number > 0, got 0. None sets no limit"),
        ({"n_trees": 0}, "n_trees must be an integer >= 1, got 0"),
        ({"leaf_rows": 0}, "leaf_rows must be an integer >= 1, got 0. None chooses it"),
        ({"max_rows": 0}, "max_rows must be an integer >= 1, got 0. None holds as many as memory allows"),
        ({"n_landmarks": -1}, "n_landmarks must be an integer >= 0, got -1"),
    ],
)
def test_bad_parameters_are_refused_in_words(table, params, message):
    with pytest.raises(ValueError, match=f"TunedRegressor: {message}"):
        TunedRegressor(**params).fit(*table)


def test_bad_rows_are_refused_in_words(table, regressor):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TunedRegressor().fit(X, y[:-1])
    with pytest.raises(ValueError, match="sample_weight must not be all zero"):
        TunedRegressor().fit(X, y, np.zeros(900))
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got 1 class: 'a'"):
        TunedClassifier().fit(X, ["a"] * 900)
    with pytest.raises(ValueError, match=r"coverage must be a number between 0 and 1, got 1\.0"):
        regressor.predict_interval(X, 1.0)
