"""Sparse rows that are put together from blocks, each of which is copied once."""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._typing import Array, Csr
from mercer.recycling import empty

# Room beyond the expected number of entries, and the share of unused room from which on the result is copied.
_ROOM, _MOST_UNUSED = 1.05, 0.25


class SparseBlock(NamedTuple):
    """The entries of consecutive rows: row i of the block has those from pointers[i] to pointers[i + 1]."""

    data: Array
    columns: Array
    pointers: Array


class JoinedRows:
    """CSR rows from blocks that threads finish in any order.

    A block is copied to its place as soon as all blocks before it are there. Its own memory is then free for the next
    block, while it is still in cache: only the result takes new memory, which the system must clear. The size of the
    result is expected from the blocks so far; where it turns out larger, the entries move once more.

    Parameters
    ----------
    weights : sequence of int
        The size of each block, in any unit that the number of its entries follows.
    shape : (int, int)
    dtype : of the entries

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features.structured.joined_rows import JoinedRows, SparseBlock
    >>> rows = JoinedRows([1, 1], (2, 3), np.float32)
    >>> rows.put(1, SparseBlock(np.ones(1, np.float32), np.array([2], np.int32), np.array([0, 1])))
    >>> rows.put(0, SparseBlock(np.ones(2, np.float32), np.array([0, 1], np.int32), np.array([0, 2])))
    >>> rows.result().toarray()
    array([[1., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """

    def __init__(self, weights: Sequence[int], shape: tuple[int, int], dtype: DTypeLike):
        self._shape = shape
        self._done = np.cumsum(weights)
        self._data, self._columns = empty((0,), dtype), empty((0,), np.int32)
        self._pointers: list[Array] = []
        self._end = 0
        self._waiting: dict[int, SparseBlock] = {}
        self._lock = threading.Lock()

    def put(self, number: int, block: SparseBlock) -> None:
        """Take the block of this number; any thread may call."""
        with self._lock:
            self._waiting[number] = block
            while len(self._pointers) in self._waiting:
                self._append(self._waiting.pop(len(self._pointers)))

    def _append(self, block: SparseBlock) -> None:
        end = self._end + len(block.data)
        if end > len(self._data):
            share = self._done[len(self._pointers)] / max(self._done[-1], 1)
            # the first blocks may be unlike the others: never more than twice what was there, after the first time
            most = 2 * (end + len(self._data)) if len(self._data) else np.inf
            self._move(int(np.ceil(min(_ROOM * end / share, most))))
        self._data[self._end : end] = block.data
        self._columns[self._end : end] = block.columns
        self._pointers.append(block.pointers[1:] + self._end)
        self._end = end

    def _move(self, size: int) -> None:
        for name in ("_data", "_columns"):
            held = getattr(self, name)
            larger = empty((size,), held.dtype)
            larger[: self._end] = held[: self._end]
            setattr(self, name, larger)

    def result(self) -> Csr:
        """Return the rows of all blocks, whose columns are as unsorted as those of the blocks."""
        data, columns = self._data[: self._end], self._columns[: self._end]
        if self._end < (1 - _MOST_UNUSED) * len(self._data):
            data, columns = data.copy(), columns.copy()
        kind = np.int32 if self._end < 2**31 else np.int64  # SciPy has one type for columns and pointers
        ends = np.concatenate([[0], *self._pointers]).astype(kind)
        Z = sparse.csr_array((data, columns.astype(kind, copy=False), ends), shape=self._shape)
        Z.has_canonical_format = False
        return Z
