"""The map of a sum of kernels."""

from collections.abc import Sequence

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Composition
from mercer.kernels import Sum
from mercer.state import Many, Member, Sizes, Stored, require
from mercer.validation import check_integer


class Concatenate(Composition):
    """The map of a sum of kernels: the members' features side by side.

    Parameters
    ----------
    maps : list of feature maps, default=[TensorSketch()]
    n_components : int or None
        Total number of features, divided equally among the members; if a member needs fewer (``LinearFeatures`` on few
        columns), the other members get the remaining features. None: each member's ``n_components``.
    random_state : int, RandomState or None
        Seed of all members, drawn independently; the ``random_state`` of a member is not used.

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

    def __init__(
        self, maps: Sequence[FeatureMap] | None = None, *, n_components: int | None = None, random_state: Seed = None
    ):
        self.maps = maps
        self.n_components = n_components  # type: ignore[assignment]
        self.random_state = random_state

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        members = self.members()
        if self.n_components is not None:
            self._share(members, X.shape[1])
        self._fit_members(members, X, rng)
        self.maps_ = members
        self.n_features_out_ = sum(member.n_features_out_ for member in members)
        self.kernel_ = Sum(tuple(member.kernel_ for member in members)) if len(members) > 1 else members[0].kernel_

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        width = sum(member.n_features_out_ for member in self.maps_)
        require(sizes["D"] == width, "n_features_out must be the sum of the features of maps_")

    def _share(self, members: list[FeatureMap], n_features: int) -> None:
        """Divide the features equally; a member that needs fewer gets fewer, and the others share the remainder."""
        least = len(members)
        way_out = "Each member needs at least one feature."
        left = check_integer("Concatenate", "n_components", self.n_components, least=least, way_out=way_out)
        for member, share in zip(members, shares([m.most_features(n_features) for m in members], left), strict=True):
            member.set_width(share)

    @override
    def writer(self, X: Rows) -> Writer:
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
        least = sum(member.least_features(n_features) for member in self.members())
        return least if self.n_components is None else min(least, self.n_components)

    @override
    def scratch_bytes(self, X: Rows) -> float:
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
    def largest_feature(self, norm: float, X: Rows) -> float:
        return max(member.largest_feature(norm, X) for member in self.maps_)


def shares(most: Sequence[float], n_components: int) -> list[int]:
    """Divide features equally; members with a limit get at most their limit, and the others share the remainder."""
    out, left = [0] * len(most), n_components
    for place, i in enumerate(sorted(range(len(most)), key=lambda i: most[i])):
        out[i] = int(min(left // (len(most) - place), most[i]))
        left -= out[i]
    return out
