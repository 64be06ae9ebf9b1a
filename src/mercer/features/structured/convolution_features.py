"""Features of convolution kernels: sums of the features of parts over objects."""

from typing import Self

import numpy as np

from mercer import key_core
from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import LARGEST_WIDTH, FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.features.structured.draws import draw_seed, key_signs
from mercer.kernels import Convolution
from mercer.kernels.structured.convolution import AVERAGES, check_decompose
from mercer.kernels.structured.decompositions import Decompose, Decomposed, decomposed, domain_of
from mercer.recycling import empty
from mercer.state import Count, Flag, Member, Sizes, Stored, require
from mercer.structures import Ragged
from mercer.structures.domains import Domain
from mercer.validation import check_integer

# Bytes of the features of vectors that are made at a time: they stay in the second-level cache.
_CACHED_BYTES = 2**20


class ConvolutionFeatures(Wrapper):
    r"""The map of a convolution kernel: the sum of the features of an object's parts, or their average.

    Parts with keys are told apart by signs: the features of a part are multiplied, one by one, by random signs of its
    key, :math:`z(x) = \sum_a w_a\, s(\text{key}_a) \circ \phi(v_a)`. Parts with the same key keep their inner product,
    and parts with different keys have one of mean 0. Unbiased where the map of vectors is.

    Parameters
    ----------
    map : feature map, default=TensorSketch()
        The map of vectors.
    average : "sum", "mean" or "root", default="sum"
    decompose : callable, Windows, Neighbourhoods or None
        As in ``Convolution``. None: objects are bags of vectors.
    n_components : int or None
        Features in all where parts have keys, at least: the map's features are repeated, with other signs, until they
        are as many. None: as many as the map has. Not used without keys.
    random_state : int, RandomState or None
        Draws the map; its own is not used.

    Attributes
    ----------
    map_ : fitted feature map
        Of vectors.
    has_keys_ : bool
        Whether the parts of ``fit`` have keys.
    seed_ : int
        Seed of the signs of keys.
    kernel_ : Convolution

    Notes
    -----
    Time: the map of each part, and D additions for it. ``variance`` is 0 where the map of vectors is exact and parts
    have no keys, else an estimate from re-draws. Each pair of parts with different keys adds the variance
    :math:`\sum_j \phi_j(v_a)^2 \phi_j(v_b)^2 / r`, with r the number of repetitions: about 1/D. Signs, and not the
    rotation of a count sketch: rotated features whose mean is not 0 have an inner product that no width makes smaller.

    Examples
    --------
    >>> from mercer import LinearFeatures
    >>> from mercer.features import ConvolutionFeatures
    >>> ConvolutionFeatures(LinearFeatures(), average="mean").fit_transform([[[1.0], [3.0]], [[5.0]]])
    array([[2.],
           [5.]])
    """

    # The map is of vectors of v columns; objects are one column.
    _stored = Stored(
        map_=Member(FeatureMap, {"n_features_in_": "v", "n_features_out_": "w"}),
        n_features_in_=Count("d", least=1, most=1),
        has_keys_=Flag(),
        seed_=Count(most=2**61),
        kernel_=Member(Convolution),
    )
    kernel_: Convolution

    def __init__(
        self,
        map: FeatureMap | None = None,
        *,
        average: str = "sum",
        decompose: Decompose = None,
        n_components: int | None = None,
        random_state: Seed = None,
    ):
        self.map = map
        self.average = average
        self.decompose = decompose
        self.n_components = n_components  # type: ignore[assignment]
        self.random_state = random_state

    @property
    @override
    def domain(self) -> Domain:
        return self.kernel_.domain if hasattr(self, "kernel_") else domain_of(self.decompose)

    @override
    def _check_params(self) -> None:
        super()._check_params()
        if self.average not in AVERAGES:
            raise ValueError(f"ConvolutionFeatures: average must be one of {list(AVERAGES)}, got {self.average!r}.")
        check_decompose("ConvolutionFeatures", self.decompose)
        if self.n_components is not None:
            check_integer("ConvolutionFeatures", "n_components", self.n_components, most=LARGEST_WIDTH)

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        fits = sizes["D"] % sizes["w"] == 0 if self.has_keys_ else sizes["D"] == sizes["w"]
        require(fits, "n_features_out must be that of map_, or a multiple where parts have keys")
        require(self.kernel_.kernel == self.map_.kernel_, "kernel_ must be of the kernel of map_")

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        parts = decomposed(self, self.decompose, X)
        if not len(parts.vectors):
            what = "bags" if self.decompose is None else "objects"
            raise ValueError(f"ConvolutionFeatures: all {what} of fit are empty; give at least one vector.")
        self._fit_map(parts.vectors, rng)
        self.has_keys_, self.seed_ = parts.keys is not None, draw_seed(rng)
        if self.has_keys_:
            self.n_features_out_ *= -(-max(int(self.n_components or 0), 1) // self.n_features_out_)
        self.kernel_ = Convolution(self.map_.kernel_, average=self.average, decompose=self.decompose)

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = super().redrawn(rng)
        other.seed_ = draw_seed(rng)
        return other

    @property
    @override
    def is_random(self) -> bool:
        return self.has_keys_ or self.map_.is_random

    def _parts(self, X: Rows) -> Decomposed:
        parts = self.kernel_.parts(X)
        if len(parts.vectors) and parts.vectors.shape[1] != self.map_.n_features_in_:
            raise ValueError(
                f"ConvolutionFeatures: the vectors of X have {parts.vectors.shape[1]} columns, and those of fit had "
                f"{self.map_.n_features_in_}. Give objects with the same columns."
            )
        if len(parts.vectors) and (parts.keys is not None) != self.has_keys_:
            given = "keys" if parts.keys is not None else "no keys"
            raise ValueError(f"ConvolutionFeatures: the parts of X have {given}, unlike those of fit.")
        return parts

    @override
    def writer(self, X: Rows) -> Writer:
        whole = self._parts(X) if self.kernel_.decompose is None else None  # bags hold their vectors already
        write_whole = None if whole is None else self.map_.writer(whole.vectors)

        def write(rows: slice, out: Array) -> None:
            if whole is not None and write_whole is not None:
                self._write(whole, write_whole, rows, out)
                return
            parts = self._parts(X[rows])
            vectors = parts.vectors.reshape(-1, self.map_.n_features_in_)
            self._write(parts, self.map_.writer(vectors), slice(0, rows.stop - rows.start), out)

        return write

    def _write(self, parts: Decomposed, write_vectors: Writer, rows: slice, out: Array) -> None:
        """Write the sums of the features of the parts of some objects, a few parts at a time."""
        out[...] = 0
        width, ends = self.map_.n_features_out_, parts.pointers
        few = max(16, _CACHED_BYTES // (out.shape[1] * out.dtype.itemsize))
        features, sums = empty((few, width), dtype=out.dtype), np.empty((1, out.shape[1]), dtype=out.dtype)
        for i in range(rows.start, rows.stop):
            for start in range(int(ends[i]), int(ends[i + 1]), few):
                stop = min(start + few, int(ends[i + 1]))
                Z = features[: stop - start]
                write_vectors(slice(start, stop), Z)
                self._sum(parts, slice(start, stop), Z, sums)
                out[i - rows.start] += sums[0]
        out *= self.kernel_.factors(parts.sizes)[rows].astype(out.dtype)[:, None]

    def _sum(self, parts: Decomposed, some: slice, Z: Array, sums: Array) -> None:
        """Write the sum of the features of some parts of an object, each weighed, and with the signs of its key."""
        if parts.weights is not None:
            Z *= parts.weights[some, None].astype(Z.dtype)
        if parts.keys is not None:
            n_copies = sums.shape[1] // Z.shape[1]
            signs = key_signs(parts.keys[some], self.seed_, sums.shape[1], Z.dtype)
            signs *= Z.dtype.type(n_copies**-0.5)
            Z = np.tile(Z, (1, n_copies)) * signs
        key_core.segment_sum(Z, np.array([0, len(Z)]), sums)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return None if self.is_random else np.zeros((X.shape[0], Y.shape[0]))

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return None

    @override
    def scratch_bytes(self, X: Rows) -> float:
        if self.kernel_.decompose is None:
            return 0.0
        per_object = float(np.mean(X.sizes)) if isinstance(X, Ragged) and len(X) else 1.0
        return per_object * self.map_.n_features_in_ * X.dtype.itemsize

    @override
    def least_features(self, n_features: int) -> int:
        return 1

    @override
    def set_width(self, n_components: int) -> None:
        super().set_width(n_components)
        self.n_components = n_components
