"""Ridge regression that grows: the moments of all rows seen so far, to which more rows are added."""

from dataclasses import dataclass
from typing import Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, RowsLike
from mercer.data import Blocks
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows, MapPlan, Sample, Survey, Targets, WarmStart
from mercer.fresh_fit import unfitted
from mercer.learners.callers import caller_level
from mercer.learners.ridge_base import Ridge
from mercer.solvers import Solution
from mercer.state import Count, Member, Real, Reals, Sizes, Stored, part, require
from mercer.stats import Moments


@part("RunningMoments")
@dataclass(frozen=True)
class RunningMoments:
    """The moments of the rows that ``partial_fit`` has seen, as a model file holds them.

    Attributes
    ----------
    n_rows : int
    weight : float
        The sum of the sample weights.
    origin, sum_features, gram : ndarray of shape (f,), (f,) and (f, f)
    target_origin, sum_targets, sum_squares : ndarray of shape (k,)
    cross : ndarray of shape (f, k)
        As in ``mercer.stats.Moments``.
    """

    _stored = Stored(
        n_rows=Count(least=1),
        weight=Real(positive=True),
        origin=Reals(("f",)),
        target_origin=Reals(("k",)),
        sum_features=Reals(("f",)),
        sum_targets=Reals(("k",)),
        gram=Reals(("f", "f")),
        cross=Reals(("f", "k")),
        sum_squares=Reals(("k",), least=0.0),
    )

    n_rows: int
    weight: float
    origin: Array
    target_origin: Array
    sum_features: Array
    sum_targets: Array
    gram: Array
    cross: Array
    sum_squares: Array

    @property
    def n_features(self) -> int:
        """The features of the map."""
        return len(self.origin)

    @classmethod
    def of(cls, moments: Moments, n_rows: int) -> "RunningMoments":
        """Keep moments."""
        return cls(n_rows, **vars(moments))

    def statistic(self) -> Moments:
        """Return a copy as a statistic, to which rows can be added."""
        kept = {name: np.array(value) for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return Moments(weight=self.weight, **kept)


class GrowingRidge(Ridge):
    """A ridge regression with ``partial_fit``: sums over rows merge, so rows may come in any number of calls."""

    _stored = Stored(
        **Ridge._stored,
        running=Member(RunningMoments, {"n_features": "f"}, attribute="_running", nullable=True, optional=True),
    )

    _running: RunningMoments | None = None
    _is_partial: bool = False

    def partial_fit(
        self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to those of earlier calls, and solve again.

        The first call draws the map, and finds the parameters of the kernel, on its rows. Later calls keep the map. The
        model is then that of one ``fit`` on all rows with this map and ``alpha="gcv"``, up to rounding: "loo" would
        need the earlier rows again, so "gcv" takes its place. The sums, a D x D matrix, stay in the model and in model
        files. Time n D^2 / 2 for n new rows, and 4/3 D^3.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``

        Returns
        -------
        self
        """
        if self.__sklearn_is_fitted__() and self._running is None:
            warn(
                f"{type(self).__name__}: fit kept no sums of its rows, so that partial_fit begins a new model with the "
                "rows of this call. Give all rows to partial_fit, the first ones too.",
                UserWarning,
                stacklevel=caller_level(),
            )
        fitted = unfitted(self)
        fitted._is_partial = True
        if self._running is not None:  # the same columns as before
            fitted.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                fitted.feature_names_in_ = self.feature_names_in_
        with self._threads(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fitted._fit(X, y, sample_weight, self)
        del fitted._is_partial
        return self._take(fitted)

    def _keeps_map_of(self, earlier: Self) -> bool:
        return self._is_partial and earlier._running is not None

    def _map_and_start(
        self, plan: MapPlan, sample: Sample, rng: np.random.RandomState, earlier: Self
    ) -> tuple[FeatureMap, WarmStart | None]:
        if not self._keeps_map_of(earlier):
            return super()._map_and_start(plan, sample, rng, earlier)
        self._running, self._earlier_limits = earlier._running, (earlier._far_limits, earlier._far_margins)
        return earlier.feature_map_, None

    def _set_far_limits(self, feature_map: FeatureMap, survey: Survey) -> None:
        """Keep the widest limits of all calls."""
        super()._set_far_limits(feature_map, survey)
        limits, margins = self.__dict__.pop("_earlier_limits", (None, None))
        if limits is not None and self._far_limits is not None and self._far_margins is not None:
            low, high = zip(limits, self._far_limits, strict=True)
            self._far_limits = np.stack([np.minimum(*low), np.maximum(*high)])
            self._far_margins = np.maximum(margins, self._far_margins)

    def _solve(self, rows: FeatureRows) -> Solution:
        if not self._is_partial:
            return super()._solve(rows)
        if not self._is_direct(rows):
            raise ValueError(
                f"{type(self).__name__}: partial_fit keeps a matrix of {rows.n_features} x {rows.n_features}, which "
                "sparse features or the memory do not allow. Take fewer or dense features, or fit."
            )
        earlier = self._running
        self._check_targets(rows.targets.n_columns, earlier)
        moments, n_rows = self._moments_of(rows, None if earlier is None else earlier.statistic()), rows.n_rows
        n_rows += 0 if earlier is None else earlier.n_rows
        self._running = RunningMoments.of(moments, n_rows)
        return self._of_moments(rows, self._running.statistic(), self._alphas(), n_rows, by_rows=False)

    def _check_targets(self, n_columns: int, earlier: RunningMoments | None) -> None:
        if earlier is not None and len(earlier.target_origin) != n_columns:
            raise ValueError(
                f"{type(self).__name__}: y has {n_columns} column(s), and had {len(earlier.target_origin)} in the "
                "first call to partial_fit. Give the same targets in every call."
            )

    def _prior_scores(self, targets: Targets) -> Array:
        """Return the mean of y over all calls."""
        known = self._running
        return super()._prior_scores(targets) if known is None else known.statistic().target_mean

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_targets = 1 if self.coef_.ndim == 1 else len(self.coef_)
        known = self._running
        require(known is None or len(known.target_origin) == n_targets, "running must have sums for each target")
