"""Features of homogeneous kernels: a sketch of the series of f on unit rows, times the lengths of the rows."""

from copy import copy
from typing import Self

import numpy as np
from sklearn.utils.extmath import row_norms

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.maclaurin import RandomMaclaurin
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.kernels import Angular, HomogeneousKernel, Kernel, NeuralTangent
from mercer.kernels.homogeneous import unit_rows
from mercer.state import Member, Real, Sizes, Stored, require

_METHODS: dict[str, type[TensorSketch] | type[RandomMaclaurin]] = {
    "tensor_sketch": TensorSketch,
    "maclaurin": RandomMaclaurin,
}


class HomogeneousFeatures(KernelMap):
    r"""The map of a kernel :math:`|x|^p |y|^p f(\cos)`: a map of f on rows of length 1, times :math:`|x|^p`.

    f has a Maclaurin series of non-negative coefficients, so that a sketch of its degrees is a map of f.

    Parameters
    ----------
    kernel : homogeneous kernel, default=NeuralTangent(1)
        ``NeuralTangent``, or ``ArcCosine`` of any depth.
    n_components : int, default=100
    random_state : int, RandomState or None
    method : "tensor_sketch" or "maclaurin", default="tensor_sketch"
        The map of f. Random Maclaurin draws a degree for each feature, and has a larger error.

    Attributes
    ----------
    map_ : TensorSketch or RandomMaclaurin
        The fitted map of ``Angular(kernel)`` on unit rows.
    truncation_error_ : float
        The sum of the coefficients of the degrees that the map leaves out above its last degree: the largest error, as
        a share of :math:`|x|^p |y|^p`. Pairs of rows at large angles lose far less.
    kernel_ : HomogeneousKernel

    Notes
    -----
    Time is that of the sketch. Degrees left out cause a bias, which ``variance`` counts: it is the exact mean squared
    error. A row of zeros has features of zeros.

    References
    ----------
    A. Zandieh et al., "Scaling neural tangent kernels via sketching and random features", NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import HomogeneousFeatures
    >>> from mercer.kernels import NeuralTangent
    >>> X = np.random.RandomState(0).randn(50, 8)
    >>> fitted = HomogeneousFeatures(NeuralTangent(3), n_components=1024, random_state=0).fit(X)
    >>> Z = fitted.transform(X)
    >>> bool(np.abs(Z @ Z.T - fitted.kernel_(X)).mean() < 0.2), round(fitted.truncation_error_, 3)
    (True, 0.071)
    """

    _stored = Stored(
        map_=Member((TensorSketch, RandomMaclaurin), {"n_features_in_": "d", "n_features_out_": "D"}),
        truncation_error_=Real(0.0, finite=False),
        kernel_=Member(HomogeneousKernel),
    )

    _natural_kernel = NeuralTangent(1)
    map_: FeatureMap
    kernel_: HomogeneousKernel

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Seed = None,
        method: str = "tensor_sketch",
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.method = method

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, HomogeneousKernel):
            raise ValueError(
                f"HomogeneousFeatures: kernel must be homogeneous, such as NeuralTangent(3) or ArcCosine(1, depth=2), "
                f"got {kernel!r}. feature_map(kernel, n_components=...) chooses a map for every kernel that has one."
            )

    @override
    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.method, str) or self.method not in _METHODS:
            raise ValueError(f"HomogeneousFeatures: method must be one of {list(_METHODS)}, got {self.method!r}.")

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(self.map_.kernel_ == Angular(self.kernel_), "map_ must be of the function of kernel_")

    @override
    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        self._check_params()
        assert isinstance(kernel, HomogeneousKernel)  # noqa: S101 - by ``check_kernel``
        self.map_ = _METHODS[self.method](Angular(kernel), n_components=n_components)
        self.map_.fit_member(unit_rows(X), rng)
        self.truncation_error_ = float(self.map_.truncation_error_)
        return int(self.map_.n_features_out_)

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.map_ = self.map_.redrawn(rng)
        return other

    def _lengths(self, X: Rows) -> Array:
        return np.asarray(row_norms(X) ** self.kernel_.power * (row_norms(X) > 0))

    @override
    def writer(self, X: Rows) -> Writer:
        write_unit = self.map_.writer(unit_rows(X))

        def write(rows: slice, out: Array) -> None:
            write_unit(rows, out)
            out *= self._lengths(X[rows]).astype(out.dtype)[:, None]

        return write

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        part = self.map_.exact_variance(unit_rows(X), unit_rows(Y))
        return None if part is None else np.asarray(part * self._factors(X, Y) ** 2)

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        # The kernel's own values, from angles: cosines near 1 lose half the digits of f.
        U, V = unit_rows(X), unit_rows(Y)
        mean = self.map_.bias(U, V) + self.map_.kernel_.evaluate(U, V)
        return np.asarray(mean * self._factors(X, Y) - self.kernel_.evaluate(X, Y))

    def _factors(self, X: Array, Y: Array) -> Array:
        return np.outer(self._lengths(X), self._lengths(Y))

    @property
    @override
    def is_random(self) -> bool:
        return self.map_.is_random

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return self.map_.scratch_bytes(X)
