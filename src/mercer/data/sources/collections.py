"""Rows of Dask arrays and data frames: each partition is a part, which is computed where the engine says.

No module of Dask is imported unless a collection is given.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.data.frame_columns import PandasFrame
from mercer.data.sources.base import Block, Reader, entries
from mercer.parallel import row_blocks

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T_co = TypeVar("T_co", covariant=True)
# X, y and the weights of a partition.
Bundle = tuple[Rows, Array | None, Array | None]


class Delayed(Protocol):
    """What is used of a delayed value of Dask, which is a partition, or made from one."""

    def compute(self) -> Bundle:
        """Return the value."""


class Future(Protocol[T_co]):
    """What is used of a value that a cluster computes."""

    key: str
    status: str

    def result(self) -> T_co:
        """Wait for the value, and return it."""

    def add_done_callback(self, work: "Callable[[Future[T_co]], object]") -> None:
        """Call a function when the value is known, or never will be."""


class DaskArray(Protocol):
    """What is used of a Dask array."""

    shape: tuple[int, ...]
    chunks: tuple[tuple[int, ...], ...]
    numblocks: tuple[int, ...]
    dtype: np.dtype[np.generic]

    def rechunk(self, chunks: dict[int, object]) -> Self:
        """Return the array with other chunks along some axes."""

    def map_blocks(self, work: Callable[..., object], *args: object, **options: object) -> Array:
        """Return the results of a function of each chunk, as a lazy array."""

    def to_delayed(self) -> Array:
        """Return the chunks as delayed values."""


class DaskFrame(Protocol):
    """What is used of a Dask data frame or series."""

    columns: Sequence[str]
    dtypes: Iterable[np.dtype[np.generic]]
    npartitions: int

    def __getitem__(self, columns: object) -> Self:
        """Return one column or several."""

    def map_partitions(self, work: Callable[..., object], *args: object, **options: object) -> Array:
        """Return the results of a function of each partition, as a lazy frame or series."""

    def simplify(self) -> Self:
        """Return the frame with the columns that are used alone."""

    def to_delayed(self, *, optimize_graph: bool) -> list[Delayed]:
        """Return the partitions as delayed values."""


Collection: TypeAlias = DaskArray | DaskFrame
# y and weights, of a collection or of this process.
Aligned: TypeAlias = Collection | ArrayLike | None


def is_collection(value: object) -> TypeGuard[Collection]:
    """Return whether a value is a Dask array, data frame or series; Dask is not imported for this."""
    return hasattr(type(value), "__dask_graph__") and hasattr(value, "to_delayed")


def is_frame(value: object) -> "TypeIs[DaskFrame]":
    """Return whether a Dask collection is a data frame."""
    return hasattr(value, "map_partitions") and hasattr(value, "columns")


def _is_array(value: object) -> "TypeIs[DaskArray]":
    return hasattr(value, "rechunk")


def has_csr_chunks(X: DaskArray) -> bool:
    """Return whether the chunks of a Dask array are CSR matrices."""
    from dask.array.utils import meta_from_array  # noqa: PLC0415 - optional

    return bool(sparse.issparse(meta_from_array(X)))


class DaskSource(Reader):
    """The partitions of a Dask array or data frame, with y and weights aligned to them.

    Lengths that are not known are computed first, and empty partitions are left out. X, y and the weights of a
    partition are one task, so that they lie on one worker.

    Parameters
    ----------
    owner : str
        The name that begins error messages.
    X : Dask array or data frame
        Dense chunks or CSR chunks.
    y, sample_weight : Dask array or series with the partitions of X, or an array; optional
    """

    keeps_pieces = True

    def __init__(self, owner: str, X: Collection, y: Aligned = None, sample_weight: Aligned = None):
        self._owner = owner
        self.width, self.dtype, self.is_sparse, self.names = _described(owner, X)
        self.labelled = y is not None
        aligned = [_aligned(owner, X, part, name) for part, name in ((y, "y"), (sample_weight, "sample_weight"))]
        partitions = _Partitions(owner, X, aligned, _Form(self.width, self.dtype.str, self.names))
        known = all(_is_known(part) for part in (X, y, sample_weight))
        lengths = partitions.lengths() if is_frame(X) or not known else [int(n_rows) for n_rows in X.chunks[0]]
        loads = partitions.loads()
        given = [
            None if part is None or is_collection(part) else _cut(owner, part, lengths, name)  # type: ignore[arg-type] # not one
            for part, name in ((y, "y"), (sample_weight, "sample_weight"))
        ]
        kept = [number for number, n_rows in enumerate(lengths) if n_rows]
        self.loads = [loads[number] for number in kept]
        self._given = [None if part is None else [part[number] for number in kept] for part in given]
        self._numbers = kept
        self.plan = tuple(lengths[number] for number in kept)
        self.n_rows = sum(self.plan)
        if not self.n_rows:
            raise ValueError(f"{owner}: X has 0 sample(s) while a minimum of 1 is required.")
        # What an engine keeps of the partitions between passes.
        self.kept: list[Future[Bundle]] | None = None

    @property
    def divides(self) -> bool:
        """Return True: the partitions are the parts."""
        return True

    def between(self, start: int, stop: int) -> "DaskPart":
        """Return the partition that begins at a row."""
        assert self.plan is not None  # noqa: S101
        number = int(np.searchsorted(np.cumsum(self.plan), start, side="right"))
        return DaskPart(self, number)

    def place(self, number: int) -> str:
        """Return the number of a partition in the collection."""
        return f"partition {self._numbers[number]}"

    def given_arrays(self, number: int) -> list[Array | None]:
        """Return y and the weights of a partition, where they were given as arrays of this process."""
        return [None if part is None else part[number] for part in self._given]

    def given(self, number: int, bundle: Bundle) -> Bundle:
        """Return X, y and weights of a partition, with those that were given as arrays."""
        y, weight = (
            part if mine is None else mine for part, mine in zip(bundle[1:], self.given_arrays(number), strict=True)
        )
        return bundle[0], y, weight

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Compute one partition after the other in this process, or on the default client of Dask."""
        for number, load in enumerate(self.loads):
            X, y, weight = self.given(number, load.compute())
            yield Block(X, y, weight)


