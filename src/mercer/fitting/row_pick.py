"""Which rows of a long source a model holds: a sample by row number, so that a second pass can tell the rest."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.data import Block
from mercer.stats.row_sample import last_key, row_keys


@dataclass(frozen=True)
class RowPick:
    """A uniform sample of ``size`` rows: those with the smallest hashes of their numbers.

    The sample depends on the seed and on the number of rows: neither on the blocks nor on their order. Every process
    can tell from the number of a row whether the row belongs to the sample.

    Attributes
    ----------
    size : int
    seed : int
    last : int
        The largest key of a picked row.

    Examples
    --------
    >>> import numpy as np
    >>> pick = RowPick.of(10, 4, seed=0)
    >>> whole, later = pick.mask(0, 10), pick.mask(6, 4)
    >>> int(whole.sum()), bool((whole[6:] == later).all()), RowPick.of(10, 10, seed=0)
    (4, True, None)
    """

    size: int
    seed: int
    last: int

    @classmethod
    def of(cls, n_rows: int, size: int, seed: int) -> "RowPick | None":
        """Pick ``size`` of ``n_rows`` rows; None where that is all of them."""
        last = last_key(seed, n_rows, size)
        return None if last is None else cls(size, seed, last)

    def mask(self, first_row: int, n_rows: int) -> Array:
        """Return whether each of some consecutive rows is picked."""
        return np.asarray(row_keys(self.seed, first_row, n_rows) <= np.uint64(self.last))

    def of_block(self, block: Block) -> Block:
        """Return the picked rows of a block, perhaps none."""
        chosen = self.mask(block.first_row, block.n_rows)
        X, y, weight = (None if part is None else part[chosen] for part in block[:3])
        return Block(X, y, weight, block.first_row)
