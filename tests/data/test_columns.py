"""Columns by name or number, kinds, and codes of categories."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from mercer.data import Choice, Columns, TableError
from mercer.data.columns import codes_of, nearest, some


@dataclass
class _Source:
    name: str = "rows"
    own_target: str | None = None
    own_objects: str | None = None
    kinds: dict = field(
        default_factory=lambda: {"age": "number", "city": "category", "day": "other", "pay": "number", "w": "number"}
    )

    def type_of(self, column):
        return f"type of {column}"


CHOICES = [
    (Choice(ignore=("day",)), Columns(("age", "pay", "w"), ("city",))),
    (Choice("pay", ignore=("day",)), Columns(("age", "w"), ("city",), "pay")),
    (Choice(3, ignore=(2,), sample_weight=-1), Columns(("age",), ("city",), "pay", "w")),
    (Choice("city", (3, "age")), Columns(("pay", "age"), (), "city")),
    (Choice("pay", ("age", "city", "day"), ignore=("day",)), Columns(("age",), ("city",), "pay")),
]


@pytest.mark.parametrize(("choice", "columns"), CHOICES, ids=range(len(CHOICES)))
def test_columns_by_name_and_by_number(choice, columns):
    assert choice.of(_Source()) == columns


def test_the_labels_of_a_source_are_its_target_and_never_in_x():
    source = _Source(own_target="pay")
    assert Choice(ignore=("day",)).of(source) == Columns(("age", "w"), ("city",), "pay")
    assert Choice("w", ignore=("day",)).of(source) == Columns(("age",), ("city",), "w")


FAULTS = [
    (Choice("Age1"), "rows: the target 'Age1' is not a column. Did you mean 'age'"),
    (Choice(5), "the target 5 is not a column: columns are numbered from 0 to 4"),
    (Choice(), "column 'day' holds type of day; columns must hold numbers, text or dates"),
    (Choice("day"), "column 'day' holds type of day"),
    (Choice("pay", sample_weight="city", ignore=("day",)), "the column of weights 'city' holds text"),
    (Choice("pay", ("pay",)), "'pay' is named in columns and the target"),
    (Choice(None, ("age", 0)), "'age' is named in columns, twice"),
    (Choice("pay", ()), "there is no column besides the target"),
    (Choice(ignore=("x",)), "the column to ignore 'x' is not a column"),
]


@pytest.mark.parametrize(("choice", "message"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named(choice, message):
    with pytest.raises(TableError, match=message):
        choice.of(_Source())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array(["b", None, "a", "b"], dtype=object), ["b", None, "a", "b"]),
        (np.array([2.0, np.nan, 0.5, 2.0]), ["2", None, "0.5", "2"]),
        (np.array([3, 1, 3]), ["3", "1", "3"]),
        (np.array([True, False]), ["true", "false"]),
        (np.array([b"u", b"v"]), ["u", "v"]),
    ],
)
def test_codes_are_of_text(values, expected):
    codes, known = codes_of(values)
    assert [None if code < 0 else known[code] for code in codes] == expected


def test_names_in_messages():
    assert nearest("Lable", ["label"]) == " Did you mean 'label'?"
    assert nearest("zzz", ["label"]) == ""
    assert some(list("abc"), 2) == "'a', 'b' and 1 more"
