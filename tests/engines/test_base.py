"""Rows of all blocks as one array, from any engine."""

import numpy as np

from mercer import config_context
from mercer.data import as_blocks
from mercer.engines import Local, rows_of


class Backwards(Local):
    """An engine that works on the last block first, and merges in order."""

    def reduce(self, work, blocks, into, done=None):
        parts = [work(block) for block in list(blocks.labelled())[::-1]]
        for part in parts[::-1]:
            into.merge(part)
        return into


def test_rows_come_in_the_order_of_the_blocks():
    X = np.arange(103.0)[:, None]
    with config_context(threads=2):
        for engine in (Local(), Backwards()):
            rows = rows_of(engine, lambda block: 2 * block.X, as_blocks(X, block_rows=4))
            np.testing.assert_array_equal(rows, 2 * X)
