"""train, predict, transform and inspect: the same numbers as in Python, whatever the format of the rows."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.data import TableWarning, open_source

from .conftest import people


def _labels(lines):
    return [line.rpartition(",")[2] for line in lines[1:]]


def test_a_model_of_a_table_predicts_what_it_was_taught(table, model, run):
    done = run("predict", model, table)
    assert done.exit_code == 0
    name, *predicted = done.stdout.split()
    right = np.mean([a == b for a, b in zip(predicted, _labels(people(300)), strict=True)])
    assert name == "prediction"
    assert right > 0.9


def test_the_summary_of_training_as_json(table, run, here):
    done = run("train", table, "-t", "label", "-o", "m.mercer", "-D", 32, "--test-fraction", "0.3", "--json")
    said = json.loads(done.stdout)
    assert (said["task"], said["target"], said["n_components"]) == ("classification", "label", 32)
    assert said["train_rows"] + said["test_rows"] == 300
    assert 0.6 < said["score"] <= 1
    assert said["metric"] == "accuracy"


def test_the_score_is_that_of_the_rows_held_out(table, run, here):
    """Training on what is not held out and scoring on the rest, by hand."""
    run("train", table, "-t", "weight", "-o", "m.mercer", "-D", 32, "--test-fraction", "0.5", "--seed", 3)
    model = mercer.load("m.mercer")
    out = np.random.RandomState(3).random_sample(300) < 0.5
    frame = pd.read_csv(table)
    predicted = np.array(run("predict", "m.mercer", table).stdout.split()[1:], dtype=float)[out]
    true = frame["weight"].to_numpy()[out]
    assert model.n_test_ == out.sum()
    assert model.score_ == pytest.approx(1 - ((predicted - true) ** 2).sum() / ((true - true.mean()) ** 2).sum(), 1e-4)


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


@pytest.mark.parametrize("kind", ["npy", "npz", "svm"])
def test_tables_without_names(run, here, kind):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    if kind == "npy":
        np.save("rows.npy", np.column_stack([X, y]))
    elif kind == "npz":
        np.savez_compressed("rows.npz", X=X, y=y)
    else:
        dump_svmlight_file(X, y, "rows.svm")
    target = {"npy": ["-t", "x3"], "npz": ["-t", "y"], "svm": []}[kind]
    done = run("train", f"rows.{kind}", *target, "-o", "m.mercer", "-D", 128, "--alpha", "0.1", "--test-fraction", 0.5)
    assert done.exit_code == 0, done.stderr
    assert mercer.load("m.mercer").score_ > 0.85
    predicted = run("predict", "m.mercer", f"rows.{kind}")
    assert np.mean(np.array(predicted.stdout.split()[1:], dtype=int) == y) > 0.9


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
        X = next(mercer.load(model).rows(open_source("new.csv")))
    assert X[0, 2:].tolist() == [0, 0, 0]
    assert X[1, 2:].sum() == 1


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
def test_features_are_those_of_the_models_map(table, model, run, here):
    done = run("transform", model, table, "-o", "z.npy")
    assert done.exit_code == 0, done.stderr
    loaded = mercer.load(model)
    expected = np.vstack(list(loaded.transform(open_source(table))))
    np.testing.assert_array_equal(np.load("z.npy"), expected)
    run("transform", model, table, "-o", "z.parquet")
    np.testing.assert_array_equal(pd.read_parquet("z.parquet").to_numpy(), expected)


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


def test_standard_streams(table, run, here):
    text = table.read_bytes()
    trained = run("train", "-", "-t", "label", "-o", "-", "-D", 32, stdin=text)
    assert trained.exit_code == 0, trained.stderr
    (here / "m.mercer").write_bytes(trained.stdout_bytes)
    lines = run("predict", "m.mercer", "-", "--json", stdin=text)
    rows = [json.loads(line) for line in lines.stdout.splitlines()]
    assert len(rows) == 300
    assert set(rows[0]) == {"prediction"}
    again = run("predict", "-", table, stdin=trained.stdout_bytes)
    assert again.stdout.split()[1:] == [row["prediction"] for row in rows]
    described = run("inspect", "-", stdin=trained.stdout_bytes)
    assert "KernelRidgeClassifier" in described.stdout


@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_a_stream_of_another_format(run, here, kind):
    X = np.random.RandomState(0).standard_normal((50, 2))
    file = io.BytesIO()
    if kind == "npy":
        np.save(file, X)
    else:
        parquet.write_table(pa.table({"x0": X[:, 0], "x1": X[:, 1]}), file)
    done = run("train", "-", "--format", kind, "-t", "x1", "-o", "m.mercer", "-D", 16, stdin=file.getvalue())
    assert done.exit_code == 0, done.stderr


def test_inspect_tells_columns_task_and_kernel(model, run):
    said = json.loads(run("inspect", model, "--json").stdout)
    assert said["numbers"] == ["height", "weight"]
    assert said["categories"] == {"city": ["Lima", "Oslo", "Rome"]}
    assert (said["task"], said["target"], said["classes"]) == ("classification", "label", ["no", "yes"])
    assert said["kernel"].startswith("Gaussian(gamma=")
    assert "height, weight" in run("inspect", model).stdout


def test_a_kernel_expression_and_a_map_by_name(table, run, here):
    kernel = "Gaussian(gamma=0.5) + 0.1*Linear()"
    done = run("train", table, "-t", "label", "-o", "m.mercer", "-D", 32, "--kernel", kernel, "--json")
    assert done.exit_code == 0, done.stderr
    assert repr(mercer.load("m.mercer").learner_.kernel) == "Gaussian(gamma=0.5) + 0.1 * Linear()"
    done = run("train", table, "-t", "label", "-o", "n.mercer", "-D", 32, "--method", "nystroem", "--json")
    assert json.loads(run("inspect", "n.mercer", "--json").stdout)["feature_map"] == "Nystroem"


def test_numbers_can_be_declared_categories_and_columns_ignored(run, here):
    (here / "codes.csv").write_text(
        "id,code,y\n" + "".join(f"{i},{i % 3},{(i % 3 == 1) * 1.5 + 0.25}\n" for i in range(60))
    )
    done = run("train", "codes.csv", "-t", "y", "--categorical", "code", "--ignore", "id", "-o", "m.mercer", "-D", 16)
    assert done.exit_code == 0, done.stderr
    said = json.loads(run("inspect", "m.mercer", "--json").stdout)
    assert said["categories"] == {"code": ["0", "1", "2"]}
    assert said["numbers"] == []
    assert run("predict", "m.mercer", "codes.csv").exit_code == 0


def test_a_csv_without_a_line_of_names(run, here):
    (here / "rows.csv").write_text("".join(f"{i};{i * i}\n" for i in range(40)))
    how = ["--no-header", "--delimiter", ";"]
    assert run("train", "rows.csv", "-t", "x1", "-o", "m.mercer", "-D", 16, *how).exit_code == 0
    assert len(run("predict", "m.mercer", "rows.csv", *how).stdout.split()) == 41


@pytest.mark.parametrize(
    ("learner", "name"),
    [("svm", "KernelSVC"), ("logistic", "KernelLogisticRegression"), ("ridge", "KernelRidgeClassifier")],
)
def test_every_learner_classifies(table, run, here, learner, name):
    done = run("train", table, "-t", "label", "-o", "m.mercer", "-D", 64, "--learner", learner, "--alpha", 0.1)
    assert done.exit_code == 0, done.stderr
    assert json.loads(run("inspect", "m.mercer", "--json").stdout)["class_name"] == name
    predicted = run("predict", "m.mercer", table, "--scores").stdout
    frame = pd.read_csv(io.StringIO(predicted))
    assert np.mean(frame["prediction"] == _labels(people(300))) > 0.85
    if learner == "logistic":
        np.testing.assert_allclose(frame["score_no"] + frame["score_yes"], 1, rtol=1e-5)


def test_a_learner_that_does_not_do_the_task(run, here):
    (here / "rows.csv").write_text("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(40)))
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "--learner", "logistic")
    assert (done.exit_code, "the task is regression, and no learner is given for it" in done.stderr) == (2, True)


def test_rows_far_from_the_training_rows_are_told_of_once(model, run, here, monkeypatch):
    monkeypatch.setattr("mercer.learners.table_model._PREDICT_ROWS", 50)
    frame = _frame()
    frame.loc[[3, 200], "height"] = 1e6
    frame.to_csv("far.csv", index=False)
    done = run("predict", model, "far.csv", "--scores")
    assert done.exit_code == 0
    assert done.stderr.count("lie far from the training rows") == 1
    assert "2 of 300 rows lie far from the training rows, in column height:" in done.stderr
