"""Maps of transformed rows: rows with scaled columns, and rows with some of the columns."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.kernels import Columns, Kernel, Linear, ScaledColumns, TransformedKernel
from mercer.kernels.frequencies import reaches_on_all_columns
from mercer.state import Member, Sizes, Stored, require


class _Transformed(Wrapper):
    """A map of transformed rows. A subclass writes ``wrapped``, which applies the same transformation to a kernel."""

    _stored = Stored(
        map_=Member(FeatureMap, {"n_features_in_": "inner", "n_features_out_": "D"}),
        applied=Member((Linear, TransformedKernel), attribute="_applied"),
    )
    _applied: Kernel

    @abstractmethod
    def wrapped(self, kernel: Kernel) -> Kernel:
        """Return the given kernel on transformed rows; the parameters define the transformation."""

    @property
    def transformation(self) -> Kernel:
        """The transformation of ``fit``, as a kernel of transformed rows; ``Linear()`` where rows stay as they are."""
        return self._applied

    def _transformed(self, X: Rows) -> Rows:
        """Transform rows as in ``fit``."""
        return _apply(self._applied, X)

    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._applied = self.wrapped(Linear())  # an immutable copy: later changes of the parameters have no effect
        self._fit_map(self._transformed(X), rng)
        self.kernel_ = self.wrapped(self.map_.kernel_)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        width = self._transformed(np.empty((0, sizes["d"]))).shape[1]
        require(width == sizes["inner"], "map_ must have the number of selected columns")

    def most_features(self, n_features: int) -> float:
        return super().most_features(self.width_of(n_features))

    def least_features(self, n_features: int) -> int:
        return super().least_features(self.width_of(n_features))

    def width_of(self, n_features: int) -> int:
        """Return the number of columns after the transformation of ``n_features`` columns."""
        return int(_apply(self.wrapped(Linear()), np.empty((0, n_features))).shape[1])

    def writer(self, X: Rows) -> Writer:
        return self.map_.writer(self._transformed(X))

    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return self.map_.exact_variance(self._transformed(X), self._transformed(Y))

    def bias(self, X: Array, Y: Array) -> Array | float:
        return self.map_.bias(self._transformed(X), self._transformed(Y))

    def reaches(self, n_features: int, level: float) -> Array | None:
        wrapped = self.wrapped(Linear())
        width = self._transformed(np.empty((0, n_features))).shape[1]
        inner = self.map_.reaches(width, level)
        if inner is None or not isinstance(wrapped, ScaledColumns | Columns):
            return inner
        return reaches_on_all_columns(wrapped, inner, n_features)


def _apply(kernel: Kernel, X: Rows) -> Rows:
    return kernel.apply(X) if isinstance(kernel, TransformedKernel) else X


class ScaleColumns(_Transformed):
    """The map of ``ScaledColumns(kernel, weights)``: a map of the columns times their weights.

    Parameters
    ----------
    map : feature map, default=TensorSketch()
    weights : sequence of float or None
        The factor of each column; None: no scaling.
    random_state : int, RandomState or None
        Seed of the draw; the ``random_state`` of ``map`` is not used.

    Attributes
    ----------
    map_ : fitted feature map
    kernel_ : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures
    >>> from mercer.features import ScaleColumns
    >>> ScaleColumns(LinearFeatures(), weights=[2.0, 0.0]).fit_transform(np.eye(2))
    array([[2., 0.],
           [0., 0.]])
    """

    def __init__(
        self, map: FeatureMap | None = None, *, weights: Sequence[float] | None = None, random_state: Seed = None
    ):
        self.map = map
        self.weights = weights
        self.random_state = random_state

    @override
    def wrapped(self, kernel: Kernel) -> Kernel:
        return kernel if self.weights is None else ScaledColumns(kernel, self.weights)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        largest = float(np.abs(self._applied.weights).max()) if isinstance(self._applied, ScaledColumns) else 1.0
        return self.map_.largest_feature(largest * norm, X)


class SelectColumns(_Transformed):
    """The map of ``Columns(kernel, columns)``: a map of some of the columns.

    Parameters
    ----------
    map : feature map, default=TensorSketch()
    columns : sequence of int or None
        Column numbers, from 0; None takes all.
    random_state : int, RandomState or None
        Seed of the draw; the ``random_state`` of ``map`` is not used.

    Attributes
    ----------
    map_ : fitted feature map
    kernel_ : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures
    >>> from mercer.features import SelectColumns
    >>> SelectColumns(LinearFeatures(), columns=[1]).fit_transform(np.eye(2))
    array([[0.],
           [1.]])
    """

    def __init__(
        self, map: FeatureMap | None = None, *, columns: Sequence[int] | None = None, random_state: Seed = None
    ):
        self.map = map
        self.columns = columns
        self.random_state = random_state

    @override
    def wrapped(self, kernel: Kernel) -> Kernel:
        return kernel if self.columns is None else Columns(kernel, self.columns)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return self.map_.largest_feature(norm, X)
