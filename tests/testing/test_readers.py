"""The kit of sources refuses wrong ones."""

import numpy as np
import pytest

from mercer.data import Block, Reader
from mercer.testing import check_reader

ROWS = np.arange(14.0).reshape(7, 2)


class _Drifting(Reader):
    """Gives other rows at its second pass."""

    width, dtype, n_passes = 2, np.dtype(np.float64), 0

    def pieces(self, block_rows):
        self.n_passes += 1
        yield Block(ROWS + (self.n_passes > 1))


class _OneBuffer(Reader):
    """Promises that pieces never change, and fills one buffer again and again."""

    width, dtype, keeps_pieces = 2, np.dtype(np.float64), True

    def pieces(self, block_rows):
        buffer = np.empty((1, 2))
        for row in ROWS:
            buffer[0] = row
            yield Block(buffer)


class _LeavesOpen(Reader):
    """Opens a file at each pass and never closes it."""

    width, dtype, kept = 2, np.dtype(np.float64), []

    def pieces(self, block_rows):
        self.kept.append(open(__file__))  # noqa: SIM115
        yield Block(ROWS)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (_Drifting, {}, "X"),
        (_OneBuffer, {}, "X"),
        (_LeavesOpen, {}, "an abandoned pass leaves files open"),
        (lambda: ROWS, {"names": ("a", "b")}, "names is None, and must be"),
        (lambda: ROWS, {"y": np.arange(7)}, "is_labelled is False"),
        (lambda: ROWS, {"missing": (lambda: ROWS, 3)}, "a missing value must be refused"),
    ],
)
def test_a_wrong_source_is_refused(make, options, message):
    try:
        with pytest.raises(AssertionError, match=message):
            check_reader(make, ROWS, **options)
    finally:
        while _LeavesOpen.kept:
            _LeavesOpen.kept.pop().close()
