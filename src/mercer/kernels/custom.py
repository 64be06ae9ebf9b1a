"""Kernels that a user gives: a function of two sets of rows or objects, or the Gram matrix itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mercer._typing import Array, Rows, RowsLike, override
from mercer.kernels.base import Kernel

# Objects of any kind, or rows.
Objects: TypeAlias = Sequence[object] | RowsLike

# Rows per call for the diagonal k(x, x): a call computes 16 times the values that are kept, and replaces 16 calls.
_DIAGONAL_TILE = 16


@dataclass(frozen=True, repr=False)
class FunctionKernel(Kernel):
    """The kernel of a function f(A, B) that returns the matrix of k(a, b), for rows or for any objects.

    Parameters
    ----------
    f : callable
        Takes two arrays of rows, or two lists of objects (strings, graphs), and returns an array of shape
        (len(A), len(B)). Compared by its identity.

    Examples
    --------
    >>> from mercer.kernels import FunctionKernel
    >>> common = FunctionKernel(lambda A, B: [[len(set(a) & set(b)) for b in B] for a in A])
    >>> common(["tree", "graph"])
    array([[3., 1.],
           [1., 5.]])
    """

    f: Callable[..., ArrayLike]

    def __call__(self, X: Objects, Y: Objects | None = None) -> Array:
        """Return the matrix k(X, Y), or k(X, X) when Y is None, of rows or of lists of objects."""
        X = as_objects(X)
        return self.evaluate(X, X if Y is None else as_objects(Y))

    def diag(self, X: Objects) -> Array:
        """Return k(x, x) for every row or object."""
        return self.evaluate_diag(as_objects(X))

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        left, right = (list(A) if A.dtype == object else A for A in (X, Y))
        values = np.array(self.f(left, right), dtype=np.float64)
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"kernel: the function {_name(self.f)} must return an array of shape (len(A), len(B)) = "
                f"{(X.shape[0], Y.shape[0])}, got {values.shape}. It takes two sets of rows or two lists of objects."
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"kernel: the function {_name(self.f)} returned {values[i, j]} for a pair; give finite values."
            )
        return values

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        tiles = [X[start : start + _DIAGONAL_TILE] for start in range(0, X.shape[0], _DIAGONAL_TILE)]
        return np.concatenate([np.diagonal(self.evaluate(tile, tile)) for tile in tiles])

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        return lambda X: self.evaluate(X, Y).astype(dtype, copy=False)


@dataclass(frozen=True, repr=False, eq=False)
class PrecomputedKernel(Kernel):
    """The kernel of a Gram matrix: its rows are known by their numbers, and k(i, j) = K[i, j].

    Parameters
    ----------
    K : ndarray of shape (n, n), symmetric
    """

    K: Array

    def __post_init__(self) -> None:
        square = isinstance(self.K, np.ndarray) and self.K.ndim == 2 and self.K.shape[0] == self.K.shape[1]
        if not square or self.K.dtype.kind != "f" or not np.isfinite(self.K).all():
            raise ValueError("PrecomputedKernel: K must be a square array of finite floats.")

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return np.asarray(self.K[np.ix_(X, Y)], dtype=np.float64)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.asarray(self.K[X, X], dtype=np.float64)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        return lambda X: self.evaluate(X, Y).astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"PrecomputedKernel(<{self.K.shape[0]} rows>)"


def as_objects(X: Objects) -> Rows:
    """Return a list as a one-dimensional array of its members, whatever they are; an array as it is."""
    if not isinstance(X, list | tuple):
        return X
    objects = np.empty(len(X), dtype=object)
    for i, x in enumerate(X):  # one by one: a slice assignment would unpack members that are sequences
        objects[i] = x
    return objects


def _name(f: Callable[..., ArrayLike]) -> str:
    return str(getattr(f, "__name__", repr(f)))
