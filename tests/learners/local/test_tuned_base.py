"""What tuned estimators share: seeds, time budgets, interruptions, blocks, and bad input in words."""

import numpy as np
import pytest
from scipy import sparse

from mercer import TunedClassifier, TunedRegressor, config_context
from mercer.data import as_blocks


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


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"time_budget": 0}, r"time_budget must be a finite number > 0, got 0. None sets no limit"),
        ({"n_trees": 0}, "n_trees must be an integer >= 1, got 0"),
        ({"leaf_rows": 0}, "leaf_rows must be an integer >= 1, got 0. None chooses it"),
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
