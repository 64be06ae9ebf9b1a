"""The inverse root of a Gram matrix of landmarks: the projection P of Nystroem features, with P P^T = W^+."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, lapack, rq

from mercer._typing import Array
from mercer.parallel import one_blas_thread

# Roundings of the largest eigenvalue, for each landmark, below which Cholesky's factorisation might fail.
_SAFETY = 16.0


def triangular_inverse_root(W: Array, cutoff: float) -> tuple[Array, Array] | None:
    r"""Return the eigenvalues of W, smallest first, and its upper triangular inverse root; None where any is cut.

    With W = L L^T the inverse root :math:`P = L^{-T}` is upper triangular. It is the matrix that a rotation makes of
    :math:`V S^{-1/2}`, and takes a third of the time, since no eigenvector is needed. An eigenvalue is cut below
    ``cutoff`` times the largest, or where Cholesky's factorisation might fail: then ``eigenvectors`` must serve.

    >>> import numpy as np
    >>> values, root = triangular_inverse_root(np.array([[4.0, 2.0], [2.0, 2.0]]), 1e-16)
    >>> root.tolist()
    [[0.5, -0.5], [0.0, 1.0]]
    """
    least = max(cutoff, _SAFETY * len(W) * np.finfo(np.float64).eps)
    with one_blas_thread():
        try:
            L = cholesky(W, lower=True, check_finite=False)
        except LinAlgError:
            return None
        # The condition number in the 1-norm is at most len(W) times the ratio of the eigenvalues: where it is far
        # beyond what may stay, the eigenvalues are not worth their time.
        reciprocal, _ = lapack.dpocon(L, np.abs(W).sum(axis=0).max(), uplo="L")
        if reciprocal * len(W) < least:
            return None
        values = eigh(W, eigvals_only=True, driver="ev", check_finite=False)
        if values[0] <= least * values[-1]:
            return None
        inverse, _ = lapack.dtrtri(L, lower=1)
    return values, np.ascontiguousarray(np.tril(inverse).T)


def eigenvectors(W: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of W, smallest first, and its eigenvectors; W is overwritten."""
    with one_blas_thread():
        values, vectors = eigh(W, driver="evd", check_finite=False, overwrite_a=True)
    return values, vectors


def trapezoidal(projection: Array) -> Array:
    """Return the projection with its columns rotated until column j is zero below row m - r + j."""
    m, r = projection.shape
    with one_blas_thread():
        rotated = rq(projection, mode="r", check_finite=False)
    signs = np.where(np.diagonal(rotated, r - m) < 0, -1.0, 1.0)  # unique, whatever LAPACK's reflections
    return np.ascontiguousarray(rotated * signs)
