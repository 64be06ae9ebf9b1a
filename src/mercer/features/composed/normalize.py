"""The map of a normalised kernel."""

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.kernels import Normalized
from mercer.kernels.functions import inverse_lengths


class Normalize(Wrapper):
    """The map of ``Normalized(k)``: the features z(x) of k, divided by sqrt(k(x, x)).

    The divisor is the exact sqrt(k(x, x)) and not the length of z(x), so the estimate stays unbiased.

    Parameters
    ----------
    map : feature map, default=TensorSketch()
    random_state : int, RandomState or None
        Seed of the draw; the ``random_state`` of ``map`` is not used.

    Attributes
    ----------
    map_ : fitted feature map
    kernel_ : Normalized

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures
    >>> from mercer.features import Normalize
    >>> Normalize(LinearFeatures()).fit_transform([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """

    def __init__(self, map: FeatureMap | None = None, *, random_state: Seed = None):
        self.map = map
        self.random_state = random_state

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._fit_map(X, rng)
        self.kernel_ = Normalized(self.map_.kernel_)

    @override
    def writer(self, X: Rows) -> Writer:
        write_member = self.map_.writer(X)
        kernel = self.map_.kernel_

        def write(rows: slice, out: Array) -> None:
            write_member(rows, out)
            out *= inverse_lengths(kernel, X[rows]).astype(out.dtype, copy=False)[:, None]

        return write

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        part = self.map_.exact_variance(X, Y)
        return None if part is None else np.asarray(part * self._factors(X, Y) ** 2)

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        return np.asarray(self.map_.bias(X, Y) * self._factors(X, Y))

    def _factors(self, X: Array, Y: Array) -> Array:
        return np.outer(*(inverse_lengths(self.map_.kernel_, rows) for rows in (X, Y)))
