"""Maps made of maps: the algebra of kernels carried over to features.

Sum -> concatenation, scale c -> sqrt(c), product -> Tensor Sketch of the two maps. The members are cloned and drawn
from the composition's own ``random_state``: independent draws are what keeps a product unbiased.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from mercer import core
from mercer._typing import Array, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.sketches.hashes import draw_hashes
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.features.sketches.variances import PairMoments, tensor_sketch_variance
from mercer.kernels import Kernel, Product, Scaled, Sum
from mercer.state import Integers, Many, Member, Sizes, Stored, require
from mercer.validation import check_integer, check_real


class _Composition(FeatureMap):
    """A map made of other maps; its kernel follows from theirs."""

    maps: Any
    maps_: list[FeatureMap]

    def _members(self) -> list[FeatureMap]:
        members = (
            [TensorSketch()] if self.maps is None else list(self.maps) if isinstance(self.maps, list | tuple) else []
        )
        name = type(self).__name__
        if not members or not all(isinstance(member, FeatureMap) for member in members):
            raise ValueError(f"{name}: maps must be a list of one or more feature maps, got {self.maps!r}.")
        return [clone(member) for member in members]

    def _fit_members(self, members: list[FeatureMap], X: Any, rng: np.random.RandomState) -> None:
        for member in members:
            member.random_state = int(rng.randint(2**31 - 1))
            member.fit_member(X, np.random.RandomState(member.random_state))

    def _check_params(self) -> None:
        self._members()

    def check_kernel(self, kernel: Kernel) -> None:
        """Accept: the kernel is made from the members', not given."""

    def _draw(self, kernel: Kernel, X: Any, n_components: int, rng: np.random.RandomState) -> int:
        raise AssertionError("a composition draws in fit_checked")

    @property
    def is_random(self) -> bool:
        return any(member.is_random for member in self.maps_)

    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.maps_ = [member.redrawn(rng) for member in self.maps_]
        return other

    def reaches(self, n_features: int, level: float) -> Array | None:
        """Return the farthest reach of the members that have one."""
        known = [part for member in self.maps_ if (part := member.reaches(n_features, level)) is not None]
        return np.maximum.reduce(known) if known else None


class Concatenate(_Composition):
    """The map of a sum of kernels: the members' features side by side.

    Parameters
    ----------
    maps : list of feature maps, default=[TensorSketch()]
    n_components : int or None
        Features in all, shared equally among the members; a member that needs fewer (``LinearFeatures`` on few
        columns) leaves the rest to the others. None: each member's own ``n_components``.
    random_state : int, RandomState or None
        Draws all members, independently; their own is not used.

    Attributes
    ----------
    maps_ : list of fitted feature maps
    kernel_ : Kernel
        The sum of the members' kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures, TensorSketch
    >>> from mercer.features import Concatenate
    >>> both = Concatenate([LinearFeatures(), TensorSketch()], n_components=20, random_state=0).fit(np.eye(3))
    >>> both.kernel_, both.transform(np.eye(3)).shape
    (Linear() + Polynomial(2), (3, 20))
    """

    _stored = Stored(
        maps_=Many(Member(FeatureMap, {"n_features_in_": "d"})),
    )

    def __init__(self, maps: Any = None, *, n_components: int | None = None, random_state: Any = None):
        self.maps = maps
        self.n_components = n_components  # type: ignore[assignment]
        self.random_state = random_state

    @override
    def fit_checked(self, X: Any, rng: np.random.RandomState) -> None:
        members = self._members()
        if self.n_components is not None:
            self._share(members, X.shape[1])
        self._fit_members(members, X, rng)
        self.maps_ = members
        self.n_features_out_ = sum(member.n_features_out_ for member in members)
        self.kernel_ = Sum(tuple(member.kernel_ for member in members)) if len(members) > 1 else members[0].kernel_

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        width = sum(member.n_features_out_ for member in self.maps_)
        require(sizes["D"] == width, "n_features_out must be the features of all maps_")

    def _share(self, members: list[FeatureMap], n_features: int) -> None:
        """Give every member an equal part, after those that need less have taken what they need."""
        least = len(members)
        way_out = "Each member needs at least one feature."
        left = check_integer("Concatenate", "n_components", self.n_components, least=least, way_out=way_out)
        for member, share in zip(members, shares([m.most_features(n_features) for m in members], left), strict=True):
            member.set_width(share)

    @override
    def writer(self, X: Any) -> Writer:
        ends = np.cumsum([member.n_features_out_ for member in self.maps_]).tolist()
        writers = [member.writer(X) for member in self.maps_]

        def write(rows: slice, out: Array) -> None:
            start = 0
            for end, write_member in zip(ends, writers, strict=True):
                write_member(rows, out[:, start:end])
                start = end

        return write

    @override
    def least_features(self, n_features: int) -> int:
        least = sum(member.least_features(n_features) for member in self._members())
        return least if self.n_components is None else min(least, self.n_components)

    @override
    def scratch_bytes(self, X: Any) -> float:
        return max(member.scratch_bytes(X) for member in self.maps_)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        total = np.zeros((X.shape[0], Y.shape[0]))
        for member in self.maps_:
            part = member.exact_variance(X, Y)
            if part is None:
                return None
            total += part
        return total

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        return sum(member.bias(X, Y) for member in self.maps_)

    @override
    def largest_feature(self, norm: float, X: Any) -> float:
        return max(member.largest_feature(norm, X) for member in self.maps_)


