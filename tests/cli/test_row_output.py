"""``--resume``: an output whose process was killed is continued, with the bytes of an undisturbed run."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mercer.storage.unfinished import UnfinishedFile

from .conftest import DATA, USAGE, people

CASES = [("predict", suffix) for suffix in ("csv", "jsonl", "npy", "parquet")] + [
    ("transform", suffix) for suffix in ("npy", "arrow")
]
N_ROWS = 900  # nine pieces of 100 rows

# Pieces of 100 rows, a record after each of them; the process stops in the middle of piece 5, or where it is told to.
_STOPPING = """
import os, sys, time
from mercer.cli import row_output
from mercer.learners import table_model
from mercer.storage import unfinished

table_model._PREDICT_ROWS, row_output.EVERY = 100, 0.0
place, n_before = os.environ["STOP_AT"], int(os.environ["STOP_AFTER"])
done = 0

def stop(*_):
    print("stopped", flush=True)
    time.sleep(60)

def counted(write):
    def counting(self, columns):
        global done
        done += 1
        if place == "rows" and done > n_before:
            self._file.write(b"half a row")
            self._file.flush()
            stop()
        write(self, columns)
    return counting

from mercer.data import row_pieces, writers
for cls in (writers.CsvWriter, writers.JsonLinesWriter, writers.NpyWriter, row_pieces.PiecesWriter):
    cls.write = counted(cls.write)
if place == "record":
    unfinished.os.fsync = stop
if place == "end":
    unfinished.UnfinishedFile._remove = stop

from mercer.cli.app import app
app(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text("\n".join(people(N_ROWS, seed=1)) + "\n")
    return path


@pytest.fixture(scope="module")
def features_model(table, run):
    """A model with a feature map."""
    path = table.with_name("ridge.mercer")
    assert run("train", table, "-t", "label", "-o", path, "--model", "ridge", "-D", 32).exit_code == 0
    return path


def _stopped(command, here, *, after=4, place="rows", by=signal.SIGKILL):
    """Run a command until it has written some pieces, and end it by a signal; return what it said."""
    settings = os.environ | {"STOP_AFTER": str(after), "STOP_AT": place, "MERCER_TRACEBACK": ""}
    process = subprocess.Popen(
        [sys.executable, "-c", _STOPPING, *map(str, command)],
        cwd=here,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout.readline() == "stopped\n", process.stderr.read()
            process.send_signal(by)
            return process.communicate(timeout=60)[1], process.returncode
        finally:
            process.kill()


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr("mercer.learners.table_model._PREDICT_ROWS", 100)
    monkeypatch.setattr("mercer.cli.row_output.EVERY", 0.0)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(("verb", "suffix"), CASES)
def test_a_killed_output_is_continued_with_the_same_bytes(run, here, rows, features_model, verb, suffix):
    more = ["--scores"] if verb == "predict" and suffix != "npy" else []
    command = [verb, features_model, rows, "-o", f"out.{suffix}", "--resume", *more]
    assert run(verb, features_model, rows, "-o", f"undisturbed.{suffix}", *more).exit_code == 0
    _stopped(command, here, after=4)
    if suffix in ("csv", "arrow"):
        _stopped(command, here, after=2)  # and killed again
    assert not (here / f"out.{suffix}").exists()
    done = run(*command)
    assert done.exit_code == 0, done.stderr
    n_kept = 600 if suffix in ("csv", "arrow") else 400
    assert f"{n_kept} rows are there already; going on after them" in done.stderr
    assert "900 rows in" in done.stdout
    assert (here / f"out.{suffix}").read_bytes() == (here / f"undisturbed.{suffix}").read_bytes()
    assert sorted(path.name for path in here.iterdir()) == [f"out.{suffix}", f"undisturbed.{suffix}"]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(("place", "n_kept"), [("record", 0), ("end", 900)])
def test_a_kill_inside_a_record_or_at_the_end(run, here, rows, model, place, n_kept):
    command = ["predict", model, rows, "-o", "out.parquet", "--resume"]
    assert run("predict", model, rows, "-o", "undisturbed.parquet").exit_code == 0
    _stopped(command, here, place=place)
    done = run(*command, *(["--force"] if n_kept else []))
    assert done.exit_code == 0, done.stderr
    assert ("900 rows are there already" in done.stderr) == (n_kept == 900)
    assert (here / "out.parquet").read_bytes() == (here / "undisturbed.parquet").read_bytes()
    assert sorted(path.name for path in here.iterdir()) == ["out.parquet", "undisturbed.parquet"]


@pytest.mark.parametrize(("by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_say_how_to_go_on(run, here, rows, model, by, code):
    said, ended = _stopped(["predict", model, rows, "-o", "out.csv", "--resume"], here, by=by)
    assert ended == code
    assert said == (
        f"mercer: error: interrupted; 400 rows are kept in {here}/.out.csv.unfinished. Run the same command again to "
        "go on.\n"
    )


CHANGES = {
    "rows": "the size of {rows} was",
    "model": "the content of {model} was",
    "options": "the columns of the output was 1: 'prediction' and is 3: 'prediction', 'score_no', 'score_yes' now",
    "memory": "the setting memory was None and is",
}


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_refused_by_name(run, here, rows, model, what):
    mine, other = here / "rows.csv", here / "model.mercer"
    mine.write_bytes(rows.read_bytes())
    other.write_bytes(model.read_bytes())
    command = ["predict", other, mine, "-o", "out.csv", "--resume"]
    _stopped(command, here)
    if what == "rows":
        mine.write_text(mine.read_text() + "170,Oslo,70,no\n")
    if what == "model":
        assert run("train", rows, "-t", "label", "-o", other, "-D", 64, "--alpha", "0.2", "--force").exit_code == 0
    done = run(*command, *{"options": ["--scores"], "memory": ["--memory", "1GiB"]}.get(what, []))
    assert done.exit_code == USAGE
    assert CHANGES[what].format(rows=mine, model=other) in done.stderr
    assert f"To begin again, delete {here}/.out.csv.unfinished." in done.stderr
    (here / ".out.csv.unfinished").unlink()
    assert run(*command).exit_code == 0
    assert sorted(path.name for path in here.iterdir()) == ["model.mercer", "out.csv", "rows.csv"]


def test_rows_that_cannot_be_used_leave_nothing(run, here, model):
    (here / "rows.csv").write_text("height,city,weight\n1,Oslo,2\ninf,Oslo,2\n")
    done = run("predict", model, "rows.csv", "-o", "out.csv", "--resume")
    assert done.exit_code == DATA
    assert [path.name for path in here.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["-", "rows.csv", "-o", "o.csv"], "MODEL"), (["m", "-", "-o", "o.csv"], "DATA"), (["m", "r"], "--output")],
)
def test_streams_cannot_be_continued(run, here, arguments, name):
    done = run("predict", *arguments, "--resume")
    assert done.exit_code == USAGE
    assert f"{name} is -" in done.stderr


def test_one_process_at_a_time(run, here, rows, model):
    begun = UnfinishedFile(here / "out.csv", {})
    done = run("predict", model, rows, "-o", "out.csv", "--resume")
    begun.discard()
    assert (done.exit_code, "another process is writing it" in done.stderr) == (USAGE, True)


def test_features_of_an_undisturbed_resume_are_those_without_it(run, here, rows, features_model):
    run("transform", features_model, rows, "-o", "a.npy")
    run("transform", features_model, rows, "-o", "b.npy", "--resume")
    np.testing.assert_array_equal(np.load("a.npy"), np.load("b.npy"))
