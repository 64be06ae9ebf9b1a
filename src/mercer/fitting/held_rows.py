"""All rows in memory, with y and weights as solvers read them: for models that keep their training rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks
from mercer.fitting.passes import Passes
from mercer.fitting.row_pick import RowPick
from mercer.fitting.targets import Targets
from mercer.validation import check_weights

T = TypeVar("T", bound=Targets)
T_co = TypeVar("T_co", bound=Targets, covariant=True)


def held_rows(blocks: Blocks, passes: Passes, picked: RowPick | None = None) -> tuple[Rows, Array, Array | None]:
    """Return X, y and the sample weights (None where all are 1) of all blocks, or of the ``picked`` rows, copied.

    >>> from mercer.data import as_blocks
    >>> X, y, weight = held_rows(as_blocks(np.eye(3), np.arange(3)), Passes("example"))
    >>> X.shape, y.tolist(), weight
    ((3, 3), [0, 1, 2], None)
    """
    parts: Iterable[Block] = passes.map("rows", (lambda block: block) if picked is None else picked.of_block, blocks)
    size = blocks.n_rows if picked is None else picked.size
    X = None
    if size is not None and not blocks.is_sparse:  # each row is in memory once
        X = np.empty((size, blocks.width), dtype=blocks.dtype)
        parts = list(_written(parts, X))
    parts = [part for part in parts if part.n_rows]
    rows = [block.X for block in parts]
    if X is None:
        X = sparse.vstack(rows, format="csr") if sparse.issparse(rows[0]) else np.concatenate(rows)
    y = np.concatenate([np.asarray(block.y) for block in parts])
    weighted = parts[0].sample_weight is not None
    return X, y, np.concatenate([np.asarray(block.sample_weight) for block in parts]) if weighted else None


def _written(parts: Iterable[Block], out: Array) -> Iterator[Block]:
    """Copy the rows of consecutive blocks to an array, and yield the blocks on its memory."""
    start = 0
    for block in parts:
        rows = slice(start, start + block.n_rows)
        out[rows] = block.X
        yield block._replace(X=out[rows])
        start = rows.stop


@dataclass(frozen=True)
class HeldTargets(Generic[T_co]):
    """The encoded targets and the weights of all rows.

    Attributes
    ----------
    targets : Targets
        What y means, with its classes or means known.
    Y : ndarray of shape (n, k)
    given : ndarray of shape (n,)
        The sample weights.
    weight : ndarray of shape (n,)
        The weights of the ridge problem: the sample weights times the factors of the classes.
    left_out : ndarray of shape (n,)
        The weight that leaving a row out removes: one of the rows that a weight of 2 stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.fitting import Classes
    >>> held = HeldTargets.of(Classes("example", class_weight={"b": 3.0}), np.array(["a", "b"]), np.array([2.0, 1.0]))
    >>> held.Y.ravel().tolist(), held.weight.tolist(), held.left_out.tolist()
    ([-1.0, 1.0], [2.0, 3.0], [1.0, 3.0])
    """

    targets: T_co
    Y: Array
    given: Array
    weight: Array
    left_out: Array

    @classmethod
    def of(cls, targets: T, y: Array, sample_weight: Array | None = None) -> "HeldTargets[T]":
        """Find the classes or means of y, and encode y and the weights of all rows."""
        checked = targets if targets.checked else replace(targets, checked=True)
        y = y if targets.checked else np.asarray(targets.check(y))
        given = np.ones(len(y)) if sample_weight is None else check_weights(targets.owner, sample_weight, len(y))
        return cls.encoded(checked.known(checked.found_in(Block(np.empty((len(y), 0)), y, given), given)), y, given)

    @classmethod
    def encoded(cls, known: T, y: Array, given: Array) -> "HeldTargets[T]":
        """Encode checked y and weights by targets whose classes or means are known."""
        block = Block(np.empty((len(y), 0)), y, given)
        Y, weight = np.asarray(known.encode(block)), known.weight(block)
        weight = given if weight is None else weight
        if not weight.any():
            raise ValueError(f"{known.owner}: sample_weight must not be all zero. Leave it out for equal weights.")
        return HeldTargets(known, Y, given, weight, np.minimum(given, 1.0) * known.weight_of_one(Y))

    @property
    def kept(self) -> Array:
        """Whether each row has a positive weight."""
        return np.asarray(self.weight > 0)

    def some(self, rows: Array) -> "HeldTargets[T_co]":
        """Return some rows, given by their numbers or by a mask."""
        return replace(
            self, Y=self.Y[rows], given=self.given[rows], weight=self.weight[rows], left_out=self.left_out[rows]
        )
