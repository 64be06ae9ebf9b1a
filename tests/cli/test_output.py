"""Outputs: whole or not there, never overwritten unless asked, and full disks."""

import os
import resource
import subprocess
import sys

import pytest

from .conftest import OUTPUT, USAGE


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


def test_lines_are_broken_in_a_terminal_alone(monkeypatch):
    from mercer.cli.output import fitted_to_terminal

    line = (
        "  chosen     "
        + "columns: clip; metric: full; kernel: Matern 3/2, scale 4; alpha: 0.00316; trees: 1; low order"
    )
    assert fitted_to_terminal(line, 13) == line
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    broken = fitted_to_terminal(line, 13).splitlines()
    assert max(map(len, broken)) <= 80
    assert broken[0].startswith("  chosen     columns: clip")
    assert all(part.startswith(" " * 13) for part in broken[1:])
