"""The map of a shift-invariant kernel, chosen when the number of columns is known."""

from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.features.base import FeatureMap, Writer
from mercer.features.fourier import FourierFeatures, require_shift_invariant, write_phases
from mercer.features.orthogonal import OrthogonalFeatures
from mercer.features.quasi_random import QuasiRandomFeatures
from mercer.kernels import Gaussian, Kernel, RadialKernel
from mercer.kernels.spectral import reaches
from mercer.state import Member, Stored

# Measured: up to here scrambled Sobol frequencies have 1.3 to 5 times less error than orthogonal ones.
_MOST_SOBOL_COLUMNS = 4


class ShiftInvariantFeatures(FeatureMap):
    """The map that ``feature_map`` takes for a shift-invariant kernel: the best for the width that ``fit`` meets.

    Up to 4 columns ``QuasiRandomFeatures``; above, ``OrthogonalFeatures`` for radial kernels and ``FourierFeatures``
    for the rest (``Laplacian``, products).

    Parameters
    ----------
    kernel : shift-invariant kernel, default=Gaussian()
    n_components : int, default=100
    random_state : int, RandomState or None

    Attributes
    ----------
    map_ : fitted feature map
        The one chosen.
    kernel_ : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, ShiftInvariantFeatures
    >>> ShiftInvariantFeatures(Gaussian(gamma=1.0)).fit(np.eye(8)).map_
    OrthogonalFeatures(kernel=Gaussian(gamma=1.0))
    """

    _stored = Stored(
        map_=Member(
            (FourierFeatures, OrthogonalFeatures, QuasiRandomFeatures), {"n_features_in_": "d", "_n_features_out": "D"}
        ),
    )

    _natural_kernel = Gaussian()

    def _check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant("ShiftInvariantFeatures", kernel)

    def _draw(self, kernel: Kernel, X: Any, n_components: int, rng: np.random.RandomState) -> int:
        chosen: type[FeatureMap] = FourierFeatures
        if X.shape[1] <= _MOST_SOBOL_COLUMNS:
            chosen = QuasiRandomFeatures
        elif isinstance(kernel, RadialKernel):
            chosen = OrthogonalFeatures
        self.map_ = chosen(kernel, n_components=n_components)
        self.map_._fit_member(X, rng)
        return self.map_._n_features_out

    def _writer(self, X: Any) -> Writer:
        return self.map_._writer(X)

    def _write_checked(self, write: Writer, X: Any, rows: slice, out: Array) -> None:
        write_phases("ShiftInvariantFeatures", write, X, rows, out)

    def _block_rows(self, n_rows: int) -> int:
        return self.map_._block_rows(n_rows)

    def _variance(self, X: Array, Y: Array) -> Array | None:
        return self.map_._variance(X, Y)

    def _bias(self, X: Array, Y: Array) -> Array | float:
        return self.map_._bias(X, Y)

    def _largest_feature(self, norm: float, X: Any) -> float:
        return self.map_._largest_feature(norm, X)

    def _reaches(self, n_features: int, level: float) -> Array | None:
        return reaches(self.kernel_, n_features, level)
