"""The map of a multiple of a kernel."""

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.kernels import Scaled
from mercer.state import Member, Stored
from mercer.validation import check_real


class Rescale(Wrapper):
    """The map of a multiple of a kernel: a map's features times sqrt(scale).

    Parameters
    ----------
    map : feature map, default=TensorSketch()
    scale : float, default=1.0
        The multiple of the kernel, positive.
    random_state : int, RandomState or None
        Seed of the draw; the ``random_state`` of ``map`` is not used.

    Attributes
    ----------
    map_ : fitted feature map
    kernel_ : Scaled
        ``scale`` times the map's kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures
    >>> from mercer.features import Rescale
    >>> Rescale(LinearFeatures(), scale=4.0).fit_transform(np.eye(2))
    array([[2., 0.],
           [0., 2.]])
    """

    _stored = Stored(
        kernel_=Member(Scaled),
    )
    kernel_: Scaled

    def __init__(self, map: FeatureMap | None = None, *, scale: float = 1.0, random_state: Seed = None):
        self.map = map
        self.scale = scale
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_real("Rescale", "scale", self.scale, least=0, strict=True)

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        self._fit_map(X, rng)
        self.kernel_ = Scaled(float(self.scale), self.map_.kernel_)

    @override
    def writer(self, X: Rows) -> Writer:
        write_member = self.map_.writer(X)
        factor = X.dtype.type(self.kernel_.scale**0.5)

        def write(rows: slice, out: Array) -> None:
            write_member(rows, out)
            out *= factor

        return write

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        part = self.map_.exact_variance(X, Y)
        return None if part is None else self.kernel_.scale**2 * part

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        return self.kernel_.scale * self.map_.bias(X, Y)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return float(max(self.kernel_.scale**0.5, 1.0) * self.map_.largest_feature(norm, X))
