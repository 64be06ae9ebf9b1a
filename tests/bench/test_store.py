"""Results in files: a round trip, files that were changed, and values as JSON has them."""

import json
import math

import numpy as np
import pytest

from mercer.bench.errors import NotWrittenError
from mercer.bench.spec import Cell
from mercer.bench.store import Outcome, Store, not_finite, numbers, plain, write_text

CELL = Cell("table1", {"D": 8, "kernel": "<x,y>^2"}, {"rows": 10})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_what_is_written_is_read_again(store):
    outcome = Outcome(CELL, "done", {"accuracy": [0.5, 1.0]}, "", 1.25, {"cpu": "x"}, 0.5)
    store.write(outcome)
    assert store.read(CELL) == outcome
    assert json.loads(store.path(CELL).read_text())["params"] == {"D": 8, "kernel": "<x,y>^2"}


def test_a_cell_that_was_not_run_is_missing(store):
    assert store.read(CELL).status == "missing"


def test_cells_have_files_of_their_own(store):
    paths = {store.path(cell) for cell in (CELL, Cell("table1", {"D": 9}, {}), Cell("table2", {"D": 9}, {}))}
    assert len(paths) == 3


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("0.5", "0.6"), "its checksum differs"),
        (lambda text: text[: len(text) // 2], "it is not a result"),
        (lambda text: "[]", "it is not a result"),
    ],
)
def test_a_file_that_was_changed_is_set_aside(tmp_path, change, fault):
    told = []
    store = Store(tmp_path, told.append)
    store.write(Outcome(CELL, "done", {"accuracy": 0.5}))
    path = store.path(CELL)
    path.write_text(change(path.read_text()))
    assert store.read(CELL).status == "missing"
    assert fault in told[0]
    assert [file.suffix for file in path.parent.iterdir()] == [".corrupt"]


def test_a_file_of_another_experiment_is_set_aside(tmp_path):
    told = []
    store, other = Store(tmp_path, told.append), Cell("table2", CELL.params, CELL.settings)
    store.write(Outcome(other, "done", {"accuracy": 0.5}))
    store.path(CELL).parent.mkdir()
    store.path(other).rename(store.path(CELL))
    assert store.read(CELL).status == "missing"
    assert len(told) == 1


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWrittenError, match="cannot be written"):
        write_text(tmp_path / "file" / "page.html", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_values_as_json_has_them():
    value = {"a": np.float64(0.5), 2: (np.arange(2), [np.int64(3)]), "text": "t"}
    assert plain(value) == {"a": 0.5, "2": [[0, 1], [3]], "text": "t"}


def test_numbers_that_are_not_finite_are_named():
    values = {"good": [1, {"x": 2.0}], "nan": [1.0, math.nan], "inf": {"x": [-math.inf]}, "text": "nan", "flag": True}
    assert not_finite(values) == ["nan", "inf"]
    assert numbers(values["good"]) == [1, 2.0]
    assert numbers([True, "3", None]) == []
