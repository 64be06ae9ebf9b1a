"""Lines of text as objects."""

import gzip

import numpy as np
import pytest

from mercer.data import TableError, as_blocks, open_source
from mercer.structures import Strings
from mercer.testing import check_reader

LINES = ["one", "", "two words", "\u00e9", "last"]


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_laws_of_a_source(tmp_path, suffix, pack, end):
    path = tmp_path / f"words.txt{suffix}"
    path.write_bytes(pack((end.join(LINES) + end).encode()))
    check_reader(lambda: open_source(path, format="lines"), Strings(LINES))
    y = np.arange(5)
    check_reader(lambda: as_blocks(open_source(path, format="lines"), y), Strings(LINES), y)


def test_faults_are_named(tmp_path):
    path = tmp_path / "words.gz"
    path.write_bytes(gzip.compress(b"a\n" * 10_000)[:-20])
    with pytest.raises(TableError, match="not a readable text file"):
        list(as_blocks(open_source(path, format="lines")))
    (tmp_path / "words.txt").write_text("a\n")
    with pytest.raises(TableError, match="'label' is not a column"):
        as_blocks(open_source(tmp_path / "words.txt", format="lines"), target="label")
