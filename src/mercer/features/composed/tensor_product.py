"""The map of a product of kernels: Tensor Sketch of the members' features."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Composition
from mercer.features.sketches.hashes import draw_hashes
from mercer.features.sketches.variances import PairMoments, tensor_sketch_variance
from mercer.kernels import Product
from mercer.state import Integers, Many, Member, Sizes, Stored, require
from mercer.validation import check_integer


class TensorProduct(Composition):
    r"""The map of a product of kernels: the count sketch of the tensor product of the members' features.

    The features of each member take the place of one factor of a Tensor Sketch. Unbiased if all members are unbiased.

    Parameters
    ----------
    maps : list of feature maps, default=[TensorSketch()]
        Each map has its own ``n_components``.
    n_components : int, default=100
    random_state : int, RandomState or None
        Seed of the members and of the hashes, all drawn independently.

    Attributes
    ----------
    maps_ : list of fitted feature maps
    index_, sign_ : list of ndarray
        Hashes of each member's features.
    kernel_ : Kernel
        The product of the members' kernels.

    Notes
    -----
    ``variance`` is exact if all members are exact maps. Otherwise the members are re-drawn several times, and for each
    draw the variance due to the hashes is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures
    >>> from mercer.features import TensorProduct
    >>> square = TensorProduct([LinearFeatures(), LinearFeatures()], n_components=9, random_state=0).fit(np.eye(3))
    >>> square.kernel_
    Linear() * Linear()
    """

    _stored = Stored(
        maps_=Many(Member(FeatureMap, {"n_features_in_": "d"}), "m"),
        index_=Many(Integers((None,), (np.int32,), least=0, below="D"), "m"),
        sign_=Many(Integers((None,), (np.int8,), least=-1, below=2), "m"),
    )

    def __init__(self, maps: Sequence[FeatureMap] | None = None, *, n_components: int = 100, random_state: Seed = None):
        self.maps = maps
        self.n_components = n_components
        self.random_state = random_state

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        members = self.members()
        self._fit_members(members, X, rng)
        self.n_features_out_ = check_integer("TensorProduct", "n_components", self.n_components)
        self.maps_ = members
        self._draw_tables(rng)
        self.kernel_ = Product(tuple(member.kernel_ for member in members)) if len(members) > 1 else members[0].kernel_

    def _draw_tables(self, rng: np.random.RandomState) -> None:
        tables = [draw_hashes(rng, self.n_features_out_, (member.n_features_out_,)) for member in self.maps_]
        self.index_ = [index for index, _ in tables]
        self.sign_ = [sign for _, sign in tables]

    @property
    @override
    def is_random(self) -> bool:
        return True

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = super().redrawn(rng)
        other._draw_tables(rng)
        return other

    def _check_params(self) -> None:
        super()._check_params()
        check_integer("TensorProduct", "n_components", self.n_components)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(sizes["m"], "maps_ must not be empty")
        for member, index, sign in zip(self.maps_, self.index_, self.sign_, strict=True):
            require(len(index) == len(sign) == member.n_features_out_, "index_ must have one bucket per feature")

    @override
    def writer(self, X: Rows) -> Writer:
        writers = [member.writer(X) for member in self.maps_]
        widths = [member.n_features_out_ for member in self.maps_]

        def write(rows: slice, out: Array) -> None:
            n_rows = rows.stop - rows.start
            every = slice(0, n_rows)
            sketches = np.empty((len(writers), *out.shape), dtype=out.dtype)
            for write_member, width, index, sign, sketch in zip(
                writers, widths, self.index_, self.sign_, sketches, strict=True
            ):
                features = np.empty((n_rows, width), dtype=out.dtype)
                write_member(rows, features)
                core.count_sketch(features, every, index, sign, sketch)
            core.convolve(sketches, out)

        return write

    @override
    def scratch_bytes(self, X: Rows) -> float:
        widest = max(member.n_features_out_ for member in self.maps_)
        own = float(X.dtype.itemsize * (len(self.maps_) * self.n_features_out_ + widest))
        return own + max(member.scratch_bytes(X) for member in self.maps_)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        if any(member.is_random for member in self.maps_):
            return None
        return tensor_sketch_variance(self._factors(X, Y), self.n_features_out_)

    @override
    def squared_error(self, X: Array, Y: Array, kernel_values: Array) -> Array:
        # The mean over the hashes is computed in closed form (hashes and members are independent): collisions are rare,
        # and 200 draws of the hashes may contain none.
        factors = self._factors(X, Y)
        product = np.prod([factor.t for factor in factors], axis=0)
        return np.asarray(tensor_sketch_variance(factors, self.n_features_out_) + (product - kernel_values) ** 2)

    def _factors(self, X: Array, Y: Array) -> list[PairMoments]:
        return [PairMoments.of(_features(member, X), _features(member, Y)) for member in self.maps_]

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        biases = [member.bias(X, Y) for member in self.maps_]
        if not any(np.any(bias) for bias in biases):
            return 0.0
        values = [member.kernel_.evaluate(X, Y) for member in self.maps_]
        means = [value + bias for value, bias in zip(values, biases, strict=True)]
        return np.asarray(np.prod(means, axis=0) - np.prod(values, axis=0))


def _features(member: FeatureMap, X: Array) -> Array:
    out = np.empty((X.shape[0], member.n_features_out_))
    member.writer(X)(slice(0, X.shape[0]), out)
    return out
