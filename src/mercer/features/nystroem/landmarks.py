"""Choosing landmarks: the rows, or points, whose kernel columns stand for the whole Gram matrix.

Each chooser is a function of a kernel, the rows (an array, a CSR matrix, a list of objects for a kernel that is a
function, ``Blocks`` or an iterator of blocks) and a number of landmarks, and returns ``Landmarks``. From a stream it
chooses among a reservoir sample of its rows.

=============  ===================================================  ============================================
name           distribution                                         cost on top of reading X (n rows, m landmarks)
=============  ===================================================  ============================================
uniform        without replacement, all sets equally likely         none
leverage       probability ~ ridge leverage score, approximated     O(n m^2)
kmeans         centres of mini-batch k-means (new points)           O(n m d) an epoch
rpcholesky     each ~ the residual left by those before it          O(e m^3), e the trace over the residual trace
greedy         each the largest residual, no randomness             O(n m^2), bound by memory bandwidth
weighted       with replacement, ~ k(x, x)^2 by default             none
=============  ===================================================  ============================================
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter, warn

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer._typing import Array, Rows, is_sparse
from mercer.data import Blocks, reservoir
from mercer.features.nystroem.pivoted_cholesky import Pivots, greedily_pivoted_cholesky, randomly_pivoted_cholesky
from mercer.kernels import FunctionKernel, Kernel, PrecomputedKernel
from mercer.kernels.custom import as_objects
from mercer.parallel import for_each_block, one_blas_thread, row_blocks
from mercer.validation import check_integer, check_matrix, check_memory

# Rows kept of a stream: twenty a landmark leave every chooser a choice, and ten thousand a fair picture of the rows.
_RESERVOIR_ROWS = 10_000
_RESERVOIR_PER_LANDMARK = 20
# k-means was the better chooser up to here, randomly pivoted Cholesky beyond (measured on vectors).
_KMEANS_UP_TO = 256
# Wider rows go to randomly pivoted Cholesky: centres are dense, also where rows are sparse.
_KMEANS_COLUMNS = 4096
# Lloyd's algorithm up to here, where it takes no longer than its mini-batch version, and is closer to the optimum.
_LLOYD_ENTRIES = 2_000_000
# Entries that mini-batches are drawn from, in float64: 256 MiB of rows show where the centres lie. At least twenty rows
# per centre.
_BATCHED_ENTRIES, _ROWS_PER_CENTRE = 2**25, 20
# Eigenvalues below this part of the largest do not count as rank: rounding would decide it, and with it the ridge.
_FLAT = 1e-10


@dataclass(frozen=True)
class Landmarks:
    """Chosen landmarks.

    Attributes
    ----------
    points : array, CSR matrix or array of objects
        The landmarks themselves.
    indices : ndarray of int, or None
        Their row numbers; None where they are new points (k-means centres).
    scale : ndarray or None
        The factor of each landmark's column in a weighted draw, 1/sqrt(m p_i); None for 1.
    residual_trace : float or None
        The trace of the error of the full-rank Nystroem approximation on these rows, where the chooser reveals it.
    residual_trace_error : float or None
        Its standard error where it is estimated, 0 where it is exact.
    """

    points: Any
    indices: Array | None = None
    scale: Array | None = None
    residual_trace: float | None = None
    residual_trace_error: float | None = None


def uniform(kernel: Any, X: Any, n_landmarks: int, *, random_state: Any = None) -> Landmarks:
    """Draw rows uniformly without replacement.

    >>> import numpy as np
    >>> from mercer.features.nystroem import landmarks
    >>> landmarks.uniform(None, np.eye(5), 2, random_state=0).indices
    array([2, 0])
    """
    rows = _Rows.of("uniform", X, n_landmarks, random_state)
    return rows.landmarks(rows.rng.permutation(rows.n)[: rows.m])


def weighted(kernel: Any, X: Any, n_landmarks: int, *, p: Any = None, random_state: Any = None) -> Landmarks:
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
    rows = _Rows.of("weighted", X, n_landmarks, random_state)
    weights = _diagonal(kernel, rows.X) ** 2 if p is None else _probabilities(p, rows.n)
    distribution = weights / weights.sum()
    indices = rows.rng.choice(rows.n, size=rows.m, p=distribution)
    return rows.landmarks(indices, scale=1 / np.sqrt(rows.m * distribution[indices]))


def leverage(kernel: Any, X: Any, n_landmarks: int, *, random_state: Any = None) -> Landmarks:
    r"""Draw rows without replacement with probability ~ their ridge leverage score, approximated.

    .. math:: \ell_i = \big(K (K + \lambda I)^{-1}\big)_{ii}

    from a Nystroem approximation Z Z^T with as many uniform landmarks: the score in the span of Z plus what the span
    leaves, min(1, (k(x, x) - |z|^2) / lambda), an upper estimate. lambda is the ridge at which Z has half as many
    degrees of freedom as landmarks.

    References
    ----------
    A. Alaoui and M. Mahoney, "Fast randomized kernel ridge regression with statistical guarantees", NIPS 2015.
    """
    rows = _Rows.of("leverage", X, n_landmarks, random_state)
    scores = _leverage_scores(kernel, rows)
    # The smallest of independent exponentials with rates l_i: successive draws without replacement (Efraimidis, 2006).
    keys = rows.rng.standard_exponential(rows.n) / np.maximum(scores, np.finfo(float).tiny)
    return rows.landmarks(np.argsort(keys)[: rows.m])


def _leverage_scores(kernel: Kernel, rows: "_Rows") -> Array:
    sketch = rows.X[rows.rng.permutation(rows.n)[: rows.m]]
    values, vectors = eigh(kernel.evaluator(sketch, np.float64)(sketch))
    kept = values > _FLAT * values[-1]
    projection = vectors[:, kept] / np.sqrt(values[kept])
    columns = kernel.evaluator(sketch, np.float64)
    Z = np.empty((rows.n, int(kept.sum())))

    def work(block: slice) -> None:
        np.matmul(columns(rows.X[block]), projection, out=Z[block])

    for_each_block(work, row_blocks(rows.n))
    spectrum, U = eigh(Z.T @ Z)
    spectrum = np.maximum(spectrum, 0.0)
    ridge = _ridge_of(spectrum, 0.5 * len(spectrum))
    inside = ((Z @ U) ** 2) @ (1 / (spectrum + ridge))
    outside = np.maximum(_diagonal(kernel, rows.X) - np.einsum("ij,ij->i", Z, Z), 0.0)
    scores: Array = inside + np.minimum(outside / ridge, 1.0)
    return scores


def _ridge_of(spectrum: Array, degrees_of_freedom: float) -> float:
    """Return the lambda at which sum s / (s + lambda) is the given number."""

    def excess(log_ridge: float) -> float:
        return float((spectrum / (spectrum + np.exp(log_ridge))).sum() - degrees_of_freedom)

    top = float(np.log(spectrum.sum() + np.finfo(float).tiny))
    low, high = top - 80, top + np.log(len(spectrum) + 1.0) + 2
    return float(np.exp(brentq(excess, low, high))) if excess(low) > 0 > excess(high) else float(np.exp(low))


def kmeans(kernel: Any, X: Any, n_landmarks: int, *, random_state: Any = None) -> Landmarks:
    """Take the centres of k-means: Lloyd's algorithm on small data, mini-batches on large.

    The landmarks are new points, so it needs rows that can be averaged. Centres of sparse rows are dense.

    References
    ----------
    K. Zhang, I. Tsang and J. Kwok, "Improved Nystroem low-rank approximation and error analysis", ICML 2008.
    """
    rows = _Rows.of("kmeans", X, n_landmarks, random_state)
    if isinstance(kernel, FunctionKernel | PrecomputedKernel) and rows.X.ndim == 1:
        raise ValueError(
            "kmeans: landmarks='kmeans' averages rows, and these are objects or a precomputed matrix. "
            "Use 'rpcholesky' or 'uniform'."
        )
    return Landmarks(kmeans_centres(rows.X, rows.m, rows.rng).astype(rows.X.dtype))


def kmeans_centres(X: Any, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return k-means centres in float64, fewer where there are fewer distinct rows.

    The arithmetic is float64 about the mean, so that a seed means the same centres in both precisions and layouts, and
    float32 rows far from the origin keep their distances.
    """
    if is_sparse(X):
        n_bytes, what = 10 * 8 * min(n_clusters, X.shape[0]) * X.shape[1], f"dense centres of {X.shape[1]} columns"
        check_memory("kmeans", "n_clusters", n_clusters, n_bytes, what, way_out="Take landmarks='rpcholesky'.")
    X, origin = _centred_rows(X, n_clusters, rng)
    if n_clusters >= X.shape[0]:
        return np.asarray((X.toarray() if is_sparse(X) else X) + origin)
    seed = int(rng.randint(2**31 - 1))
    if X.shape[0] * n_clusters <= _LLOYD_ENTRIES:
        model = KMeans(n_clusters, n_init=1, max_iter=20, random_state=seed, copy_x=False)
    else:
        batch = max(2048, 4 * n_clusters)
        model = MiniBatchKMeans(
            n_clusters, n_init=1, max_iter=5, batch_size=batch, init_size=3 * n_clusters, random_state=seed
        )
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: the centres then repeat
        centres = model.fit(X).cluster_centers_ + origin
    _, first = np.unique(centres, axis=0, return_index=True)
    return np.asarray(centres[np.sort(first)])  # in the order of k-means: sorting would let rounding decide ties


