"""pandas and polars."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer.data import Choice, as_blocks
from mercer.data.sources import source_of
from mercer.structures import Strings
from mercer.testing import check_reader

from .conftest import NAMES

FRAMES = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow}
frames = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


@frames
def test_the_laws_of_a_source(given, make):
    frame = make(given.table())
    hole = make(given.table(given.hole))
    check_reader(
        lambda: as_blocks(frame, target="target", ignore=["text"]),
        given.X,
        given.y,
        names=NAMES,
        missing=(lambda: as_blocks(hole, target="target", ignore=["text"]), 17),
    )
    check_reader(
        lambda: as_blocks(frame, "text", columns=[1, 0], sample_weight="c"),
        given.X[:, [1, 0]],
        given.text,
        given.X[:, 2],
        names=("b", "a"),
    )


@frames
def test_float32_stays_and_mixed_numbers_become_float64(given, make):
    single = make(given.table(dtype=np.float32).drop(["text"]))
    check_reader(lambda: as_blocks(single, "target"), given.X.astype("f"), given.y, names=NAMES)
    assert as_blocks(single).dtype == np.float64


@frames
def test_text_is_categories_for_a_preparation(given, make):
    source = source_of("test", make(given.table()))
    source = source.choose(Choice("target").of(source))
    (piece,) = source.pieces(100)
    codes, values = piece.categories[0]
    assert [values[code] for code in codes] == given.text.tolist()


def _nullable():
    return pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})


FAULTS = [
    (
        lambda: pd.DataFrame({"a": [1.0], "city": ["x"]}),
        {},
        r"column 'city' holds text \(.*\), and X must hold numbers",
    ),
    (
        lambda: pl.DataFrame({"a": [1.0], "city": ["x"]}),
        {},
        "column 'city' holds text .* TunedRegressor .* or encode it",
    ),
    (lambda: pd.DataFrame({"a": [1.0]}), {"y": "b"}, "the target 'b' is not a column.* The columns are 'a'"),
    (lambda: pd.DataFrame({"a": [1.0]}), {"sample_weight": "w"}, "the column of weights 'w' is not a column"),
    (lambda: pd.DataFrame({"a": [1.0], "w": ["x"]}), {"sample_weight": "w"}, "weights 'w' holds text"),
    (_nullable, {}, "X contains NaN at row 1, column 0"),
    (lambda: pl.DataFrame({"a": [1, None]}), {}, "X contains NaN at row 1, column 0"),
    (lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "the frame has the column 'a' twice"),
    (lambda: pd.DataFrame({"d": [pd.Timestamp(0)]}), {}, r"column 'd' holds dates \(datetime64\[.*must hold numbers"),
    (lambda: pl.DataFrame({"d": [datetime.date(2020, 1, 1)]}), {}, r"column 'd' holds dates \(Date\), and X must hold"),
]


@pytest.mark.parametrize(("make", "choice", "message"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named(make, choice, message):
    with pytest.raises(ValueError, match=message):
        list(as_blocks(make(), **choice))


def test_columns_whose_labels_are_numbers_have_no_names(given):
    frame = pd.DataFrame(given.X)
    check_reader(lambda: as_blocks(frame), given.X)
    check_reader(lambda: as_blocks(frame, target=2), given.X[:, :2], given.X[:, 2])


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_column_of_text_as_objects(package):
    frames = pytest.importorskip(package)
    texts = ["one", "", "\u00e9", "two"] * 3
    frame = frames.DataFrame({"text": texts, "y": range(12)})
    check_reader(lambda: as_blocks(frame, target="y", text="text"), Strings(texts), np.arange(12))
    with pytest.raises(ValueError, match=r"column 'text'\[7\] must be text"):
        list(as_blocks(frames.DataFrame({"text": [*texts[:7], None]}), text="text", block_rows=3))
    with pytest.raises(ValueError, match=r"column .y. holds [iI]nt64, and the column of text must hold text"):
        as_blocks(frame, text="y")
