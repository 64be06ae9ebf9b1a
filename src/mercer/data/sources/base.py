"""Base classes of sources: a source yields its rows in pieces, once per pass."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer._typing import Array, Csr, Rows, is_sparse
from mercer.data.columns import Choice, Codes, Columns, Kind
from mercer.structures.ragged import stack_rows

# Default number of rows per piece: that of the blocks of a learner.
PIECE_ROWS = 4096


class Block(NamedTuple):
    """Some rows: X, and y and sample_weight (one entry per row) if the source has them.

    ``first_row`` is the number of the first row in the source. ``categories`` are columns of text, which are not part
    of X; learners never see them.
    """

    X: Rows
    y: Array | None = None
    sample_weight: Array | None = None
    first_row: int = 0
    categories: tuple[Codes, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def rows(self, rows: slice) -> "Block":
        """Return a range of the rows; a view if X is an array."""
        if rows.start == 0 and rows.stop == self.n_rows:
            return self
        X, y, weight = (None if part is None else part[rows] for part in self[:3])
        categories = tuple(Codes(column.codes[rows], column.values) for column in self.categories)
        return Block(X, y, weight, self.first_row + (rows.start or 0), categories)


def stacked(blocks: list[Block]) -> Block:
    """Return the rows of several blocks as one block, without categories."""
    if len(blocks) == 1:
        return blocks[0]
    X: Rows = stack_rows([block.X for block in blocks])
    y, weight = _joined([block.y for block in blocks]), _joined([block.sample_weight for block in blocks])
    return Block(X, y, weight, blocks[0].first_row)


def _joined(parts: list[Array | None]) -> Array | None:
    given = [part for part in parts if part is not None]
    if given and sparse.issparse(given[0]):
        rows: Array = sparse.vstack(given, format="csr")
        return rows
    return np.concatenate(given) if given else None


def entries(values: ArrayLike | Csr) -> Array:
    """Return y as an array with one entry, or one row of entries, per row; a sparse y as CSR."""
    return values.tocsr() if is_sparse(values) else np.asarray(values)


def own_rows(X: Rows, piece: Block) -> Block:
    """Return a piece with another X, copied if later pieces could overwrite its memory."""
    apart = isinstance(piece.X, np.ndarray) and isinstance(X, np.ndarray) and not np.may_share_memory(X, piece.X)
    y, weight = (None if part is None else part.copy() for part in (piece.y, piece.sample_weight))
    return Block(X if apart else X.copy(), y, weight)


class Reader(ABC):
    """A source of rows of numbers that can be read any number of times, a piece at a time.

    A subclass implements ``pieces`` and sets the attributes that it knows: ``width``, ``dtype`` (float32 or float64),
    ``is_sparse``, ``names`` of the columns, ``n_rows``. Pieces may have any number of rows: ``Blocks`` checks the
    pieces and cuts them to one size. ``Blocks`` also copies each piece, because a reader may reuse its arrays. A reader
    whose pieces never change sets ``keeps_pieces`` to True, which saves the copy. ``mercer.testing.check_reader`` tests
    a new reader.

    >>> import numpy as np
    >>> from mercer.data import Block, Reader, as_blocks
    >>> class Squares(Reader):
    ...     width, dtype = 2, np.dtype(float)
    ...     def pieces(self, block_rows):
    ...         for i in range(3):
    ...             yield Block(np.array([[i, i * i]], dtype=float))
    >>> [block.tolist() for block in as_blocks(Squares(), block_rows=2)]
    [[[0.0, 0.0], [1.0, 1.0]], [[2.0, 4.0]]]
    """

    width: int
    dtype: np.dtype[np.generic]
    is_sparse: bool = False
    names: tuple[str, ...] | None = None
    n_rows: int | None = None
    labelled: bool = False
    keeps_pieces: bool = False

    @abstractmethod
    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield all rows in order, preferably ``block_rows`` at a time; each call begins at the first row."""


class Source(Reader):
    """A reader with named columns. Chosen columns of numbers are X, of text are categories, and the target is y.

    A subclass sets ``name`` (which begins error messages) and ``_kinds`` (of each column, in order), and implements
    ``pieces`` and ``type_of``. ``Choice`` turns the request of a user into ``Columns``, the argument of ``choose``.
    """

    name: str
    keeps_pieces = True
    # Whether the source has names of columns; else the names are x0, x1, ...
    is_named: bool = True
    # Whether another pass is cheap: a text file must be parsed again, and a stream cannot be read twice.
    rereadable: bool = True
    # The name of the target inside the source, such as the labels of svmlight files.
    own_target: str | None = None

    _kinds: dict[str, Kind]
    _chosen: Columns | None = None

    @property
    def columns(self) -> Columns:
        """The chosen columns; by default all columns that can be read."""
        return Choice().of(self) if self._chosen is None else self._chosen

    @property
    def is_ready(self) -> bool:
        """Whether ``pieces`` may be called: some columns are chosen."""
        return self._chosen is not None

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each column, in order."""
        return self._kinds

    @abstractmethod
    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""

    def is_single(self, column: str) -> bool:
        """Return whether a column holds float32."""
        return self.type_of(column).lower() in ("float32", "float")

    def choose(self, columns: Columns) -> Self:
        """Return this source with other columns chosen."""
        other = copy(self)
        other._chosen = columns
        other.width, other.labelled = len(columns.numbers), columns.target is not None
        other.names = columns.numbers if self.is_named else None
        single = bool(columns.numbers) and all(map(self.is_single, columns.numbers))
        other.dtype = np.dtype(np.float32 if single else np.float64)
        return other

    def bytes_read(self) -> tuple[int, int] | None:
        """Return the bytes read by the current pass and the size of the file, for progress; None if not known."""
        return None