def _centred_rows(X: Any, n_clusters: int, rng: np.random.RandomState) -> tuple[Any, Any]:
    """Return a float64 copy of the rows less their mean, and the mean; CSR rows stay where they are.

    Of many rows a sample: the copy then has a size that does not grow with X.
    """
    most = max(_BATCHED_ENTRIES // X.shape[1], _ROWS_PER_CENTRE * n_clusters)
    if X.shape[0] > most and X.shape[0] * n_clusters > _LLOYD_ENTRIES:
        X = X[np.sort(rng.permutation(X.shape[0])[:most])]
    if is_sparse(X):
        return X.astype(np.float64), 0.0
    origin = X.mean(axis=0, dtype=np.float64)
    return X - origin, origin


def rpcholesky(kernel: Any, X: Any, n_landmarks: int, *, random_state: Any = None) -> Landmarks:
    """Draw rows by randomly pivoted Cholesky; fewer than asked when those drawn leave no error.

    The residual trace comes with them. ``mercer.features.nystroem.pivoted_cholesky`` has the algorithm and its cost.
    """
    rows = _Rows.of("rpcholesky", X, n_landmarks, random_state)
    diagonal = _diagonal(kernel, rows.X)
    with one_blas_thread():
        pivots = randomly_pivoted_cholesky(kernel, rows.X, rows.m, rows.rng, diagonal=diagonal)
    return _of_pivots(rows, pivots)


def greedy(kernel: Any, X: Any, n_landmarks: int, *, random_state: Any = None) -> Landmarks:
    """Take the row of the largest residual each time; draws nothing, and prefers outliers."""
    rows = _Rows.of("greedy", X, n_landmarks, random_state)
    return _of_pivots(rows, greedily_pivoted_cholesky(kernel, rows.X, rows.m, diagonal=_diagonal(kernel, rows.X)))


def _of_pivots(rows: "_Rows", pivots: Pivots) -> Landmarks:
    trace, error = pivots.residual_trace, pivots.residual_trace_error
    return rows.landmarks(pivots.indices, residual_trace=trace, residual_trace_error=error)


CHOOSERS: dict[str, Callable[..., Landmarks]] = {
    "uniform": uniform,
    "leverage": leverage,
    "kmeans": kmeans,
    "rpcholesky": rpcholesky,
    "greedy": greedy,
    "weighted": weighted,
}


def choose(landmarks: Any, kernel: Kernel, X: Any, n_landmarks: int, rng: np.random.RandomState) -> Landmarks:
    """Return landmarks by name, from a chooser of the caller's, by row numbers, or given as points.

    ``"auto"`` is k-means up to 256 landmarks where rows can be averaged and have at most 4096 columns, and rpcholesky
    otherwise. It does not depend on how X is stored: one seed means the same landmarks for dense and CSR rows.
    """
    if isinstance(landmarks, str):
        averages = X.ndim == 2 and X.shape[1] <= _KMEANS_COLUMNS
        name = landmarks
        if landmarks == "auto":
            name = "kmeans" if averages and n_landmarks <= _KMEANS_UP_TO else "rpcholesky"
        if name not in CHOOSERS:
            raise ValueError(
                f"landmarks must be 'auto', one of {sorted(CHOOSERS)}, row numbers or points, got {name!r}."
            )
        return CHOOSERS[name](kernel, X, n_landmarks, random_state=rng)
    chosen = landmarks(kernel, X, n_landmarks, random_state=rng) if callable(landmarks) else _given(landmarks, X)
    return replace(chosen, points=chosen.points.copy())  # the caller's own array, which may change


def _given(landmarks: Any, X: Any) -> Landmarks:
    numbers = np.asarray(landmarks) if not is_sparse(landmarks) else None
    if numbers is not None and numbers.ndim == 1 and np.issubdtype(numbers.dtype, np.integer):
        if not len(numbers) or numbers.min() < 0 or numbers.max() >= X.shape[0]:
            raise ValueError(f"landmarks must be row numbers from 0 to {X.shape[0] - 1}, got {landmarks!r}.")
        return Landmarks(X[numbers], numbers.astype(np.int64))
    if X.ndim == 1:
        points = as_objects(list(landmarks))
        if X.dtype != object or not len(points):
            raise ValueError("landmarks of a precomputed kernel must be a list of row numbers.")
        return Landmarks(points)
    points = check_matrix("landmarks", "landmarks", landmarks)
    if points.shape[1] != X.shape[1]:
        raise ValueError(f"landmarks must have the {X.shape[1]} columns of X, got {points.shape[1]}.")
    return Landmarks(points.astype(X.dtype, copy=False))


@dataclass(frozen=True)
class _Rows:
    """The rows to choose among, checked; their numbers in the stream they come from; the generator."""

    X: Any
    m: int
    rng: np.random.RandomState
    numbers: Array | None = None

    @classmethod
    def of(cls, owner: str, X: Rows, n_landmarks: int, random_state: Any) -> "_Rows":
        m = check_integer(owner, "n_landmarks", n_landmarks)
        rng = check_random_state(random_state)
        X, numbers = as_rows(owner, X, m, rng)
        if m > X.shape[0]:
            warn(f"{owner}: n_landmarks={m} is more than the {X.shape[0]} rows; all rows are taken.", stacklevel=4)
        return cls(X, min(m, X.shape[0]), rng, numbers)

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    def landmarks(self, indices: Array, **revealed: Any) -> Landmarks:
        numbers = indices if self.numbers is None else self.numbers[indices]
        return Landmarks(self.X[indices], numbers, **revealed)


def as_rows(owner: str, X: Any, n_landmarks: int, rng: np.random.RandomState) -> tuple[Any, Array | None]:
    """Return rows that can be indexed, and their numbers where they are a sample of a stream."""
    if isinstance(X, Blocks | Iterator):
        return reservoir(X, max(_RESERVOIR_ROWS, _RESERVOIR_PER_LANDMARK * n_landmarks), rng)
    objects = as_objects(X) if isinstance(X, list | tuple) and not _numeric(X) else X
    if isinstance(objects, np.ndarray) and objects.ndim == 1:
        return objects, None
    return check_matrix(owner, "X", objects), None


def _numeric(X: Any) -> bool:
    try:
        return np.ndim(X) == 2 and np.issubdtype(np.asarray(X).dtype, np.number)
    except ValueError:  # members of different lengths
        return False


def _diagonal(kernel: Kernel, X: Any) -> Array:
    if X.ndim == 1:  # objects, or rows of a precomputed matrix
        diagonal = np.array(kernel.evaluate_diag(X), dtype=np.float64)
    else:  # in float64, by blocks, so that both precisions draw by the same numbers
        parts = [kernel.evaluate_diag(X[rows].astype(np.float64)) for rows in row_blocks(X.shape[0])]
        diagonal = np.concatenate(parts).astype(np.float64)
    if diagonal.min() < 0:
        row = int(np.argmin(diagonal))
        raise ValueError(f"{kernel!r} is not positive semi-definite: k(x, x) = {diagonal[row]:.6g} at row {row}.")
    if not diagonal.any():
        raise ValueError(f"{kernel!r} is zero on every row of X; there is nothing to approximate.")
    return diagonal


def _probabilities(p: Any, n_rows: int) -> Array:
    weights = np.asarray(p, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise ValueError(f"weighted: p must hold {n_rows} numbers >= 0, not all 0, got shape {weights.shape}.")
    return weights
