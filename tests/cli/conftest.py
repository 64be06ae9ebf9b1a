"""Small tables, a model of one, and the command line in this process or in another."""

import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from mercer.cli.app import app

CITIES = ("Oslo", "Rome", "Lima")
USAGE, DATA, MODEL, OUTPUT = 2, 3, 4, 5
GOOD = "a,b,y\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(40))


def csv_file(folder, text, name="rows.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def people(n_rows, seed=0):
    """Lines of a csv: the label follows from height and city."""
    rng = np.random.RandomState(seed)
    lines = ["height,city,weight,label"]
    for _ in range(n_rows):
        height, city, weight = rng.normal(170, 10), CITIES[rng.randint(3)], rng.normal(70, 8)
        label = "yes" if (height > 170) ^ (city == "Rome") else "no"
        lines.append(f"{height:.2f},{city},{weight:.2f},{label}")
    return lines


@pytest.fixture(scope="session")
def run():
    def invoke(*args, stdin=None):
        return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, prog_name="mercer")

    return invoke


@pytest.fixture(scope="session")
def shell():
    """Run ``python -m mercer`` in a process of its own."""

    def execute(*args, **options):
        command = [sys.executable, "-m", "mercer", *map(str, args)]
        options = {"capture_output": True, "timeout": 120} | options
        return subprocess.run(command, check=False, **options)

    return execute


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("\n".join(people(300)) + "\n")
    return path


@pytest.fixture(scope="session")
def model(table, run):
    path = table.with_name("model.mercer")
    done = run("train", table, "-t", "label", "-o", path, "-D", 64, "--alpha", "0.1")
    assert done.exit_code == 0, done.stderr
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERCER_TRACEBACK", os.environ.get("MERCER_TRACEBACK", ""))
    return tmp_path
