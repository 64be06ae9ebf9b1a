"""Rows of a Dask collection that a map is fitted on: a uniform sample, drawn where the rows are."""

from mercer._typing import Rows
from mercer.data import as_blocks
from mercer.data.sources.collections import Collection
from mercer.engines import engine_for
from mercer.stats import RowSample

# Rows that a map is fitted on, unless it wants more.
_SAMPLE_ROWS = 4096
_BLOCK_ROWS = 4096


def sampled_rows(owner: str, X: Collection, n_wanted: int, seed: int) -> Rows:
    """Return a uniform sample of at least 4096 rows of a Dask array or data frame; all rows if there are fewer.

    Parameters
    ----------
    owner : str
        The name that begins error messages.
    X : Dask array or data frame
    n_wanted : int
        The number of rows, if it is above 4096.
    seed : int
    """
    empty = RowSample(max(n_wanted, _SAMPLE_ROWS), seed=seed)
    blocks = as_blocks(X, owner=owner).recut(_BLOCK_ROWS, owner)
    work = empty.zero
    total = engine_for(blocks).reduce(lambda block: work().update(block.X, block.first_row), blocks, empty.zero())
    return total.rows
