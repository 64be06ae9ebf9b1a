"""A model without trees, against which boosted trees are compared, on rows that both have not seen."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.shares import BestShare
from mercer.learners.local.units import error_of_rows, error_units

# Trees are worth the time of all folds if their error is at most this multiple of that without trees, or if a mean of
# both takes this part off it. Fewer rows say nothing of a gain.
_BEHIND, _WORTHWHILE, _LEAST_ROWS = 1.15, 0.01, 100


@dataclass(frozen=True)
class WithoutTrees:
    """A model without trees, which knows its residuals on some rows.

    Errors of all rows are no measure of its error: some rows are harder than others, those of large targets most of
    all. So trees are compared with it on the rows that it has judged.

    Parameters
    ----------
    held : HeldTargets
        Targets of about variance 1.
    rows : ndarray of int
        The numbers of the rows.
    residuals : ndarray of shape (m, k)
        Their leave-one-out residuals.
    """

    held: HeldTargets[Targets]
    rows: Array
    residuals: Array

    def multiple(self, rows: Array, predicted: Array) -> float:
        """Return the error of predictions of some rows as a multiple of that of this model, on the same rows."""
        some, own, of_trees = self._common(rows, predicted)
        least = np.finfo(np.float64).tiny
        return error_of_rows(self.held, of_trees, some) / max(error_of_rows(self.held, own, some), least)

    def gains(self, rows: Array, predicted: Array) -> bool:
        """Return whether trees that predict some rows so are worth the time of all folds."""
        some, own, of_trees = self._common(rows, predicted)
        if len(some) < _LEAST_ROWS or self.multiple(rows, predicted) < _BEHIND:
            return True
        best = BestShare.of(own, of_trees, self.held.weight[some], error_units(self.held))
        least = _WORTHWHILE * error_of_rows(self.held, own, some) * own.shape[1]
        return bool(best.gain > least)

    def _common(self, rows: Array, predicted: Array) -> tuple[Array, Array, Array]:
        """Return the rows that both have judged, with the residuals of this model and those of the predictions."""
        some, at, place = np.intersect1d(self.rows, rows, assume_unique=True, return_indices=True)
        return some, self.residuals[at], self.held.Y[some] - predicted[place]
