"""Rows as blocks that can be read again and again, with y and weights if they are given."""

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from hashlib import blake2b
from math import ceil

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.config import get_config
from mercer.data.reading import ahead
from mercer.data.sources import Block, Reader, RowsAfter, own_rows, stacked
from mercer.structures import Ragged
from mercer.validation import block_norm, check_matrix, refuse_infinity

# The layout of rows by whether they are sparse, for errors.
_LAYOUTS = {False: "dense", True: "CSR"}
# Rows of a file that are decoded at once, and their most bytes. Three such pieces are in memory. Measured on parquet of
# 28 float32 columns: larger pieces take as long per row (0.22 to 0.32 us of processor from 1 to 8 MiB).
_READ_ROWS, _READ_BYTES = 2**16, 2**20


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
    plan : tuple of int, optional
        Rows of the parts that the source is cut into; no block spans two parts. By default those of the source, if it
        has any.
    first_row : int
        The number of the first row, for errors: blocks of a part of a larger source do not begin at 0.
    place : str
        Where the rows come from, for errors, such as "partition 7".
    missing : bool
        Whether NaN stands for a missing value. By default it is refused, as infinity always is.

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
        plan: tuple[int, ...] | None = None,
        first_row: int = 0,
        place: str = "",
        missing: bool = False,
    ):
        self.reader = reader
        self.plan = reader.plan if plan is None else plan
        self.first_row, self.place = first_row, place
        self.block_rows = block_rows
        self.owner = owner
        self._y, self._sample_weight = y, sample_weight
        self._trusted = trusted or reader.domain != "rows"  # packed objects hold no number that is not finite
        self._missing = missing
        self._n_rows = reader.n_rows
        self._may_be_empty = False
        if y is not None and reader.labelled:
            raise ValueError(f"{owner}: y is given twice, by the source of X and as an argument. Leave one out.")
        if self._n_rows is not None:
            self._check_lengths(self._n_rows)
            if self.plan is not None and sum(self.plan) != self._n_rows:
                raise ValueError(f"{owner}: the plan has {sum(self.plan)} rows in its parts, and X has {self._n_rows}.")

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
        ends = iter(() if self.plan is None else np.cumsum(self.plan).tolist())
        end = next(ends, None)  # of the part that the next row belongs to
        held: list[Block] = []
        n_held = seen = 0
        for piece in self._pieces(size, finite=finite):
            start, n_rows = 0, piece.n_rows
            while start < n_rows:
                wanted = size - n_held if end is None else min(size - n_held, end - seen)
                stop = min(start + wanted, n_rows)
                held.append(piece.rows(slice(start, stop)))
                n_held, seen, start = n_held + stop - start, seen + stop - start, stop
                if n_held == size or seen == end:
                    yield stacked(held)
                    held, n_held = [], 0
                    end = next(ends, None) if seen == end else end
        if held:
            yield stacked(held)

    def ends_part(self, block: Block) -> bool:
        """Return whether a block is the last one of its part, by the plan."""
        return block.first_row - self.first_row + block.n_rows in self._part_ends

    @cached_property
    def _part_ends(self) -> frozenset[int]:
        return frozenset(() if self.plan is None else np.cumsum(self.plan).tolist())

    def parts(self, part_rows: int) -> "list[Blocks]":
        """Return the rows in parts that can be pickled and read elsewhere: those of the plan, else of ``part_rows``.

        Empty if the source cannot be read from the middle.
        """
        if self._n_rows is None or not self.reader.divides:
            return []
        lengths = self.plan or [min(part_rows, self._n_rows - start) for start in range(0, self._n_rows, part_rows)]
        found, start = [], 0
        for number, n_rows in enumerate(lengths):
            rows = slice(start, start + n_rows)
            found.append(
                Blocks(
                    self.reader.between(start, start + n_rows),
                    self._rows_per_block(),
                    y=None if self._y is None else self._y[rows],
                    sample_weight=None if self._sample_weight is None else self._sample_weight[rows],
                    owner=self.owner,
                    trusted=self._trusted,
                    plan=(n_rows,),
                    first_row=self.first_row + start,
                    place=self.reader.place(number),
                    missing=self._missing,
                )
            )
            start += n_rows
        return found

    def after(self, n_rows: int) -> "Blocks":
        """Return the rows that follow the first ``n_rows``, which end with a block; they are cut at the same places.

        The rows before are not read where the source can be cut; else they are read and dropped.
        """
        cuts = self._n_rows is not None and self.reader.divides and self.reader.plan is None
        reader = self.reader.between(n_rows, int(self._n_rows or 0)) if cuts else RowsAfter(self.reader, n_rows)
        rest = Blocks(
            reader,
            self.block_rows,
            y=None if self._y is None else self._y[n_rows:],
            sample_weight=None if self._sample_weight is None else self._sample_weight[n_rows:],
            owner=self.owner,
            trusted=self._trusted,
            plan=None if self.plan is None else _plan_after(self.plan, n_rows),
            first_row=self.first_row + n_rows,
            place=self.place,
            missing=self._missing,
        )
        rest._n_rows = None if self._n_rows is None else self._n_rows - n_rows
        rest._may_be_empty = True
        return rest

    def count(self, n_rows: int) -> None:
        """Know the number of rows from an earlier pass; a source of another number of rows is refused."""
        if self._n_rows is None:
            self._check_lengths(n_rows)
            self._n_rows = n_rows
        elif self._n_rows != n_rows:
            raise self._other_length(str(n_rows))

    def check_finite(self, block: Block) -> Block:
        """Return a block of ``labelled(finite=False)``; an error names the row and the column that is not finite."""
        if not self._trusted:
            self._check_numbers(block.X, block.first_row)
        return block

    def recut(self, block_rows: int | None, owner: str, *, trusted: bool = False, missing: bool = False) -> "Blocks":
        """Return the same rows in blocks of another size, not checked if ``trusted``, with NaN if ``missing``."""
        y, weight, trusted = self._y, self._sample_weight, self._trusted or trusted
        other = Blocks(self.reader, block_rows, y=y, sample_weight=weight, owner=owner, trusted=trusted, plan=self.plan)
        other.first_row, other.place, other._missing = self.first_row, self.place, self._missing or missing
        other._n_rows = self._n_rows
        return other

    def with_reader(self, reader: Reader) -> "Blocks":
        """Return the same blocks from another reader of the same rows."""
        other = self.recut(self.block_rows, self.owner)
        other.reader = reader
        return other

    @property
    def given_y(self) -> Array | None:
        """The y that was given as an array; None if the source brings its own, or there is none."""
        return self._y

    def with_y(self, y: Array) -> "Blocks":
        """Return the same rows with another y, one entry per row, in place of the given one."""
        other = copy(self)
        other._y = y
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

    def _pieces(self, size: int, *, finite: bool) -> Iterator[Block]:
        """Yield checked pieces; those of files are large, and a thread reads the next one ahead."""
        if not self.reader.reads_ahead:
            return self._checked_pieces(size, finite=finite)
        n_rows = max(min(_READ_ROWS, _READ_BYTES // max(self.width * self.dtype.itemsize, 1)), size)
        pieces = self._checked_pieces(n_rows, finite=finite)
        return pieces if self._n_rows is not None and self._n_rows <= n_rows else ahead(pieces)

    def _checked_pieces(self, size: int, *, finite: bool) -> Iterator[Block]:
        """Yield the pieces of the reader, checked, with their y and weights; at the end, check the number of rows."""
        n_read = 0
        for given in self.reader.pieces(size):
            if given.X.ndim == 2 and given.n_rows == 0:
                continue
            first_row = self.first_row + n_read
            piece = given if self._trusted else self._checked(given, first_row, finite=finite)
            X = piece.X
            rows = slice(n_read, n_read + X.shape[0])
            self._check_same_kind(X, first_row)
            if self._n_rows is not None and rows.stop > self._n_rows:
                raise self._other_length(f"at least {rows.stop}")
            y = piece.y if self._y is None else self._y[rows]
            weight = piece.sample_weight if self._sample_weight is None else self._sample_weight[rows]
            self._check_pairs(X.shape[0], y, weight, first_row)
            yield Block(X, y, weight, first_row)
            n_read = rows.stop
        self._check_count(n_read)

    def _checked(self, piece: Block, first_row: int, *, finite: bool) -> Block:
        """Return a piece of checked numbers, in memory that the reader does not reuse."""
        X = check_matrix(self.owner, "X", piece.X, finite=False)
        if finite:
            self._check_numbers(X, first_row)
        return piece._replace(X=X) if self.reader.keeps_pieces else own_rows(X, piece)

    def _check_numbers(self, X: Rows, first_row: int) -> None:
        """Refuse infinity, and NaN where it stands for nothing."""
        if self._missing:
            refuse_infinity(self.owner, "X", X, first_row=first_row)
        else:
            block_norm(self.owner, "X", X, slice(0, X.shape[0]), first_row=first_row)

    def _check_count(self, n_rows: int) -> None:
        if n_rows == 0 and not self._n_rows and not self._may_be_empty:
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


def _plan_after(plan: tuple[int, ...], n_rows: int) -> tuple[int, ...]:
    """Return the rows of the parts that follow the first ``n_rows``.

    >>> _plan_after((4, 4, 2), 5)
    (3, 2)
    """
    ends = np.cumsum(plan)
    first = int(np.searchsorted(ends, n_rows, side="right"))
    return () if first == len(plan) else (int(ends[first]) - n_rows, *plan[first + 1 :])


def _bytes(values: Rows) -> bytes:
    """Return the bytes of the entries; text and objects are printed, because their bytes depend on the longest text."""
    values = values if isinstance(values, np.ndarray) else values.toarray()
    if values.dtype.kind in "OUS":
        return "\0".join([*map(str, values.ravel()), ""]).encode()
    return np.ascontiguousarray(values).tobytes()
