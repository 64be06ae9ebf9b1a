"""What goes wrong is one line on standard error and an exit code, and leaves nothing behind."""

import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import mercer
from mercer.data import open_source
from mercer.learners.table_model import TableModel
from mercer.storage import container

from .conftest import people

USAGE, DATA, MODEL, OUTPUT = 2, 3, 4, 5


def _csv(folder, text, name="rows.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


GOOD = "a,b,y\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(40))
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
    "only a target": ("y\n1\n2\n", ["-t", "y"], DATA, "there is no column beside the target"),
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
    _csv(here, text)
    done = run("train", "rows.csv", *arguments, "-o", "m.mercer", "-D", 8)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("mercer: error: ")
    assert len(lines) == (3 if "--kernel" in arguments else 1)  # a kernel is shown with a caret
    assert [path.name for path in here.iterdir()] == ["rows.csv"]


def test_the_caret_stands_under_the_fault(run, here):
    _csv(here, GOOD)
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "--kernel", "Linear() + Gausian()")
    *_, shown, caret = done.stderr.splitlines()
    assert shown[caret.index("^") :].startswith("Gausian")


def test_text_far_below_numbers_names_the_line(run, here):
    """Beyond the first MiB, which tells the types."""
    _csv(here, "a,y\n" + "1.25,0\n1.5,1\n" * 90_000 + "x,1\n")
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "-D", 8)
    assert done.exit_code == DATA
    assert "rows.csv line 180002: column 'a' holds 'x', which is not a number" in done.stderr


def test_missing_values_are_imputed_by_the_mean_and_the_most_frequent(run, here):
    _csv(here, "a,c,y\n1,u,0\n3,v,1\n,u,0\n5,,1\n")
    done = run("train", "rows.csv", "-t", "y", "--impute", "-o", "m.mercer", "-D", 8)
    assert done.exit_code == 0, done.stderr
    import mercer
    from mercer.data import open_source

    X = next(mercer.load("m.mercer").rows(open_source("rows.csv")))
    np.testing.assert_array_equal(X[2], [0, 1, 0])
    np.testing.assert_array_equal(X[3, 1:], [1, 0])


def test_constant_columns_are_left_out_with_a_note(run, here):
    _csv(here, GOOD.replace("a,b,y", "a,b,y,k").replace("\n", ",5\n").replace("k,5", "k"))
    done = run("train", "rows.csv", "-t", "y", "-o", "m.mercer", "-D", 8, "--json")
    assert done.exit_code == 0, done.stderr
    assert "left out, being constant or empty: 'k'" in json.loads(done.stdout)["notes"][0]
    assert run("predict", "m.mercer", _csv(here, GOOD)).exit_code == 0


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
    _csv(here, "this is no such file\n" * 5, name)
    done = run("train", name, "-t", "y", "-o", "m.mercer")
    assert done.exit_code == DATA
    assert done.stderr.startswith(f"mercer: error: {name}")
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_not_there(run, here):
    done = run("train", "nothing.csv", "-t", "y", "-o", "m.mercer")
    assert (done.exit_code, done.stderr) == (DATA, "mercer: error: nothing.csv: there is no such file.\n")


