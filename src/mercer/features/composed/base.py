"""The base classes of maps made of other maps.

The members are cloned and drawn from the ``random_state`` of the composed map: two members with the same seed would
make a product biased.
"""

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from mercer._typing import Array, Rows, override
from mercer.features.base import FeatureMap
from mercer.features.sketches.tensor_sketch import TensorSketch
from mercer.state import Member, Stored
from mercer.structures.domains import Domain


class Composition(FeatureMap):
    """A map made of other maps; its kernel follows from the kernels of the members."""

    maps: Any
    maps_: list[FeatureMap]

    def members(self) -> list[FeatureMap]:
        """Return unfitted copies of the given maps; one ``TensorSketch`` if no maps are given."""
        members = (
            [TensorSketch()] if self.maps is None else list(self.maps) if isinstance(self.maps, list | tuple) else []
        )
        name = type(self).__name__
        if not members or not all(isinstance(member, FeatureMap) for member in members):
            raise ValueError(f"{name}: maps must be a list of one or more feature maps, got {self.maps!r}.")
        return [clone(member) for member in members]

    def _fit_members(self, members: list[FeatureMap], X: Rows, rng: np.random.RandomState) -> None:
        for member in members:
            member.random_state = int(rng.randint(2**31 - 1))
            member.fit_member(X, np.random.RandomState(member.random_state))

    @property
    @override
    def domain(self) -> Domain:
        if hasattr(self, "kernel_"):  # a change of the parameters does not change a fitted map
            return self.kernel_.domain
        members = self.maps if isinstance(self.maps, list | tuple) else []
        return next((member.domain for member in members if isinstance(member, FeatureMap)), "rows")

    @property
    def rows_to_fit(self) -> int:
        """The largest number of rows that a member should see."""
        members = self.maps if isinstance(self.maps, list | tuple) else []
        return max((member.rows_to_fit for member in members if isinstance(member, FeatureMap)), default=0)

    def _check_params(self) -> None:
        self.members()

    @property
    @override
    def is_random(self) -> bool:
        return any(member.is_random for member in self.maps_)

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.maps_ = [member.redrawn(rng) for member in self.maps_]
        return other

    def reaches(self, n_features: int, level: float) -> Array | None:
        """Return the farthest reach of the members that have one."""
        known = [part for member in self.maps_ if (part := member.reaches(n_features, level)) is not None]
        return np.maximum.reduce(known) if known else None


class Wrapper(Composition):
    """A composition of one map, held as ``map``."""

    _stored = Stored(
        map_=Member(FeatureMap, {"n_features_in_": "d", "n_features_out_": "D"}),
    )

    map: FeatureMap | None
    map_: FeatureMap

    @property
    def maps(self) -> Any:
        """The list of members, which holds one map."""
        return None if self.map is None else [self.map]

    def _fit_map(self, X: Rows, rng: np.random.RandomState) -> None:
        (member,) = self.members()
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
    def scratch_bytes(self, X: Rows) -> float:
        return self.map_.scratch_bytes(X)

    @override
    def most_features(self, n_features: int) -> float:
        return np.inf if self.map is None else float(self.map.most_features(n_features))

    @override
    def set_width(self, n_components: int) -> None:
        self.map = TensorSketch() if self.map is None else self.map
        self.map.set_width(n_components)
