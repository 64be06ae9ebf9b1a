"""``mercer train``: what it reports, which columns it takes, and bad input, which ends in one line."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.data import open_source

from .conftest import DATA, GOOD, USAGE, csv_file

REFUSED = ["-t", "y", "--missing", "error"]
# what the file holds, further arguments, the exit code, what the one line says
TABLES = {
    "missing target": (GOOD, ["-t", "yy"], DATA, "the target 'yy' is not a column. Did you mean 'y'?"),
    "another delimiter": (
        GOOD.replace(",", ";"),
        ["-t", "y"],
        DATA,
        "in the shell --delimiter ';'",
    ),
    "no line of names": ("1.5,2,3\n" * 9, ["-t", "y"], DATA, "in the shell --no-header"),
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
    "missing values": (GOOD + ",2,1\n,3,1\n", REFUSED, DATA, "values are missing in 'a' (2, first in row 41)"),
    "all missing": ("a,b,y\n,1,0\n,2,1\n,3,0\n", REFUSED, DATA, "values are missing in 'a' (all, first in row 1)"),
    "missing category": ("a,y\nx,0\n,1\n", REFUSED, DATA, "values are missing in 'a' (1, first in row 2)"),
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
    "a date to predict": ("a,y\n1,2020-01-01\n2,2020-01-02\n", ["-t", "y"], DATA, "the target 'y' holds dates"),
    "an unknown type": (
        GOOD,
        ["-t", "y", "--type", "a=float"],
        USAGE,
        "COLUMN=TYPE with one of number, category, date",
    ),
    "a type of no column": (GOOD, ["-t", "y", "--type", "c=number"], DATA, "the column of types 'c' is not a column"),
    "an option of another model": (GOOD, ["-t", "y", "--model", "svm", "--alpha", "1"], USAGE, "of --model ridge, not"),
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
    options = ("-t", "y", "-D", 8, "--test-fraction", 0)
    done = run("train", "rows.csv", *options, "--missing", "impute", "-o", "m.mercer")
    assert done.exit_code == 0, done.stderr
    X = next(mercer.load("m.mercer").rows(open_source("rows.csv")))
    np.testing.assert_array_equal(X[2], [0, 1, 0])
    np.testing.assert_array_equal(X[3, 1:], [1, 0])
    done = run("train", "rows.csv", *options, "-o", "n.mercer")
    assert done.exit_code == 0, done.stderr
    X = next(mercer.load("n.mercer").rows(open_source("rows.csv")))
    np.testing.assert_array_equal(X[2], [0, 1, 1, 0, 0])  # a, a is missing, c=u, c=v, c is missing
    np.testing.assert_array_equal(X[3, 1:], [0, 0, 0, 1])


def test_many_categories_keep_the_most_frequent_and_this_is_said(run, here):
    csv_file(here, "a,y\n" + "".join(f"name{i % 20 % 13},{i % 2}\n" for i in range(60)))
    done = run("train", "rows.csv", "-t", "y", "--max-categories", 10, "-D", 8, "-o", "m.mercer", "--test-fraction", 0)
    assert done.exit_code == 0, done.stderr
    assert "column 'a' has 13 categories; the 10 most frequent ones are used" in done.stderr
    assert "--ignore a" in done.stderr


def test_a_bad_cell_and_a_count_are_told_of_with_the_way_out(run, here):
    text = "".join(f"{i},{i % 70}\n" for i in range(200))
    csv_file(here, "a,y\n" + text.replace("17,17\n", "seventeen,17\n", 1))
    options = ("-t", "y", "--model", "ridge", "-D", 8, "--test-fraction", 0, "--json")
    done = run("train", "rows.csv", *options, "-o", "m.mercer")
    assert done.exit_code == 0, done.stderr
    assert (
        "rows.csv line 19: column 'a' is read as text because of 'seventeen' there; 1 of the first 200" in done.stderr
    )
    assert "--type a=number" in done.stderr
    assert "the target 'y' holds 70 whole numbers, taken as classes" in done.stderr
    assert "--task regression" in done.stderr
    done = run("train", "rows.csv", *options, "-o", "n.mercer", "--type", "a=number", "--task", "regression")
    said = json.loads(done.stdout)
    assert (said["task"], said["columns"]["numbers"], said["columns"]["with_missing"]) == ("regression", ["a"], ["a"])
    assert said["notes"] == []
    assert run("predict", "n.mercer", "rows.csv", "--type", "a=number").exit_code == 0
    done = run("predict", "n.mercer", "rows.csv")
    assert "line 19: column 'a' holds 'seventeen', which is not a number" in done.stderr


def test_dates_are_columns_and_can_be_ignored(run, here):
    lines = [f"2020-01-{1 + i % 28:02d},2020-01-01 {i % 24:02d}:30:00,{i % 7},{np.sin(i % 7):.3f}" for i in range(90)]
    csv_file(here, "\n".join(["day,time,a,y", *lines]) + "\n")
    for options in ((), ("--ignore", "day", "--ignore", "time")):
        done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "--force", "-D", 16, "--json", *options)
        assert done.exit_code == 0, done.stderr
        columns = json.loads(done.stdout)["columns"]
        assert columns["dates"] == ([] if options else ["day", "time"])
        assert columns["ignored"] == (["day", "time"] if options else [])
        assert run("predict", "m.mercer", "rows.csv").stderr == ""


def test_a_table_is_trained_without_settings(table, run, here):
    """The default: tuned, with a leave-one-out score, baselines, importances, choices and the next step."""
    options = ("-t", "label", "--ignore", "weight", "--time-budget", 1)
    done = run("train", table, *options, "-o", "m.mercer", "--report", "page.html", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["learner"] == "TunedClassifier"
    assert said["leave_one_out"] > max(said["baselines"].values()) > 0.4
    assert set(said["importances"]) == {"height", "city"}
    assert sum(said["importances"].values()) == pytest.approx(1, abs=1e-3)
    assert isinstance(said["seconds"], float)
    page = (here / "page.html").read_text()
    assert "<svg" in page
    assert "TunedClassifier" in page
    done = run("train", table, *options, "-o", "n.mercer")
    for words in (
        "accuracy",
        "leave-one-out on all 300 rows",
        "majority",
        "linear",
        "important",
        "chosen",
        "predict n.mercer",
    ):
        assert words in done.stdout
    assert (here / "m.mercer").stat().st_size > 0


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
    assert said["train_rows"] == 300
    assert 50 < said["test_rows"] < 140  # Binomial(300, 0.3), sd 7.9: false alarm below 1e-6
    assert 0.6 < said["score"] <= 1
    assert said["metric"] == "accuracy"


def test_the_score_is_that_of_the_rows_held_out(table, run, here):
    """Training on what is not held out and scoring on the rest, by hand, with the preparation of all rows."""
    run("train", table, "-t", "weight", "-o", "m.mercer", "-D", 32, "--test-fraction", "0.5", "--seed", 3)
    model = mercer.load("m.mercer")
    out = np.random.RandomState(3).random_sample(300) < 0.5
    (X,), y = model.rows(table), pd.read_csv(table)["weight"].to_numpy()
    learner = mercer.KernelRidge(n_components=32, random_state=3).fit(X[~out], y[~out])
    assert model.n_test_ == out.sum()
    assert model.score_ == pytest.approx(learner.score(X[out], y[out]), rel=1e-4)


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


def _texts(n_rows=60):
    rng = np.random.RandomState(0)
    words = [["acac", "caca"], ["gtgt", "tgtg"]]
    labels = rng.randint(2, size=n_rows)
    return ["".join(rng.choice(words[label], size=4)) for label in labels], labels


def test_a_column_of_text_is_learned_by_a_kernel_on_strings(run, tmp_path):
    texts, labels = _texts()
    path = csv_file(
        tmp_path,
        "n,words,kind\n" + "".join(f"{i},{t},k{c}\n" for i, (t, c) in enumerate(zip(texts, labels, strict=True))),
    )
    model = tmp_path / "words.mercer"
    asked = ["-t", "kind", "--text", "words", "-o", model, "--test-fraction", "0.3", "--json"]
    result = json.loads(run("train", path, *asked, "--kernel", "Normalized(Spectrum(2))").output)
    assert (result["score"], result["n_components"], result["task"]) == (1.0, 2**18, "classification")
    told = run("predict", model, path, "--scores").output.splitlines()
    assert [line.split(",")[0] for line in told[1:]] == [f"k{c}" for c in labels]
    assert "Spectrum(5, least=3)" in run("train", path, *asked, "--force").output
    stream = path.read_text()
    again = run("train", "-", "-t", "kind", "--text", "words", "-o", tmp_path / "again.mercer", stdin=stream)
    assert again.exit_code == 0, again.output
    wrong = run("train", path, "-t", "kind", "--text", "n", "-o", tmp_path / "wrong.mercer")
    assert wrong.exit_code == DATA
    assert "column 'n' holds int64, and the column of text must hold text" in wrong.output


def test_sequences_and_graphs_are_learned_from_their_files(run, tmp_path):
    texts, labels = _texts()
    reads = tmp_path / "reads.fasta"
    reads.write_text("".join(f">r{i} k{c}\n{t}\n" for i, (t, c) in enumerate(zip(texts, labels, strict=True))))
    kernel = "Normalized(GappedKmers(4, 1))"
    asked = ["--kernel", kernel, "--learner", "svm", "-o", tmp_path / "reads.mercer", "--json"]
    result = json.loads(run("train", reads, "-t", "description", *asked).output)
    assert (result["train_rows"], result["kernel"]) == (60, kernel)
    told = run("predict", tmp_path / "reads.mercer", reads).output.splitlines()
    assert told[1:] == [f"k{c}" for c in labels]
    missing = run("train", reads, "-o", tmp_path / "x.mercer")
    assert (missing.exit_code, "--target is missing" in missing.output) == (USAGE, True)

    folder = tmp_path / "G"
    folder.mkdir()
    node_labels = "".join(f"{c}\n{c}\n" for c in labels)
    (folder / "G_A.txt").write_text("".join(f"{2 * i + 1}, {2 * i + 2}\n" for i in range(60)))
    (folder / "G_graph_indicator.txt").write_text("".join(f"{i + 1}\n{i + 1}\n" for i in range(60)))
    (folder / "G_graph_labels.txt").write_text("".join(f"{c}\n" for c in labels))
    (folder / "G_node_labels.txt").write_text(node_labels)
    result = json.loads(run("train", folder, "-o", tmp_path / "graphs.mercer", "--json").output)
    assert result["kernel"] == "Normalized(WeisfeilerLehman(3))"
    told = run("predict", tmp_path / "graphs.mercer", folder).output.splitlines()
    assert told[1:] == [str(c) for c in labels]