class DaskPart(Reader):
    """One partition. An engine computes ``load``, and gives the result to ``loaded`` where it works on the rows."""

    keeps_pieces = True

    def __init__(self, source: DaskSource, number: int):
        assert source.plan is not None  # noqa: S101
        self.width, self.dtype, self.is_sparse = source.width, source.dtype, source.is_sparse
        self.names, self.n_rows, self.labelled = source.names, source.plan[number], source.labelled
        self.number = number
        self._given = source.given_arrays(number)
        self._bundle: Bundle | None = None

    def loaded(self, bundle: Bundle) -> "DaskPart":
        """Return the part with its rows."""
        other = copy(self)
        y, weight = (part if mine is None else mine for part, mine in zip(bundle[1:], self._given, strict=True))
        other._bundle = bundle[0], y, weight
        return other

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield views of the rows."""
        assert self._bundle is not None  # noqa: S101 - an engine loads a part before it reads it
        X, y, weight = self._bundle
        for rows in row_blocks(X.shape[0], block_rows):
            yield Block(X[rows], None if y is None else y[rows], None if weight is None else weight[rows])


def _described(owner: str, X: Collection) -> tuple[int, np.dtype[np.generic], bool, tuple[str, ...] | None]:
    """Return the width, the type, whether rows are CSR, and the names of the columns."""
    if is_frame(X):
        types = list(X.dtypes)
        wrong = [
            str(name) for name, kind in zip(X.columns, types, strict=True) if getattr(kind, "kind", "O") not in "biuf"
        ]
        if wrong:
            raise ValueError(f"{owner}: column {wrong[0]!r} of X holds no numbers. Leave it out, or encode it.")
        single = all(kind == np.float32 for kind in types)
        return len(types), np.dtype(np.float32 if single else np.float64), False, tuple(map(str, X.columns))
    if getattr(X, "ndim", 1) != 2:
        raise ValueError(f"{owner}: X must have rows and columns. Expected 2D array, got {getattr(X, 'ndim', 1)}D.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{owner}: X must hold numbers, got {X.dtype}.")
    kind = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    return int(X.shape[1]), kind, has_csr_chunks(X), None


def _aligned(owner: str, X: Collection, part: Aligned, name: str) -> list[Delayed] | None:
    """Return y or weights as one delayed value per partition of X; None for an array, which is cut later."""
    if part is None or not is_collection(part):
        return None
    if _is_array(part) and _is_array(X) and not _unknown(X) and not _unknown(part):
        if part.shape[0] != X.shape[0]:
            raise ValueError(
                f"{owner}: X has {X.shape[0]} rows and {name} has {part.shape[0]}: inconsistent numbers of samples."
            )
        part = part.rechunk({0: X.chunks[0]})
    if _is_array(part) and len(part.shape) == 2:
        part = part.rechunk({1: -1})
    found = delayed_parts(part)
    n_parts = _n_partitions(X)
    if len(found) != n_parts:
        raise ValueError(
            f"{owner}: X has {n_parts} partitions and {name} has {len(found)}. Give {name} with the partitions of X: "
            "take both from one data frame, or call repartition or rechunk."
        )
    return found


def _is_known(part: Aligned) -> bool:
    """Return whether the lengths of the partitions are known; those of frames and series never are."""
    return not is_collection(part) or (_is_array(part) and not _unknown(part))


def _unknown(array: DaskArray) -> bool:
    return bool(np.isnan(array.shape[0]))


def _n_partitions(X: Collection) -> int:
    return int(X.npartitions if is_frame(X) else X.numblocks[0])


def delayed_parts(part: Collection) -> list[Delayed]:
    """Return the partitions of a collection as delayed values, in order.

    On purpose not ``to_delayed()`` for data frames and series: Dask's optimiser joins small files into one partition if
    few columns are read, so that X and y of one data frame would be cut differently. ``simplify`` leaves the partitions
    as they are, and still reads no column that is not used.
    """
    if _is_array(part):
        return list(np.ravel(part.to_delayed()))
    return list(part.simplify().to_delayed(optimize_graph=False))


class _Partitions:
    """The partitions of X, y and the weights as delayed values, and what all of them must be."""

    def __init__(self, owner: str, X: Collection, aligned: Sequence[list[Delayed] | None], form: "_Form"):
        rows = X if is_frame(X) else X.rechunk({1: -1})
        parts = delayed_parts(rows)
        self._owner, self._form = owner, form
        nothing: list[Delayed | None] = [None] * len(parts)
        self._parts = list(zip(parts, *(found or nothing for found in aligned), strict=True))

    def loads(self) -> list[Delayed]:
        """Return a delayed ``Bundle`` for each partition."""
        return self._each(_bundle)

    def lengths(self) -> list[int]:
        """Compute the rows of each partition; of several that are refused, the error names the first."""
        import dask  # noqa: PLC0415 - optional

        found = dask.compute(*self._each(_length))
        for length in found:
            if isinstance(length, str):
                raise ValueError(length)
        return [int(length) for length in found]

    def _each(self, work: Callable[..., object]) -> list[Delayed]:
        from dask.delayed import delayed  # noqa: PLC0415 - optional

        task = delayed(work, pure=False)
        return [task(self._owner, number, *parts, self._form) for number, parts in enumerate(self._parts)]


class _Form(NamedTuple):
    """What every partition of X must have."""

    width: int
    dtype: str
    names: tuple[str, ...] | None


def _is_pandas(X: object) -> "TypeIs[PandasFrame]":
    return hasattr(X, "to_numpy")


def _length(
    owner: str, number: int, X: Rows | PandasFrame, y: Array | None, weight: Array | None, form: _Form
) -> int | str:
    """Return the rows of a partition, or why it is refused."""
    try:
        _check(owner, number, X, y, weight, form)
    except ValueError as error:
        return str(error)
    return int(X.shape[0])


def _bundle(
    owner: str, number: int, X: Rows | PandasFrame, y: Array | None, weight: Array | None, form: _Form
) -> Bundle:
    """Return X, y and weights of a partition as arrays of the same length."""
    _check(owner, number, X, y, weight, form)
    if _is_pandas(X):
        rows: Rows = np.ascontiguousarray(X.to_numpy(dtype=form.dtype, na_value=np.nan))
    elif sparse.issparse(X):
        rows = sparse.csr_array(X).astype(form.dtype, copy=False)
    else:
        rows = np.ascontiguousarray(X, dtype=form.dtype)
    return rows, None if y is None else entries(y), None if weight is None else entries(weight)


def _check(owner: str, number: int, X: Rows | PandasFrame, y: Array | None, weight: Array | None, form: _Form) -> None:
    """Refuse a partition whose columns, types or lengths are not those of the collection."""
    here = f"{owner}: partition {number} of X has"
    names = tuple(map(str, X.columns)) if _is_pandas(X) else None
    if names != form.names:
        raise ValueError(f"{here} the columns {list(names or ())}, and the data frame has {list(form.names or ())}.")
    if X.shape[1] != form.width:
        raise ValueError(f"{here} {X.shape[1]} columns, and the array has {form.width}.")
    columns = zip(names or (), X.dtypes, strict=True) if _is_pandas(X) else [("", X.dtype)]
    for name, kind in columns:
        if not _fits(kind, form.dtype):
            column = f" in column {name!r}" if name else ""
            raise ValueError(
                f"{here} the type {kind}{column}, which is not {np.dtype(form.dtype)}, the type of the collection. "
                "Convert it where the partitions are made, with astype."
            )
    for name, part in (("y", y), ("sample_weight", weight)):
        if part is not None and part.shape[0] != X.shape[0]:
            raise ValueError(f"{here} {X.shape[0]} rows, and that of {name} has {part.shape[0]}.")


def _fits(kind: np.dtype[np.generic], dtype: str) -> bool:
    """Return whether numbers of a type can be read as another; integers always, and float64 not as float32."""
    if getattr(kind, "kind", "O") not in "biuf":
        return False
    return bool(kind.kind != "f" or np.dtype(getattr(kind, "numpy_dtype", kind)).itemsize <= np.dtype(dtype).itemsize)


def _cut(owner: str, values: ArrayLike, lengths: list[int], name: str) -> list[Array]:
    """Return an array of this process in the parts of X."""
    array = entries(values)
    if array.shape[0] != sum(lengths):
        raise ValueError(
            f"{owner}: X has {sum(lengths)} rows and {name} has {array.shape[0]}: inconsistent numbers of samples."
        )
    ends = np.cumsum(lengths).tolist()
    return [array[end - n_rows : end] for end, n_rows in zip(ends, lengths, strict=True)]
