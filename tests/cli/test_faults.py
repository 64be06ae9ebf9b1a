"""What goes wrong is one line on standard error and an exit code: JSON, closed streams, signals."""

import json
import os
import signal
import subprocess
import sys
import time

import click
import pytest

from mercer.checkpoints import FitInterrupted
from mercer.cli import faults

from .conftest import DATA, OUTPUT, people


def test_errors_as_json(run, here):
    done = run("train", "nothing.csv", "-t", "y", "-o", "m.mercer", "--json")
    assert json.loads(done.stderr) == {"error": "nothing.csv: there is no such file.", "exit_code": DATA}


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


def test_an_unexpected_failure_is_one_line_too(run, monkeypatch):
    monkeypatch.setattr("mercer.versions.describe", lambda: 1 / 0)
    done = run("info")
    assert done.exit_code == 1
    assert done.stderr.startswith("mercer: error: ZeroDivisionError: division by zero")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("cause", "code", "message"),
    [
        (SystemExit(143), 143, ""),
        (KeyboardInterrupt(), 130, "mercer: error: interrupted; nothing was written.\n"),
    ],
)
def test_a_signal_while_a_class_is_made_is_that_signal(run, monkeypatch, cause, code, message):
    """Python 3.11 turns what a signal raises inside ``__set_name__``, in any import, into a RuntimeError."""

    def make_a_class():
        raise RuntimeError("Error calling __set_name__") from cause

    monkeypatch.setattr("mercer.versions.describe", make_a_class)
    done = run("info")
    assert (done.exit_code, done.stderr) == (code, message)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_fit_with_a_checkpoint_that_a_signal_ends_says_how_to_go_on(run, monkeypatch, number):
    def fit():
        raise FitInterrupted("interrupted", "run/fit-1.*.checkpoint", number)

    monkeypatch.setattr("mercer.versions.describe", fit)
    done = run("info")
    kept = "interrupted; the fit so far is kept in run/fit-1.*.checkpoint. Run the same command again to go on."
    assert done.exit_code == 128 + number
    assert done.stderr.strip() == f"mercer: error: {kept}"


def test_a_note_is_printed_once_per_command(capsys):
    with click.Context(click.Command("compare")):
        for message in ("first", "second", "first"):
            faults.note(message)
        assert faults.notes_so_far() == ["first", "second"]
    with click.Context(click.Command("compare")):
        faults.note("first")
    assert capsys.readouterr().err.splitlines() == [f"mercer: note: {text}" for text in ("first", "second", "first")]
