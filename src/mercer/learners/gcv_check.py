"""Whether generalised cross-validation can be trusted: its score against the leave-one-out error at the alpha it chose.

Generalised cross-validation replaces the leverage h_i of each row by the mean leverage. A few rows far from all others
have a leverage near 1: the model passes through them whatever the penalty, so that their residuals are small. The
score then falls for penalties that are much too small. The leave-one-out error, mean of (r_i / (1 - h_i))^2, sees it.

Leverages are first estimated from 8 random signs (Johnson and Lindenstrauss, 1984), in n D 8 multiplications; where
this estimate is above 1/16, from 16 more. They are computed exactly, in D^2 / 2 multiplications per row, only where
both together are above 1/8. A leverage of 1/2 is estimated below these bounds with a probability of 0.002.
"""

from dataclasses import dataclass
from warnings import warn

import numpy as np

from mercer import core
from mercer._typing import Array
from mercer.data.sources.arrays import ArraySource
from mercer.fitting import FeatureRows
from mercer.learners.callers import caller_level
from mercer.learners.penalised_moments import SIGNS, PenalisedMoments
from mercer.stats import Totals

# Estimated leverage from which more signs are taken, how many, and that from which the leverage is computed exactly.
_DOUBTFUL, _MORE_SIGNS, _HIGH = 0.0625, 16, 0.125
# The score is wrong where the leave-one-out error is so many times as large.
_WRONG = 1.5
# Leverage from which the warning counts a row: leaving it out at least doubles its residual.
_COUNTED = 0.5
# Least number of rows per feature for a judgement.
_ROWS_PER_FEATURE = 8


@dataclass(frozen=True)
class LeftOut:
    """The leave-one-out error of one alpha, and the number of rows whose leverage is at least 1/2."""

    error: float
    n_high: int


def warn_if_fooled(owner: str, rows: FeatureRows, system: PenalisedMoments, coef: Array, score: float) -> None:
    """Warn if the leave-one-out error at alpha is more than 1.5 times the score of generalised cross-validation.

    This takes one more pass over the rows, so it is done only for rows in memory. With fewer than 8 rows per
    feature nothing is said: leverages are high for many rows, and scores are noisy.
    """
    if not isinstance(rows.blocks.reader, ArraySource) or rows.n_rows < _ROWS_PER_FEATURE * rows.n_features:
        return
    found = left_out(rows, system, coef)
    if found is None or not found.error > _WRONG * score:
        return
    warn(
        f"{owner}: alpha='gcv' chose alpha={system.alpha:.2g} by a score of {score:.3g}, but the leave-one-out error "
        f"there is {found.error:.3g}: {found.n_high} of {rows.n_rows} rows have a leverage of 1/2 or more, which "
        "generalised cross-validation does not see. Write alpha='loo', or clip columns with long tails.",
        UserWarning,
        stacklevel=caller_level(),
    )


def left_out(rows: FeatureRows, system: PenalisedMoments, coef: Array) -> LeftOut | None:
    """Return the leave-one-out error of the coefficients (D, n_targets); None where G + alpha I has no factor."""
    sketch, more = system.sketch, system.sketch_of(_MORE_SIGNS, seed=1)
    if sketch is None or more is None:
        return None
    moments, n_targets = system.moments, coef.shape[1]
    mean, centre = moments.feature_mean, moments.target_mean
    both = np.hstack([coef, sketch])
    both_of_mean, weights = mean @ both, both.astype(rows.dtype)

    def work(Z: Array, Y: Array, weight: Array | None) -> Totals:
        products = core.scores(Z, weights) - both_of_mean  # one product for both, and no centred copy of Z
        errors = Y - centre - products[:, :n_targets]
        leverage = np.square(products[:, n_targets:]).sum(axis=1)
        _refine(leverage, Z, system, more)
        count = np.ones(len(Y)) if weight is None else weight
        taken = count if weight is None else np.minimum(weight, rows.targets.weight_of_one(Y))
        leverage = taken * (leverage + 1.0 / moments.weight)
        remains = np.maximum(1.0 - leverage, np.finfo(Z.dtype).eps)
        squares = np.square(errors / remains[:, None]).sum(axis=1)
        return Totals(np.array([count @ squares, np.count_nonzero(leverage >= _COUNTED)]))

    error, n_high = rows.reduce("leverages", work, Totals.of(2)).values
    return LeftOut(float(error / moments.weight), int(n_high))


def _refine(leverage: Array, Z: Array, system: PenalisedMoments, more: Array) -> None:
    """Estimate leverages that may be high from more signs, and compute those that are high by both estimates."""
    doubtful = np.flatnonzero(leverage > _DOUBTFUL)
    centred = Z[doubtful] - system.moments.feature_mean
    further = np.square(centred @ more).sum(axis=1)
    estimate = (SIGNS * leverage[doubtful] + _MORE_SIGNS * further) / (SIGNS + _MORE_SIGNS)
    is_high = estimate > _HIGH
    estimate[is_high] = system.leverages(centred[is_high])
    leverage[doubtful] = estimate
