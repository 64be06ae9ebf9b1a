"""Statistics of y: classes and their weights, or the mean of numbers."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mercer._typing import Array


@dataclass
class ClassTotals:
    """The classes of labels, in order, and the sum of the weights of each.

    >>> import numpy as np
    >>> from mercer.stats import ClassTotals
    >>> found = ClassTotals().update(np.array(["b", "a", "b"]), np.array([1.0, 1.0, 2.0]))
    >>> found.classes.tolist(), found.totals.tolist()
    (['a', 'b'], [1.0, 3.0])
    """

    classes: Array | None = None
    totals: Array = field(default_factory=lambda: np.zeros(0))

    def zero(self) -> Self:
        """Return no classes."""
        return type(self)()

    def update(self, labels: Array, weight: Array) -> Self:
        """Add rows by their labels and weights."""
        classes, where = np.unique(labels, return_inverse=True)
        return self.merge(type(self)(classes, np.bincount(where, weight, len(classes))))

    def merge(self, other: Self) -> Self:
        """Add the classes of other rows."""
        if self.classes is None or other.classes is None:
            if self.classes is None:
                self.classes, self.totals = other.classes, other.totals
            return self
        both = np.concatenate([self.classes, other.classes])
        self.classes, where = np.unique(both, return_inverse=True)
        self.totals = np.bincount(where, np.concatenate([self.totals, other.totals]), len(self.classes))
        return self


@dataclass
class TargetMeans:
    """The weighted mean of each column of targets, and the number of their dimensions.

    Merged by the formula of Chan, Golub and LeVeque (1983), which stays accurate if the mean is large.

    >>> import numpy as np
    >>> from mercer.stats import TargetMeans
    >>> TargetMeans().update(np.array([1.0, 4.0]), np.array([2.0, 1.0])).mean.tolist()
    [2.0]
    """

    n_dims: int = 0
    weight: float = 0.0
    mean: Array = field(default_factory=lambda: np.zeros(1))

    def zero(self) -> Self:
        """Return the mean of no rows."""
        return type(self)()

    def update(self, y: Array, weight: Array) -> Self:
        """Add rows of targets, (n,) or (n, k), with their weights."""
        columns, total = y if y.ndim == 2 else y[:, None], float(weight.sum())
        first = columns[0] if len(columns) else np.zeros(columns.shape[1])
        mean = first + weight @ (columns - first) / total if total > 0 else np.zeros(columns.shape[1])
        return self.merge(type(self)(y.ndim, total, mean))

    def merge(self, other: Self) -> Self:
        """Add the means of other rows."""
        if other.n_dims == 0:
            return self
        if self.weight == 0:
            self.n_dims, self.weight, self.mean = other.n_dims, other.weight, other.mean
            return self
        self.weight += other.weight
        self.mean = self.mean + (other.mean - self.mean) * (other.weight / self.weight)
        return self
