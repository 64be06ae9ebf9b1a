"""Steps of online learning on rows of features: gradient descent, AdaGrad, and online Newton by blocks of rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from math import floor, log
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from mercer import core
from mercer._typing import Array
from mercer.parallel import in_turns, one_blas_thread, row_blocks
from mercer.state import Reals, Sizes, Stored, part, require
from mercer.validation import check_memory, check_real

UPDATES = ("newton", "adagrad", "gradient")
SCHEDULES = ("sqrt", "constant", "inverse")
# The matrix of the Newton steps is updated once per so many rows: as matrix products, next to which the loop over the
# rows is a small part of the work.
NEWTON_ROWS = 128
# Rows of a D x D matrix that a thread takes at a time: fixed, so that the bits do not depend on the threads.
_MATRIX_ROWS = 256
# Threads share the matrix if it has so many rows: for a second slice of fewer, waking a thread does not pay.
_SHARED_MATRIX_ROWS = 384


class StepParams(Protocol):
    """The parameters of an estimator that say how it steps."""

    loss: str
    update: str
    alpha: float
    step: float
    schedule: str
    decay: float


@dataclass(frozen=True)
class Rule:
    """The steps of a learner: the number of the loss, the update, and the parameters of the update."""

    loss: int
    update: str
    alpha: float
    step: float
    schedule: str
    decay: float = 1.0

    @classmethod
    def of(cls, owner: str, params: StepParams, losses: tuple[str, ...]) -> "Rule":
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
        decay = check_decay(owner, params.decay)
        return cls(core.LOSSES.index(params.loss), params.update, alpha, step, params.schedule, decay)

    def lengths(self, n_seen: int, n_rows: int) -> Array:
        """Return the step lengths of the next rows: step, step / sqrt(m) or step / m.

        m is the number of rows of the stream up to the row, each counted as ``decay`` to the power of its age: without
        decay the row's number t, else (1 - decay^t) / (1 - decay).
        """
        m = np.arange(n_seen + 1, n_seen + n_rows + 1, dtype=np.float64)
        if self.decay < 1:
            m = np.expm1(m * log(self.decay)) / (self.decay - 1)
        lengths: Array = self.step * m ** {"constant": 0.0, "sqrt": -0.5, "inverse": -1.0}[self.schedule]
        return lengths

    @property
    def half_life(self) -> int | None:
        """The rows after which ``decay`` has halved a weight, rounded down to at least 1; None without decay.

        So often Newton steps bring the penalty back to alpha, at fixed places of the stream.
        """
        return max(1, floor(log(0.5) / log(self.decay))) if self.decay < 1 else None

    def row_weight(self, n_seen: int, n_rows: int) -> Array:
        """Return the weights of the next rows in Newton steps, relative to those of the rows before them.

        Instead of multiplying all earlier rows by ``decay`` at each row, the row divides itself: row t of these has
        the weight decay^-t, and the sum is multiplied by decay^n_rows at the end. At most 2 within a half-life.
        """
        row_weight: Array = self.decay ** -np.arange(n_seen + 1.0, n_seen + n_rows + 1.0)
        return row_weight

    def newton_cuts(self, n_seen: int, n_rows: int) -> list[slice]:
        """Return the next rows in blocks of ``NEWTON_ROWS`` that do not cross the end of a half-life."""
        if self.half_life is None:
            return row_blocks(n_rows, NEWTON_ROWS)
        ends = range(-n_seen % self.half_life, n_rows + 1, self.half_life)
        cuts = [0, *(end for end in ends if 0 < end < n_rows), n_rows]
        return [
            slice(start + rows.start, start + rows.stop)
            for start, stop in pairwise(cuts)
            for rows in row_blocks(stop - start, NEWTON_ROWS)
        ]

    def lost_penalty(self, n_seen: int) -> float:
        """Return what the penalty has lost since the last half-life ended, if another ends after ``n_seen`` rows."""
        if self.half_life is None or n_seen % self.half_life:
            return 0.0
        return self.alpha * (1 - self.decay**self.half_life)


def check_decay(owner: str, decay: float) -> float:
    """Return ``decay`` as a float, or refuse what does not lie in (0, 1]."""
    value = check_real(owner, "decay", decay, least=0, strict=True)
    if value > 1:
        raise ValueError(f"{owner}: decay must be at most 1, got {decay!r}. 1 forgets nothing, 0.999 in 1000 rows.")
    return value


def losses_of(loss: int, scores: Array, y: Array) -> Array:
    """Return the loss of each row: a value for every row of scores (n, k)."""
    name = core.LOSSES[loss]
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


def as_classes(loss: str, rows: Array) -> Array:
    """Return rows of weights, one for each class: the single row of two classes as two with the same decisions."""
    if len(rows) > 1:
        return rows
    # the margin of two rows is their difference, except for squared hinges, which take each class against the rest
    share = 1.0 if loss == "squared_hinge" else 0.5
    return np.vstack([-share * rows, share * rows])


@part("Weights")
@dataclass(frozen=True)
class Weights:
    """Weights (k, D) on features, with what the update carries: sums of squares, or A^-1 of the Newton steps.

    Never changed in place: ``learn`` returns new weights, so that an interrupted block leaves no trace.
    """

    _stored = Stored(
        coef=Reals(("k", "f"), dtypes=(np.float64,)),
        squares=Reals((None, "f"), 0.0, dtypes=(np.float64,)),
        inverse=Reals(("n", "n"), dtypes=(np.float64,)),
    )

    coef: Array
    squares: Array
    inverse: Array

    def _check_stored(self, sizes: Sizes) -> None:
        require(len(self.squares) in (0, sizes["k"]), "squares must have the shape of coef, or no rows")
        require(sizes["n"] in (0, sizes["f"]), "inverse must have a row for each feature, or none")

    def is_of(self, update: str) -> bool:
        """Return whether these weights carry what an update needs."""
        return bool(self.inverse.size) == (update == "newton") and bool(self.squares.size) == (update == "adagrad")

    @classmethod
    def zeros(cls, owner: str, rule: Rule, n_columns: int, n_features: int) -> "Weights":
        """Return weights of 0 before the first row."""
        coef = np.zeros((n_columns, n_features))
        squares = np.zeros((n_columns if rule.update == "adagrad" else 0, n_features))
        inverse = np.zeros((0, 0))
        if rule.update == "newton":
            # one matrix, its successor, and work: two more matrices while the penalty is renewed
            n_matrices = 3 if rule.decay == 1 else 5
            what = f"{n_matrices} matrices {n_features} x {n_features} while update='newton' learns"
            check_memory(owner, "n_components", n_features - 1, n_matrices * 8 * n_features**2, what)
            inverse = np.eye(n_features) / rule.alpha
        return cls(coef, squares, inverse)

    def with_classes(self, loss: str, n_classes: int, places: Array) -> "Weights":
        """Return weights for more classes: the known ones at ``places``, the others at 0.

        Squared hinges begin at the score -1 of a class that no row was of; other losses keep the scores of a row at the
        sum 0, so that 0 is below the largest.
        """
        coef, squares = np.zeros((n_classes, self.coef.shape[1])), self.squares
        if loss == "squared_hinge":
            coef[:, -1] = -1.0
        coef[places] = as_classes(loss, self.coef)
        if len(squares):
            squares = np.zeros_like(coef)
            squares[places] = self.squares
        return replace(self, coef=coef, squares=squares)

    def learn(self, rule: Rule, Z: Array, y: Array, n_seen: int) -> tuple["Weights", Array]:
        """Learn the rows of Z in turn; return the weights after and the scores before each row."""
        scores = np.zeros((len(Z), len(self.coef)))
        if rule.update == "newton":
            return self._by_newton(rule, Z, y, scores, n_seen), scores
        coef, squares = self.coef.copy(), self.squares.copy()
        core.online_gradient(Z, y, rule.loss, rule.lengths(n_seen, len(Z)), coef, squares, scores, rule.decay)
        return replace(self, coef=coef, squares=squares), scores

    def _by_newton(self, rule: Rule, Z: Array, y: Array, scores: Array, n_seen: int) -> "Weights":
        coef, inverse = self.coef.copy(), self.inverse.copy()
        # a generator, so that the memory of a block is free once the block is learned
        blocks = (
            _NewtonBlock(rule, coef, inverse, Z[rows], y[rows], scores[rows], rule.lost_penalty(n_seen + rows.stop))
            for rows in rule.newton_cuts(n_seen, len(Z))
        )
        turns = (turn for block in blocks for turn in block.turns())
        with one_blas_thread():
            if len(inverse) < _SHARED_MATRIX_ROWS:
                for task in chain.from_iterable(turns):
                    task()
            else:
                in_turns(turns)
        return replace(self, coef=coef, inverse=inverse)


class _NewtonBlock:
    """Rows to learn by Newton's steps, as tasks that change coef (k, D), the inverse P (D, D) and the scores in place.

    The products with P are cut into slices of its columns and rows, which the threads share. At the end,
    ``lost_penalty`` is added to the diagonal of A.
    """

    def __init__(self, rule: Rule, coef: Array, inverse: Array, Z: Array, y: Array, scores: Array, lost_penalty: float):
        self._rule, self._coef, self._inverse = rule, coef, inverse
        self._Z, self._y, self._scores, self._lost_penalty = Z, y, scores, lost_penalty

    def turns(self) -> Iterator[list[Callable[[], None]]]:
        """Yield the tasks, turn by turn."""
        slices = row_blocks(len(self._inverse), _MATRIX_ROWS)
        self._Z = self._Z.astype(np.float64, copy=False)
        self._images = np.empty_like(self._Z)
        yield [partial(self._multiply, columns) for columns in slices]
        yield [self._step]
        yield [partial(self._subtract_square, rows) for rows in slices]
        if self._lost_penalty:
            yield [self._renew_penalty]

    def _multiply(self, columns: slice) -> None:
        """Set a slice of the columns of Z P."""
        np.matmul(self._Z, self._inverse[:, columns], out=self._images[:, columns])

    def _step(self) -> None:
        """Take the steps of the rows in turn, with the products alone."""
        self._scores[:] = self._Z @ self._coef.T
        row_weight = self._rule.row_weight(0, len(self._Z))
        steps = newton_steps(self._rule, self._images @ self._Z.T, self._y, row_weight, self._scores)
        images, self._directions = self._images[steps.active], self._images[:0]
        if len(images):
            self._directions = solve_triangular(steps.factor, images, lower=True, check_finite=False)
            self._coef += steps.coef.T @ self._directions

    def _subtract_square(self, rows: slice) -> None:
        """Subtract U^T U from a slice of the rows of P, with U the steps' directions, and divide it by decay^n."""
        if len(self._directions):
            self._inverse[rows] -= self._directions[:, rows].T @ self._directions
        if self._rule.decay < 1:
            self._inverse[rows] /= self._rule.decay ** len(self._Z)

    def _renew_penalty(self) -> None:
        """Set A to A + p I, and the weights to the minimum with it: P to (I + p P)^-1 P and w to (I + p P)^-1 w."""
        changed = self._lost_penalty * self._inverse
        changed[np.diag_indices_from(changed)] += 1
        factor = cho_factor(changed, overwrite_a=True, check_finite=False)
        self._coef[:] = cho_solve(factor, self._coef.T, check_finite=False).T
        inverse = cho_solve(factor, self._inverse, check_finite=False)
        np.add(inverse, inverse.T, out=self._inverse)
        self._inverse /= 2


class NewtonSteps(NamedTuple):
    """Newton steps of a block: L, the factors of the rows of L^-1 Z P in the weights, and which rows had a loss."""

    factor: Array
    coef: Array
    active: Array
    n_done: int


def newton_steps(
    rule: Rule, gram: Array, y: Array, row_weight: Array, scores: Array, limit: int | None = None
) -> NewtonSteps:
    """Take the steps of a block of rows known by gram = Z P Z^T, until ``limit`` rows have had a loss.

    ``scores`` become those before each row; see ``reference.online_newton``.
    """
    n, k = scores.shape
    factor, coef = np.zeros((n, n)), np.zeros((n, k))
    active, counts = np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64)
    result = core.OnlineResult(scores, coef, active, counts)
    core.online_newton(gram, y, rule.loss, row_weight, n if limit is None else limit, factor, result)
    n_done, n_active = counts.tolist()
    active = active[:n_active]
    return NewtonSteps(np.ascontiguousarray(factor[:n_active, active].T), coef[:n_active], active, n_done)
