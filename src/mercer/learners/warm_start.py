"""Fits that begin where the last one ended."""

import pickle
from dataclasses import replace
from typing import Self

import joblib
import numpy as np

from mercer._typing import Array
from mercer.data import Blocks
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows, MapPlan, Sample, WarmStart
from mercer.learners.base import LINEAR, LinearLearner
from mercer.learners.by_newton import rows_for_gram
from mercer.solvers import Solution
from mercer.state import Count, Reals, Stored, Text


class WarmLearner(LinearLearner):
    """A linear model with ``warm_start``: it keeps the map of the last fit, and begins at its solution."""

    _stored = Stored(
        **LINEAR,
        n_iter_=Count(),
        map_hash=Text(attribute="_map_hash", nullable=True),  # of what the map depends on
        duals=Reals((None, None), attribute="_duals", nullable=True),
    )

    warm_start: bool
    _map_hash: str | None
    _duals: Array | None

    def _rows_to_survey(self, plan: MapPlan, blocks: Blocks) -> int:
        return rows_for_gram(plan, blocks)

    def _samples_y(self, plan: MapPlan) -> bool:
        return not plan.has_slabs  # the problem of the sampled rows is a start

    def _keeps_map_of(self, earlier: Self) -> bool:
        self._map_hash = self._hash(self.n_features_in_) if self.warm_start else None
        return self._map_hash is not None and self._map_hash == getattr(earlier, "_map_hash", None)

    def _map_and_start(
        self, plan: MapPlan, sample: Sample, rng: np.random.RandomState, earlier: Self
    ) -> tuple[FeatureMap, WarmStart | None]:
        if not self._keeps_map_of(earlier):
            return super()._map_and_start(plan, sample, rng, earlier)
        # The coefficients of the last fit have a meaning on the same map only.
        coef = np.vstack([np.atleast_2d(earlier.coef_).T, np.atleast_1d(earlier.intercept_)])
        return earlier.feature_map_, WarmStart(coef, earlier._duals)

    def _keep(self, solution: Solution, rows: FeatureRows) -> None:
        details = dict(solution.details)
        duals = details.pop("duals", None)  # as many as rows: kept only to start from
        super()._keep(replace(solution, details=details), rows)
        self._duals = duals if self.warm_start else None

    def _hash(self, n_columns: int) -> str | None:
        """Return a hash of all that the map depends on besides the rows, None if a parameter cannot be pickled."""
        try:
            chosen = (self.kernel, self.n_components, self.features, self.random_state, n_columns)
            return str(joblib.hash(chosen))
        except (pickle.PicklingError, AttributeError, TypeError):  # a user's local function
            return None
