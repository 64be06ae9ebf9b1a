"""Features of convolution kernels: sums of the features of vectors over bags."""

from typing import Any

import numpy as np

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.kernels import Convolution
from mercer.kernels.structured.convolution import AVERAGES
from mercer.recycling import empty
from mercer.state import Count, Member, Stored
from mercer.structures import Bags
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows

# Bytes of the features of vectors that are made at a time: they stay in the second-level cache.
_CACHED_BYTES = 2**20


class ConvolutionFeatures(Wrapper):
    """The map of a convolution kernel of bags: the sum of the features of a bag's vectors, or their average.

    Unbiased where the map of vectors is.

    Parameters
    ----------
    map : feature map, default=TensorSketch()
        The map of vectors.
    average : "sum", "mean" or "root", default="sum"
    random_state : int, RandomState or None
        Draws the map; its own is not used.

    Attributes
    ----------
    map_ : fitted feature map
        Of vectors.
    kernel_ : Convolution

    Examples
    --------
    >>> from mercer import LinearFeatures
    >>> from mercer.features import ConvolutionFeatures
    >>> ConvolutionFeatures(LinearFeatures(), average="mean").fit_transform([[[1.0], [3.0]], [[5.0]]])
    array([[2.],
           [5.]])
    """

    # The map is of vectors of v columns; bags are one column.
    _stored = Stored(
        map_=Member(FeatureMap, {"n_features_in_": "v", "n_features_out_": "D"}),
        n_features_in_=Count("d", least=1, most=1),
        kernel_=Member(Convolution),
    )
    kernel_: Convolution

    def __init__(self, map: Any = None, *, average: str = "sum", random_state: Any = None):
        self.map = map
        self.average = average
        self.random_state = random_state

    @property
    @override
    def domain(self) -> Domain:
        return "bags"

    @override
    def _check_params(self) -> None:
        super()._check_params()
        if self.average not in AVERAGES:
            raise ValueError(f"ConvolutionFeatures: average must be one of {list(AVERAGES)}, got {self.average!r}.")

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        if not isinstance(X, Bags):
            raise other_rows(self, Bags, X)
        if not len(X.values):
            raise ValueError("ConvolutionFeatures: all bags of fit are empty; give at least one vector.")
        self._fit_map(X.values, rng)
        self.kernel_ = Convolution(self.map_.kernel_, average=self.average)

    def _vectors(self, X: Bags) -> Array:
        if X.values.shape[1] != self.map_.n_features_in_:
            raise ValueError(
                f"ConvolutionFeatures: the vectors of X have {X.values.shape[1]} columns, and those of fit had "
                f"{self.map_.n_features_in_}. Give bags of the same columns."
            )
        return X.values

    @override
    def writer(self, X: Rows) -> Writer:
        if not isinstance(X, Bags):
            raise other_rows(self, Bags, X)
        vectors, ends, factors = self._vectors(X), X.pointers(), self.kernel_.factors(X.sizes)
        write_vectors = self.map_.writer(vectors)
        few = max(16, _CACHED_BYTES // (self.n_features_out_ * X.dtype.itemsize))

        def write(rows: slice, out: Array) -> None:
            out[...] = 0
            features = empty((few, self.n_features_out_), dtype=X.dtype)
            sums = np.empty((1, self.n_features_out_), dtype=X.dtype)
            for i in range(rows.start, rows.stop):
                for start in range(ends[i], ends[i + 1], few):
                    stop = min(start + few, int(ends[i + 1]))
                    Z = features[: stop - start]
                    write_vectors(slice(int(start), stop), Z)
                    key_core.segment_sum(Z, np.array([0, stop - start]), sums)
                    out[i - rows.start] += sums[0]
            out *= factors[rows].astype(out.dtype)[:, None]

        return write

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return None if self.map_.is_random else np.zeros((X.shape[0], Y.shape[0]))

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return None

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return 0.0

    @override
    def least_features(self, n_features: int) -> int:
        return 1
