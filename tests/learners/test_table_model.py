"""A learner on a table: which one is fitted, scores, columns matched by name, model files, frames, and refusals."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import (
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    TunedClassifier,
    TunedRegressor,
    load,
    save,
)
from mercer.data import TableError, TableWarning, as_blocks, open_source
from mercer.learners import TableModel, table_fit

COLOURS = np.array(["red", "green", "blue"])


@pytest.fixture
def table(rng):
    x, colour = rng.rand(400), rng.randint(3, size=400)
    return {"x": x, "colour": COLOURS[colour], "size": 2 * x + colour, "kind": np.where(x + colour > 1.5, "yes", "no")}


@pytest.fixture
def write(tmp_path):
    def written(columns, without=None, name="rows.csv"):
        frame = pd.DataFrame({title: column for title, column in columns.items() if title != without})
        frame.to_csv(tmp_path / name, index=False)
        return open_source(tmp_path / name)

    return written


def _model(**options):
    return TableModel(KernelSVC(C=10, random_state=0), KernelRidge(alpha=1e-3, random_state=0), **options)


def test_the_target_decides_between_classification_and_regression(table, write):
    classified = _model(test_fraction=0.25).fit(write(table), "kind", ignore=("size",))
    assert (classified.task_, classified.target_, classified.ignored_) == ("classification", "kind", ["size"])
    assert classified.classes_.tolist() == ["no", "yes"]
    fitted = _model(test_fraction=0.25).fit(write(table, "kind"), "size")
    assert fitted.task_ == "regression"
    for model in (classified, fitted):
        assert model.n_train_ == 400
        assert 50 < model.n_test_ < 150  # Binomial(400, 1/4), sd 8.7: false alarm below 1e-7
        assert model.score_ > 0.9


def test_the_model_is_fitted_on_all_rows_after_the_score(table, write):
    held_out = _model(test_fraction=0.5).fit(write(table, "kind"), "size")
    whole = _model(test_fraction=0.0).fit(write(table, "kind"), "size")
    assert (whole.n_test_, whole.score_) == (0, None)
    np.testing.assert_array_equal(held_out.predict(write(table, "kind")), whole.predict(write(table, "kind")))


def test_learners_without_leave_one_out_hold_rows_out_by_default(table, write):
    assert _model().fit(write(table, "size"), "kind").n_test_ > 0
    by_loo = TableModel(regressor=KernelRidge(random_state=0)).fit(write(table, "kind"), "size")
    assert (by_loo.n_test_, by_loo.score_) == (0, None)
    assert by_loo.loo_score_ > 0.95
    assert by_loo.baselines_["mean"] == 0
    assert 0.5 < by_loo.baselines_["linear"] <= 1


def test_columns_are_matched_by_name_and_the_file_holds_all(table, write, tmp_path):
    model = _model(test_fraction=0).fit(write(table, "kind"), "size")
    expected = model.predict(write(table, "kind"))
    np.testing.assert_allclose(expected, table["size"], atol=0.1)
    save(model, tmp_path / "model.mercer")
    turned = write({name: table[name] for name in ("colour", "x")}, name="turned.csv")
    np.testing.assert_array_equal(load(tmp_path / "model.mercer").predict(turned), expected)


@pytest.mark.parametrize("learner", [KernelSVC(random_state=0), KernelLogisticRegression(random_state=0)])
def test_scores_have_a_column_for_each_class(table, write, learner):
    model = TableModel(learner, test_fraction=0).fit(write(table, "size"), "kind")
    (result,) = model.results(write(table, "size"), scores=True)
    assert result.scores.shape == (400, 2)
    np.testing.assert_array_equal(model.classes_[result.scores.argmax(axis=1)], result.predicted)
    assert next(iter(model.results(write(table, "size")))).scores is None


def test_features_of_rows(table, write):
    model = _model(test_fraction=0).fit(write(table, "kind"), "size")
    (X,), (Z,) = model.rows(write(table, "kind")), model.transform(write(table, "kind"))
    assert X.shape == (400, 4)
    np.testing.assert_array_equal(Z, model.learner_.feature_map_.transform(X))


def test_what_does_not_fit_is_refused(table, write):
    with pytest.raises(TableError, match="which column is the target"):
        _model().fit(write(table))
    with pytest.raises(ValueError, match="TableModel: the task is regression, and no learner is given for it"):
        TableModel(KernelSVC()).fit(write(table), "size")
    with pytest.raises(ValueError, match="TableModel: KernelRidge does not do classification"):
        TableModel(KernelRidge()).fit(write(table), "kind")
    with pytest.raises(ValueError, match="KernelPCA predicts neither classes nor numbers"):
        TableModel.of(KernelPCA())
    model = _model(test_fraction=0).fit(write(table, "kind"), "size")
    with pytest.raises(ValueError, match=r"KernelRidge has no predict_interval; TunedRegressor .* --model tuned"):
        model.predict_interval(write(table, "kind"))
    with pytest.raises(AttributeError, match="predict_interval returns intervals of numbers"):
        model.predict_set(write(table, "kind"))


@pytest.fixture(scope="module")
def raw():
    """Rows with dates, text, truth values, and missing values in each."""
    rng = np.random.RandomState(0)
    n_rows = 500
    days = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.randint(0, 900 * 24, n_rows), unit="h")
    frame = pd.DataFrame(
        {
            "when": days.to_series().reset_index(drop=True),
            "day": days.to_series().reset_index(drop=True).dt.normalize(),
            "city": rng.choice(["Rome", "Oslo", "Bern"], n_rows),
            "flag": rng.rand(n_rows) > 0.5,
            "open": pd.Series(rng.rand(n_rows) > 0.5, dtype="boolean"),
            "x": rng.rand(n_rows),
        }
    )
    frame["y"] = np.sin(6 * frame["x"]) + (frame["city"] == "Rome") + frame["flag"] + frame["open"].astype(float)
    for name in ("when", "city", "open", "x"):
        frame.loc[rng.rand(n_rows) < 0.1, name] = pd.NaT if name == "when" else None
    return frame


def _learner(kind):
    if kind == "tuned":
        return TableModel(regressor=TunedRegressor(n_trees=1, time_budget=0.5, random_state=0))
    return TableModel(regressor=KernelRidge(n_components=64, random_state=0))


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
@pytest.mark.parametrize("kind", ["tuned", "ridge"])
def test_every_door_gives_the_same_predictions(raw, tmp_path, kind):
    """Files and frames of pandas and polars, whether dates are parsed or text; and the model file."""
    raw.to_csv(tmp_path / "rows.csv", index=False)
    raw.to_parquet(tmp_path / "rows.parquet")
    model = _learner(kind).fit(tmp_path / "rows.csv", "y")
    assert model.kinds == {
        "x": "number",
        "flag": "number",
        "open": "number",
        "when": "date",
        "day": "date",
        "city": "categories",
    }
    expected = model.predict(tmp_path / "rows.csv")
    assert model.loo_score_ > 0.5
    save(model, tmp_path / "model.mercer")
    loaded = load(tmp_path / "model.mercer")
    without_target = raw.drop(columns="y")
    for table in (
        tmp_path / "rows.parquet",
        raw,
        without_target[list(reversed(without_target.columns))],
        pd.read_csv(tmp_path / "rows.csv"),
        pl.read_csv(tmp_path / "rows.csv"),
        pl.read_csv(tmp_path / "rows.csv", try_parse_dates=True),
        pl.read_parquet(tmp_path / "rows.parquet").lazy(),
        as_blocks(tmp_path / "rows.csv", target="y", columns=["x"]),
    ):
        np.testing.assert_array_equal(loaded.predict(table), expected)


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
def test_a_learner_fitted_on_a_frame_predicts_files(raw, tmp_path):
    X, y = raw.drop(columns="y"), raw["y"].to_numpy()
    raw.to_csv(tmp_path / "rows.csv", index=False)
    for frame in (X, pl.from_pandas(X)):
        learner = TunedRegressor(n_trees=1, time_budget=0.5, random_state=0).fit(frame, y)
        found = TableModel.of(learner).predict(tmp_path / "rows.csv")
        np.testing.assert_array_equal(found, learner.predict(frame))
    numbers = X[["flag"]].astype(float)
    learner = KernelRidge(n_components=16, random_state=0).fit(numbers, y)
    np.testing.assert_array_equal(TableModel.of(learner).predict(tmp_path / "rows.csv"), learner.predict(numbers))


def test_a_learner_of_numbers_names_the_row_that_misses_one(raw):
    learner = KernelRidge(n_components=8, random_state=0).fit(raw[["x"]].fillna(0.0), raw["y"])
    row = int(np.flatnonzero(raw["x"].isna())[0]) + 1
    with pytest.raises(TableError, match=f"column 'x' misses a value in row {row}, and KernelRidge takes no missing"):
        TableModel.of(learner).predict(raw[["x"]])


def test_an_ignored_column_is_never_parsed(tmp_path):
    """In training and in prediction, from files and from frames."""
    lines = ["bad,x,y"] + [f"{'2020-01-01' if i % 2 else 'x'},{i},{i / 3}" for i in range(50)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    model = _model(test_fraction=0).fit(tmp_path / "rows.csv", "y", ignore=("bad",))
    frame = pd.DataFrame({"bad": [np.inf, [1], {}] * 15, "x": np.arange(45.0), "y": np.arange(45) / 3})
    other = _model(test_fraction=0).fit(frame, "y", ignore=("bad",))
    assert (model.ignored_, list(other.kinds)) == (["bad"], ["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        assert len(model.predict(frame)) == 45
        assert len(other.predict(tmp_path / "rows.csv")) == 50


def test_probabilities_intervals_and_sets_of_tuned_models(raw):
    frame = raw.drop(columns=["when", "day"])
    numbers = _learner("tuned").fit(frame, "y")
    X = frame.drop(columns="y")
    low, high = numbers.predict_interval(frame, coverage=0.8).T
    np.testing.assert_array_equal(np.stack([low, high], 1), numbers.learner_.predict_interval(X, coverage=0.8))
    labelled = frame.assign(y=np.where(frame["y"] > 1, "high", "low"))
    classes = TableModel(TunedClassifier(n_trees=1, time_budget=0.5, random_state=0)).fit(labelled, "y")
    np.testing.assert_allclose(classes.predict_proba(labelled).sum(axis=1), 1)
    assert classes.predict_set(labelled).shape == (500, 2)
    assert classes.baselines_["majority"] == pytest.approx(
        max(np.mean(labelled["y"] == "high"), np.mean(labelled["y"] == "low"))
    )
    assert classes.loo_score_ > classes.baselines_["majority"]


def test_tables_beyond_memory_are_read_in_passes_and_this_is_said(table, write, monkeypatch):
    monkeypatch.setattr(table_fit, "_BYTES_PER_ROW", 2**50)
    with pytest.warns(TableWarning, match=r"a tuned model of 400 rows needs about .* GiB.* takes its place, in passes"):
        model = TableModel().fit(write(table, "kind"), "size")
    assert isinstance(model.learner_, KernelRidge)
    assert model.loo_score_ > 0.95


def test_categories_that_were_not_seen_are_told_of(table, write):
    model = TableModel(regressor=TunedRegressor(n_trees=1, time_budget=0.5, random_state=0)).fit(
        write(table, "kind"), "size"
    )
    with pytest.warns(TableWarning, match="column 'colour' has 1 categories never seen in training, in 2 rows"):
        model.predict(pd.DataFrame({"x": [0.1, 0.2], "colour": ["pink", "pink"]}))


def test_the_targets_row_that_misses_a_value_is_named(raw):
    with pytest.raises(TableError, match="the target 'x' misses a value in row"):
        _model().fit(raw[["x", "flag"]], "x")
