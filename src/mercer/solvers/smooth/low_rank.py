"""The leading part of a second-moment matrix, from a few rows, as a preconditioner without a D x D matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from mercer._typing import Array, Rows
from mercer.parallel import one_blas_thread
from mercer.stats.slabs import SlabRows

# Rows per eigenvector: eigenvectors of fewer rows are too far from those of all rows.
_ROWS_PER_VECTOR = 4
# Rows up to which eigenvectors are exact, and iterations beyond.
_EXACT_ROWS, _SUBSPACE_ITERATIONS = 1024, 3
# Eigenvalues below this part of the largest are rounding.
_LEAST = 1e-12


@dataclass(frozen=True)
class RowCombinations:
    """Vectors V = Z^T C that are combinations of the rows of Z and are not stored: each product makes Z again.

    In memory is C alone, of s x r numbers, whatever the number of features. A product takes the time of s rows in a
    pass over all rows.

    Attributes
    ----------
    rows : SlabRows
        Z, of shape (s, D).
    coefs : ndarray of shape (s, r)
        C.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.smooth.low_rank import RowCombinations
    >>> from mercer.stats.slabs import SlabRows
    >>> Z = np.eye(2)
    >>> vectors = RowCombinations(SlabRows(Z.shape, Z.dtype, lambda: iter([(slice(0, 2), Z)])), 3.0 * np.eye(2))
    >>> vectors.along(np.ones((2, 1))).ravel().tolist()
    [3.0, 3.0]
    """

    rows: SlabRows
    coefs: Array

    def across(self, right: Array) -> Array:
        """Return V^T times columns of D numbers."""
        return np.asarray(self.coefs.T @ (self.rows @ right.astype(self.rows.dtype)))

    def along(self, inside: Array) -> Array:
        """Return V times columns of r numbers."""
        return _transposed(self.rows, self.coefs @ inside)


@dataclass(frozen=True)
class LowRank:
    r"""The r largest eigenvalues :math:`\Lambda` and eigenvectors V of a matrix G, the mean of z z^T over rows.

    The inverse of G + alpha I is approximated by

    .. math:: \frac{1}{\lambda_r + \alpha} \Big( V \frac{\lambda_r + \alpha}{\Lambda + \alpha} V^T + (I - V V^T) \Big),

    so that conjugate gradients sees eigenvalues of at most lambda_r + alpha in place of lambda_1 + alpha.

    Attributes
    ----------
    vectors : ndarray of shape (D, r) or RowCombinations
    values : ndarray of shape (r,)
        In descending order.
    mean : ndarray of shape (D,)
        The weighted mean of the rows.

    References
    ----------
    Z. Frangella, J. Tropp and M. Udell, "Randomized Nystroem preconditioning", 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.smooth.low_rank import LowRank
    >>> Z = np.diag([3.0, 2.0, 1.0, 0.5])
    >>> LowRank.of(Z, np.full(4, 0.25), 2).values.round(12).tolist()
    [2.25]
    """

    vectors: Array | RowCombinations
    values: Array
    mean: Array

    @classmethod
    def of(cls, Z: Rows, weight: Array, most: int, *, centre: bool = False, stored: bool = True) -> Self:
        """Return at most ``most`` eigenvectors, one for every 4 rows of Z, whose weights sum to 1.

        Z is dense, CSR, or ``SlabRows``, of which one slab at a time is in memory. With ``centre``, of the rows less
        their weighted mean. Time s^2 D + s^3 for s rows, memory s^2 + r D. Without ``stored``, eigenvectors of
        ``SlabRows`` stay combinations of these rows, and the memory is s^2.
        """
        K = _gram(Z)
        if centre:
            mean = K @ weight
            K = K - mean[:, None] - mean + float(weight @ mean)
        root = np.sqrt(weight)
        rank = max(min(most, len(K) // _ROWS_PER_VECTOR), 1)
        with one_blas_thread():
            values, U = _leading(root[:, None] * K * root, rank)
        kept = values > _LEAST * max(values[0], np.finfo(np.float64).tiny)
        values = values[kept]
        coefs = root[:, None] * U[:, kept] / np.sqrt(values)
        if centre:
            coefs = coefs - np.outer(weight, coefs.sum(axis=0))
        if isinstance(Z, SlabRows) and not stored:
            return cls(RowCombinations(Z, coefs), values, _transposed(Z, weight[:, None])[:, 0].astype(np.float64))
        both = _transposed(Z, np.hstack([coefs, weight[:, None]]))
        return cls(both[:, :-1], values, both[:, -1].astype(np.float64))

    def inverse(self, scale: float, shift: float) -> Callable[[Array], Array]:
        """Return the function that applies the approximate inverse of ``scale`` G + ``shift`` I."""
        if not len(self.values):
            return lambda right: right / shift
        shifted = scale * self.values + shift
        rest = shifted[-1]  # what all directions outside V are taken to have
        change = (rest / shifted - 1.0)[:, None]
        V = self.vectors

        def apply(right: Array) -> Array:
            if isinstance(V, RowCombinations):
                applied: Array = V.along(change * V.across(right)) + right
            else:
                inside = change * (V.T @ right.astype(V.dtype))
                applied = V @ inside.astype(V.dtype) + right
            applied /= rest
            return applied

        return apply


def _leading(K: Array, rank: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues and eigenvectors of a symmetric matrix; of a large one, approximations of them.

    Subspace iteration takes a third of the time of a decomposition. Its approximations are the eigenpairs of K within a
    subspace, so that the vectors V of ``LowRank`` are as orthogonal as with exact ones.
    """
    if len(K) <= _EXACT_ROWS:
        values, U = eigh(K)
        return values[::-1][:rank], U[:, ::-1][:, :rank]
    Q = np.random.RandomState(0).standard_normal((len(K), min(rank + rank // 16, len(K))))
    for _ in range(_SUBSPACE_ITERATIONS):
        Q = np.linalg.qr(K @ Q)[0]
    values, W = eigh(Q.T @ (K @ Q))
    return values[::-1][:rank], Q @ W[:, ::-1][:, :rank]


def _gram(Z: Rows | SlabRows) -> Array:
    """Return Z Z^T in float64."""
    if isinstance(Z, SlabRows):
        return Z.gram()
    product = Z @ Z.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)


def _transposed(Z: Rows | SlabRows, right: Array) -> Array:
    """Return Z^T times columns, in the precision of Z."""
    right = right.astype(Z.dtype)
    if not isinstance(Z, SlabRows):
        return np.asarray(Z.T @ right)
    total = np.zeros((Z.shape[1], right.shape[1]), dtype=Z.dtype)
    for columns, part in Z.slabs():
        np.matmul(part.T, right, out=total[columns])
    return total
