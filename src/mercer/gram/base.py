"""The base class of Gram operators."""

from abc import abstractmethod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mercer._typing import Array, RowsLike, Seed
from mercer.gram.approximation import ApproximationError, approximation_error, measuring_stream
from mercer.validation import check_integer, check_matrix, check_memory, check_real

_TILE_ENTRIES = 2**20
# A row number, several row numbers, or a slice.
RowNumbers: TypeAlias = int | slice | ArrayLike


class GramOperator(LinearOperator):
    """A symmetric n x n matrix that approximates k(X, X), as a scipy ``LinearOperator``.

    A subclass writes ``_matmat``, ``rows`` and ``diagonal``, and sets ``_n_rows``, ``_dtype`` and ``kernel_`` (None
    if the kernel is not known).
    """

    # SciPy's __init__ is not called: it would also set shape and dtype, which an unfitted estimator must not have.
    ndim = 2
    _xp = getattr(aslinearoperator(np.empty((1, 1))), "_xp", None)  # the array namespace, which SciPy >= 1.18 needs
    _n_rows: int
    _dtype: np.dtype[np.floating]
    kernel_: Any

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return (self._n_rows, self._n_rows)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Precision of the products."""
        return self._dtype

    @abstractmethod
    def _matmat(self, V: Array) -> Array:
        """Return the product with the columns of V."""

    def _matvec(self, v: Array) -> Array:
        return self._matmat(v.reshape(-1, 1)).reshape(v.shape)

    def _adjoint(self) -> "GramOperator":
        return self

    def _transpose(self) -> "GramOperator":
        return self

    @abstractmethod
    def rows(self, i: RowNumbers) -> Array:
        """Return row i (an int), or the rows i (an array of row numbers or a slice), of the matrix."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the diagonal."""

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """Bytes of memory of the operator, without X."""

    def to_dense(self) -> Array:
        """Return the dense matrix; raise if the matrix does not fit in memory."""
        n = self._n_rows
        name = type(self).__name__
        check_memory(name, "the number of rows", n, n * n * self._dtype.itemsize, "the dense matrix")
        return self.rows(slice(0, n))

    def error(self, X: RowsLike, **options: Any) -> ApproximationError:
        """Return ``approximation_error`` of this operator, given the rows X of the operator.

        ``options`` are those of ``approximation_error``.
        """
        self._check_known(X)
        return approximation_error(self, X, **options)

    def frobenius_error(self, X: RowsLike, *, n_sampled: int = 1000, random_state: Seed = 0) -> float:
        r"""Return the relative Frobenius error :math:`\|K - \tilde K\|_F / \|K\|_F` of the whole matrix.

        Computed from whole rows of K, at N kernel values per row. ``error`` estimates the same error from pairs of
        sampled rows, with a confidence interval.

        Parameters
        ----------
        X : array or CSR matrix
            The rows that the operator was built on.
        n_sampled : int
            Number of rows of K to compare, drawn uniformly; if K has no more rows, the error is exact. Both squared
            norms are estimated without bias, at the cost of ``n_sampled`` rows of the exact matrix.
        random_state : int, RandomState or None
        """
        X = check_matrix(type(self).__name__, "X", X)
        self._check_known(X)
        n_sampled = check_integer(type(self).__name__, "n_sampled", n_sampled)
        chosen = np.sort(measuring_stream(random_state).permutation(self._n_rows)[:n_sampled])
        exact = self.kernel_.evaluator(X, np.float64)
        missed, total = 0.0, 0.0
        for part in np.array_split(chosen, 1 + len(chosen) * self._n_rows // _TILE_ENTRIES):
            K = exact(X[part])
            missed += float(((K - self.rows(part)) ** 2).sum())
            total += float((K**2).sum())
        return float(np.sqrt(missed / total))

    def _check_known(self, X: RowsLike) -> None:
        name = type(self).__name__
        if self.kernel_ is None:
            raise ValueError(f"{name}: no kernel is known to compare with. Build the operator from a fitted map.")
        if np.shape(X)[0] != self._n_rows:
            raise ValueError(
                f"{name}: the error is that of the {self._n_rows} rows that the operator was built on, got "
                f"{np.shape(X)[0]}."
            )


def as_columns(owner: str, B: ArrayLike, n_rows: int) -> tuple[Array, bool]:
    """Return a right-hand side as float64 columns, and whether it was a vector."""
    columns = np.asarray(B, dtype=np.float64)
    if columns.ndim not in (1, 2) or columns.shape[0] != n_rows:
        raise ValueError(f"{owner}: the right-hand side must have {n_rows} rows, got shape {columns.shape}.")
    return columns.reshape(n_rows, -1), columns.ndim == 1


def check_ridge(owner: str, alpha: object) -> float:
    """Return the ridge alpha, positive."""
    return check_real(owner, "alpha", alpha, least=0, strict=True, way_out="The matrix alone is singular.")


def row_numbers(i: RowNumbers, n_rows: int) -> Array | int:
    """Return a slice as row numbers; return an int or an array of ints unchanged."""
    if isinstance(i, slice):
        return np.arange(n_rows)[i]
    numbers = np.asarray(i)
    return int(numbers) if numbers.ndim == 0 else numbers
