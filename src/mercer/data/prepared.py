"""The prepared rows of a source, as blocks for learners, and the split into training and test rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from warnings import warn

import numpy as np

from mercer._typing import Array
from mercer.data.blocks import Blocks
from mercer.data.columns import Column, TableError, TableWarning, found, some
from mercer.data.frame_columns import Frame
from mercer.data.object_column import ObjectColumn
from mercer.data.preparation import TablePreparation
from mercer.data.raw_source import opened_table
from mercer.data.sources.base import Block, Reader, Source


def prepared_blocks(
    preparation: TablePreparation,
    table: str | PathLike[str] | Frame | Source,
    target: Column | None = None,
    *,
    block_rows: int | None = None,
) -> Blocks:
    r"""Return the encoded rows of a table as blocks, which every learner of numbers takes; they are read in passes.

    Parameters
    ----------
    preparation : TablePreparation
        Fitted.
    table : path, data frame of pandas or polars, pyarrow table, or ``open_source(...)``
        Columns are matched by name. Columns that the preparation does not know are ignored, with a warning.
    target : str or int, optional
        The column that is y.
    block_rows : int, optional
        Rows per block.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge
    >>> from mercer.data import TablePreparation, prepared_blocks
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,city,income\n30,Rome,5\n50,Oslo,7\n40,Oslo,6\n")
    >>> encoder = TablePreparation().fit(path, target="income")
    >>> KernelRidge(n_components=8, random_state=0).fit(prepared_blocks(encoder, path, "income")).n_features_in_
    3
    """
    source = opened_table("prepared_blocks", table)
    name = None if target is None else found(source, target, "the target")
    chosen = preparation.match(source, name)
    if name is not None:
        chosen = source.choose(replace(chosen.columns, target=name))
    reader = PreparedReader(chosen, preparation, encode=None if name is None else np.asarray)
    return Blocks(reader, block_rows, owner=source.name)


class Split:
    """A random split of rows into two parts: the same at every pass, whatever the size of the pieces.

    >>> parts = Split(0.25, seed=0)
    >>> sum(int(parts.draw()(1)[0]) for _ in range(10))
    0
    """

    def __init__(self, fraction: float, seed: int):
        self.fraction, self._seed = fraction, seed

    def draw(self) -> Callable[[int], Array]:
        """Return a function of n that says which of the next n rows are in the smaller part."""
        rng = np.random.RandomState(self._seed)
        return lambda n_rows: rng.random_sample(n_rows) < self.fraction

    def check(self, n_rows: int, owner: str) -> int:
        """Return the number of rows, of the first n, in the smaller part; a part without rows is an error."""
        smaller = int(self.draw()(n_rows).sum())
        if smaller in (0, n_rows):
            what = "train" if smaller else "test"
            raise TableError(f"{owner}: of {n_rows} rows none is left to {what} on. Choose another test fraction.")
        return smaller


class PreparedReader(Reader):
    """The rows of a source with prepared columns and an encoded target.

    Parameters
    ----------
    source : Source
        A source whose columns are chosen, including the target if there is one.
    preparation : TablePreparation or ObjectColumn
        Fitted.
    encode : callable, optional
        From the values of the target to the y of the learner; without this function, the rows have no y.
    split : Split, optional
    held_out : bool, default=False
        True: read the smaller part of the split. False: the larger.
    """

    keeps_pieces = True

    def __init__(
        self,
        source: Source,
        preparation: TablePreparation | ObjectColumn,
        *,
        encode: Callable[[Array], Array] | None = None,
        split: Split | None = None,
        held_out: bool = False,
    ):
        self._source, self._preparation, self._encode = source, preparation, encode
        self._split, self._held_out = split, held_out
        self.width, self.dtype = preparation.n_features_out_, np.dtype(np.float32)
        self.is_sparse, self.labelled = preparation.is_sparse_, encode is not None
        self.domain = source.domain
        self.n_rows = source.n_rows
        if source.n_rows is not None and split is not None:
            smaller = split.check(source.n_rows, source.name)
            self.n_rows = smaller if held_out else source.n_rows - smaller

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the prepared pieces; at the end of a pass, warn about categories that were not seen in training."""
        unseen: dict[str, Counter[str]] = {}
        draw = self._split.draw() if self._split is not None else None
        source, columns, first_row = self._source, self._source.columns, 0
        for piece in source.pieces(block_rows):
            X = self._preparation.transform(piece, columns, owner=source.name, first_row=first_row, unseen=unseen)
            first_row += piece.n_rows
            y = None if self._encode is None or piece.y is None else self._encode(piece.y)
            weight = piece.sample_weight
            if draw is not None:
                rows = np.flatnonzero(draw(piece.n_rows) == self._held_out)
                X, y, weight = (None if part is None else part[rows] for part in (X, y, weight))
            yield Block(X, y, weight)
        if first_row == 0:
            raise TableError(f"{source.name}: there are no rows.")
        warn_of_unseen(source.name, unseen)


def warn_of_unseen(owner: str, unseen: Mapping[str, Counter[str]]) -> None:
    """Warn of the categories, counted by column, that were not seen in training."""
    for name, counts in unseen.items():
        warn(
            f"{owner}: column {name!r} has {len(counts)} categories never seen in training, in {counts.total()} rows, "
            f"taken as none of those seen: {some(list(counts), 5)}.",
            TableWarning,
            stacklevel=3,
        )
