"""A list of objects with y, as blocks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array
from mercer.data import Block
from mercer.fitting import Targets
from mercer.kernels.custom import as_objects

_BLOCK_ROWS = 4096


class ObjectBlocks:
    """Objects of any kind, and one y for each, in memory. They are read as ``Blocks`` of rows are."""

    def __init__(self, X: Array, y: Array):
        self._X, self._y, self.n_rows = X, y, len(X)

    @classmethod
    def of(cls, owner: str, X: Sequence[object], y: ArrayLike | None, targets: Targets) -> "ObjectBlocks":
        """Check a list of objects and its y."""
        if y is None:
            raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
        objects, labels = as_objects(X), np.asarray(targets.check(y))
        if len(objects) != len(labels) or not len(objects):
            raise ValueError(f"{owner}: X has {len(objects)} objects and y has {len(labels)}; give one y for each.")
        return cls(objects, labels)

    def labelled(self) -> list[Block]:
        """Return the blocks."""
        cuts = range(0, self.n_rows, _BLOCK_ROWS)
        return [Block(self._X[cut : cut + _BLOCK_ROWS], self._y[cut : cut + _BLOCK_ROWS]) for cut in cuts]

    def targets(self) -> list[Array]:
        """Return y."""
        return [self._y]