def shares(most: Sequence[float], n_components: int) -> list[int]:
    """Share features equally, after the members that can use fewer have taken what they can use."""
    out, left = [0] * len(most), n_components
    for place, i in enumerate(sorted(range(len(most)), key=lambda i: most[i])):
        out[i] = int(min(left // (len(most) - place), most[i]))
        left -= out[i]
    return out


class TensorProduct(_Composition):
    r"""The map of a product of kernels: the count sketch of the tensor product of the members' features.

    As in Tensor Sketch, with each member's features in the place of one factor: unbiased when the members are.

    Parameters
    ----------
    maps : list of feature maps, default=[TensorSketch()]
        Each with its own ``n_components``.
    n_components : int, default=100
    random_state : int, RandomState or None
        Draws the members and the hashes, independently.

    Attributes
    ----------
    maps_ : list of fitted feature maps
    index_, sign_ : list of ndarray
        Hashes of each member's features.
    kernel_ : Kernel
        The product of the members' kernels.

    Notes
    -----
    ``variance`` is exact where all members are exact maps. Otherwise the members are re-drawn, and the variance of the
    hashes is exact for each draw.

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

    def __init__(self, maps: Any = None, *, n_components: int = 100, random_state: Any = None):
        self.maps = maps
        self.n_components = n_components
        self.random_state = random_state

    @override
    def fit_checked(self, X: Any, rng: np.random.RandomState) -> None:
        members = self._members()
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
            require(len(index) == len(sign) == member.n_features_out_, "index_ must have a bucket a feature")

    @override
    def writer(self, X: Any) -> Writer:
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
    def scratch_bytes(self, X: Any) -> float:
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
        # The mean over the hashes, which are independent of the members: features that share a bucket are rare, and
        # 200 draws of the hashes may see none.
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


class Wrapper(_Composition):
    """A composition of one map, held as ``map``."""

    _stored = Stored(
        map_=Member(FeatureMap, {"n_features_in_": "d", "n_features_out_": "D"}),
    )

    map: Any
    map_: FeatureMap

    @property
    def maps(self) -> Any:
        """The map, as the list of members that a composition has."""
        return None if self.map is None else [self.map]

    def _fit_map(self, X: Any, rng: np.random.RandomState) -> None:
        (member,) = self._members()
        self._fit_members([member], X, rng)
        self.map_ = member
        self.n_features_out_ = member.n_features_out_

    @property
    @override
    def is_random(self) -> bool:
        return self.map_.is_random

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.map_ = self.map_.redrawn(rng)
        return other

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return self.map_.reaches(n_features, level)

    @override
    def least_features(self, n_features: int) -> int:
        return 1 if self.map is None else int(self.map.least_features(n_features))

    @override
    def scratch_bytes(self, X: Any) -> float:
        return self.map_.scratch_bytes(X)

    @override
    def most_features(self, n_features: int) -> float:
        return np.inf if self.map is None else float(self.map.most_features(n_features))

    @override
    def set_width(self, n_components: int) -> None:
        self.map = TensorSketch() if self.map is None else self.map
        self.map.set_width(n_components)


class Rescale(Wrapper):
    """The map of a multiple of a kernel: a map's features times sqrt(scale).

    Parameters
    ----------
    map : feature map, default=TensorSketch()
    scale : float, default=1.0
        The multiple of the kernel, positive.
    random_state : int, RandomState or None
        Draws the map; its own is not used.

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

    def __init__(self, map: Any = None, *, scale: float = 1.0, random_state: Any = None):
        self.map = map
        self.scale = scale
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_real("Rescale", "scale", self.scale, least=0, strict=True)

    @override
    def fit_checked(self, X: Any, rng: np.random.RandomState) -> None:
        self._check_params()
        self._fit_map(X, rng)
        self.kernel_ = Scaled(float(self.scale), self.map_.kernel_)

    @override
    def writer(self, X: Any) -> Writer:
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
    def largest_feature(self, norm: float, X: Any) -> float:
        return float(max(self.kernel_.scale**0.5, 1.0) * self.map_.largest_feature(norm, X))
