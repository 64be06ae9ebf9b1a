"""Base classes of sources: a source yields its rows in pieces, once per pass."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from itertools import islice
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer._typing import Array, Csr, Rows, is_sparse
from mercer.data.columns import Choice, Codes, Columns, Kind, TableError
from mercer.structures.domains import Domain
from mercer.structures.ragged import Ragged, stack_rows

T = TypeVar("T")

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
    if given and (sparse.issparse(given[0]) or isinstance(given[0], Ragged)):
        rows: Array = stack_rows(given)
        return rows
    return np.concatenate(given) if given else None


def entries(values: ArrayLike | Csr | Ragged) -> Array:
    """Return y with one entry, or one row of entries, per row: an array; a sparse y as CSR; packed objects as such."""
    if isinstance(values, Ragged):
        objects: Rows = values  # a second view of objects has rows, as an array has
        return objects
    return values.tocsr() if is_sparse(values) else np.asarray(values)


def own_rows(X: Rows, piece: Block) -> Block:
    """Return a piece with another X, copied if later pieces could overwrite its memory."""
    apart = isinstance(piece.X, np.ndarray) and isinstance(X, np.ndarray) and not np.may_share_memory(X, piece.X)
    y, weight = (None if part is None else part.copy() for part in (piece.y, piece.sample_weight))
    return Block(X if apart else X.copy(), y, weight)


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of ``size`` items, the last one shorter.

    >>> list(in_batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


class Reader(ABC):
    """A source of rows of numbers, or of packed objects, that can be read any number of times, a piece at a time.

    A subclass implements ``pieces`` and sets the attributes that it knows: ``width``, ``dtype`` (float32 or float64),
    ``is_sparse``, ``names`` of the columns, ``n_rows``, and ``domain`` if the rows are objects, such as strings. Pieces
    may have any number of rows: ``Blocks`` checks the pieces and cuts them to one size. ``Blocks`` also copies each
    piece, because a reader may reuse its arrays. A reader whose pieces never change sets ``keeps_pieces`` to True,
    which saves the copy. ``mercer.testing.check_reader`` tests a new reader.

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
    # Whether decoding the rows takes so long that a thread should do it ahead, in large pieces.
    reads_ahead: bool = False
    domain: Domain = "rows"
    # Rows of the parts that the source is made of by itself, as Dask collections are; None if it can be cut anywhere.
    plan: tuple[int, ...] | None = None

    @property
    def divides(self) -> bool:
        """Whether ``between`` can return parts of the rows."""
        return False

    def between(self, start: int, stop: int) -> "Reader":
        """Return the rows from ``start`` to ``stop`` as a reader that can be pickled; only where ``divides``."""
        raise NotImplementedError

    def place(self, number: int) -> str:
        """Return what errors call part ``number`` of the source."""
        return ""

    @abstractmethod
    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield all rows in order, preferably ``block_rows`` at a time; each call begins at the first row."""


class Source(Reader):
    """A reader with named columns. Columns of numbers, then of dates (in days) are X, text is categories, the target y.

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
    # The name of the column of objects inside the source, such as the sequences of FASTA files, and their domain.
    own_objects: str | None = None
    object_domain: Domain = "strings"

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
        if columns.objects is not None:
            other.width, other.labelled, other.names = 1, columns.target is not None, None
            other.dtype, other.domain = np.dtype(np.float32), self.object_domain
            return other
        names = (*columns.numbers, *columns.dates)
        other.width, other.labelled = len(names), columns.target is not None
        other.names = names if self.is_named else None
        single = bool(names) and not columns.dates and all(map(self.is_single, columns.numbers))
        other.dtype = np.dtype(np.float32 if single else np.float64)
        return other

    def read_as(self, kinds: Mapping[str, str]) -> None:
        """Read some columns as another kind, whatever their values look like."""
        wrong = next((name for name, kind in kinds.items() if self.kinds[name] != kind), None)
        if wrong is not None:
            raise TableError(
                f"{self.name}: column {wrong!r} holds {self.type_of(wrong)}; only columns of csv files can be read as "
                "another type. Convert it where the file is made."
            )

    def warn_of_doubts(self) -> None:
        """Warn of chosen columns whose kind may be a mistake, such as numbers with one value that is none."""

    def bytes_read(self) -> tuple[int, int] | None:
        """Return the bytes read by the current pass and the size of the file, for progress; None if not known."""
        return None
