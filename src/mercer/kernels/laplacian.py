"""The Laplace kernel, of the L1 distance."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer import core
from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.evaluation.bandwidth import check_bandwidth, median_distance, total_variance
from mercer.kernels.evaluation.distances import absolute_distances
from mercer.kernels.stationary import LARGEST_FREQUENCY, StationaryKernel


@dataclass(frozen=True, repr=False)
class Laplacian(StationaryKernel):
    """The Laplace kernel exp(-gamma |x - y|_1).

    Its frequencies are independent Cauchy variables of scale gamma in every column. Its grid pitches follow
    Gamma(2, 1 / gamma) (Rahimi and Recht, 2007).

    Parameters
    ----------
    gamma : float, "scale", "median" or "auto", default="scale"
        Positive. ``"scale"`` is 1 / (n_features * standard deviation of X), ``"median"`` one over the median L1
        distance; both are found in an estimator's ``fit``. ``"auto"``: see ``Gaussian``.

    Examples
    --------
    >>> from mercer import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    _: KW_ONLY
    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_bandwidth("Laplacian", "gamma", self.gamma))

    @property
    def _named_bandwidth(self) -> tuple[str, float | str]:
        return "gamma", self.gamma

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> "Laplacian":
        """Return the kernel with gamma as a number, found on X."""
        if self.gamma == "scale":
            return Laplacian(gamma=(X.shape[1] * total_variance("Laplacian: gamma='scale'", X, sample_weight)) ** -0.5)
        if self.gamma in ("median", "auto"):
            asker = f"Laplacian: gamma={self.gamma!r}"
            return Laplacian(gamma=1 / median_distance(asker, absolute_distances, X, sample_weight))
        return self

    @override
    def stretched(self, factor: float) -> "Laplacian":
        return Laplacian(gamma=self.bandwidth / factor)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        gamma = self.bandwidth
        distances = absolute_distances(X, Y)
        distances *= -gamma
        return np.exp(distances, out=distances)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        general, gamma = super().evaluator(Y, dtype), self.bandwidth
        if is_sparse(Y) or np.dtype(dtype) != np.float32 or not gamma < np.finfo(np.float32).max:
            return general
        fixed = np.ascontiguousarray(Y, dtype=np.float32)

        def dense(X: Rows) -> Array:
            distances = core.absolute_distances(np.ascontiguousarray(X, dtype=np.float32), fixed)
            core.decays(-gamma, distances)
            return distances

        return lambda X: general(X) if is_sparse(X) else dense(X)

    def frequencies(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw independent Cauchy variables of scale gamma."""
        return self.bandwidth * _capped(rng.standard_cauchy((n_features, n_frequencies)))

    def n_uniforms(self, n_features: int) -> int:
        """Return the number of columns: one uniform number per column."""
        return n_features

    def frequencies_at(self, points: Array) -> Array:
        """Return the Cauchy quantiles of the points."""
        return self.bandwidth * _capped(np.tan(np.pi * (points.T - 0.5)))

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw from Gamma(shape 2, scale 1 / gamma), independently in every column."""
        return rng.gamma(2.0, 1 / self.bandwidth, (n_grids, n_features))


def _capped(frequencies: Array) -> Array:
    return np.clip(frequencies, -LARGEST_FREQUENCY, LARGEST_FREQUENCY)
