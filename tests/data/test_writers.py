"""Writers: what is written is read back, by the same names of formats."""

import io
import json

import numpy as np
import pytest

from mercer.data import Choice, open_source
from mercer.data.writers import format_of, row_writer

COLUMNS = [np.array([0.1, 2.0, 3.5]), np.array([1.0, 2.0, 3.0])]


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.parquet", "rows.pq", "rows.feather", "rows.npy"])
def test_what_is_written_is_read_back(tmp_path, name):
    with (tmp_path / name).open("wb") as file:
        writer = row_writer(format_of(name), ["a", "b"], file)
        writer.write([column[:2] for column in COLUMNS])
        writer.write([column[2:] for column in COLUMNS])
        writer.close()
    source = open_source(tmp_path / name)
    X = np.vstack([piece.X for piece in source.choose(Choice().of(source)).pieces(9)])
    np.testing.assert_array_equal(X, np.column_stack(COLUMNS))


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "npy"])
def test_a_new_writer_continues_by_the_state_of_the_old_one(kind):
    undisturbed, continued = io.BytesIO(), io.BytesIO()
    for file, breaks in ((undisturbed, False), (continued, True)):
        writer = row_writer(kind, ["a", "b"], file)
        writer.write([column[:2] for column in COLUMNS])
        if breaks:
            writer = row_writer(kind, ["a", "b"], file, json.loads(json.dumps(dict(writer.state))))
        writer.write([column[2:] for column in COLUMNS])
        writer.close()
    assert continued.getvalue() == undisturbed.getvalue()


def test_json_lines():
    file = io.BytesIO()
    writer = row_writer("jsonl", ["a", "text"], file)
    writer.write([COLUMNS[0], np.array(["u", "v", "w"])])
    assert json.loads(file.getvalue().splitlines()[0]) == {"a": 0.1, "text": "u"}


def test_a_csv_without_rows_has_its_names():
    file = io.BytesIO()
    row_writer("csv", ["a", "b"], file).close()
    assert file.getvalue() == b"a,b\n"


def test_names_that_tell_no_format():
    assert format_of("-") == "csv"
    assert format_of("out.ndjson") == "jsonl"
    with pytest.raises(ValueError, match=r"out.xyz: the name does not tell the format; known are csv"):
        format_of("out.xyz")
