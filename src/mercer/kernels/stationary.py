"""Shift-invariant kernels k(x, y) = h(x - y)."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from mercer._typing import Array
from mercer.kernels.base import Kernel
from mercer.validation import check_real


@dataclass(frozen=True, repr=False)
class StationaryKernel(Kernel):
    """A kernel of the difference x - y, with k(x, x) = 1."""

    _: KW_ONLY
    gamma: float

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "gamma", check_real(name, "gamma", self.gamma, least=0, strict=True))

    @abstractmethod
    def _distances(self, X: Any, Y: Any) -> Array:
        """Return the distances that the kernel decays with, in an array of its own."""

    def _gram(self, X: Any, Y: Any) -> Array:
        distances = self._distances(X, Y)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _diag(self, X: Any) -> Array:
        return np.ones(X.shape[0], dtype=X.dtype)


@dataclass(frozen=True, repr=False)
class Gaussian(StationaryKernel):
    """The Gaussian kernel exp(-gamma |x - y|_2^2).

    >>> from mercer import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.6065]])
    """

    def _distances(self, X: Any, Y: Any) -> Array:
        # In float64: |x|^2 + |y|^2 - 2<x,y> cancels, and in float32 near points would lose their distance.
        X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        return np.asarray(euclidean_distances(X, Y, squared=True))


@dataclass(frozen=True, repr=False)
class Laplacian(StationaryKernel):
    """The Laplace kernel exp(-gamma |x - y|_1).

    >>> from mercer import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    def _distances(self, X: Any, Y: Any) -> Array:
        return np.asarray(manhattan_distances(X, Y), dtype=np.float64)
