"""A map that finds in ``fit`` how many features a given error needs."""

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import LARGEST_WIDTH, FeatureMap, Writer
from mercer.features.composed.base import Wrapper
from mercer.state import Reals, Stored
from mercer.validation import check_memory, check_real

# Rows that the error is measured on, the first number of features, and the largest growth from one try to the next.
_ROWS, _FIRST_WIDTH, _MOST_GROWTH = 512, 64, 16.0
# Each try aims a little below the error that is asked for, so that few tries miss it narrowly.
_AIM = 0.95
_WAY_OUT = "Raise error, or take feature_map(kernel, n_components, method='nystroem'), whose error falls faster."


class Widened(Wrapper):
    r"""A map with as many features as a measured error needs: ``feature_map(kernel, "auto", error=0.05)``.

    The error is that of the Gram matrix, :math:`\|\hat K - K\|_F / \|K\|_F`, on 512 rows drawn from those of ``fit``
    (all of them if they are fewer): the first value of ``approximation_error``. ``fit`` draws maps of growing width, by
    the rule that the error falls as :math:`1 / \sqrt{D}`, until one has the error that is asked for, and keeps it.

    Parameters
    ----------
    map : feature map, default=TensorSketch()
        Its number of features is not used.
    error : float, default=0.05
        The largest error. None takes the map as it is.
    random_state : int, RandomState or None
        Seed of the draws; the ``random_state`` of ``map`` is not used.

    Attributes
    ----------
    map_ : fitted feature map
    kernel_ : Kernel
        That of the map.
    widths_, errors_ : ndarray
        The numbers of features tried, and the error of each; the last are those of ``map_``. Empty without an error.

    Notes
    -----
    The map that is kept is the first whose error on the sample is small enough. On other rows like them the error is
    the same on average. A target beyond the memory budget is refused with the number of features that it would take.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, feature_map
    >>> X = np.random.RandomState(0).rand(300, 4)
    >>> z = feature_map(Gaussian(gamma=1.0), "auto", error=0.05, random_state=0).fit(X)
    >>> bool(z.errors_[-1] <= 0.05), bool(z.n_features_out_ < 1000)
    (True, True)
    """

    _stored = Stored(widths_=Reals(("t",)), errors_=Reals(("t",)))
    widths_: Array
    errors_: Array

    def __init__(self, map: FeatureMap | None = None, *, error: float | None = 0.05, random_state: Seed = None):
        self.map = map
        self.error = error
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        (member,) = self.members()
        if self.error is not None:
            check_real("Widened", "error", self.error, least=0, strict=True)
        if member.domain != "rows":
            raise ValueError(
                f"Widened: features of {member.domain} are explicit, and need no error. Take "
                "mercer.features.PartFeatures(kernel, n_components=None), which is exact."
            )

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        tried: dict[int, float] = {}
        if self.error is None:
            self._fit_map(X, rng)
        else:
            rows = X[np.sort(rng.choice(X.shape[0], min(_ROWS, X.shape[0]), replace=False))]
            self._widen(X, rows, float(self.error), rng, tried)
        self.widths_, self.errors_ = np.array(list(tried), dtype=np.float64), np.array(list(tried.values()))
        self.n_features_out_, self.kernel_ = self.map_.n_features_out_, self.map_.kernel_

    def _widen(self, X: Rows, rows: Rows, target: float, rng: np.random.RandomState, tried: dict[int, float]) -> None:
        """Draw wider and wider maps until one has the error on the rows that is asked for."""
        width, K = _FIRST_WIDTH, None
        while True:
            (member,) = self.members()
            member.set_width(width)
            self._fit_members([member], X, rng)
            K = member.kernel_(rows) if K is None else K
            error = _relative_error(member.transform(rows), K)
            n_features = int(member.n_features_out_)
            if n_features in tried and error > target:
                raise ValueError(
                    f"Widened: the error of {type(member).__name__} stays {error:.2g} with all {n_features} features "
                    f"that it can use, and error={target:g} is asked for. {_WAY_OUT}"
                )
            tried[n_features] = error
            if error <= target:
                self.map_ = member
                return
            width = self._next_width(max(width, n_features), error, target, rows)

    @staticmethod
    def _next_width(width: int, error: float, target: float, rows: Rows) -> int:
        """Return the number of features that the error asks for, or refuse a number beyond memory."""
        ratio = error / (_AIM * target)
        asked = width * ratio * ratio  # inf, where a power would raise OverflowError
        n_bytes = 8 * asked * (rows.shape[0] + rows.shape[1])
        what = f"about {asked:.2g} features of {rows.shape[0]} rows, and their tables"
        if asked > LARGEST_WIDTH:
            raise ValueError(f"Widened: error={target:g} needs {what}: too many. {_WAY_OUT}")
        check_memory("Widened", "error", f"{target:g}", int(n_bytes), what, way_out=_WAY_OUT)
        return int(np.ceil(min(asked, _MOST_GROWTH * width)))

    @override
    def set_width(self, n_components: int) -> None:
        """Take the share of features that a composition gives: it takes the place of the error."""
        super().set_width(n_components)
        self.error = None

    @override
    def least_features(self, n_features: int) -> int:
        return super().least_features(n_features) if self.error is None else 1

    @override
    def writer(self, X: Rows) -> Writer:
        return self.map_.writer(X)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return self.map_.exact_variance(X, Y)

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        return self.map_.bias(X, Y)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return self.map_.largest_feature(norm, X)


def _relative_error(Z: Array, K: Array) -> float:
    """Return |Z Z' - K| / |K|; 0 where both are 0.

    >>> _relative_error(np.eye(2), 2 * np.eye(2))
    0.5
    """
    Z = np.asarray(Z, dtype=np.float64)
    missed, size = float(np.linalg.norm(Z @ Z.T - K)), float(np.linalg.norm(K))
    return missed / size if size > 0 else (0.0 if missed == 0 else np.inf)
