"""Steps of online learning on rows of features: gradient descent, AdaGrad, and online Newton by blocks of rows."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from mercer import core
from mercer._typing import Array
from mercer.parallel import for_each_block, one_blas_thread, row_blocks
from mercer.reference.online import LOSSES
from mercer.validation import check_memory, check_real

UPDATES = ("newton", "adagrad", "gradient")
SCHEDULES = ("sqrt", "constant", "inverse")
# Rows that a Newton step's matrix is changed for at once: the products are then BLAS's, and the loop within the block
# stays a small part of the work.
NEWTON_ROWS = 128
# Rows of a D x D matrix that a thread takes at a time; fixed, so that the bits do not depend on the threads.
_MATRIX_ROWS = 256


@dataclass(frozen=True)
class Rule:
    """How a learner steps: the loss by its number, the update, and what the update needs."""

    loss: int
    update: str
    alpha: float
    step: float
    schedule: str

    @classmethod
    def of(cls, owner: str, params: Any, losses: tuple[str, ...]) -> "Rule":
        """Check the parameters of an estimator."""
        for name, value, known in (
            ("loss", params.loss, losses),
            ("update", params.update, UPDATES),
            ("schedule", params.schedule, SCHEDULES),
        ):
            if not isinstance(value, str) or value not in known:
                raise ValueError(f"{owner}: {name} must be one of {list(known)}, got {value!r}.")
        alpha = check_real(owner, "alpha", params.alpha, least=0, strict=True)
        step = check_real(owner, "step", params.step, least=0, strict=True)
        return cls(LOSSES.index(params.loss), params.update, alpha, step, params.schedule)

    def lengths(self, n_seen: int, n_rows: int) -> Array:
        """Return the step lengths of the next rows: step, step / sqrt(t) or step / t for the t-th row of the stream."""
        t = np.arange(n_seen + 1, n_seen + n_rows + 1, dtype=np.float64)
        lengths: Array = self.step * t ** {"constant": 0.0, "sqrt": -0.5, "inverse": -1.0}[self.schedule]
        return lengths


def losses_of(loss: int, scores: Array, y: Array) -> Array:
    """Return the loss of each row: a value for every row of scores (n, k)."""
    name = LOSSES[loss]
    if scores.shape[1] == 1:
        score = scores[:, 0]
        if name == "squared":
            return np.asarray(0.5 * (score - y) ** 2)
        if name == "absolute":
            return np.asarray(np.abs(score - y))
        margins = (y * score)[:, None]
    else:
        belongs = np.arange(scores.shape[1]) == y[:, None]
        own = scores[belongs]
        if name == "logistic":
            return np.asarray(np.logaddexp.reduce(scores, axis=1) - own)
        if name == "hinge":
            margins = (own - np.where(belongs, -np.inf, scores).max(axis=1))[:, None]
        else:
            margins = np.where(belongs, scores, -scores)
    if name == "logistic":
        return np.asarray(np.logaddexp(0, -margins[:, 0]))
    lacking = np.maximum(1 - margins, 0)
    return np.asarray(lacking[:, 0] if name == "hinge" else 0.5 * (lacking**2).sum(axis=1))


def with_constant(Z: Array) -> Array:
    """Return features with a constant one appended, whose weight is the intercept."""
    wide = np.empty((Z.shape[0], Z.shape[1] + 1), dtype=Z.dtype)
    wide[:, :-1], wide[:, -1] = Z, 1.0
    return wide


@dataclass(frozen=True)
class Weights:
    """Weights (k, D) on features, with what the update carries: sums of squares, or A^-1 of the Newton steps.

    Never changed in place: ``learn`` returns others, so that an interrupted block leaves no trace.
    """

    coef: Array
    squares: Array
    inverse: Array

    @classmethod
    def zeros(cls, owner: str, rule: Rule, n_columns: int, n_features: int) -> "Weights":
        """Return weights of 0 before the first row."""
        coef = np.zeros((n_columns, n_features))
        squares = np.zeros((n_columns if rule.update == "adagrad" else 0, n_features))
        inverse = np.zeros((0, 0))
        if rule.update == "newton":
            what = f"the inverse curvature of update='newton', {n_features} x {n_features} and twice so while it learns"
            check_memory(owner, "n_components", n_features - 1, 3 * 8 * n_features**2, what)
            inverse = np.eye(n_features) / rule.alpha
        return cls(coef, squares, inverse)

    def learn(self, rule: Rule, Z: Array, y: Array, n_seen: int) -> tuple["Weights", Array]:
        """Learn the rows of Z in turn; return the weights after and the scores before each row."""
        scores = np.zeros((len(Z), len(self.coef)))
        if rule.update == "newton":
            return self._by_newton(rule, Z, y, scores), scores
        coef, squares = self.coef.copy(), self.squares.copy()
        core.online_gradient(Z, y, rule.loss, rule.lengths(n_seen, len(Z)), coef, squares, scores)
        return replace(self, coef=coef, squares=squares), scores

    def _by_newton(self, rule: Rule, Z: Array, y: Array, scores: Array) -> "Weights":
        coef, inverse = self.coef.copy(), self.inverse.copy()
        for rows in row_blocks(len(Z), NEWTON_ROWS):
            block = Z[rows].astype(np.float64, copy=False)
            images = _times(block, inverse)
            with one_blas_thread():
                scores[rows] = block @ coef.T
                steps = newton_steps(rule, images @ block.T, y[rows], scores[rows])
                if not len(steps.active):
                    continue
                directions = solve_triangular(steps.factor, images[steps.active], lower=True, check_finite=False)
                coef += steps.coef.T @ directions
            _subtract_square(inverse, directions)
        return replace(self, coef=coef, inverse=inverse)


class NewtonSteps(NamedTuple):
    """Newton steps of a block: L, the factors of the rows of L^-1 Z P in the weights, and which rows had a loss."""

    factor: Array
    coef: Array
    active: Array
    n_done: int


def newton_steps(rule: Rule, gram: Array, y: Array, scores: Array, limit: int | None = None) -> NewtonSteps:
    """Take the steps of a block of rows known by gram = Z P Z^T, until ``limit`` rows have had a loss.

    ``scores`` become those before each row; see ``reference.online_newton``.
    """
    n, k = scores.shape
    factor, coef = np.zeros((n, n)), np.zeros((n, k))
    active, counts = np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64)
    core.online_newton(gram, y, rule.loss, n if limit is None else limit, scores, factor, coef, active, counts)
    n_done, n_active = counts.tolist()
    active = active[:n_active]
    return NewtonSteps(np.ascontiguousarray(factor[:n_active, active].T), coef[:n_active], active, n_done)


def _times(Z: Array, inverse: Array) -> Array:
    """Return Z P, in parts that the threads share."""
    out = np.empty_like(Z)

    def work(columns: slice) -> None:
        np.matmul(Z, inverse[:, columns], out=out[:, columns])

    for_each_block(work, row_blocks(len(inverse), _MATRIX_ROWS))
    return out


def _subtract_square(inverse: Array, directions: Array) -> None:
    """Subtract U^T U, in parts that the threads share."""

    def work(rows: slice) -> None:
        inverse[rows] -= directions[:, rows].T @ directions

    for_each_block(work, row_blocks(len(inverse), _MATRIX_ROWS))
