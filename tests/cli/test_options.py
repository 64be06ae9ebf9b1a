"""Options that commands share: which file is read and how, and kernels as expressions."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from .conftest import DATA, GOOD, csv_file


def test_the_caret_stands_under_the_fault(run, here):
    csv_file(here, GOOD)
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "--kernel", "Linear() + Gausian()")
    *_, shown, caret = done.stderr.splitlines()
    assert shown[caret.index("^") :].startswith("Gausian")


def test_which_parquet_file_of_a_folder_is_damaged(run, here):
    folder = here / "rows"
    folder.mkdir()
    for i in range(3):
        parquet.write_table(pa.table({"a": np.arange(9.0) + i, "y": np.arange(9) % 2}), folder / f"part{i}.parquet")
    damaged = (folder / "part1.parquet").read_bytes()
    (folder / "part1.parquet").write_bytes(damaged[: len(damaged) // 2])
    done = run("train", "rows", "-t", "y", "-o", "m.mercer", "-D", 8)
    assert done.exit_code == DATA
    assert "part1.parquet: the parquet file is damaged or of another kind" in done.stderr
    middle = bytearray(damaged)
    middle[4:60] = bytes(56)  # the footer is whole, the rows are not
    (folder / "part1.parquet").write_bytes(middle)
    done = run("train", "rows", "-t", "y", "-o", "m.mercer", "-D", 8)
    assert done.exit_code == DATA
    assert "part1.parquet" in done.stderr


@pytest.mark.parametrize("name", ["rows.npy", "rows.npz", "rows.parquet", "rows.arrow", "rows.svm"])
def test_files_of_another_kind(run, here, name):
    csv_file(here, "this is no such file\n" * 5, name)
    done = run("train", name, "-t", "y", "-o", "m.mercer")
    assert done.exit_code == DATA
    assert done.stderr.startswith(f"mercer: error: {name}")
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_not_there(run, here):
    done = run("train", "nothing.csv", "-t", "y", "-o", "m.mercer")
    assert (done.exit_code, done.stderr) == (DATA, "mercer: error: nothing.csv: there is no such file.\n")


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


def test_a_csv_without_a_line_of_names(run, here):
    (here / "rows.csv").write_text("".join(f"{i};{i * i}\n" for i in range(40)))
    how = ["--no-header", "--delimiter", ";"]
    assert run("train", "rows.csv", "-t", "x1", "-o", "m.mercer", "-D", 16, *how).exit_code == 0
    assert len(run("predict", "m.mercer", "rows.csv", *how).stdout.split()) == 41
