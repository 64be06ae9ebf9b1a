"""Blocks of rows, and a reader of a user's own."""

import numpy as np
import pytest

from mercer.data import Block, Reader, as_blocks
from mercer.data.columns import Codes
from mercer.testing import check_reader


class _Own(Reader):
    """Fills one buffer again and again, which is allowed."""

    width, dtype, labelled = 3, np.dtype(np.float64), True

    def __init__(self, X, y):
        self._X, self._y = X, y
        self._buffer = np.empty((1, 3))

    def pieces(self, block_rows):
        for row, label in zip(self._X, self._y, strict=True):
            self._buffer[0] = row
            yield Block(self._buffer, np.array([label]))


def test_the_laws_of_a_reader_of_ones_own(given):
    check_reader(lambda: _Own(given.X, given.y), given.X, given.y, missing=(lambda: _Own(given.hole, given.y), 17))


def test_a_reader_chooses_its_columns_itself(given):
    with pytest.raises(ValueError, match=r"X \(_Own\) is a reader that chooses its columns itself"):
        as_blocks(_Own(given.X, given.y), ignore=[0])


def test_a_range_of_a_block_has_its_codes_and_its_place():
    block = Block(np.eye(3), np.arange(3), None, 10, (Codes(np.array([0, 1, 0]), ["u", "v"]),))
    part = block.rows(slice(1, 3))
    assert (part.first_row, part.n_rows, part.y.tolist()) == (11, 2, [1, 2])
    assert part.categories[0].codes.tolist() == [1, 0]
