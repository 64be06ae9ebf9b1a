"""The Gaussian kernel."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mercer import core
from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.evaluation.bandwidth import check_bandwidth, median_distance, total_variance
from mercer.kernels.evaluation.distances import squared_distances
from mercer.kernels.evaluation.gaussian_tiles import gaussian_tiles
from mercer.kernels.evaluation.radial_tiles import has_few_columns
from mercer.kernels.radial import RadialKernel

# Twice a larger gamma is infinite. The kernel is 0 at all distances by then.
_LARGEST_GAMMA = 8e307


@dataclass(frozen=True, repr=False)
class Gaussian(RadialKernel):
    """The Gaussian kernel exp(-gamma |x - y|_2^2). Its frequencies are Gaussian with variance 2 gamma.

    Parameters
    ----------
    gamma : float, "scale", "median" or "auto", default="scale"
        Positive. ``"scale"`` is scikit-learn's 1 / (n_features * variance of X), ``"median"`` 1 / (2 m^2) with m the
        median distance between rows; both are found in an estimator's ``fit``. ``"auto"`` is the multiple of the median
        distance with the least leave-one-out error, in learners that have targets; elsewhere it is ``"median"``.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.6065]])
    """

    _: KW_ONLY
    gamma: float | str = "scale"

    _n_mixing: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_bandwidth("Gaussian", "gamma", self.gamma))

    @property
    def _named_bandwidth(self) -> tuple[str, float | str]:
        return "gamma", self.gamma

    @property
    def _length(self) -> float:
        return float((2 * min(self.bandwidth, _LARGEST_GAMMA)) ** -0.5)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> "Gaussian":
        """Return the kernel with gamma as a number, found on X."""
        if self.gamma == "scale":
            return Gaussian(gamma=1 / total_variance("Gaussian: gamma='scale'", X, sample_weight))
        if self.gamma in ("median", "auto"):
            return Gaussian(
                gamma=1 / (2 * median_distance(f"Gaussian: gamma={self.gamma!r}", squared_distances, X, sample_weight))
            )
        return self

    @override
    def stretched(self, factor: float) -> "Gaussian":
        return Gaussian(gamma=self.bandwidth / factor**2)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        general = super().evaluator(Y, dtype)
        if is_sparse(Y) or (np.dtype(dtype) == np.float32 and has_few_columns(Y)):
            return general
        dense = gaussian_tiles(Y, self.bandwidth, dtype)
        return lambda X: general(X) if is_sparse(X) else dense(X)

    @property
    def why_no_grids(self) -> str:
        """The Gaussian is concave near 0."""
        return (
            "the distribution would have to be t k''(t), which is negative below t = 1/sqrt(2 gamma), where the "
            "Gaussian is concave"
        )

    @override
    def profile(self, q: Array) -> Array:
        if q.dtype == np.float32 and q.ndim == 2:
            core.decays(-0.5, q)
            return q
        q *= -0.5
        return np.exp(q, out=q)

    @property
    def _mean_mixing(self) -> float:
        return 1.0

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        return np.ones(n)

    def _mixing_at(self, points: Array) -> Array:
        return np.ones(len(points))