PREDICTIONS = {
    "missing column": ("hight,city,weight\n1,Oslo,2\n", "needs the column 'height'. Did you mean 'hight'?"),
    "missing columns": ("city\nOslo\n", "the model needs the columns 'height', 'weight'"),
    "text for numbers": ("height,city,weight\nx,Oslo,2\n", "line 2: column 'height' holds 'x', which is not a number"),
    "missing value": ("height,city,weight\n1,Oslo,2\n,Oslo,2\n", "column 'height' misses a value in row 2"),
    "missing category": ("height,city,weight\n1,Oslo,2\n1,,2\n", "column 'city' misses a value in row 2"),
    "infinity": ("height,city,weight\ninf,Oslo,2\n", "column 'height' holds infinity in row 1"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("fault", PREDICTIONS)
def test_predicting_on_bad_input_says_one_line_and_writes_nothing(run, here, model, fault):
    text, message = PREDICTIONS[fault]
    _csv(here, text)
    done = run("predict", model, "rows.csv", "-o", "out.csv")
    assert (done.exit_code, done.stdout) == (DATA, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in here.iterdir()] == ["rows.csv"]


def _future(data):
    """Return a model file of a format that is still to come."""
    import io

    about, tensors = container.read(io.BytesIO(data))
    return bytes(container.to_bytes(about | {"format": 999}, tensors))


MODELS = {
    "future": (_future, "it has format 999"),
    "cut short": (lambda data: data[: len(data) // 2], "it is"),
    "changed": (lambda data: data[:-9] + b"x" + data[-8:], "it is damaged: its bytes"),
    "foreign": (lambda data: b"PK\x03\x04 something else", "it is not a mercer model file"),
    "empty": (lambda data: b"", "it is empty"),
}


@pytest.mark.parametrize("verb", ["predict", "inspect"])
@pytest.mark.parametrize("fault", MODELS)
def test_model_files_that_cannot_be_used(run, here, model, table, fault, verb):
    change, message = MODELS[fault]
    (here / "other.mercer").write_bytes(change(model.read_bytes()))
    done = run(verb, "other.mercer", *([table] if verb == "predict" else []))
    assert (done.exit_code, done.stdout) == (MODEL, "")
    assert f"other.mercer: {message}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _forged(data, change):
    """Return a file with changed contents and a right checksum."""
    about, tensors = container.read(io.BytesIO(data))
    change(about, about["model"]["state"]["learner_"]["state"], tensors)
    return bytes(container.to_bytes(about, tensors))


def _of_other_width(about, learner, tensors):
    learner["feature_map_"]["state"]["n_features_out"] = 7


def _without_weights(about, learner, tensors):
    tensors[learner["coef_"]["tensor"]] = np.zeros(3)


def _without_end(about, learner, tensors):
    tensors[learner["coef_"]["tensor"]][0] = np.nan


def _said_of_another_type(about, learner, tensors):
    about["classes"] = 5


FORGERIES = {
    "width": (_of_other_width, r"it does not hold a sound model: .*n_features_out"),
    "shape": (
        _without_weights,
        r"it does not hold a sound model: KernelRidgeClassifier: coef_\.shape\[0\] must be f = ",
    ),
    "values": (_without_end, r"it does not hold a sound model: KernelRidgeClassifier: coef_ must hold finite numbers"),
}


@pytest.mark.parametrize("verb", ["predict", "inspect", "transform"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_model_files_end_in_one_line(run, here, model, table, forgery, verb):
    change, message = FORGERIES[forgery]
    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), change))
    done = run(verb, "other.mercer", *([] if verb == "inspect" else [table]))
    assert (done.exit_code, done.stdout) == (MODEL, "")
    assert re.search(f"other.mercer: {message}", done.stderr)
    assert len(done.stderr.splitlines()) == 1


def test_a_forged_description_is_refused_by_inspect(run, here, model):
    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), _said_of_another_type))
    done = run("inspect", "other.mercer")
    assert (done.exit_code, len(done.stderr.splitlines())) == (MODEL, 1)
    assert "classes must be a list, got 5" in done.stderr


def test_what_a_terminal_obeys_is_not_printed(run, here, model):
    def obeyed(about, learner, tensors):
        about["model"]["state"]["target_"] = "\x1b[2Jtarget\r"

    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), obeyed))
    done = run("inspect", "other.mercer")
    assert done.exit_code == 0
    assert "\\x1b[2Jtarget\\x0d" in done.stdout

    def named(about, learner, tensors):
        about.update(format=9, versions={"mercer": "\x1b[2J9"})

    (here / "other.mercer").write_bytes(_forged(model.read_bytes(), named))
    assert "mercer \\x1b[2J9, and" in run("inspect", "other.mercer").stderr


@pytest.mark.parametrize("verb", ["predict", "inspect"])
def test_buckets_outside_a_sketch_end_in_one_line_and_not_by_a_signal(shell, here, table, verb):
    """A sketch whose length has a prime factor beyond 5 is SciPy's work, which follows any index."""
    sketch = mercer.TensorSketch(mercer.Polynomial(2), n_components=101)
    learner = mercer.KernelRidgeClassifier(features=sketch, random_state=0)
    mercer.save(TableModel(learner).fit(open_source(str(table)), "label"), here / "model.mercer")

    def astray(about, learner, tensors):
        index = learner["feature_map_"]["state"]["index_"]["tensor"]
        tensors[index] = np.full_like(tensors[index], 2**30)

    (here / "model.mercer").write_bytes(_forged((here / "model.mercer").read_bytes(), astray))
    done = shell(verb, here / "model.mercer", *([table] if verb == "predict" else []))
    assert (done.returncode, done.stdout) == (MODEL, b"")
    assert b"index_ must hold integers below 101" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_is_not_there_or_of_no_table(run, here, table):
    assert run("predict", "no.mercer", table).exit_code == MODEL
    mercer.save(mercer.Gaussian(), "kernel.mercer")
    done = run("predict", "kernel.mercer", table)
    assert (done.exit_code, "it holds a Gaussian" in done.stderr) == (MODEL, True)


def test_an_output_that_exists_stays_unless_forced(run, here, table, model):
    (here / "out.csv").write_text("precious")
    done = run("predict", model, table, "-o", "out.csv")
    assert (done.exit_code, "--force overwrites it" in done.stderr) == (OUTPUT, True)
    assert (here / "out.csv").read_text() == "precious"
    assert run("predict", model, table, "-o", "out.csv", "--force").exit_code == 0
    assert (here / "out.csv").read_text().startswith("prediction")


@pytest.mark.parametrize(("path", "message"), [(".", "this is a folder"), ("no/out.csv", "there is no folder 'no'")])
def test_an_output_that_cannot_be_written(run, here, table, model, path, message):
    done = run("predict", model, table, "-o", path)
    assert (done.exit_code, message in done.stderr) == (OUTPUT, True)


def test_an_unknown_format_of_output(run, here, table, model):
    done = run("predict", model, table, "-o", "out.xyz")
    assert (done.exit_code, "the name does not tell the format" in done.stderr) == (USAGE, True)


