"""How far an approximation of the Gram matrix lies from it, with confidence intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array
from mercer.features import FeatureMap
from mercer.kernels import FunctionKernel, Kernel
from mercer.kernels.given import as_objects
from mercer.parallel import for_each_block, row_blocks
from mercer.validation import check_integer, check_matrix, check_real

_NAME = "approximation_error"


@dataclass(frozen=True)
class Estimate:
    """A number with a confidence interval."""

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True)
class ApproximationError:
    """The errors of an approximation Khat of a Gram matrix K, each with a bootstrap interval.

    Attributes
    ----------
    frobenius : Estimate
        Relative Frobenius error |Khat - K| / |K|.
    centred : Estimate
        The same of the centred matrices HKH, H = I - 11'/n: what kernel PCA and models with an intercept see.
    largest : Estimate
        Largest absolute error of an entry. Its interval leans low: a resample never holds a worse pair.
    spectral : Estimate
        Largest eigenvalue, in absolute value, of (K + lambda)^(-1/2) (Khat - K) (K + lambda)^(-1/2): what ridge
        regression sees. Below 1 it bounds the change of the solution. Its interval is somewhat narrow: resamples repeat
        points, and an extreme eigenvalue is not an average.
    regularization : float
        That lambda.
    n_samples : int
        Number of rows it was measured on.
    confidence : float
        Confidence of each interval.
    """

    frobenius: Estimate
    centred: Estimate
    largest: Estimate
    spectral: Estimate
    regularization: float
    n_samples: int
    confidence: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"error on {self.n_samples} rows, {100 * self.confidence:g} % intervals",
                f"  relative Frobenius          {self.frobenius}",
                f"  relative Frobenius, centred {self.centred}",
                f"  largest entry               {self.largest}",
                f"  spectral, lambda = {self.regularization:<9.3g}{self.spectral}",
            ]
        )

    __repr__ = __str__


def approximation_error(
    approximation: Any,
    X: Any,
    *,
    n_samples: int = 500,
    regularization: float = 1e-3,
    confidence: float = 0.95,
    n_bootstrap: int = 100,
    random_state: Any = 0,
) -> ApproximationError:
    """Measure an approximation against the exact kernel on a sample of rows.

    Parameters
    ----------
    approximation : feature map or Gram operator
        A map is used as fitted, or fitted on X if it is not. A Gram operator approximates the Gram matrix of X itself.
    X : array, CSR matrix, data frame, or a list of objects for a kernel that is a function
    n_samples : int, default=500
        Rows drawn from X without replacement; all of them if X has fewer.
    regularization : float, default=1e-3
        lambda of the spectral error, as a multiple of the largest eigenvalue of K.
    confidence : float, default=0.95
        Confidence of the intervals, by the percentile bootstrap over points (entries share points, so they are not
        resampled one by one).
    n_bootstrap : int, default=100
    random_state : int, RandomState or None

    Returns
    -------
    ApproximationError

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TensorSketch
    >>> from mercer.gram import approximation_error
    >>> X = np.random.RandomState(0).randn(50, 3)
    >>> error = approximation_error(TensorSketch(n_components=400, random_state=0), X)
    >>> error.frobenius.low <= error.frobenius.value <= error.frobenius.high
    True
    """
    X = _rows(approximation, X)
    n_samples = min(check_integer(_NAME, "n_samples", n_samples, least=2), X.shape[0])
    check_real(_NAME, "regularization", regularization, least=0, strict=True)
    if not 0 < confidence < 1:
        raise ValueError(f"{_NAME}: confidence must lie between 0 and 1, got {confidence!r}.")
    rng = measuring_stream(random_state)
    sample = np.sort(rng.choice(X.shape[0], n_samples, replace=False))
    K, Khat = _gram_pair(approximation, X, sample)
    lam = regularization * float(linalg.eigvalsh(K, subset_by_index=[n_samples - 1, n_samples - 1])[0])
    counts = np.array(
        [np.bincount(rng.randint(n_samples, size=n_samples), minlength=n_samples) for _ in range(n_bootstrap)]
    )

    def estimate(measure: Callable[[Array, Array, Array], float]) -> Estimate:
        return _interval(measure, K, Khat, counts, confidence)

    return ApproximationError(
        frobenius=estimate(_frobenius),
        centred=estimate(_centred),
        largest=estimate(_largest),
        spectral=estimate(lambda K, Khat, w: _spectral(K, Khat, w, lam)),
        regularization=lam,
        n_samples=n_samples,
        confidence=confidence,
    )


def measuring_stream(random_state: Any) -> np.random.RandomState:
    """Return the generator of a seed for measuring: the plain one may have drawn landmarks, whose rows are exact."""
    if isinstance(random_state, int | np.integer):
        return np.random.RandomState([int(random_state), 0x6772616D])
    return check_random_state(random_state)  # type: ignore[no-any-return]


def _rows(approximation: Any, X: Any) -> Any:
    """Return checked rows, or the members of a list where the kernel is a function of lists of objects."""
    kernel = getattr(approximation, "kernel_", getattr(approximation, "kernel", None))
    of_function = isinstance(kernel, FunctionKernel) or (callable(kernel) and not isinstance(kernel, Kernel))
    if of_function and isinstance(X, list | tuple) and getattr(approximation, "_of_objects", True):
        return as_objects(X)
    return check_matrix(_NAME, "X", X)


def _gram_pair(approximation: Any, X: Any, sample: Array) -> tuple[Array, Array]:
    """Return K and Khat of the sampled rows in float64."""
    rows = X[sample]
    if isinstance(approximation, FeatureMap):
        try:
            check_is_fitted(approximation)
        except ValueError:
            approximation = clone(approximation).fit(list(X) if X.dtype == object else X)
        Z = approximation.transform(list(rows) if rows.dtype == object else rows).astype(np.float64)
        Khat = safe_sparse_dot(Z, Z.T, dense_output=True)  # random binning may give sparse features
        return _exact(approximation.kernel_, rows), np.asarray(Khat)
    if not hasattr(approximation, "rows") or not hasattr(approximation, "kernel_"):
        raise ValueError(f"{_NAME}: approximation must be a feature map or a Gram operator, got {approximation!r}.")
    if approximation.shape[0] != X.shape[0]:
        n_rows = approximation.shape[0]
        raise ValueError(f"{_NAME}: the operator has {n_rows} rows and X has {X.shape[0]}. Pass the X it was made of.")
    return _exact(approximation.kernel_, rows), np.asarray(approximation.rows(sample), dtype=np.float64)[:, sample]


def _exact(kernel: Any, rows: Any) -> Array:
    return np.asarray(kernel(list(rows) if rows.dtype == object else rows.astype(np.float64)))


def _interval(
    measure: Callable[[Array, Array, Array], float], K: Array, Khat: Array, counts: Array, confidence: float
) -> Estimate:
    value = measure(K, Khat, np.ones(len(K)))
    replicates = np.empty(len(counts))

    def work(block: slice) -> None:
        for i in range(block.start, block.stop):
            kept = np.flatnonzero(counts[i])
            replicates[i] = measure(K[np.ix_(kept, kept)], Khat[np.ix_(kept, kept)], counts[i, kept].astype(float))

    for_each_block(work, row_blocks(len(counts), 8))
    low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2])
    # A percentile interval may miss the value itself where the measure is biased under resampling.
    return Estimate(float(value), float(min(low, value)), float(max(high, value)))


def _ratio(error: float, size: float) -> float:
    return float(np.sqrt(error / size)) if size > 0 else float(np.sqrt(error))


def _frobenius(K: Array, Khat: Array, w: Array) -> float:
    return _ratio(_weighted_sum((Khat - K) ** 2, w), _weighted_sum(K**2, w))


def _weighted_sum(squares: Array, w: Array) -> float:
    """Sum over the pairs of a resample, on purpose without the pairs of two copies of one point.

    They would count as off-diagonal entries but hold diagonal values, which a fresh sample of points never does.
    """
    diagonal = np.diag(squares)
    return float(w @ squares @ w - w**2 @ diagonal + w @ diagonal)


def _centred(K: Array, Khat: Array, w: Array) -> float:
    return _frobenius(_centre(K, w), _centre(Khat, w), w)


def _centre(K: Array, w: Array) -> Array:
    means = K @ w / w.sum()
    return np.asarray(K - means[:, None] - means[None, :] + w @ means / w.sum())


def _largest(K: Array, Khat: Array, w: Array) -> float:
    return float(np.abs(Khat - K).max())


def _spectral(K: Array, Khat: Array, w: Array, lam: float) -> float:
    root = np.sqrt(np.outer(w, w))
    regularized = root * K
    regularized.flat[:: len(K) + 1] += lam
    eigenvalues = linalg.eigh(root * (Khat - K), regularized, eigvals_only=True, check_finite=False)
    return float(np.abs(eigenvalues[[0, -1]]).max())
