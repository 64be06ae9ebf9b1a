"""Pieces of rows: together they give the bytes of a file that one process has written."""

import io

import numpy as np
import pytest

from mercer.data.row_pieces import KEPT_AS_PIECES, PiecesWriter, assemble
from mercer.data.writers import row_writer

BLOCKS = [[np.arange(n, dtype=np.float32), np.array(["u", None, "w"] * n, dtype=object)[:n]] for n in (5, 3, 4)]


@pytest.mark.parametrize("kind", KEPT_AS_PIECES)
def test_pieces_of_two_writers_give_the_bytes_of_one(kind):
    undisturbed, pieces, whole = io.BytesIO(), io.BytesIO(), io.BytesIO()
    writer = row_writer(kind, ["a", "b"], undisturbed)
    for block in BLOCKS:
        writer.write(block)
    writer.close()
    first = PiecesWriter(pieces, ["a", "b"], {})
    first.write(BLOCKS[0])
    second = PiecesWriter(pieces, ["a", "b"], first.state)
    for block in BLOCKS[1:]:
        second.write(block)
    second.close()
    pieces.seek(0)
    assert assemble(kind, ["a", "b"], pieces, whole) == 12 == second.state["rows"]
    assert whole.getvalue() == undisturbed.getvalue()


def test_a_footer_cannot_be_continued():
    with pytest.raises(ValueError, match="a parquet file that was begun cannot be continued"):
        row_writer("parquet", ["a"], io.BytesIO(), {"rows": 2})
