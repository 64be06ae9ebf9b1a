"""Kernels of transformed rows: scaled columns (automatic relevance determination) and selected columns."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.base import Kernel
from mercer.validation import check_integer, check_real

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, repr=False)
class TransformedKernel(Kernel):
    """A kernel of transformed rows, k(f(x), f(y)). A subclass writes ``apply``, its f."""

    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"{type(self).__name__}: kernel must be a kernel, got {self.kernel!r}.")
        if self.kernel.domain != "rows":
            raise ValueError(f"{type(self).__name__}: kernel must compare rows of numbers, got {self.kernel!r}.")

    @abstractmethod
    def apply(self, X: Rows) -> Rows:
        """Return the transformed rows of X, dense or CSR as X is."""

    def width(self, n_features: int) -> int:
        """Return how many columns the transformed rows of ``n_features`` columns have."""
        return int(self.apply(np.empty((0, n_features))).shape[1])

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Kernel:
        """Return the kernel with its inner kernel resolved on the transformed rows."""
        inner = self.kernel.resolve(self.apply(X), sample_weight)
        return self if inner is self.kernel else self.with_params(kernel=inner)

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        self.kernel.check_domain(name, self.apply(X))

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.kernel.evaluate(self.apply(X), self.apply(Y))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.kernel.evaluate_diag(self.apply(X))


@dataclass(frozen=True, repr=False)
class ScaledColumns(TransformedKernel):
    """A kernel of scaled columns, k(w * x, w * y): a length scale per column (ARD) is w = 1 / lengths.

    Parameters
    ----------
    kernel : Kernel
    weights : sequence of float
        The factor of each column; 0 leaves a column out.

    Examples
    --------
    >>> from mercer import Gaussian, ScaledColumns
    >>> ScaledColumns(Gaussian(gamma=1.0), [1.0, 0.0])([[0.0, 0.0]], [[1.0, 5.0]]).round(4)
    array([[0.3679]])
    """

    weights: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = _sequence("ScaledColumns", "weights", self.weights)
        checked = tuple(
            check_real("ScaledColumns", f"weights[{i}]", weight, least=-np.inf) for i, weight in enumerate(weights)
        )
        object.__setattr__(self, "weights", checked)

    def apply(self, X: Rows) -> Rows:
        """Return the columns of X times their weights."""
        if X.shape[1] != len(self.weights):
            raise ValueError(
                f"ScaledColumns: weights must hold one number for each column, got {len(self.weights)} weights and "
                f"{X.shape[1]} columns of X. Give every column a weight, 0 to leave it out."
            )
        weights = np.array(self.weights, dtype=X.dtype)
        return (X @ sparse.diags_array(weights)).tocsr() if is_sparse(X) else X * weights


@dataclass(frozen=True, repr=False)
class Columns(TransformedKernel):
    """A kernel of some of the columns, k(x[columns], y[columns]): sums and products over groups of columns.

    Parameters
    ----------
    kernel : Kernel
    columns : sequence of int
        Column numbers, from 0.

    Examples
    --------
    >>> from mercer import Columns, Gaussian, Linear
    >>> Columns(Gaussian(gamma=1.0), [0]) + Columns(Linear(), [1, 2])
    Columns(Gaussian(gamma=1.0), (0,)) + Columns(Linear(), (1, 2))
    """

    columns: Sequence[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = _sequence("Columns", "columns", self.columns)
        checked = tuple(check_integer("Columns", f"columns[{i}]", c, least=0) for i, c in enumerate(columns))
        if len(set(checked)) < len(checked):
            raise ValueError(f"Columns: columns must differ from each other, got {checked}.")
        object.__setattr__(self, "columns", checked)

    def apply(self, X: Rows) -> Rows:
        """Return the chosen columns of X."""
        if max(self.columns) >= X.shape[1]:
            raise ValueError(
                f"Columns: columns must be below the number of columns of X, got {max(self.columns)} and "
                f"{X.shape[1]} columns. Columns are counted from 0."
            )
        columns = list(self.columns)
        return X[:, columns] if is_sparse(X) else np.take(X, columns, axis=1)


def _sequence(owner: str, name: str, value: Sequence[Number]) -> list[Number]:
    if isinstance(value, str) or np.ndim(value) != 1 or len(value) == 0:
        raise ValueError(f"{owner}: {name} must be a sequence of at least one number, got {value!r}.")
    return list(value.tolist() if isinstance(value, np.ndarray) else value)
