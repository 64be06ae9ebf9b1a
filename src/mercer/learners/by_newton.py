"""Losses over rows of features by Newton-CG, preconditioned by a sample of the rows."""

import numpy as np

from mercer.data import Blocks
from mercer.fitting import FeatureRows, MapPlan
from mercer.fitting.feature_rows import GRAM_ROWS_PER_FEATURE
from mercer.solvers import (
    Loss,
    PlainLoss,
    Solution,
    gram_preconditioner,
    low_rank_preconditioner,
    newton_cg,
    smoothed_newton,
)

# Most bytes of the rows that are sampled for a preconditioner, and how many entries a CSR row is taken to have.
_SAMPLE_BYTES, _CSR_ENTRIES = 2**28, 256


def rows_for_gram(plan: MapPlan, blocks: Blocks) -> int:
    """Return how many rows the survey samples for a preconditioner: 32 per feature, if they take at most 256 MiB.

    The preconditioner of features in slabs takes the sample that the map is fitted on.
    """
    if plan.has_slabs:
        return 0
    entries = min(blocks.width, _CSR_ENTRIES) if blocks.is_sparse else blocks.width
    return min(GRAM_ROWS_PER_FEATURE * plan.width, _SAMPLE_BYTES // (entries * blocks.dtype.itemsize))


def by_newton_cg(
    rows: FeatureRows,
    loss: Loss,
    shape: tuple[int, int],
    *,
    penalty: float,
    intercept_penalty: float = 0.0,
    tol: float,
    gap_tol: float = 0.0,
    max_iter: int,
) -> Solution:
    """Minimise a smooth loss over (D + 1, k) coefficients, with the features held if they fit."""
    rows.hold()
    if rows.is_wide:
        precondition = low_rank_preconditioner(rows.leading_part(), penalty, intercept_penalty)
    else:
        precondition = gram_preconditioner(rows.sample_gram(), penalty, intercept_penalty)
    start = np.zeros(shape) if rows.start is None or rows.start.coef.shape != shape else rows.start.coef
    return newton_cg(
        loss,
        rows.reduce,
        start,
        penalty=penalty,
        intercept_penalty=intercept_penalty,
        precondition=precondition,
        tol=tol,
        gap_tol=gap_tol,
        max_iter=max_iter,
        eps=float(np.finfo(rows.dtype).eps),
    )


def by_smoothed_newton(rows: FeatureRows, loss: PlainLoss, *, C: float, tol: float, max_passes: int) -> Solution:
    """Minimise a hinge or an insensitive loss by smoothing it; no state per row is kept."""
    shape = (rows.n_features + 1, rows.targets.n_columns)
    return smoothed_newton(
        loss,
        rows.reduce,
        np.zeros(shape) if rows.start is None or rows.start.coef.shape != shape else rows.start.coef,
        C=C,
        precondition=gram_preconditioner(rows.sample_gram(), 1.0, 1.0),
        tol=tol,
        max_passes=max_passes,
        eps=float(np.finfo(rows.dtype).eps),
    )
