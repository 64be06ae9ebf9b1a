"""Online learning with the kernel itself, while the rows that had a loss are few."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer import core
from mercer._typing import Array, Rows
from mercer.features import Nystroem
from mercer.kernels import Kernel
from mercer.learners.online.steps import Rule, Weights, as_classes, newton_steps, with_constant
from mercer.parallel import one_blas_thread
from mercer.state import Either, Member, Reals, Sizes, Stored, part, require
from mercer.state import Rows as StoredRows
from mercer.structures import Ragged
from mercer.structures.ragged import stack_rows

# The largest 1 / (v c) of a row: its coefficient is then 0 but for rounding, and nothing overflows.
_FORGOTTEN = 1e30
# The largest logarithm of a growth: beyond it a row is forgotten in any case, and its exponential would overflow.
_MOST_GROWTH = 200.0


@part("Support")
@dataclass(frozen=True)
class Support:
    """The rows that had a loss and their coefficients in f(x) = sum_i coef_i (k(x_i, x) + 1), one column per score.

    The 1 is a constant feature, so the sum of the coefficients is the intercept. Newton steps are those on explicit
    features, of which only inner products are needed: with L L^T = diag(1 / (v c)) + (K + 1) / alpha over the rows,
    which have the weights v, and rho the factors of the rows of L^-1 Z / alpha in the weights, coef = L^-T rho / alpha.
    The weights v are relative to the last row of the last half-life (``Rule.half_life``); all 1 without decay. Never
    changed in place.

    Attributes
    ----------
    kernel : Kernel
    rows : array or CSR matrix of shape (m, d), float64
    coef : ndarray of shape (m, k)
    factor : ndarray of shape (m, m)
        L, with Newton steps only.
    rho : ndarray of shape (m, k)
    """

    _stored = Stored(
        kernel=Member(Kernel),
        rows=Either((StoredRows(("m", "d")), Member(Ragged, {"n_objects": "m"}))),
        coef=Reals(("m", "k"), dtypes=(np.float64,)),
        factor=Reals(("n", "n"), dtypes=(np.float64,)),
        rho=Reals(("n", "k"), dtypes=(np.float64,)),
    )

    kernel: Kernel
    rows: Rows
    coef: Array
    factor: Array
    rho: Array

    def _check_stored(self, sizes: Sizes) -> None:
        require(self.kernel.is_resolved, "the kernel must have numbers for parameters")
        require(isinstance(self.rows, Ragged) == (self.kernel.domain != "rows"), "rows must be of the kernel's domain")
        require(sizes["n"] in (0, sizes["m"]), "factor must have a row for each of the rows, or none")
        require(np.all(np.diagonal(self.factor) > 0), "factor must have a positive diagonal")

    def is_of(self, update: str) -> bool:
        """Return whether these rows carry what an update needs."""
        return len(self.factor) == (len(self.coef) if update == "newton" else 0)

    @classmethod
    def none(cls, kernel: Kernel, X: Rows, n_columns: int) -> "Support":
        """Return the state before the first row, for rows like those of X."""
        return cls(kernel, X[:0].astype(np.float64), *(np.zeros((0, n)) for n in (n_columns, 0, n_columns)))

    def with_classes(self, loss: str, n_classes: int, places: Array) -> "Support":
        """Return coefficients for more classes: the known ones at ``places``, the others at 0.

        Newton steps of squared hinges begin as if all rows had been learned as rows that are not of a new class.
        """
        coef, rho = np.zeros((len(self.coef), n_classes)), np.zeros((len(self.rho), n_classes))
        if loss == "squared_hinge" and len(self.factor):
            rho[:] = _solved(self.factor, np.full_like(rho, -1.0))
        coef[:, places], rho[:, places] = as_classes(loss, self.coef.T).T, as_classes(loss, self.rho.T).T
        return replace(self, coef=coef, rho=rho)

    def columns(self, X: Rows) -> Array:
        """Return k(X, rows) in float64."""
        if not self.rows.shape[0]:
            return np.zeros((X.shape[0], 0))
        return self.kernel(X.astype(np.float64), self.rows)

    def learn(self, rule: Rule, X: Rows, y: Array, n_seen: int, budget: int) -> tuple["Support", Array]:
        """Learn the rows of X in turn until ``budget`` rows in all have had a loss.

        Returns the state after, and the scores before each row that was learned.
        """
        state, parts = self, [np.zeros((0, self.coef.shape[1]))]
        for rows in rule.newton_cuts(n_seen, X.shape[0]):
            if len(state.coef) >= budget:  # greater if the budget was lowered between two calls
                break
            limit = min(budget - len(state.coef), rows.stop - rows.start)  # the budget may be beyond 64 bits
            first_row = n_seen + rows.start
            state, scores = state.learn_block(rule, X[rows], y[rows], first_row, limit)
            parts.append(scores)
            if rule.update == "newton" and rule.lost_penalty(first_row + len(scores)):
                state = state.with_penalty_renewed(rule)
        return state, np.vstack(parts)

    def learn_block(self, rule: Rule, X: Rows, y: Array, n_seen: int, limit: int) -> tuple["Support", Array]:
        """Learn rows within one half-life until ``limit`` of them have had a loss; see ``learn``."""
        X = X.astype(np.float64)
        cross, gram = self.columns(X) + 1, self.kernel(X) + 1
        with one_blas_thread():
            scores = cross @ self.coef
            if rule.update == "newton":
                return self._by_newton(rule, X, y, cross / rule.alpha, gram / rule.alpha, scores, n_seen, limit)
            return self._by_gradient(rule, X, y, gram, scores, n_seen, limit)

    def _by_gradient(
        self, rule: Rule, X: Rows, y: Array, gram: Array, scores: Array, n_seen: int, limit: int
    ) -> tuple["Support", Array]:
        n, k = scores.shape
        coef, active, counts = np.zeros((n, k)), np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64)
        result = core.OnlineResult(scores, coef, active, counts)
        steps = rule.lengths(n_seen, n)
        core.online_kernel_gradient(gram, y, rule.loss, steps, rule.decay, limit, result)
        n_done, n_active = counts.tolist()
        rows = _joined(self.rows, X[active[:n_active]])
        coef = np.vstack([rule.decay**n_done * self.coef, coef[:n_active]])
        return replace(self, rows=rows, coef=coef), scores[:n_done]

    def _by_newton(
        self, rule: Rule, X: Rows, y: Array, cross: Array, gram: Array, scores: Array, n_seen: int, limit: int
    ) -> tuple["Support", Array]:
        known = _solved(self.factor, cross.T)
        row_weight = rule.row_weight(_age(rule, n_seen), len(y))
        steps = newton_steps(rule, gram - known.T @ known, y, row_weight, scores, limit)
        factor = _bordered(self.factor, known[:, steps.active].T, steps.factor)
        rho = np.vstack([self.rho, steps.coef])
        coef = _solved(factor, rho, transposed=True) / rule.alpha
        return Support(self.kernel, _joined(self.rows, X[steps.active]), coef, factor, rho), scores[: steps.n_done]

    def with_penalty_renewed(self, rule: Rule) -> "Support":
        """Return the state with the penalty alpha again, and the weights v relative to the row that is now the last.

        Only the diagonal 1 / (v c) of L L^T changes, by the factor of a half-life. The coefficients are then those of
        the minimum with the renewed penalty, since L rho, the targets of the rows, stay.
        """
        square, targets = self.factor @ self.factor.T, self.factor @ self.rho
        noise = np.diagonal(square) - (self.kernel.diag(self.rows) + 1) / rule.alpha
        growth = noise * np.expm1(min(-float(rule.half_life or 0) * np.log(rule.decay), _MOST_GROWTH))
        np.fill_diagonal(square, np.diagonal(square) + np.clip(growth, 0, np.maximum(_FORGOTTEN - noise, 0)))
        factor = cholesky(square, lower=True, check_finite=False)
        rho = _solved(factor, targets)
        return replace(self, factor=factor, rho=rho, coef=_solved(factor, rho, transposed=True) / rule.alpha)

    def explicit(self, owner: str, rule: Rule, rank: int | None, n_seen: int) -> tuple[Nystroem, Weights]:
        """Return the Nystroem map on the rows, and the weights on its features and the constant one, of the same f.

        At full rank <z(x_i), z(x)> = k(x_i, x) for these rows x_i, so f does not change. Neither does the inverse
        curvature of Newton steps, A^-1 = I / alpha - U^T U with U = L^-1 Z / alpha, divided by decay^n for the n rows
        since the last half-life ended. A smaller rank projects both.
        """
        m = self.rows.shape[0]
        nystroem = Nystroem(self.kernel, n_components=m, landmarks=np.arange(m), rank=rank).fit(self.rows)
        Z = with_constant(nystroem.transform(self.rows))
        weights = Weights.zeros(owner, rule, self.coef.shape[1], Z.shape[1])
        with one_blas_thread():
            weights = replace(weights, coef=self.coef.T @ Z)
            if rule.update == "newton":
                directions = _solved(self.factor, Z) / rule.alpha
                inverse = weights.inverse - directions.T @ directions
                weights = replace(weights, inverse=inverse / rule.decay ** _age(rule, n_seen))
        return nystroem, weights


def _age(rule: Rule, n_seen: int) -> int:
    """Return the rows since the last half-life ended."""
    return 0 if rule.half_life is None else n_seen % rule.half_life


def _joined(one: Rows, other: Rows) -> Rows:
    joined: Rows = stack_rows([one, other])
    return joined


def _solved(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    if not len(factor):
        return right
    solved: Array = solve_triangular(factor, right, lower=True, trans="T" if transposed else "N", check_finite=False)
    return solved


def _bordered(factor: Array, border: Array, corner: Array) -> Array:
    """Return the Cholesky factor of a matrix with rows and columns appended."""
    m, n = len(factor), len(corner)
    out = np.zeros((m + n, m + n))
    out[:m, :m], out[m:, :m], out[m:, m:] = factor, border, corner
    return out
