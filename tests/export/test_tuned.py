"""Tuned estimators in ONNX, with the preparation of their columns."""

import numpy as np
import pytest

from mercer import TunedClassifier, TunedRegressor
from mercer.fitting import HeldTargets, Numbers
from mercer.learners import ColumnPreparation
from mercer.learners.local import tree_choice
from mercer.learners.local.cross_fit import CrossFit


def table(n_rows, rng):
    """A data frame with numbers, text, dates and missing values, and a target that depends on all."""
    pandas = pytest.importorskip("pandas")
    x, city = rng.randn(n_rows), rng.choice(["Oslo", "Rome", "Lima", "Bonn"], n_rows)
    days = rng.randint(-3000, 20_000, n_rows)
    frame = pandas.DataFrame({"x": x, "city": city, "code": rng.randint(0, 5, n_rows)})
    frame["day"] = pandas.to_datetime(days, unit="D") + pandas.to_timedelta(rng.randint(0, 24, n_rows), unit="h")
    y = np.sin(2 * x) + (city == "Rome") + frame["day"].dt.month / 6 + frame["code"] / 4 + 0.1 * rng.randn(n_rows)
    frame.loc[::17, "x"] = np.nan
    frame.loc[::23, "city"] = None
    frame.loc[::31, "day"] = pandas.NaT
    return frame, y.to_numpy()


def inputs_of(frame):
    """Return the inputs of a file: a column each, dates as days since 1970, "" for missing text."""
    days = (frame["day"].to_numpy() - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    return {
        "x": frame[["x"]].to_numpy(np.float64),
        "code": frame[["code"]].to_numpy(np.float64),
        "city": frame[["city"]].fillna("").to_numpy(dtype=object),
        "day": days.astype(np.float64)[:, None],
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_regression_on_numbers_with_missing_values(run, close, diabetes, dtype):
    X, y = diabetes[0].astype(np.float32).astype(np.float64), diabetes[1]
    X = np.where(X > 2, np.nan, X)
    model = TunedRegressor(random_state=0).fit(X, y)
    close(run(model, X, dtype)["prediction"], model.predict(X), dtype)


@pytest.mark.parametrize("of", ["digits", "cancer"])
def test_classification(run, close, request, of):
    X, y = request.getfixturevalue(of)
    model = TunedClassifier(random_state=0).fit(X[:400], y[:400])
    found = run(model, X, "float64")
    close(found["probabilities"], model.predict_proba(X), "float64")
    np.testing.assert_array_equal(found["label"], model.predict(X))


def test_columns_of_boosted_trees(run, close, rng, monkeypatch):
    monkeypatch.setattr(tree_choice, "_CLEARLY", np.inf)  # a mean with trees may be as good
    X = rng.uniform(size=(700, 4))
    smooth = np.sin(6 * X[:, 2] + 4 * X[:, 3]) + X[:, 0]
    y = 4.0 * ((X[:, 0] > 0.3) & (X[:, 1] < 0.6)) + smooth
    model = TunedRegressor(random_state=0, leaf_rows=200, n_landmarks=50).fit(X[:600], y[:600])
    assert model.preparation_.encoding_.trees is not None
    close(run(model, X, "float64")["prediction"], model.predict(X), "float64")


def test_boosted_trees_in_the_mean(run, close, rng, monkeypatch):
    monkeypatch.setattr(tree_choice, "_LEAST_ROWS", 10**9)
    X = rng.uniform(size=(700, 4))
    y = 2.0 * ((X[:, 0] > 0.3) & (X[:, 1] < 0.6)) + np.sin(4 * X[:, 2])
    model = TunedRegressor(random_state=0, leaf_rows=200, n_landmarks=50).fit(X[:600], y[:600])
    held = HeldTargets.of(Numbers("test"), y[:600, None])
    model.boosted_, model.boosted_share_ = CrossFit(X[:600], held, 0).fit()[0], 0.4
    close(run(model, X, "float64")["prediction"], model.predict(X), "float64")


def test_logistic_trees(run, rng):
    X = rng.uniform(size=(1200, 4))
    odds = 3.0 * ((X[:, 0] > 0.3) & (X[:, 1] < 0.6)) + 2.0 * (X[:, 2] > 0.5) - 2
    y = rng.uniform(size=1200) < 1 / (1 + np.exp(-2 * odds))
    model = TunedClassifier(random_state=0, leaf_rows=400, n_landmarks=50).fit(X[:1000], y[:1000])
    trees = model.boosted_ or model.preparation_.encoding_.trees
    assert trees is not None
    assert trees.is_logistic
    # Probabilities are steep functions of scores: they are those of scores within the limit of ``close``.
    scores = model.decision_function(X)[:, None]
    low, high = (model.calibration_.probabilities(scores + shift)[:, 1] for shift in (-1e-7, 1e-7))
    found = run(model, X, "float64")["probabilities"][:, 1]
    assert np.all((low - 1e-9 <= found) & (found <= high + 1e-9))


def test_tables_with_text_and_dates_have_an_input_for_each_column(run, close, rng):
    frame, y = table(500, rng)
    model = TunedRegressor(random_state=0).fit(frame[:400], y[:400])
    rest = frame[400:].copy()
    rest.iloc[5, rest.columns.get_loc("city")] = "Paris"  # not seen
    close(run(model, inputs_of(rest), "float64")["prediction"], model.predict(rest), "float64")


@pytest.mark.parametrize("method", ["rank", "clip", "common"])
def test_prepared_columns(run, close, diabetes, method):
    X = np.where(diabetes[0] > 2, np.nan, diabetes[0])
    preparation = ColumnPreparation(method=method, random_state=0).fit(X[:300])
    close(run(preparation, X, "float64")["transformed"], preparation.transform(X), "float64")
