"""A small paper of two experiments, whose function counts its calls."""

import pytest

EXPERIMENT = """
[paper]
title = "A <b>Paper</b> & $more$"
authors = "A. Author"
year = 2020
summary = "It claims things."

[[experiment]]
name = "errors"
title = "Figure 1"
function = "error"
settings = { runs = 3 }
[experiment.grid]
map = ["good", "bad"]
D = [10, 100]
[experiment.quick]
D = [10]
[[experiment.skip]]
when = { map = "bad", D = 100 }
because = "it takes too long"
[[experiment.figure]]
x = "D"
y = "frobenius_error"
series = "map"
caption = "Errors."
[[experiment.table]]
rows = ["map"]
columns = "D"
metrics = ["frobenius_error"]
caption = "Errors by <map>"

[[experiment]]
name = "other"
title = "Table 1"
function = "other"
[experiment.grid]
data = ["here", "<script>alert(1)</script>"]
[[experiment.table]]
rows = ["data"]
columns = "data"
metrics = ["train_accuracy"]
"""

FUNCTIONS = """
from pathlib import Path
from mercer.bench import MissingDataError

CALLS = Path(__file__).parent / "calls"

def error(cell):
    CALLS.open("a").write(f"{cell['map']} {cell['D']}\\n")
    size = 1.0 if cell["map"] == "bad" else 0.5
    return {"frobenius_error": [size / cell["D"] * (1 + 0.01 * run) for run in range(cell["runs"])]}

def other(cell):
    CALLS.open("a").write("other\\n")
    if cell["data"] == "gone":
        raise MissingDataError("data set 'gone' is not here; it can be had from the shop")
    return {"train_correct": [90, 92], "train_rows": 100}
"""

CLAIMS = """
[[claim]]
id = "order"
source = "Figure 1"
says = "good <i>beats</i> bad"
experiment = "errors"
kind = "order"
metric = "frobenius_error"
left = { map = "good" }
right = { map = "bad" }
over = { D = [10] }

[[claim]]
id = "words"
source = "Text"
says = "It is nice."
not_run = "nobody can measure it"

[[table]]
id = "table1"
source = "Table 1"
says = "{data}: accuracy"
experiment = "other"
metric = "train_accuracy"
columns = ["data", "published", "spread"]
rows = [["here", 90.5, 0.5], ["<script>alert(1)</script>", 80.0, 0.5]]
"""


@pytest.fixture
def paper(tmp_path, monkeypatch):
    folder = tmp_path / "papers" / "author_2020"
    folder.mkdir(parents=True)
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (folder / "experiments.py").write_text(FUNCTIONS)
    (folder / "claims.toml").write_text(CLAIMS)
    monkeypatch.setenv("MERCER_PAPERS", str(tmp_path / "papers"))
    return folder


@pytest.fixture
def calls(paper):
    def read():
        path = paper / "calls"
        return path.read_text().splitlines() if path.exists() else []

    return read
