"""The path of ridge regression in the space of the rows, for fewer rows than features."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.ridge.gcv import gcv_score


@dataclass(frozen=True)
class DualPath:
    r"""Solutions a of :math:`(K + \alpha I) a = Y` for each alpha, with K the Gram matrix of centred, weighted rows.

    The coefficients are :math:`Z^T a`, and the residuals :math:`\alpha a`: no score is a difference of large numbers.

    Centred rows have the roots r of the weights as a direction without variance. K holds the number ``shift`` in this
    direction: this changes no solution, and no eigenvalue of the others is mistaken for it.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n,)
    vectors : ndarray of shape (n, n)
    projected : ndarray of shape (n, n_targets)
        V^T Y.
    roots : ndarray of shape (n,)
        r, divided by its length.
    shift : float
    """

    eigenvalues: Array
    vectors: Array
    projected: Array
    roots: Array
    shift: float

    @classmethod
    def of(cls, gram: Array, right: Array, roots: Array) -> Self:
        """Decompose K, in about 9 n^3 multiplications; K is overwritten."""
        shift = shift_roots(gram, roots)
        with one_blas_thread():
            eigenvalues, vectors = eigh(gram, driver="evd", overwrite_a=True)
        return cls(np.maximum(eigenvalues, 0.0), vectors, vectors.T @ right, unit(roots), shift)

    def duals(self, alpha: float) -> Array:
        """Return a, of shape (n, n_targets)."""
        duals: Array = self.vectors @ (self.projected / (self.eigenvalues + alpha)[:, None])
        return duals

    def leave_one_out(self, alpha: float, sample_weight: Array | None = None, left_out: Array | None = None) -> float:
        r"""Return the sum of squared leave-one-out errors, as ``RidgePath.leave_one_out`` has it.

        .. math:: e_i = \frac{\alpha a_i}{1 - u_i (1 - q_i) / w_i}, \quad
            q_i = \sum_j \frac{\alpha V_{ij}^2}{l_j + \alpha} \text{ over all directions but r.}
        """
        shares = alpha / (self.eigenvalues + alpha)
        left = np.square(self.vectors) @ shares - self.roots**2 * (alpha / (self.shift + alpha))
        if sample_weight is not None:
            taken = np.minimum(sample_weight, 1.0) if left_out is None else left_out
            ratio = np.divide(taken, sample_weight, out=np.zeros_like(left), where=sample_weight > 0)
            left = 1.0 - ratio * (1.0 - left)
        errors = alpha * self.duals(alpha) / np.maximum(left, np.finfo(np.float64).eps)[:, None]
        return float(np.square(errors).sum())

    def gcv(self, alpha: float, n_counted: float) -> float:
        """Return the score of generalised cross-validation, summed over the targets."""
        return dual_gcv(alpha, self.duals(alpha), self.eigenvalues, self.shift, n_counted)


def dual_gcv(alpha: float, duals: Array, eigenvalues: Array, shift: float, n_counted: float) -> float:
    """Return the score of generalised cross-validation of the solution of one alpha."""
    left = n_counted - len(duals) + float(np.sum(alpha / (eigenvalues + alpha))) - alpha / (shift + alpha)
    return gcv_score(float(np.square(alpha * duals).sum()), left, n_counted)


def shift_roots(gram: Array, roots: Array) -> float:
    """Add the mean of the diagonal of K, or 1, in the direction of the roots of the weights; return what was added."""
    shift = float(np.trace(gram)) / len(gram) or 1.0
    direction = unit(roots)
    gram += np.outer(shift * direction, direction)
    return shift


def unit(roots: Array) -> Array:
    """Return the roots of the weights, divided by their length."""
    return np.asarray(roots / np.sqrt(np.square(roots).sum()))
