"""The rows of a tuned fit: a bounded number of them in memory, and the others in passes over their source."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Self, TypeVar

import numpy as np

from mercer._typing import Array, Rows
from mercer.config import lasting_limit
from mercer.data import Block, Blocks, as_blocks
from mercer.data.raw_table import RawTable
from mercer.engines import Local, engine_for
from mercer.engines.base import S
from mercer.fitting import Classes, HeldTargets, Passes, RowPick, Targets, held_rows
from mercer.stats import Statistic
from mercer.validation import check_memory

# Rows that a model may always hold, and holds at most.
_LEAST_ROWS, _MOST_ROWS = 2**12, 2**20
# The part of a limit of memory that held rows and their fit may take, with bytes per row and column of X, and per row.
_LIMIT_SHARE, _BYTES_PER_ENTRY, _BYTES_PER_ROW = 0.6, 48, 256
# Rows per block of all passes: products of float32 rows span no more.
BLOCK_ROWS = 4096

T = TypeVar("T", bound=Targets)
T_co = TypeVar("T_co", bound=Targets, covariant=True)
# Turns a block of the source into a table.
ToTable = Callable[[Block], RawTable]


def rows_to_hold(wanted: int | None, width: int) -> int:
    """Return how many rows of ``width`` columns a model holds at most: those wanted, else by the limit of memory.

    A limit that lasts decides, not the memory that is free now, so that a fit does not depend on the moment.
    """
    limit = lasting_limit()
    if wanted is not None or limit is None:
        return _MOST_ROWS if wanted is None else wanted
    fitting = int(_LIMIT_SHARE * limit) // (_BYTES_PER_ENTRY * width + _BYTES_PER_ROW)
    return max(min(fitting, _MOST_ROWS), _LEAST_ROWS)


@dataclass(frozen=True)
class OtherRows:
    """The rows of a source that are not held, for statistics that merge.

    Attributes
    ----------
    blocks : Blocks
    targets : Targets
        With classes or means of all rows.
    passes : Passes
    pick : RowPick
        The rows that are held.
    to_table : callable
    """

    blocks: Blocks
    targets: Targets
    passes: Passes
    pick: RowPick
    to_table: ToTable

    def reduce(self, title: str, work: Callable[[RawTable, Array, Array], S], empty: Callable[[], S]) -> S:
        """Merge ``work(table, Y, weight)`` of all blocks, by their tree; rows that are held have the weight 0.

        So all blocks have the same size, and each takes the memory that the one before has left.
        """
        pick, targets, to_table = self.pick, self.targets, self.to_table

        def of_block(block: Block) -> S:
            weight = targets.weight(block)
            weight = np.ones(block.n_rows) if weight is None else weight
            others = np.where(pick.mask(block.first_row, block.n_rows), 0.0, weight)
            return work(to_table(block), np.asarray(targets.encode(block)), others) if others.any() else empty()

        return self.passes.reduce(title, of_block, self.blocks, empty())


@dataclass(frozen=True)
class TrainingTable(Generic[T_co]):
    """The rows that a model may hold, in memory, with their targets; and the others, if there are more.

    Attributes
    ----------
    table : RawTable
        The held rows of positive weight.
    held : HeldTargets
        Of these rows.
    n_rows : int
        Of the whole source.
    others : OtherRows or None
    """

    table: RawTable
    held: HeldTargets[T_co]
    n_rows: int
    others: OtherRows | None = None

    @classmethod
    def of_table(
        cls, table: RawTable, targets: T, labels: Array, sample_weight: Array | None, most: int, seed: int
    ) -> "TrainingTable[T]":
        """Take at most ``most`` rows of a table in memory, with checked labels."""
        targets = replace(targets, checked=True)
        pick = RowPick.of(table.n_rows, most, seed)
        if pick is None:
            return _positive(table, HeldTargets.of(targets, labels, sample_weight), table.n_rows)
        # The blocks hold numbers of rows: the columns of a table may be text.
        numbers = np.arange(table.n_rows, dtype=np.float64)[:, None]
        blocks = as_blocks(numbers, labels, sample_weight=sample_weight, owner=targets.owner)
        cut = blocks.recut(BLOCK_ROWS, targets.owner, trusted=True)
        rows_of = _Source(
            cut, targets, Passes(targets.owner, Local()), lambda block: table.some(block.X[:, 0].astype(int))
        )
        return rows_of.picked(pick)

    @classmethod
    def of_blocks(cls, blocks: Blocks, targets: T, most: int, seed: int) -> "TrainingTable[T]":
        """Take at most ``most`` rows of a source, which other processes may read."""
        blocks = blocks.recut(BLOCK_ROWS, targets.owner, missing=True)
        source = _Source(
            blocks, targets, Passes(targets.owner, engine_for(blocks)), partial(dense_table, targets.owner)
        )
        if blocks.n_rows is None or blocks.n_rows > most:
            return source.surveyed(most, seed)
        return source.whole()


@dataclass(frozen=True)
class _Source(Generic[T]):
    """Blocks, what their y means, and how they become tables."""

    blocks: Blocks
    targets: T
    passes: Passes
    to_table: ToTable

    def surveyed(self, most: int, seed: int) -> "TrainingTable[T]":
        """Count the rows, then hold all of them, or some."""
        known = self._known()
        pick = RowPick.of(int(self.blocks.n_rows or 0), most, seed)
        return self.whole() if pick is None else self._held(known, pick)

    def picked(self, pick: RowPick) -> "TrainingTable[T]":
        return self._held(self._known(), pick)

    def whole(self) -> "TrainingTable[T]":
        X, y, weight = held_rows(self.blocks, self.passes)
        table = self.to_table(Block(X))
        return _positive(table, HeldTargets.of(self.targets, y, weight), table.n_rows)

    def _known(self) -> T:
        """Find the classes or means of all rows, in one pass that also checks and counts them."""
        targets, total = self.targets, _Found()

        def find(block: Block) -> _Found:
            weight = targets.sample_weight(block)
            weight = np.ones(block.n_rows) if weight is None else weight
            return _Found(float(weight.sum()), targets.found_in(block, weight))

        self.passes.reduce("survey", find, self.blocks, total)
        if not total.weight > 0:
            raise ValueError(f"{targets.owner}: sample_weight must not be all zero. Leave it out for equal weights.")
        return targets.known(total.found)

    def _held(self, known: T, pick: RowPick) -> "TrainingTable[T]":
        X, y, weight = held_rows(self.blocks, self.passes, pick)
        labels = y if known.checked else np.asarray(known.check(y))
        given = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        held = HeldTargets.encoded(replace(known, checked=True), labels, given)
        if isinstance(known, Classes) and not np.ptp(held.Y[held.kept], axis=0).any():
            raise ValueError(
                f"{known.owner}: the {len(y)} rows that the model holds are all of one class of y, and the others are "
                "rare. Raise max_rows, or give more rows of the rare classes."
            )
        others = OtherRows(self.blocks, known, self.passes, pick, self.to_table)
        return _positive(self.to_table(Block(X)), held, int(self.blocks.n_rows or 0), others)


@dataclass
class _Found:
    """The weight of rows, and what is found in their y."""

    weight: float = 0.0
    found: Statistic | None = None

    def zero(self) -> Self:
        return type(self)()

    def update(self, weight: float, found: Statistic | None) -> Self:
        return self.merge(type(self)(weight, found))

    def merge(self, other: Self) -> Self:
        self.weight += other.weight
        if other.found is not None:
            self.found = other.found if self.found is None else self.found.merge(other.found)
        return self


def dense_table(owner: str, block: Block) -> RawTable:
    """Return rows of numbers as a table; sparse rows become dense."""
    rows: Rows = block.X
    if not isinstance(rows, np.ndarray):
        n_bytes = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
        check_memory(owner, "X", rows.shape, n_bytes, "sparse rows made dense", way_out="Leave columns out.")
        rows = rows.toarray()
    return RawTable.of(owner, rows)


def _positive(
    table: RawTable, held: HeldTargets[T], n_rows: int, others: OtherRows | None = None
) -> "TrainingTable[T]":
    """Leave out rows of weight 0."""
    kept = held.kept
    return TrainingTable(*((table, held) if kept.all() else (table.some(kept), held.some(kept))), n_rows, others)
