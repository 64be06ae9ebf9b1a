"""Choosing landmarks: the rows, or points, whose kernel columns stand for the whole Gram matrix.

Each chooser is a function of a kernel, the rows (an array, a CSR matrix, a list of objects for a kernel that is a
function, ``Blocks`` or an iterator of blocks) and a number of landmarks, and returns ``Landmarks``. From a stream of
blocks the chooser takes landmarks among a reservoir sample of the rows.

=============  ===================================================  ============================================
name           distribution                                         cost on top of reading X (n rows, m landmarks)
=============  ===================================================  ============================================
uniform        without replacement, all sets equally likely         none
leverage       probability ~ ridge leverage score, approximated     O(n m^2)
kmeans         centres of mini-batch k-means (new points)           O(n m d) per epoch
rpcholesky     each ~ the residual left by those before it          O(e m^3), e the trace over the residual trace
greedy         each the largest residual, no randomness             O(n m^2), bound by memory bandwidth
weighted       with replacement, ~ k(x, x)^2 by default             none
=============  ===================================================  ============================================
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, Rows, RowsLike, Seed, is_sparse
from mercer.features.nystroem.candidates import Candidates, Landmarks, Source
from mercer.features.nystroem.kmeans_centres import kmeans_centres
from mercer.features.nystroem.leverage import leverage_scores
from mercer.features.nystroem.pivoted_cholesky import Pivots, greedily_pivoted_cholesky, randomly_pivoted_cholesky
from mercer.kernels import FunctionKernel, Kernel, PrecomputedKernel
from mercer.kernels.custom import as_objects
from mercer.parallel import one_blas_thread
from mercer.structures import Ragged
from mercer.validation import check_matrix

# A function (kernel, X, n_landmarks, random_state=...) that chooses.
Chooser: TypeAlias = Callable[..., Landmarks]

# Number of landmarks up to which k-means was better than randomly pivoted Cholesky, measured on rows of numbers.
_KMEANS_UP_TO = 256
# Columns up to which "auto" takes k-means: its centres are dense, even if the rows are sparse.
_KMEANS_COLUMNS = 4096


def uniform(kernel: Kernel | None, X: Source, n_landmarks: int, *, random_state: Seed = None) -> Landmarks:
    """Draw rows uniformly without replacement.

    >>> import numpy as np
    >>> from mercer.features.nystroem import landmarks
    >>> landmarks.uniform(None, np.eye(5), 2, random_state=0).indices
    array([2, 0])
    """
    rows = Candidates.of("uniform", X, n_landmarks, random_state)
    return rows.landmarks(rows.rng.permutation(rows.n)[: rows.m])


def weighted(
    kernel: Kernel, X: Source, n_landmarks: int, *, p: ArrayLike | None = None, random_state: Seed = None
) -> Landmarks:
    """Draw rows with replacement, row i with probability p_i, ~ k(x_i, x_i)^2 by default (Drineas and Mahoney, 2005).

    Column i is scaled by 1/sqrt(m p_i), which makes the scaled columns an unbiased sketch: E[C C^T] = K^2. The
    scale cancels from C W^+ C^T unless W is cut to a lower rank.

    Parameters
    ----------
    kernel : Kernel
    X : rows
    n_landmarks : int
    p : array of shape (n_rows,), optional
        Probabilities; scaled to sum to 1.
    random_state : int, RandomState or None
    """
    rows = Candidates.of("weighted", X, n_landmarks, random_state)
    weights = rows.diagonal(kernel) ** 2 if p is None else _probabilities(p, rows.n)
    distribution = weights / weights.sum()
    indices = rows.rng.choice(rows.n, size=rows.m, p=distribution)
    return rows.landmarks(indices, scale=1 / np.sqrt(rows.m * distribution[indices]))


def leverage(kernel: Kernel, X: Source, n_landmarks: int, *, random_state: Seed = None) -> Landmarks:
    """Draw rows without replacement with probability ~ their ridge leverage score, approximated.

    References
    ----------
    A. Alaoui and M. Mahoney, "Fast randomized kernel ridge regression with statistical guarantees", NIPS 2015.
    """
    rows = Candidates.of("leverage", X, n_landmarks, random_state)
    scores = leverage_scores(kernel, rows)
    # The smallest of independent exponentials with rates l_i: successive draws without replacement (Efraimidis, 2006).
    keys = rows.rng.standard_exponential(rows.n) / np.maximum(scores, np.finfo(float).tiny)
    return rows.landmarks(np.argsort(keys)[: rows.m])


def kmeans(kernel: Kernel, X: Source, n_landmarks: int, *, random_state: Seed = None) -> Landmarks:
    """Take the centres of k-means: Lloyd's algorithm on small data, mini-batches on large.

    The landmarks are new points, so it needs rows that can be averaged. Centres of sparse rows are dense.

    References
    ----------
    K. Zhang, I. Tsang and J. Kwok, "Improved Nystroem low-rank approximation and error analysis", ICML 2008.
    """
    rows = Candidates.of("kmeans", X, n_landmarks, random_state)
    if isinstance(rows.X, Ragged) or (isinstance(kernel, FunctionKernel | PrecomputedKernel) and rows.X.ndim == 1):
        raise ValueError(
            "kmeans: landmarks='kmeans' averages rows, and these are objects or a precomputed matrix. "
            "Use 'rpcholesky' or 'uniform'."
        )
    return Landmarks(kmeans_centres(rows.X, rows.m, rows.rng).astype(rows.X.dtype))


def rpcholesky(kernel: Kernel, X: Source, n_landmarks: int, *, random_state: Seed = None) -> Landmarks:
    """Draw rows by randomly pivoted Cholesky; fewer than asked when those drawn leave no error.

    The residual trace comes with them. ``mercer.features.nystroem.pivoted_cholesky`` has the algorithm and its cost.
    """
    rows = Candidates.of("rpcholesky", X, n_landmarks, random_state)
    diagonal = rows.diagonal(kernel)
    with one_blas_thread():
        pivots = randomly_pivoted_cholesky(kernel, rows.X, rows.m, rows.rng, diagonal=diagonal)
    return _of_pivots(rows, pivots)


def greedy(kernel: Kernel, X: Source, n_landmarks: int, *, random_state: Seed = None) -> Landmarks:
    """Take the row of the largest residual each time; draws nothing, and prefers outliers."""
    rows = Candidates.of("greedy", X, n_landmarks, random_state)
    return _of_pivots(rows, greedily_pivoted_cholesky(kernel, rows.X, rows.m, diagonal=rows.diagonal(kernel)))


def _of_pivots(rows: Candidates, pivots: Pivots) -> Landmarks:
    trace, error = pivots.residual_trace, pivots.residual_trace_error
    return rows.landmarks(pivots.indices, residual_trace=trace, residual_trace_error=error)


CHOOSERS: dict[str, Chooser] = {
    "uniform": uniform,
    "leverage": leverage,
    "kmeans": kmeans,
    "rpcholesky": rpcholesky,
    "greedy": greedy,
    "weighted": weighted,
}


def choose(
    landmarks: str | Chooser | RowsLike, kernel: Kernel, X: Rows, n_landmarks: int, rng: np.random.RandomState
) -> Landmarks:
    """Return landmarks: by the name of a chooser, from a function of the caller, by row numbers, or given as points.

    ``"auto"`` is k-means up to 256 landmarks where rows can be averaged and have at most 4096 columns, and rpcholesky
    otherwise. It does not depend on how X is stored: one seed means the same landmarks for dense and CSR rows.
    """
    if isinstance(landmarks, str):
        averages = X.ndim == 2 and X.shape[1] <= _KMEANS_COLUMNS and not isinstance(X, Ragged)
        name = landmarks
        if landmarks == "auto":
            name = "kmeans" if averages and n_landmarks <= _KMEANS_UP_TO else "rpcholesky"
        if name not in CHOOSERS:
            raise ValueError(
                f"landmarks must be 'auto', one of {sorted(CHOOSERS)}, row numbers or points, got {name!r}."
            )
        return CHOOSERS[name](kernel, X, n_landmarks, random_state=rng)
    chosen = landmarks(kernel, X, n_landmarks, random_state=rng) if callable(landmarks) else _given(landmarks, X)
    return replace(chosen, points=chosen.points.copy())  # the caller may change its array later


def _given(landmarks: RowsLike, X: Rows) -> Landmarks:
    packed = isinstance(landmarks, Ragged) or (isinstance(X, Ragged) and not _are_numbers(landmarks))
    numbers = None if packed or is_sparse(landmarks) else np.asarray(landmarks)
    if numbers is not None and numbers.ndim == 1 and np.issubdtype(numbers.dtype, np.integer):
        if not len(numbers) or numbers.min() < 0 or numbers.max() >= X.shape[0]:
            raise ValueError(f"landmarks must be row numbers from 0 to {X.shape[0] - 1}, got {landmarks!r}.")
        return Landmarks(X[numbers], numbers.astype(np.int64))
    if isinstance(X, Ragged):
        kind: Any = type(X)
        return Landmarks(landmarks if isinstance(landmarks, Ragged) else kind.of("landmarks", "landmarks", landmarks))
    if X.ndim == 1:
        points = as_objects(list(landmarks) if isinstance(landmarks, Iterable) else [])
        if X.dtype != object or not len(points):
            raise ValueError("landmarks of a precomputed kernel must be a list of row numbers.")
        return Landmarks(points)
    points = check_matrix("landmarks", "landmarks", landmarks)
    if points.shape[1] != X.shape[1]:
        raise ValueError(f"landmarks must have the {X.shape[1]} columns of X, got {points.shape[1]}.")
    return Landmarks(points.astype(X.dtype, copy=False))


def _are_numbers(landmarks: Any) -> bool:
    return all(isinstance(number, int | np.integer) for number in landmarks) if len(landmarks) else False


def _probabilities(p: ArrayLike, n_rows: int) -> Array:
    weights = np.asarray(p, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise ValueError(f"weighted: p must hold {n_rows} numbers >= 0, not all 0, got shape {weights.shape}.")
    return weights
