"""Smooth losses over rows of features: Newton-CG, preconditioned by a sample of the rows."""

import numpy as np

from mercer.fitting import FeatureRows
from mercer.solvers import Loss, Solution, gram_preconditioner, newton_cg


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
    start = np.zeros(shape) if rows.start is None or rows.start.coef.shape != shape else rows.start.coef
    return newton_cg(
        loss,
        rows.reduce,
        start,
        penalty=penalty,
        intercept_penalty=intercept_penalty,
        precondition=gram_preconditioner(rows.sample_gram(), penalty, intercept_penalty),
        tol=tol,
        gap_tol=gap_tol,
        max_iter=max_iter,
        eps=float(np.finfo(rows.dtype).eps),
    )
