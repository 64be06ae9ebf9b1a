"""``mercer predict``: the same numbers as in Python, for every format of rows and of predictions; and bad input."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import mercer
from mercer.data import TableWarning

from .conftest import DATA, csv_file, people

PREDICTIONS = {
    "missing column": ("hight,city,weight\n1,Oslo,2\n", "needs the column 'height'. Did you mean 'hight'?"),
    "missing columns": ("city\nOslo\n", "the model needs the columns 'height', 'weight'"),
    "text for numbers": ("height,city,weight\nx,Oslo,2\n", "line 2: column 'height' holds 'x', which is not a number"),
    "infinity": ("height,city,weight\ninf,Oslo,2\n", "column 'height' holds infinity in row 1"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("fault", PREDICTIONS)
def test_predicting_on_bad_input_says_one_line_and_writes_nothing(run, here, model, fault):
    text, message = PREDICTIONS[fault]
    csv_file(here, text)
    done = run("predict", model, "rows.csv", "-o", "out.csv")
    assert (done.exit_code, done.stdout) == (DATA, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in here.iterdir()] == ["rows.csv"]


def _labels(lines):
    return [line.rpartition(",")[2] for line in lines[1:]]


def test_a_model_of_a_table_predicts_what_it_was_taught(table, model, run):
    done = run("predict", model, table)
    assert done.exit_code == 0
    name, *predicted = done.stdout.split()
    right = np.mean([a == b for a, b in zip(predicted, _labels(people(300)), strict=True)])
    assert name == "prediction"
    assert right > 0.9


def _frame():
    return pd.DataFrame([line.split(",") for line in people(300)[1:]], columns=people(1)[0].split(",")).astype(
        {"height": float, "weight": float}
    )


FORMATS = {
    "parquet": lambda folder, frame: parquet.write_table(pa.table(frame), folder / "rows.parquet"),
    "arrow": lambda folder, frame: feather.write_feather(pa.table(frame), str(folder / "rows.arrow")),
    "csv.gz": lambda folder, frame: (folder / "rows.csv.gz").write_bytes(gzip.compress(frame.to_csv().encode())),
    "tsv": lambda folder, frame: frame.to_csv(folder / "rows.tsv", sep="\t", index=False),
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_of_a_table_predicts_the_same(table, model, run, here, suffix):
    FORMATS[suffix](here, _frame())
    done = run("predict", model, here / f"rows.{suffix}")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == run("predict", model, table).stdout


def test_a_folder_of_parquet_files_in_the_order_of_their_names(table, model, run, here):
    frame = _frame()
    for i in (2, 0, 1):
        parquet.write_table(pa.table(frame.iloc[100 * i : 100 * i + 100]), here / f"part{i}.parquet")
    assert run("predict", model, here).stdout == run("predict", model, table).stdout


def test_columns_are_matched_by_name_in_any_order_and_others_ignored(table, model, run, here):
    frame = _frame()
    frame["extra"] = 1
    frame[["extra", "weight", "city", "height"]].to_csv("other.csv", index=False)
    done = run("predict", model, "other.csv")
    assert done.stdout == run("predict", model, table).stdout
    assert "mercer: note: other.csv: columns that the model does not know, ignored: 'extra'." in done.stderr


def test_a_category_never_seen_is_reported_and_is_none_of_those_seen(model, run, here):
    (here / "new.csv").write_text("height,city,weight\n180,Paris,70\n180,Oslo,70\n")
    done = run("predict", model, "new.csv")
    assert done.exit_code == 0
    assert "column 'city' has 1 categories never seen in training, in 1 rows" in done.stderr
    assert "'Paris'" in done.stderr
    with pytest.warns(TableWarning, match="never seen"):
        X = next(iter(mercer.load(model).rows("new.csv")))
    assert X[0, 2:].tolist() == [0, 0, 0]
    assert X[1, 2:].sum() == 1


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow", "npy"])
def test_every_format_of_predictions(table, model, run, here, suffix):
    done = run("predict", model, table, "-o", f"out.{suffix}", "--json")
    assert json.loads(done.stdout)["rows"] == 300
    read = {
        "csv": lambda: pd.read_csv("out.csv")["prediction"],
        "jsonl": lambda: pd.read_json("out.jsonl", lines=True)["prediction"],
        "parquet": lambda: pd.read_parquet("out.parquet")["prediction"],
        "arrow": lambda: pd.read_feather("out.arrow")["prediction"],
        "npy": lambda: np.load("out.npy"),
    }[suffix]()
    assert list(read) == run("predict", model, table).stdout.split()[1:]


def test_scores_have_a_column_a_class_and_agree_with_the_prediction(table, model, run):
    frame = pd.read_csv(io.StringIO(run("predict", model, table, "--scores").stdout))
    assert list(frame) == ["prediction", "score_no", "score_yes"]
    assert (np.where(frame["score_yes"] > frame["score_no"], "yes", "no") == frame["prediction"]).all()


def test_rows_far_from_the_training_rows_are_told_of_once(model, run, here, monkeypatch):
    monkeypatch.setattr("mercer.learners.table_model._PREDICT_ROWS", 50)
    frame = _frame()
    frame.loc[[3, 200], "height"] = 1e6
    frame.to_csv("far.csv", index=False)
    done = run("predict", model, "far.csv", "--scores")
    assert done.exit_code == 0
    assert done.stderr.count("lie far from the training rows") == 1
    assert "2 of 300 rows lie far from the training rows, in column height:" in done.stderr


def test_missing_values_do_not_stop_a_prediction(model, run, here):
    (here / "new.csv").write_text("height,city,weight\n,Oslo,2\n180,,70\n")
    done = run("predict", model, "new.csv", "--json")
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2


@pytest.fixture(scope="module")
def tuned(table):
    """Models fitted in Python on a data frame: numbers and classes."""
    frame = pd.read_csv(table)
    options = {"n_trees": 1, "time_budget": 0.5, "random_state": 0}
    paths = table.with_name("numbers.mercer"), table.with_name("classes.mercer")
    mercer.save(mercer.TunedRegressor(**options).fit(frame.drop(columns="weight"), frame["weight"]), paths[0])
    mercer.save(mercer.TunedClassifier(**options).fit(frame[["height", "city"]], frame["label"]), paths[1])
    return paths


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
def test_models_of_python_predict_in_the_shell_with_intervals_and_sets(table, tuned, run):
    frame = pd.read_csv(table)
    found = pd.read_csv(io.StringIO(run("predict", tuned[0], table, "--interval", 0.8).stdout))
    learner = mercer.load(tuned[0])
    X = frame.drop(columns="weight")
    np.testing.assert_allclose(found["prediction"], learner.predict(X), rtol=1e-12)
    np.testing.assert_allclose(found[["low", "high"]], learner.predict_interval(X, 0.8), rtol=1e-12)
    found = pd.read_csv(io.StringIO(run("predict", tuned[1], table, "--interval", 0.9, "--scores").stdout))
    learner = mercer.load(tuned[1])
    np.testing.assert_allclose(found[["score_no", "score_yes"]], learner.predict_proba(frame[["height", "city"]]))
    members = learner.predict_set(frame[["height", "city"]], 0.9)
    assert found["set"].str.contains("yes").tolist() == members[:, 1].tolist()
    assert found["set"].str.contains("no").tolist() == members[:, 0].tolist()


def test_intervals_of_a_learner_without_them_name_the_one_that_has(model, table, run):
    done = run("predict", model, table, "--interval", 0.9)
    assert done.exit_code == 2
    assert "KernelRidgeClassifier has no predict_set" in done.stderr
    assert "--model tuned" in done.stderr
