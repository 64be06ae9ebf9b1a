"""``mercer train``: what it reports, which columns it takes, and bad input, which ends in one line."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.data import open_source

from .conftest import DATA, GOOD, USAGE, csv_file

# what the file holds, further arguments, the exit code, what the one line says
TABLES = {
    "missing target": (GOOD, ["-t", "yy"], DATA, "the target 'yy' is not a column. Did you mean 'y'?"),
    "no target named": (GOOD, [], USAGE, "--target is missing: it names one of the columns"),
    "unknown ignored": (GOOD, ["-t", "y", "--ignore", "A1"], DATA, "the column to ignore 'A1' is not a column"),
    "unknown categorical": (
        GOOD,
        ["-t", "y", "--categorical", "c"],
        DATA,
        "the categorical column 'c' is not a column",
    ),
    "ragged": (GOOD + "1,2\n", ["-t", "y"], DATA, "rows.csv line 42: 2 values, and there are 3 columns"),
    "not UTF-8": (GOOD.encode() + b"1,\xff,2\n", ["-t", "y"], DATA, "rows.csv line 42: byte 3 (0xff) is not UTF-8"),
    "empty": ("", ["-t", "y"], DATA, "rows.csv: the file is empty"),
    "names only": ("a,b,y\n", ["-t", "y"], DATA, "there are no rows below the line of names"),
    "the same name twice": ("a,a,y\n1,2,3\n", ["-t", "y"], DATA, "the line of names has 'a' twice"),
    "missing values": (GOOD + ",2,1\n,3,1\n", ["-t", "y"], DATA, "values are missing in 'a' (2, first in row 41)"),
    "all missing": ("a,b,y\n,1,0\n,2,1\n,3,0\n", ["-t", "y"], DATA, "values are missing in 'a' (all, first in row 1)"),
    "missing category": ("a,y\nx,0\n,1\n", ["-t", "y"], DATA, "values are missing in 'a' (1, first in row 2)"),
    "missing label": (GOOD + "1,2,\n", ["-t", "y"], DATA, "the target 'y' misses a value in row 41"),
    "all constant": ("a,y\n1,0\n1,1\n", ["-t", "y"], DATA, "every column holds one value only"),
    "one class": ("a,y\n1,0\n2,0\n", ["-t", "y"], DATA, "the target 'y' holds one value only"),
    "only a target": ("y\n1\n2\n", ["-t", "y"], DATA, "there is no column besides the target"),
    "infinity": (GOOD + "inf,2,1\n", ["-t", "y"], DATA, "column 'a' holds a number that is not finite in row 41"),
    "text to regress on": (
        "a,y\n1,x\n2,z\n",
        ["-t", "y", "--task", "regression"],
        DATA,
        "holds text; regression needs",
    ),
    "fractions as classes": (
        "a,y\n1,0.5\n2,0.7\n",
        ["-t", "y", "--task", "classification"],
        DATA,
        "holds numbers that are not whole; classification needs labels",
    ),
    "too many categories": (
        "a,y\n" + "".join(f"name{i},{i % 2}\n" for i in range(20)),
        ["-t", "y", "--max-categories", "10"],
        DATA,
        "column 'a' has more than 10 categories",
    ),
    "a date": ("a,y\n2020-01-01,0\n2020-01-02,1\n", ["-t", "y"], DATA, "column 'a' holds date32[day]; columns must"),
    "a kernel that does not parse": (GOOD, ["-t", "y", "--kernel", "Gausian()"], USAGE, "did you mean 'Gaussian'?"),
    "a kernel cut short": (GOOD, ["-t", "y", "--kernel", "Linear() + "], USAGE, "column 12"),
    "code as a kernel": (GOOD, ["-t", "y", "--kernel", "__import__('os')"], USAGE, "--kernel: "),
    "an unknown map": (GOOD, ["-t", "y", "--method", "nonsense"], USAGE, "method must be 'auto' or one of"),
    "a wrong alpha": (GOOD, ["-t", "y", "--alpha", "x"], USAGE, "a number > 0, gcv or loo, got 'x'"),
    "a wrong option": (GOOD, ["-t", "y", "--nonsense"], USAGE, "No such option"),
}


@pytest.mark.parametrize("fault", TABLES)
def test_training_on_bad_input_says_one_line_and_writes_nothing(run, here, fault):
    text, arguments, code, message = TABLES[fault]
    csv_file(here, text)
    done = run("train", "rows.csv", *arguments, "-o", "m.mercer", "-D", 8)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("mercer: error: ")
    assert len(lines) == (3 if "--kernel" in arguments else 1)  # a kernel is shown with a caret
    assert [path.name for path in here.iterdir()] == ["rows.csv"]


def test_text_far_below_numbers_names_the_line(run, here):
    """Beyond the first MiB, which tells the types."""
    csv_file(here, "a,y\n" + "1.25,0\n1.5,1\n" * 90_000 + "x,1\n")
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "-D", 8)
    assert done.exit_code == DATA
    assert "rows.csv line 180002: column 'a' holds 'x', which is not a number" in done.stderr


def test_missing_values_are_imputed_by_the_mean_and_the_most_frequent(run, here):
    csv_file(here, "a,c,y\n1,u,0\n3,v,1\n,u,0\n5,,1\n")
    done = run("train", "rows.csv", "-t", "y", "--impute", "-o", "m.mercer", "-D", 8)
    assert done.exit_code == 0, done.stderr
    import mercer

    X = next(mercer.load("m.mercer").rows(open_source("rows.csv")))
    np.testing.assert_array_equal(X[2], [0, 1, 0])
    np.testing.assert_array_equal(X[3, 1:], [1, 0])


def test_constant_columns_are_left_out_with_a_note(run, here):
    csv_file(here, GOOD.replace("a,b,y", "a,b,y,k").replace("\n", ",5\n").replace("k,5", "k"))
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "-D", 8, "--json")
    assert done.exit_code == 0, done.stderr
    assert "left out, being constant or empty: 'k'" in json.loads(done.stdout)["notes"][0]
    assert run("predict", "m.mercer", csv_file(here, GOOD)).exit_code == 0


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
