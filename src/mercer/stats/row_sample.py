"""A uniform sample of rows that merges: the rows whose numbers have the smallest hashes."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.structures.ragged import stack_rows

_WORDS = 4  # per step of the counter of Philox
# Keys that are looked at together where only the smallest are wanted.
_KEYS_AT_ONCE = 2**18


def row_keys(seed: int, first_row: int, n_rows: int) -> Array:
    """Return the keys of consecutive rows: uniform 64-bit numbers that depend only on the seed and the row number.

    Key i is word i of Philox, a generator that can compute any part of its stream directly (Salmon, Moraes, Dror and
    Shaw, 2011). So blocks can be processed in any order, and can have any size.

    >>> bool((row_keys(7, 5, 3) == row_keys(7, 0, 8)[5:]).all())
    True
    """
    skipped = first_row % _WORDS
    words: Array = np.random.Philox(key=seed, counter=first_row // _WORDS).random_raw(n_rows + skipped)
    return words[skipped:]


def last_key(seed: int, n_rows: int, size: int) -> int | None:
    """Return the largest key of a ``RowSample`` of ``size`` among ``n_rows`` rows; None where it holds all rows.

    So whether a row is in the sample can be told from its number alone, in a second pass. Memory O(size).

    >>> (row_keys(7, 0, 100) <= last_key(7, 100, 30)).sum()
    np.int64(30)
    """
    if n_rows <= size:
        return None
    smallest = np.empty(0, dtype=np.uint64)
    for start in range(0, n_rows, _KEYS_AT_ONCE):
        keys = row_keys(seed, start, min(_KEYS_AT_ONCE, n_rows - start))
        smallest = np.concatenate([smallest, keys])
        if len(smallest) > size:
            smallest = np.partition(smallest, size - 1)[:size]
    return int(smallest.max())


class SampledRows(NamedTuple):
    """Some rows, with the key, the number and the value of each."""

    rows: Rows
    keys: Array
    numbers: Array
    values: Array

    def take(self, chosen: Array) -> "SampledRows":
        """Return some of the rows."""
        return SampledRows(self.rows[chosen], self.keys[chosen], self.numbers[chosen], self.values[chosen])


@dataclass
class RowSample:
    """The ``size`` rows with the smallest keys: every set of ``size`` rows is equally likely, for any size of blocks.

    Rows must be added and merged in their order: of two rows with the same key, the earlier one is kept. Copying rows
    is the main cost, so rows are dropped only from time to time: at most ``2 size`` rows and one block are in memory.

    Parameters
    ----------
    size : int
    seed : int
        The seed of the keys; samples can be merged if they have the same seed.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import RowSample
    >>> X = np.arange(6.0)[:, None]
    >>> whole = RowSample(3, seed=0).update(X)
    >>> parts = RowSample(3, seed=0).update(X[:2]).merge(RowSample(3, seed=0).update(X[2:], 2))
    >>> bool((whole.rows == parts.rows).all())
    True
    """

    size: int
    seed: int
    _parts: list[SampledRows] = field(default_factory=list)
    _limit: int | None = None  # rows with keys from here on are not in the sample

    def zero(self) -> Self:
        """Return the empty sample of the same size and seed."""
        return type(self)(self.size, self.seed)

    def update(self, rows: Rows, first_row: int | None = None, values: Array | None = None) -> Self:
        """Add rows, numbered from ``first_row`` on (by default 0), with one value per row (by default its number).

        The rows are kept as they are, and copied only where some of them are chosen.
        """
        n_rows, first_row = rows.shape[0], 0 if first_row is None else first_row
        numbers = np.arange(first_row, first_row + n_rows)
        self._add(
            SampledRows(rows, row_keys(self.seed, first_row, n_rows), numbers, numbers if values is None else values)
        )
        return self

    def merge(self, other: Self) -> Self:
        """Add a sample of later rows."""
        for part in other._parts:
            self._add(part)
        return self

    @property
    def rows(self) -> Rows:
        """The sampled rows, in order: an array or a CSR matrix."""
        return self._whole().rows

    @property
    def numbers(self) -> Array:
        """The numbers of the sampled rows."""
        return self._whole().numbers

    @property
    def values(self) -> Array:
        """The values that came with the sampled rows."""
        return self._whole().values

    @property
    def keys(self) -> Array:
        """The keys of the sampled rows: a smaller sample of the same seed holds the rows with the smallest keys."""
        return self._whole().keys

    @property
    def is_empty(self) -> bool:
        """Whether no row was added."""
        return not self._parts

    def _add(self, part: SampledRows) -> None:
        if self._limit is not None:  # fewer and fewer rows can still enter
            chosen = np.flatnonzero(part.keys < self._limit)
            if not len(chosen):
                return
            part = part.take(chosen)
        self._parts.append(part)
        keys = np.concatenate([held.keys for held in self._parts])
        if len(keys) >= self.size:
            self._limit = int(np.partition(keys, self.size - 1)[self.size - 1])
        if len(keys) > 2 * self.size:
            self._whole()

    def _whole(self) -> SampledRows:
        """Return all that stay as one part, which replaces the others."""
        part = self._parts[0]
        if len(self._parts) > 1:
            held = [part.rows for part in self._parts]
            part = SampledRows(
                stack_rows(held), *(np.concatenate(columns) for columns in list(zip(*self._parts, strict=True))[1:])
            )
        if len(part.keys) > self.size:
            part = part.take(np.sort(np.argsort(part.keys, kind="stable")[: self.size]))
        self._parts = [part]
        return part
