"""Losses over rows of features by Newton-CG, preconditioned by a sample of the rows."""

import numpy as np

from mercer._typing import Array
from mercer.checkpoints import recorded
from mercer.data import Blocks
from mercer.fitting import FeatureRows, MapPlan, SampledRows, curved_gram
from mercer.fitting.sampled_rows import MOST_GRAM_ROWS_PER_FEATURE
from mercer.solvers import (
    Loss,
    PlainLoss,
    Solution,
    gram_preconditioner,
    low_rank_preconditioner,
    newton_cg,
    smoothed_newton,
)
from mercer.watching import unwatched

# Most bytes of the rows that are sampled for a preconditioner, and how many entries a CSR row is taken to have.
_SAMPLE_BYTES, _CSR_ENTRIES = 2**28, 256
# How closely the problem of sampled rows is solved: its solution is as far from that of all rows.
_SAMPLE_TOL = 1e-2


def rows_for_gram(plan: MapPlan, blocks: Blocks) -> int:
    """Return how many rows the survey samples for a preconditioner: 128 per feature, if they take at most 256 MiB.

    The preconditioner of features in slabs takes the sample that the map is fitted on.
    """
    if plan.has_slabs:
        return 0
    entries = min(blocks.width, _CSR_ENTRIES) if blocks.is_sparse else blocks.width
    return min(MOST_GRAM_ROWS_PER_FEATURE * plan.width, _SAMPLE_BYTES // (entries * blocks.dtype.itemsize))


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
    """Minimise a smooth loss over (D + 1, k) coefficients, with the features held if they fit.

    Where there are very many rows, the problem of a sample of them is solved first. Its solution is the start, and its
    Hessian there the preconditioner.
    """
    rows.hold()
    sampled, start = SampledRows(rows), _start(rows, shape)
    if rows.is_wide:
        precondition = low_rank_preconditioner(sampled.leading_part(), penalty, intercept_penalty)
    else:
        gram = sampled.gram()
        if not start.any() and (few := sampled.problem()) is not None:
            share = few.n_rows / rows.n_rows
            start, gram = _solved_first(few, gram, loss, start, share * penalty, share * intercept_penalty, max_iter)
        precondition = gram_preconditioner(gram, penalty, intercept_penalty)
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


def _start(rows: FeatureRows, shape: tuple[int, int]) -> Array:
    """Return the solution of the last fit if it is of this shape, else zeros."""
    return np.zeros(shape) if rows.start is None or rows.start.coef.shape != shape else rows.start.coef


def _solved_first(
    rows: FeatureRows,
    gram: Array,
    loss: Loss,
    start: Array,
    penalty: float,
    intercept_penalty: float,
    max_iter: int,
) -> tuple[Array, Array]:
    """Return the solution for sampled rows, and their Gram matrix with the curvatures there for a preconditioner."""
    with recorded(None), unwatched():
        rows.hold()
        found = newton_cg(
            loss,
            rows.reduce,
            start,
            penalty=penalty,
            intercept_penalty=intercept_penalty,
            precondition=gram_preconditioner(gram, penalty, intercept_penalty),
            tol=_SAMPLE_TOL,
            max_iter=max_iter,
            eps=float(np.finfo(rows.dtype).eps),
        ).value
        curved = curved_gram(rows, loss, found)
    return found, gram if curved is None else curved


def by_smoothed_newton(rows: FeatureRows, loss: PlainLoss, *, C: float, tol: float, max_passes: int) -> Solution:
    """Minimise a hinge or an insensitive loss by smoothing it; no state per row is kept."""
    shape = (rows.n_features + 1, rows.targets.n_columns)
    return smoothed_newton(
        loss,
        rows.reduce,
        _start(rows, shape),
        C=C,
        precondition=gram_preconditioner(SampledRows(rows).gram(), 1.0, 1.0),
        tol=tol,
        max_passes=max_passes,
        eps=float(np.finfo(rows.dtype).eps),
    )
