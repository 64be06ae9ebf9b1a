"""The prepared rows of a table, as a source of blocks for learners."""

from collections import Counter
from collections.abc import Callable, Iterator
from warnings import warn

import numpy as np

from mercer._typing import Array
from mercer.data.readers import Block, Reader
from mercer.data.tables.base import Table, TableError, TableWarning, Wanted, some
from mercer.data.tables.preparation import TablePreparation


class Split:
    """Rows drawn into two parts, each row by itself: the same rows at every pass, however they are cut.

    >>> parts = Split(0.25, seed=0)
    >>> sum(int(parts.draw()(1)[0]) for _ in range(10))
    0
    """

    def __init__(self, fraction: float, seed: int):
        self.fraction, self._seed = fraction, seed

    def draw(self) -> Callable[[int], Array]:
        """Return a function that says, of the next n rows, which are in the smaller part."""
        rng = np.random.RandomState(self._seed)
        return lambda n_rows: rng.random_sample(n_rows) < self.fraction

    def count(self, n_rows: int) -> int:
        """Return how many of n rows are in the smaller part."""
        return int(self.draw()(n_rows).sum())


class PreparedReader(Reader):
    """Rows of a table, prepared, with the target as numbers.

    Parameters
    ----------
    table : Table
    wanted : Wanted
        The columns to read, the target among them where there is one.
    preparation : TablePreparation
        Fitted.
    encode : callable, optional
        From the values of the target to numbers.
    split : Split, optional
    held_out : bool, default=False
        Whether to read the smaller part of the split, or the larger.
    """

    keeps_pieces = True

    def __init__(
        self,
        table: Table,
        wanted: Wanted,
        preparation: TablePreparation,
        *,
        encode: Callable[[Array], Array] | None = None,
        split: Split | None = None,
        held_out: bool = False,
    ):
        self._table, self._wanted, self._preparation, self._encode = table, wanted, preparation, encode
        self._split, self._held_out = split, held_out
        self.width, self.dtype = preparation.n_features_out_, np.dtype(np.float32)
        self.is_sparse, self.labelled = preparation.is_sparse_, encode is not None
        self.n_rows = table.n_rows
        if table.n_rows is not None and split is not None:
            smaller = split.count(table.n_rows)
            self.n_rows = smaller if held_out else table.n_rows - smaller
            if not self.n_rows:
                raise TableError(
                    f"{table.name}: of {table.n_rows} rows none is left to {'test' if held_out else 'train'} on."
                )

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the prepared batches; at the end of a pass, warn of categories never seen."""
        unseen: dict[str, Counter[str]] = {}
        draw = self._split.draw() if self._split is not None else None
        first_row = 0
        for batch in self._table.batches(self._wanted):
            X = self._preparation.transform(
                batch, self._wanted, owner=self._table.name, first_row=first_row, unseen=unseen
            )
            first_row += batch.n_rows
            y = None if self._encode is None or batch.target is None else self._encode(batch.target)
            if draw is not None:
                rows = np.flatnonzero(draw(batch.n_rows) == self._held_out)
                X, y = X[rows], None if y is None else y[rows]
            yield Block(X, y)
        if first_row == 0:
            raise TableError(f"{self._table.name}: there are no rows.")
        for name, counts in unseen.items():
            warn(
                f"{self._table.name}: column {name!r} has {len(counts)} categories never seen in training, in "
                f"{counts.total()} rows, taken as none of those seen: {some(list(counts), 5)}.",
                TableWarning,
                stacklevel=2,
            )
