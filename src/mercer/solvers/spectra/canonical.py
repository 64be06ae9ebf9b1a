"""Canonical correlations of two views from their moments."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.spectra.eigh import largest_eigenpairs

# Above this width the pairs are found without a full singular value decomposition.
_DIRECT_WIDTH = 500


@dataclass(frozen=True)
class Canonical:
    """Pairs of directions, one per column, and their correlations, the largest first.

    The variance of the scores of a direction plus its penalty is 1.
    """

    a: Array
    b: Array
    correlations: Array


def canonical_pairs(
    gram_a: Array, gram_b: Array, cross: Array, penalty_a: float, penalty_b: float, n_pairs: int
) -> Canonical:
    r"""Return the pairs of directions with the largest correlations; each pair is uncorrelated with the earlier ones.

    .. math:: \max_{a, b} \; a^T C_{ab} b \quad \text{with} \quad
       a^T (C_{aa} + \kappa_a I) a = b^T (C_{bb} + \kappa_b I) b = 1

    The solutions are singular vectors of :math:`L_a^{-1} C_{ab} L_b^{-T}`, with L the Cholesky factors of the two
    penalised matrices: about 2 D^3 multiplications, or 10 D^3 for all pairs. The correlations are those of the scores,
    without the penalties.

    References
    ----------
    H. Hotelling, "Relations between two sets of variates", 1936.
    D. Hardoon, S. Szedmak and J. Shawe-Taylor, "Canonical correlation analysis: an overview with application to
    learning methods", 2004.

    >>> import numpy as np
    >>> canonical_pairs(np.eye(2), np.eye(2), np.diag([0.9, 0.1]), 0.0, 0.0, 2).correlations.round(12).tolist()
    [0.9, 0.1]
    """
    with one_blas_thread():
        left, right = _factor(gram_a, penalty_a), _factor(gram_b, penalty_b)
        half = solve_triangular(left, cross, lower=True)
        middle = solve_triangular(right, half.T, lower=True).T
        U, V = _singular_vectors(middle, n_pairs)
        a = solve_triangular(left, U, lower=True, trans="T")
        b = solve_triangular(right, V, lower=True, trans="T")
    together = np.einsum("ik,ij,jk->k", a, cross, b, optimize=True)
    apart = np.einsum("ik,ij,jk->k", a, gram_a, a, optimize=True) * np.einsum(
        "ik,ij,jk->k", b, gram_b, b, optimize=True
    )
    correlations = np.where(apart > 0, together / np.sqrt(np.where(apart > 0, apart, 1.0)), 0.0)
    # The singular values belong to the penalised problem: without the penalties, the order may differ.
    order = np.argsort(-correlations, kind="stable")
    return Canonical(a[:, order], b[:, order], correlations[order])


def _factor(gram: Array, penalty: float) -> Array:
    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += penalty
    # A pivot of the size of rounding means that a feature depends on the others: the factor is then meaningless.
    factor: Array = cholesky(shifted, lower=True, overwrite_a=True)
    if np.diag(factor).min() ** 2 <= 4 * len(gram) * np.finfo(np.float64).eps * float(np.diag(gram).max() + penalty):
        raise LinAlgError("singular")
    return factor


def _singular_vectors(matrix: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the leading left and right singular vectors; the largest entry of each left vector is positive."""
    if min(matrix.shape) <= _DIRECT_WIDTH:
        U, _, Vt = svd(matrix, full_matrices=False)
        U, V = U[:, :n_pairs], Vt[:n_pairs].T
    else:
        U = largest_eigenpairs(matrix @ matrix.T, n_pairs).value
        V, _, turn = svd(matrix.T @ U, full_matrices=False)  # squares lose small values: rotate the vectors once more
        U = U @ turn.T
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])])
    return U * signs, V * signs