def test_errors_as_json(run, here):
    done = run("train", "nothing.csv", "-t", "y", "-o", "m.mercer", "--json")
    assert json.loads(done.stderr) == {"error": "nothing.csv: there is no such file.", "exit_code": DATA}


def test_an_unknown_command_names_the_nearest(run):
    done = run("trian")
    assert (done.exit_code, "There is no command 'trian'. Did you mean 'train'?" in done.stderr) == (USAGE, True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("how", ["device", "standard output"])
def test_a_full_disk(shell, table, model, how):
    if how == "device":
        done = shell("predict", model, table, "-o", "/dev/full", "--force")
    else:
        with open("/dev/full", "wb") as full:
            done = shell("predict", model, table, stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == OUTPUT
    assert b"the disk is full" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("verb", ["train", "transform"])
def test_a_disk_that_fills_up_leaves_no_part_of_a_file(here, table, model, verb):
    """A limit on the size of files stands for the disk: writing fails half-way."""
    arguments = {"train": ["-t", "label", "-D", "512", "-o"], "transform": [table, "-o"]}[verb]
    first = table if verb == "train" else model

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [sys.executable, "-m", "mercer", verb, str(first), *map(str, arguments), "out.npy"]
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=limit, timeout=120)
    assert done.returncode == OUTPUT, done.stderr
    assert b"the disk is full" in done.stderr
    assert list(here.iterdir()) == []


def test_a_closed_pipe_is_quiet(model, here):
    lines = people(1)
    (here / "many.csv").write_text("\n".join([lines[0], *(lines[1:] * 60_000)]) + "\n")
    command = [sys.executable, "-m", "mercer", "predict", str(model), "many.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


CLOSED = [
    (["predict", "{model}", "{table}"], 1, OUTPUT, "standard output is closed"),
    (["predict", "{model}", "{table}", "--json"], 1, OUTPUT, "standard output is closed"),
    (["inspect", "{model}"], 1, OUTPUT, "standard output is closed"),
    (["--help"], 1, OUTPUT, "standard output is closed"),
    (["predict", "{model}", "-"], 0, DATA, "standard input is closed, and - asks to read it"),
    (["inspect", "-"], 0, DATA, "standard input is closed"),
]


@pytest.mark.parametrize(("arguments", "closed", "code", "message"), CLOSED, ids=range(len(CLOSED)))
def test_a_standard_stream_that_the_shell_has_closed(shell, model, table, arguments, closed, code, message):
    """As by ``mercer predict m.mercer rows.csv >&-``: Python has None there."""
    arguments = [argument.format(model=model, table=table) for argument in arguments]
    done = shell(*arguments, preexec_fn=lambda: os.close(closed))
    assert done.returncode == code, done.stderr
    assert message in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1


def test_a_closed_standard_error_takes_nothing_from_the_result(shell, model, table):
    done = shell("predict", model, table, preexec_fn=lambda: os.close(2))
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 301)
    assert shell("predict", model, "nothing.csv", preexec_fn=lambda: os.close(2)).returncode == DATA


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing_half_written(model, here, number, code, pause):
    """The rows come through a pipe that stays open: the command is waiting for more when the signal comes.

    The pipe is closed some time after it: a reader that wakes while the interpreter ends must not abort the process.
    """
    command = [sys.executable, "-m", "mercer", "predict", str(model), "-", "-o", "out.csv"]
    header, row = people(1)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write("\n".join([header, *([row] * 150_000), ""]).encode())
        process.stdin.flush()
        while not list(here.iterdir()):  # until the file under its other name is there
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        time.sleep(pause)
        process.stdin.close()
        said = process.stderr.read()
        assert process.wait(60) == code, said
    assert list(here.iterdir()) == []
    assert b"Traceback" not in said


CTRL_C = """
import os, runpy, signal, sys

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

moment = sys.argv.pop(1)
sys.meta_path.insert(0, CtrlC())
runpy.run_module("mercer", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("moment", "as_json"),
    [
        ("click", False),
        ("mercer.cli.app", True),
        ("mercer.cli.faults", False),
        ("mercer.cli.compare", True),
        ("numpy", False),
        ("mercer._core", False),
    ],
)
def test_ctrl_c_while_the_command_is_loading_is_one_line(here, moment, as_json):
    command = [sys.executable, "-c", CTRL_C, moment, "compare", "-D", "8", *(["--json"] if as_json else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    message = "interrupted; nothing was written."
    line = json.dumps({"error": message, "exit_code": 130}) if as_json else f"mercer: error: {message}"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"{line}\n")
    assert not list(here.iterdir())


def test_little_is_loaded_before_ctrl_c_is_a_line():
    code = "import sys; before = set(sys.modules); import mercer.cli; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    loaded = set(done.stdout.split())  # an editable install loads a few small modules to find mercer
    assert {name for name in loaded if name.startswith("mercer")} == {"mercer", "mercer.cli"}
    assert not loaded & {"click", "importlib.metadata", "numpy", "rich", "scipy", "sklearn"}
