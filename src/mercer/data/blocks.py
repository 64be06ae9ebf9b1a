"""Rows as blocks that can be read again and again, with y and weights if they are given."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.config import get_config
from mercer.data.columns import Choice, Column, refuse_text
from mercer.data.sources import Block, Reader, Source, entries, own_rows, source_of, stacked
from mercer.data.sources.objects import ObjectSource
from mercer.structures import Ragged
from mercer.validation import block_norm, check_matrix

# The layout of rows by whether they are sparse, for errors.
_LAYOUTS = {False: "dense", True: "CSR"}


class Blocks:
    """Rows in blocks of ``block_rows``; each pass reads the source again and yields the same blocks.

    All blocks have the same size, so that a fit does not depend on the layout of a file. Every block is checked when it
    is read: its numbers must be finite, its width and type must be those of the first block, and every pass must have
    the same number of rows. ``as_blocks`` makes blocks.

    Parameters
    ----------
    reader : Reader
    block_rows : int, optional
        Rows per block, ``config_context``'s by default.
    y, sample_weight : array, optional
        One entry per row; y may have a row of entries per row. Leave them out if the reader brings its own.
    owner : str
        The name that begins error messages.
    trusted : bool
        Do not check the blocks: for arrays that mercer made, such as features.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> [block.shape for block in as_blocks(np.eye(5), block_rows=2)]
    [(2, 5), (2, 5), (1, 5)]
    """

    def __init__(
        self,
        reader: Reader,
        block_rows: int | None = None,
        *,
        y: Array | None = None,
        sample_weight: Array | None = None,
        owner: str = "as_blocks",
        trusted: bool = False,
    ):
        self.reader = reader
        self.block_rows = block_rows
        self.owner = owner
        self._y, self._sample_weight = y, sample_weight
        self._trusted = trusted or isinstance(reader, ObjectSource)  # packed objects hold no number that is not finite
        self._n_rows = reader.n_rows
        if y is not None and reader.labelled:
            raise ValueError(f"{owner}: y is given twice, by the source of X and as an argument. Leave one out.")
        if self._n_rows is not None:
            self._check_lengths(self._n_rows)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None before the first pass over a source that does not know its number of rows."""
        return self._n_rows

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.reader.width

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the entries, float32 or float64."""
        return self.reader.dtype

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, or None if the source has no names."""
        return self.reader.names

    @property
    def is_sparse(self) -> bool:
        """Whether the blocks are CSR."""
        return self.reader.is_sparse

    @property
    def is_labelled(self) -> bool:
        """Whether the rows come with y."""
        return self._y is not None or self.reader.labelled

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the width, the type and all entries of X, y and weights, computed in one pass over the rows.

        The fingerprint does not depend on the source of the rows or on the size of the blocks.
        """
        hashes: dict[str, blake2b] = {}
        for block in self.labelled():
            X = block.X
            parts = {"y": block.y, "sample_weight": block.sample_weight}
            if isinstance(X, Ragged):
                parts |= X.content()
            elif isinstance(X, np.ndarray):
                parts["values"] = X
            else:
                lengths = np.diff(X.indptr).astype(np.int64)
                parts |= {"values": X.data, "columns": X.indices.astype(np.int64), "lengths": lengths}
            for name, part in parts.items():
                if part is not None:
                    hashes.setdefault(name, blake2b(digest_size=16)).update(_bytes(part))
        whole = blake2b(f"{self.width} {self.dtype} {self.is_sparse}".encode(), digest_size=16)
        for name in sorted(hashes):
            whole.update(name.encode() + hashes[name].digest())
        return whole.hexdigest()

    def __len__(self) -> int:
        if self._n_rows is None:
            raise TypeError(f"{self.owner}: the number of blocks is not known before the first pass over this source.")
        return ceil(self._n_rows / self._rows_per_block())

    def __iter__(self) -> Iterator[Rows]:
        return (block.X for block in self.labelled())

    def labelled(self, *, finite: bool = True) -> Iterator[Block]:
        """Iterate over the blocks as ``Block(X, y, sample_weight)``.

        With ``finite=False``, entries may be NaN or infinite, and the caller must call ``check_finite``: an engine
        reads the blocks one after the other, and checks many blocks at a time on its threads.
        """
        size = self._rows_per_block()
        held: list[Block] = []
        n_held = 0
        for piece in self._checked_pieces(size, finite=finite):
            start, n_rows = 0, piece.n_rows
            while n_held + n_rows - start >= size:
                stop = start + size - n_held
                yield stacked([*held, piece.rows(slice(start, stop))])
                held, n_held, start = [], 0, stop
            if start < n_rows:
                held.append(piece.rows(slice(start, n_rows)))
                n_held += n_rows - start
        if held:
            yield stacked(held)

    def check_finite(self, block: Block) -> Block:
        """Return a block of ``labelled(finite=False)``; an error names the row and the column that is not finite."""
        if not self._trusted:
            block_norm(self.owner, "X", block.X, slice(0, block.n_rows), first_row=block.first_row)
        return block

    def recut(self, block_rows: int | None, owner: str, *, trusted: bool = False) -> "Blocks":
        """Return the same rows in blocks of another size, with another owner; ``trusted`` blocks are not checked."""
        y, weight, trusted = self._y, self._sample_weight, self._trusted or trusted
        other = Blocks(self.reader, block_rows, y=y, sample_weight=weight, owner=owner, trusted=trusted)
        other._n_rows = self._n_rows
        return other

    def targets(self) -> Iterator[Array]:
        """Iterate over y alone: in one piece if y was given as an array, else in a pass over the source."""
        if self._y is not None:
            yield self._y
            return
        for block in self.labelled():
            if block.y is not None:
                yield block.y

    def labels(self) -> tuple[Array | None, Array | None]:
        """Return y and the weights of all rows, in one pass; None if the rows have no y or no weights."""
        ys, weights = zip(*((block.y, block.sample_weight) for block in self.labelled()), strict=True)
        return (
            None if ys[0] is None else np.concatenate(ys),
            None if weights[0] is None else np.concatenate(weights),
        )

    def _rows_per_block(self) -> int:
        return self.block_rows or get_config().block_rows

    def _checked_pieces(self, size: int, *, finite: bool) -> Iterator[Block]:
        """Yield the pieces of the reader, checked, with their y and weights; at the end, check the number of rows."""
        first_row = 0
        for given in self.reader.pieces(size):
            if given.X.ndim == 2 and given.n_rows == 0:
                continue
            piece = given if self._trusted else self._checked(given, first_row, finite=finite)
            X = piece.X
            last_row = first_row + X.shape[0]
            self._check_same_kind(X, first_row)
            if self._n_rows is not None and last_row > self._n_rows:
                raise self._other_length(f"at least {last_row}")
            rows = slice(first_row, last_row)
            y = piece.y if self._y is None else self._y[rows]
            weight = piece.sample_weight if self._sample_weight is None else self._sample_weight[rows]
            self._check_pairs(X.shape[0], y, weight, first_row)
            yield Block(X, y, weight, first_row)
            first_row = last_row
        self._check_count(first_row)

    def _checked(self, piece: Block, first_row: int, *, finite: bool) -> Block:
        """Return a piece of checked numbers, in memory that the reader does not reuse."""
        X = check_matrix(self.owner, "X", piece.X, first_row=first_row, finite=finite)
        return piece._replace(X=X) if self.reader.keeps_pieces else own_rows(X, piece)

    def _check_count(self, n_rows: int) -> None:
        if n_rows == 0 and not self._n_rows:
            raise ValueError(f"{self.owner}: X has 0 sample(s) while a minimum of 1 is required.")
        if self._n_rows is None:
            self._check_lengths(n_rows)
            self._n_rows = n_rows
        elif n_rows != self._n_rows:
            raise self._other_length(str(n_rows))

    def _other_length(self, found: str) -> ValueError:
        return ValueError(
            f"{self.owner}: the source of X gave {self._n_rows} rows before and {found} now; every pass must give the "
            "same rows. If it wraps one iterator, return a new one at each call; if a file changed, start again."
        )

    def _check_same_kind(self, X: Rows, first_row: int) -> None:
        kinds = {
            "columns": (self.width, X.shape[1]),
            "type": (self.dtype, X.dtype),
            "layout": (_LAYOUTS[self.is_sparse], _LAYOUTS[sparse.issparse(X)]),
        }
        for what, (expected, found) in kinds.items():
            if expected != found:
                raise ValueError(
                    f"{self.owner}: the block of X at row {first_row} has {what} {found}, and the source began with "
                    f"{expected}; all blocks of all passes must agree. Convert them where they are made."
                )

    def _check_pairs(self, n_rows: int, y: Array | None, weight: Array | None, first_row: int) -> None:
        for name, values in (("y", y), ("sample_weight", weight)):
            if values is not None and values.shape[0] != n_rows:
                raise ValueError(
                    f"{self.owner}: at row {first_row} X has {n_rows} rows and {name} has {values.shape[0]}; each row "
                    f"needs one entry of {name}."
                )
        if self.is_labelled and y is None:
            raise ValueError(f"{self.owner}: the block of X at row {first_row} has no y, and earlier blocks have one.")

    def _check_lengths(self, n_rows: int) -> None:
        for name, values in (("y", self._y), ("sample_weight", self._sample_weight)):
            if values is not None and (found := values.shape[0]) != n_rows:
                raise ValueError(
                    f"{self.owner}: X has {n_rows} rows and {name} has {found}: inconsistent numbers of samples. "
                    f"Each row needs one entry of {name}."
                )


def _bytes(values: Rows) -> bytes:
    """Return the bytes of the entries; text and objects are printed, because their bytes depend on the longest text."""
    values = values if isinstance(values, np.ndarray) else values.toarray()
    if values.dtype.kind in "OUS":
        return "\0".join([*map(str, values.ravel()), ""]).encode()
    return np.ascontiguousarray(values).tobytes()


def as_blocks(
    X: Any,
    y: Any = None,
    *,
    target: Column | None = None,
    columns: Sequence[Column] | None = None,
    ignore: Sequence[Column] = (),
    sample_weight: Any = None,
    block_rows: int | None = None,
    owner: str = "as_blocks",
) -> Blocks:
    r"""Return a source of rows as blocks.

    Parameters
    ----------
    X : source
        An array or memory map; a sparse matrix; a pandas or polars data frame; a pyarrow table or dataset; the path of
        a csv (.csv, .tsv, .txt), parquet (.parquet, .pq), Arrow (.arrow, .feather, .ipc), NumPy (.npy, .npz) or
        svmlight (.svm, .svmlight, .libsvm) file, text files also compressed (.gz, .bz2, .zst); the path of a folder of
        parquet or Arrow files; a function that returns a new iterator of blocks (X, or tuples (X, y), or (X, y,
        sample_weight)) at each call; the result of ``open_source``; an instance of a subclass of ``Reader``; or
        ``Blocks``, which are returned unchanged. The iterator may reuse its arrays: each block is copied before the
        next one is read.
    y : array or str, optional
        One entry per row, or the name of the column of X that holds y. svmlight files hold their y.
    target : str or int, optional
        The column of X that holds y, by name or number; -1 is the last one.
    columns : sequence of str or int, optional
        The columns to read, in this order; by default all columns except y, the weights and the ignored ones. These
        columns must hold numbers. Text is allowed in the target and in ignored columns.
    ignore : sequence of str or int
        Columns to leave out.
    sample_weight : array, str or int, optional
        One weight per row, or the column of X that holds the weights.
    block_rows : int, optional
        Rows per block.
    owner : str
        The name that begins error messages.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> def blocks():
    ...     for i in range(3):
    ...         yield np.full((2, 4), i), np.full(2, i)
    >>> rows = as_blocks(blocks, block_rows=5)
    >>> [(block.X.shape, block.y.tolist()) for block in rows.labelled()]
    [((5, 4), [0, 0, 1, 1, 2]), ((1, 4), [2])]

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,name,income\n30,Ada,5\n40,Bo,6\n")
    >>> [block.X.tolist() for block in as_blocks(path, target="income", ignore=["name"]).labelled()]
    [[[30.0], [40.0]]]
    """
    by_column = isinstance(sample_weight, str) or (
        isinstance(sample_weight, int) and not isinstance(sample_weight, bool)
    )
    weight_column, weight = (sample_weight, None) if by_column else (None, sample_weight)
    if y is not None and target is not None:
        raise ValueError(f"{owner}: y and target are both given; target names the column of X that y is. Give one.")
    if isinstance(y, str):
        target, y = y, None
    choice = Choice(target, None if columns is None else tuple(columns), tuple(ignore), weight_column)
    if isinstance(X, Blocks):
        if y is not None or weight is not None or choice != Choice():
            raise ValueError(f"{owner}: X is Blocks, which bring their own y and weights. Give them to as_blocks.")
        return X
    return Blocks(
        _chosen(owner, source_of(owner, X), choice),
        block_rows,
        y=None if y is None else entries(y),
        sample_weight=None if weight is None else np.asarray(weight),
        owner=owner,
    )


def _chosen(owner: str, reader: Reader, choice: Choice) -> Reader:
    """Return a source with the chosen columns; the columns of X must hold numbers."""
    if not isinstance(reader, Source):
        if choice != Choice():
            raise ValueError(
                f"{owner}: columns are chosen by name or number, but X ({type(reader).__name__}) is a reader that "
                "chooses its columns itself."
            )
        return reader
    if choice != Choice() or not reader.is_ready:
        reader = reader.choose(choice.of(reader))
        if reader.columns.categories:
            raise refuse_text(reader, reader.columns.categories[0])
    return reader
