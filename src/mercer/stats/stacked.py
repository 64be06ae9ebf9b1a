"""Values of all rows, in the order of the rows."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mercer._typing import Array


@dataclass
class Stacked:
    """Rows in the order in which they were added. Merges must follow the order of the blocks, as in all engines.

    >>> import numpy as np
    >>> from mercer.stats import Stacked
    >>> Stacked().update(np.ones(2)).merge(Stacked().update(np.zeros(1))).rows().tolist()
    [1.0, 1.0, 0.0]
    """

    parts: list[Array] = field(default_factory=list)

    def zero(self) -> Self:
        """Return no rows."""
        return type(self)()

    def update(self, rows: Array) -> Self:
        """Add rows at the end."""
        self.parts.append(rows)
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows of another at the end."""
        self.parts += other.parts
        return self

    def rows(self) -> Array:
        """Return all rows as one array."""
        return np.concatenate(self.parts)
