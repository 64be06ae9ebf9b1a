"""The Gram matrix of a feature map."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, RowsLike
from mercer.features import FeatureMap
from mercer.gram.base import GramOperator, RowNumbers, as_columns, check_ridge, row_numbers
from mercer.kernels import Kernel
from mercer.parallel import row_blocks
from mercer.validation import check_matrix


class LowRankGram(GramOperator):
    """Z Z^T as an operator, for features Z of shape (n, D): O(n D) memory, and O(n D) time per product.

    Parameters
    ----------
    Z : array or CSR matrix of shape (n, D)
        Features, not copied: if Z changes, the matrix changes too. ``LowRankGram.of(feature_map, X)`` computes Z.
    kernel : Kernel, optional
        The kernel that Z approximates, for ``error``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, LowRankGram, Nystroem
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> K = LowRankGram.of(Nystroem(Gaussian(gamma=0.5), n_components=60, random_state=0).fit(X), X)
    >>> coef = K.solve(X[:, 0], alpha=0.1)
    >>> bool(np.allclose(K @ coef + 0.1 * coef, X[:, 0]))
    True
    """

    def __init__(self, Z: RowsLike, *, kernel: Kernel | None = None):
        self.Z = check_matrix("LowRankGram", "Z", Z)
        self.kernel_ = kernel
        self._n_rows, self._dtype = int(self.Z.shape[0]), np.dtype(self.Z.dtype)

    @classmethod
    def of(cls, feature_map: FeatureMap, X: RowsLike) -> Self:
        """Return the operator of a fitted map on the rows X."""
        check_is_fitted(feature_map)
        return cls(feature_map.transform(X), kernel=feature_map.kernel_)

    def _matmat(self, V: Array) -> Array:
        return np.asarray(self.Z @ (self.Z.T @ V))

    def rows(self, i: RowNumbers) -> Array:
        """Return rows of Z Z^T."""
        numbers = row_numbers(i, self._n_rows)
        part = self.Z[np.atleast_1d(numbers)] @ self.Z.T
        tile = np.asarray(part.toarray() if hasattr(part, "toarray") else part)
        return tile[0] if np.ndim(numbers) == 0 else tile

    def diagonal(self) -> Array:
        """Return |z|^2 of every row."""
        squares = self.Z.multiply(self.Z) if hasattr(self.Z, "multiply") else self.Z**2
        return np.asarray(squares.sum(axis=1)).ravel()

    @property
    def memory_bytes(self) -> int:
        """Bytes of Z."""
        if not isinstance(self.Z, np.ndarray):
            return int(self.Z.data.nbytes + self.Z.indices.nbytes + self.Z.indptr.nbytes)
        return int(self.Z.nbytes)

    def _moments(self) -> Array:
        """Return Z^T Z: products of blocks in the precision of Z, sums in float64."""
        total = np.zeros((self.Z.shape[1], self.Z.shape[1]))
        for rows in row_blocks(self._n_rows, 4096):
            part = self.Z[rows].T @ self.Z[rows]
            total += part.toarray() if hasattr(part, "toarray") else part
        return total

    def solve(self, B: ArrayLike, *, alpha: float) -> Array:
        r"""Return :math:`(Z Z^T + \alpha I)^{-1} B` by Woodbury's identity: O(n D^2) once, O(n D) per column.

        .. math:: (Z Z^T + \alpha I)^{-1} = \big(I - Z (Z^T Z + \alpha I)^{-1} Z^T\big) / \alpha
        """
        alpha = check_ridge("LowRankGram", alpha)
        columns, vector = as_columns("LowRankGram", B, self._n_rows)
        inner = self._moments()
        inner[np.diag_indices_from(inner)] += alpha
        solution = columns - self.Z @ cho_solve(cho_factor(inner), np.asarray(self.Z.T @ columns))
        solution /= alpha
        return np.asarray(solution[:, 0] if vector else solution)

    def eigh(self, k: int | None = None) -> tuple[Array, Array]:
        """Return the k largest eigenvalues, largest first, and eigenvectors; by default all except rounding errors.

        From the eigenvectors of Z^T Z: O(n D^2 + D^3). Eigenvalues below eps times the largest are left out.
        """
        values, vectors = eigh(self._moments())
        kept = values > np.finfo(self._dtype).eps * values[-1]
        values, vectors = values[kept][::-1][:k], vectors[:, kept][:, ::-1][:, :k]
        return values, np.asarray(self.Z @ (vectors / np.sqrt(values)))
