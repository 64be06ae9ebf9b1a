"""The largest eigenvalues of symmetric matrices: by a direct solver, or from matrix products only."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.solution import Remedy, Solution, Status

# Below this width, or for more than a twentieth of the pairs, a direct solver was faster.
_DIRECT_WIDTH = 1000
_DIRECT_SHARE = 20
# Oversampling of a Krylov block: more columns make the last pairs converge faster.
_OVERSAMPLING = 10


def largest_eigenpairs(gram: Array, n_pairs: int) -> Solution:
    """Return the eigenvectors of the largest eigenvalues of a positive semi-definite matrix.

    ``value`` has one eigenvector per column, the largest eigenvalue first; the largest entry of each eigenvector is
    positive. ``details["eigenvalues"]`` are the eigenvalues; negative ones (rounding) become 0. Time 4/3 D^3
    multiplications, or D^2 per product of ``block_krylov`` if D is large and few pairs are wanted.

    >>> import numpy as np
    >>> solution = largest_eigenpairs(np.diag([1.0, 3.0]), 1)
    >>> solution.value.ravel().tolist(), solution.details["eigenvalues"].tolist()
    ([0.0, 1.0], [3.0])
    """
    width = len(gram)
    if width > _DIRECT_WIDTH and n_pairs * _DIRECT_SHARE <= width:
        solution = block_krylov(lambda V: gram @ V, width, n_pairs)
        if solution.success:
            return solution
    with one_blas_thread():
        values, vectors = eigh(gram, subset_by_index=(width - n_pairs, width - 1))
    vectors, eigenvalues = _ordered(values, vectors)
    return Solution.converged(vectors, "eigh", eigenvalues=eigenvalues)


def block_krylov(
    product: Callable[[Array], Array], width: int, n_pairs: int, *, tol: float = 1e-9, max_iter: int = 50
) -> Solution:
    r"""Return the largest eigenpairs of a positive semi-definite A known by its products only.

    The Rayleigh-Ritz method on the block Krylov space :math:`[V, A V, A^2 V, \dots]`, kept orthonormal, from a random
    start V with a few more columns than are wanted. One product (one pass over the rows, if A is a sum over rows)
    serves all columns. The method stops when :math:`\|A v - \lambda v\| \leq tol \, \lambda_1` for every pair;
    ``history`` is the largest ratio of the two sides without ``tol``.

    Parameters
    ----------
    product : function of an array of shape (D, m) that returns A times it
    width : int
        D.
    n_pairs : int
    tol : float
    max_iter : int
        Largest number of products.

    References
    ----------
    C. Musco and C. Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
    decomposition", 2015.

    >>> import numpy as np
    >>> A = np.diag(np.arange(40.0))
    >>> block_krylov(lambda V: A @ V, 40, 2).details["eigenvalues"].round(9).tolist()
    [39.0, 38.0]
    """
    start = np.random.RandomState(0).standard_normal((width, min(width, n_pairs + _OVERSAMPLING)))
    block = np.linalg.qr(start)[0]
    basis, images = np.empty((width, 0)), np.empty((width, 0))
    history: list[float] = []
    converged = False
    values, vectors = np.empty(0), basis
    while len(history) < max_iter:
        image = product(block)
        basis, images = np.hstack([basis, block]), np.hstack([images, image])
        small = basis.T @ images
        values, turn = eigh((small + small.T) / 2)
        values, turn = values[-n_pairs:], turn[:, -n_pairs:]
        vectors = basis @ turn
        largest = max(float(values[-1]), np.finfo(np.float64).tiny)
        history.append(float(np.linalg.norm(images @ turn - vectors * values, axis=0).max() / largest))
        block = _beyond(basis, image)
        if history[-1] <= tol or not block.shape[1]:
            converged = True
            break
    vectors, eigenvalues = _ordered(values, vectors)
    found = Solution.converged(
        vectors, "block Krylov", iterations=len(history), history=history, eigenvalues=eigenvalues
    )
    if converged:
        return found
    left = f"{max_iter} products left a residual of {history[-1]:.1e} of the largest eigenvalue"
    return found.unfinished(Status.ITERATION_LIMIT, left, [Remedy.FEWER_PAIRS])


def _beyond(basis: Array, image: Array) -> Array:
    """Return an orthonormal basis of the part of the image outside the basis, by two Gram-Schmidt passes."""
    sizes = np.linalg.norm(image, axis=0)
    rest = image - basis @ (basis.T @ image)
    # What is left of a column inside the basis is rounding, which is not orthogonal to the basis.
    rest = rest[:, np.linalg.norm(rest, axis=0) > 1e-10 * sizes.max(initial=0.0)]
    rest -= basis @ (basis.T @ rest)
    left = min(rest.shape[1], basis.shape[0] - basis.shape[1])
    Q, R = np.linalg.qr(rest)
    return Q[:, np.abs(np.diag(R)) > 1e-10 * sizes.max(initial=0.0)][:, :left]


def _ordered(values: Array, vectors: Array) -> tuple[Array, Array]:
    """Return the vectors and values, the largest first, with fixed signs: otherwise rounding would choose the signs."""
    vectors = vectors[:, ::-1]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    eigenvalues = np.maximum(values[::-1], 0.0)
    return vectors * np.where(signs == 0, 1.0, signs), eigenvalues
