"""Features of kernels of an inner kernel's distances or values: a map of the inner map's features."""

from copy import copy
from typing import Self

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.features.fourier.orthogonal import OrthogonalFeatures
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.kernels import Composed, DotProductKernel, Gaussian, Induced, Kernel, RadialKernel
from mercer.state import Member, Sizes, Stored, require
from mercer.validation import check_integer

# Objects whose inner features the outer map sees in ``fit``.
_FIT_OBJECTS = 300


class InducedFeatures(Wrapper):
    r"""The map of ``Induced(outer, k)``, or of ``Composed(f, k)``: a map of rows on the features of k's map.

    Parameters
    ----------
    outer : radial or dot-product kernel, default=Gaussian()
        Compared are the features of ``map``: by their distances, or by their inner products.
    map : feature map, default=TensorSketch()
        The map of the inner kernel, of any domain; its features should be dense and many (``feature_map`` takes 4096).
    n_components : int, default=100
        Features of the outer map, ``OrthogonalFeatures`` or ``TensorSketch``.
    random_state : int, RandomState or None
        Draws both maps; that of ``map`` is not used.

    Attributes
    ----------
    map_, outer_map_ : fitted feature maps
    kernel_ : Induced or Composed

    Notes
    -----
    Biased where the inner map is random: the outer function sees an estimate of the inner kernel, with an error of
    variance v, and its mean is off by about h'' v / 2. For ``Gaussian(gamma)`` and an estimate of the squared distance
    of variance v the bias is about :math:`\gamma^2 v\, k / 2`, and v falls as one over the number of inner features. An
    exact inner map (``PartFeatures(kernel, n_components=None)`` on the keys of ``fit``) has no bias.
    ``PartTensorSketch`` has none for polynomials. ``variance`` counts the bias: it is the mean squared error, from
    re-draws of both maps.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.features import InducedFeatures, PartFeatures
    >>> from mercer.kernels import Spectrum
    >>> texts = ["abab", "abc", "xyz"]
    >>> inner = PartFeatures(Spectrum(2), n_components=None, sparse_output=False)
    >>> fitted = InducedFeatures(Gaussian(gamma=0.1), inner, n_components=512, random_state=0).fit(texts)
    >>> Z = fitted.transform(texts)
    >>> bool(np.abs(Z @ Z.T - fitted.kernel_(texts)).max() < 0.1)
    True
    """

    # The outer map has the D features, of rows of D1 inner features.
    _stored = Stored(
        map_=Member(FeatureMap, {"n_features_in_": "d", "n_features_out_": "D1"}),
        outer_map_=Member((OrthogonalFeatures, TensorSketch), {"n_features_in_": "D1", "n_features_out_": "D"}),
        kernel_=Member((Induced, Composed)),
    )
    outer_map_: FeatureMap

    def __init__(
        self,
        outer: Kernel | None = None,
        map: FeatureMap | None = None,
        *,
        n_components: int = 100,
        random_state: Seed = None,
    ):
        self.outer = outer
        self.map = map
        self.n_components = n_components
        self.random_state = random_state

    def _outer(self) -> RadialKernel | DotProductKernel:
        outer = Gaussian() if self.outer is None else self.outer
        if not isinstance(outer, RadialKernel | DotProductKernel):
            raise ValueError(
                f"InducedFeatures: outer must be a radial kernel such as Gaussian(), or a dot-product kernel such as "
                f"Polynomial(2), got {outer!r}."
            )
        return outer

    @override
    def _check_params(self) -> None:
        super()._check_params()
        self._outer()
        check_integer("InducedFeatures", "n_components", self.n_components)

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        of_distance = isinstance(self.kernel_, Induced)
        require(of_distance == isinstance(self.outer_map_, OrthogonalFeatures), "outer_map_ must be that of kernel_")
        require(
            _joined(self.outer_map_.kernel_, self.map_.kernel_) == self.kernel_, "kernel_ must be that of both maps"
        )

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        self._fit_map(X, rng)
        kernel = _joined(self._outer(), self.map_.kernel_).resolve(X)
        outer = kernel.outer if isinstance(kernel, Induced) else kernel.f  # type: ignore[attr-defined]
        seed = int(rng.randint(2**31 - 1))
        made = OrthogonalFeatures if isinstance(kernel, Induced) else TensorSketch
        self.outer_map_ = made(outer, n_components=self.n_components, random_state=seed)
        self.outer_map_.fit_member(self._inner(X[: min(X.shape[0], _FIT_OBJECTS)]), np.random.RandomState(seed))
        self.n_features_out_ = self.outer_map_.n_features_out_
        self.kernel_ = kernel

    def _inner(self, X: Rows) -> Array:
        """Return the inner features of a few rows or objects."""
        features = np.empty((X.shape[0], self.map_.n_features_out_), dtype=X.dtype)
        self.map_.writer(X)(slice(0, X.shape[0]), features)
        return features

    @override
    def writer(self, X: Rows) -> Writer:
        write_inner, width = self.map_.writer(X), self.map_.n_features_out_

        def write(rows: slice, out: Array) -> None:
            features = np.empty((rows.stop - rows.start, width), dtype=out.dtype)
            write_inner(rows, features)
            self.outer_map_.writer(features)(slice(0, len(features)), out)

        return write

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.map_, other.outer_map_ = self.map_.redrawn(rng), self.outer_map_.redrawn(rng)
        return other

    @property
    @override
    def is_random(self) -> bool:
        return self.map_.is_random or self.outer_map_.is_random

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return None

    @override
    def scratch_bytes(self, X: Rows) -> float:
        own = X.dtype.itemsize * (self.map_.n_features_out_ + 2 * self.n_features_out_)
        return float(own) + self.map_.scratch_bytes(X)

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return None

    @override
    def least_features(self, n_features: int) -> int:
        return int(self.n_components)

    @override
    def most_features(self, n_features: int) -> float:
        return np.inf

    @override
    def set_width(self, n_components: int) -> None:
        self.n_components = n_components


def _joined(outer: Kernel, inner: Kernel) -> Induced | Composed:
    if isinstance(outer, RadialKernel):
        return Induced(outer, inner)
    assert isinstance(outer, DotProductKernel)  # noqa: S101 - by ``_outer``
    return Composed(outer, inner)
