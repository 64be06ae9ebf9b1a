"""One list of formats, for Python and for the shell."""

import io

import numpy as np
import pytest

from mercer.cli import options
from mercer.data import TableError, as_blocks, open_source
from mercer.data.sources.files import FORMATS, SUFFIXES


def test_the_shell_offers_the_formats_that_are_read():
    assert options.FORMATS == FORMATS == (*dict.fromkeys(SUFFIXES.values()), "lines", "tu")


def test_a_file_that_is_not_there_is_both_errors(tmp_path):
    for error in (FileNotFoundError, TableError):
        with pytest.raises(error, match=r"nothing.csv: there is no such file"):
            as_blocks(tmp_path / "nothing.csv")


def test_a_name_that_does_not_tell_the_format(tmp_path):
    path = tmp_path / "rows.xyz"
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(TableError, match=r"rows.xyz: the name does not tell the format; known are .csv, .*.libsvm"):
        as_blocks(path)
    assert as_blocks(open_source(path, format="csv"), target="b").names == ("a",)
    with pytest.raises(ValueError, match=r"format must be one of csv, .*, got 'xls'"):
        open_source(path, format="xls")


def test_a_compressed_file_of_a_format_that_is_not_text(tmp_path):
    (tmp_path / "rows.npy.gz").write_bytes(b"x")
    with pytest.raises(TableError, match=r"a compressed npy file cannot be read. Decompress it first"):
        as_blocks(tmp_path / "rows.npy.gz")


def test_an_unknown_categorical_column(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=r"the categorical column 'c' is not a column"):
        open_source(tmp_path / "rows.csv", categorical=("c",))


def test_a_stream_of_another_format_is_copied():
    file = io.BytesIO()
    np.save(file, np.eye(3))
    file.seek(0)
    blocks = as_blocks(open_source(file, format="npy"))
    for _ in range(2):
        np.testing.assert_array_equal(np.vstack(list(blocks)), np.eye(3))
