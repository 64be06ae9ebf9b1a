"""csv files, plain and compressed, and streams."""

import bz2
import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from mercer.data import Choice, TableError, as_blocks, open_source
from mercer.structures import Strings
from mercer.testing import check_reader

from .conftest import NAMES

COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": None}


def _packed(data, suffix):
    if suffix != ".zst":
        return COMPRESSIONS[suffix](data)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def _text(table):
    sink = io.BytesIO()
    csv.write_csv(table, sink)
    return sink.getvalue()


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_laws_of_a_source(given, tmp_path, suffix, end):
    path, hole = tmp_path / f"rows.csv{suffix}", tmp_path / f"hole.csv{suffix}"
    path.write_bytes(_packed(_text(given.table()).replace(b"\n", end), suffix))
    hole.write_bytes(_packed(_text(given.table(given.hole)), suffix))
    check_reader(
        lambda: as_blocks(path, target="target", ignore=["text"]),
        given.X,
        given.y,
        names=NAMES,
        missing=(lambda: as_blocks(str(hole), target="target", ignore=["text"]), 17),
    )
    check_reader(
        lambda: as_blocks(path, "text", columns=["b"], sample_weight="c"),
        given.X[:, [1]],
        given.text,
        given.X[:, 2],
        names=("b",),
    )


def test_values_in_quotes_may_hold_line_breaks(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,text,y\n1,"one\ntwo, three",0\n2,"say ""so""",1\n')
    (block,) = as_blocks(path, target="text").labelled()
    assert block.y.tolist() == ["one\ntwo, three", 'say "so"']
    assert block.X.tolist() == [[1, 0], [2, 1]]


def test_whole_labels_are_integers_until_a_fraction_comes(tmp_path):
    """The first MiB tells the type, and a later label may have a fraction."""
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "0.125,1\n" * 200_000 + "0.125,0.5\n")
    blocks = list(as_blocks(path, target="y", block_rows=50_000).labelled())
    assert blocks[0].y.dtype == np.int64
    assert np.concatenate([block.y for block in blocks]).sum() == 200_000.5


def test_labels_that_float64_does_not_tell_apart_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"a,y\n1,{2**53 + 1}\n2,{2**53 + 3}\n")
    with pytest.raises(TableError, match=r"column 'y' holds whole numbers above 2\^53"):
        list(as_blocks(path, target="y"))
    declared = open_source(path, categorical=("y",))
    (block,) = as_blocks(declared, target="y").labelled()
    assert block.y.tolist() == [str(2**53 + 1), str(2**53 + 3)]


def test_a_date_stands_in_the_way_only_where_it_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("day,a\n2020-01-01,1\n2020-01-02,2\n")
    assert as_blocks(path, ignore=["day"]).names == ("a",)
    with pytest.raises(TableError, match=r"column 'day' holds dates \(date32\[day\]\), and X must hold numbers"):
        as_blocks(path)


def test_a_delimiter_and_no_line_of_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1;2\n3;4\n")
    source = open_source(path, delimiter=";", header=False)
    assert list(source.kinds) == ["x0", "x1"]
    check_reader(lambda: as_blocks(source, target=1), np.array([[1.0], [3.0]]), np.array([2, 4]), names=("x0",))


def test_a_stream_can_be_read_once(given):
    source = open_source(io.BytesIO(_text(given.table())))
    source = source.choose(Choice("target", ignore=("text",)).of(source))
    np.testing.assert_array_equal(np.vstack([piece.X for piece in source.pieces(9)]), given.X)
    with pytest.raises(TableError, match="standard input: a stream can be read once only"):
        list(source.pieces(9))


FAULTS = {
    "ragged": ("a,b\n1,2\n3\n", "rows.csv line 3: 1 values, and there are 2 columns"),
    "text": ("a,b\n1,2\nx,4\n", "rows.csv: column 'a' holds text"),
    "names only": ("a,b\n", "there are no rows below the line of names"),
    "empty": ("", "rows.csv: the file is empty"),
    "twice": ("a,a\n1,2\n", "the line of names has 'a' twice"),
    "late text": ("a,b\n" + "1.25,2.5\n" * 150_000 + "x,1\n", "line 150002: column 'a' holds 'x', which is not a num"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_the_line(tmp_path, fault):
    text, message = FAULTS[fault]
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(TableError, match=message):
        list(as_blocks(tmp_path / "rows.csv"))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_compressed_file_that_is_cut_short_is_refused(tmp_path, suffix):
    rng = np.random.RandomState(0)
    rows = "a,b\n" + "".join(f"{x},{y}\n" for x, y in rng.rand(60_000, 2))
    packed = _packed(rows.encode(), suffix)
    path = tmp_path / f"rows.csv{suffix}"
    path.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(TableError, match=f"rows.csv{suffix}: the file is damaged"):
        list(as_blocks(path))
    path.write_bytes(b"not compressed at all")
    with pytest.raises(TableError, match=f"rows.csv{suffix}: the file is damaged or of another kind"):
        as_blocks(path)


def test_a_column_of_text_as_objects(tmp_path):
    """Texts are read as they are written: NA is a word here, and an empty text is a text."""
    path = tmp_path / "texts.csv"
    path.write_text('id,text,y\n1,one,a\n2,,b\n3,NA,a\n4,"two, words",b\n')
    texts, y = ["one", "", "NA", "two, words"], np.array(["a", "b", "a", "b"], dtype=object)
    check_reader(lambda: as_blocks(path, target="y", text="text"), Strings(texts), y)
