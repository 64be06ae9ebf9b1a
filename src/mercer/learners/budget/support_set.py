"""The support vectors of a budget learner: a value that learns blocks of rows and returns another value."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from mercer import core
from mercer._typing import Array, Rows, is_sparse
from mercer.kernels import Kernel
from mercer.learners.budget.kernel_values import KernelValues
from mercer.learners.budget.merge_table import merge_places
from mercer.learners.budget.plan import BudgetPlan
from mercer.parallel import one_blas_thread
from mercer.recycling import empty
from mercer.state import Count, Integers, Member, Reals, Sizes, Stored, part, require
from mercer.state import Rows as StoredRows
from mercer.validation import check_memory

# Rows whose kernel values are made at once. Blocks begin at multiples of it in the stream.
_BLOCK_ROWS = 128
# After so many rows, an inverse that was changed row by row is made from the Gram matrix again.
_RENEWAL_ROWS = 4096
# Blocks of fewer rows are learned without the factor of the Gram matrix, which is read once per block.
_FACTOR_ROWS = 16
# The loop takes slots in such numbers.
_SLOTS = 8
# Rows of a triangle in float32 that the loop reads at once.
_PANEL = 16
_F8 = (np.float64,)


@part("SupportSet")
@dataclass(frozen=True)
class SupportSet:
    """Support vectors x_i and coefficients c_i of f(x) = sum_i c_i k(x_i, x), with what the update carries.

    Never changed in place, so that an interrupted block leaves no trace.

    Attributes
    ----------
    kernel : Kernel
    seed : int
        With a row's number in the stream it gives the number that decides a removal by chance.
    rows : array or CSR matrix of shape (m, d), float64
    coef : ndarray of shape (m, k)
    norms : ndarray of shape (m,)
        k(x_i, x_i).
    born : ndarray of shape (m,)
        The number in the stream of the row that a support vector was; of the later one, for a merged one.
    between, inverse, reduction : ndarray of shape (m, m), or (0, 0) where they are not needed
        Kernel values (entry (i, j) where i is not older than j), the inverse of the Gram matrix, and R of Newton steps:
        the variance at x is k(x, x) - k^T R k.
    totals : ndarray of shape (2,)
        What the Forgetron's removals have spent, and the perceptron's mistakes.
    """

    _stored = Stored(
        kernel=Member(Kernel),
        seed=Count(),
        rows=StoredRows(("m", "d")),
        coef=Reals(("m", "k"), dtypes=_F8),
        norms=Reals(("m",), dtypes=_F8),
        born=Integers(("m",), (np.int64,), least=0),
        between=Reals(("b", "b"), dtypes=_F8),
        inverse=Reals(("i", "i"), dtypes=_F8),
        reduction=Reals(("r", "r"), dtypes=_F8),
        totals=Reals((2,), dtypes=_F8),
    )

    kernel: Kernel
    seed: int
    rows: Rows
    coef: Array
    norms: Array
    born: Array
    between: Array
    inverse: Array
    reduction: Array
    totals: Array

    def _check_stored(self, sizes: Sizes) -> None:
        m = sizes["m"]
        require(self.kernel.is_resolved, "the kernel must have numbers for parameters")
        require(
            all(sizes[name] in (0, m) for name in "bir"), "matrices must have a row for each support vector, or none"
        )
        require(self.seed < 2**63, "seed must be below 2^63")

    def is_of(self, plan: BudgetPlan) -> bool:
        """Return whether this set carries what a plan needs, and no more."""
        m, newton = len(self.coef), plan.rule.update == "newton"
        carried = [len(self.between), len(self.inverse), len(self.reduction)]
        needed = [plan.keeps_between, plan.keeps_inverse, newton]
        dense = plan.rule.maintenance != "merge" or not is_sparse(self.rows)
        return m <= plan.rule.budget and dense and carried == [m * bool(need) for need in needed]

    @classmethod
    def none(cls, kernel: Kernel, plan: BudgetPlan, X: Rows, n_columns: int, seed: int) -> "SupportSet":
        """Return the state before the first row, for rows like those of X."""
        rows = X[:0].astype(np.float64) if X.dtype != object else X[:0]
        if is_sparse(rows) and plan.rule.maintenance == "merge":
            rows = rows.toarray()
        square = np.zeros((0, 0))
        columns = np.zeros((0, n_columns))
        born = np.zeros(0, dtype=np.int64)
        return cls(kernel, seed, rows, columns, np.zeros(0), born, square, square, square, np.zeros(2))

    @cached_property
    def settled(self) -> "_Settled":
        """What support vectors that stay have for good: made once, and left out of model files.

        A function of the matrices alone, so that a model from a file goes on with the same bits.
        """
        slots = len(self.between) + 1
        slots += -slots % _SLOTS
        parts = (self.between, self.inverse, self._factor())
        between, inverse, factor = (_grown(part, (slots, slots)) if len(part) else part for part in parts)
        return _Settled(between, inverse, factor, in_panels(factor), factor.sum(axis=1))

    def _factor(self) -> Array:
        """Return the inverse of the Cholesky factor of the Gram matrix, or no rows if it has none."""
        with one_blas_thread():
            lower, failed = lapack.dpotrf(_gram(self.between, self.born), lower=1, clean=1)
            inverse, failed = lapack.dtrtri(lower, lower=1) if not failed else (lower, failed)
        if failed:  # the kernel is not positive definite
            return np.zeros((0, 0))
        return np.ascontiguousarray(inverse)

    def scores(self, X: Rows) -> Array:
        """Return the scores (n, k) of rows."""
        if not len(self.coef):
            return np.zeros((X.shape[0], self.coef.shape[1]))
        values = KernelValues(self.kernel).values(_like(X, self.rows), self.rows)
        return core.scores(values, self.coef)

    def learn(self, owner: str, plan: BudgetPlan, X: Rows, y: Array, n_seen: int) -> tuple["SupportSet", Array]:
        """Learn the rows of X in turn; return the support vectors after, and the scores before each row."""
        n = X.shape[0]
        slots, scores = _Slots(owner, self, plan, n), np.empty((n, self.coef.shape[1]))
        numbers = np.arange(n_seen, n_seen + n)
        chances = uniforms(self.seed, numbers)
        X = _like(X, self.rows)
        norms = KernelValues(self.kernel).norms(X)
        steps, shrinks = plan.steps(n_seen, norms)
        start = 0
        while start < n:
            position = n_seen + start
            if position and position % _RENEWAL_ROWS == 0:
                slots.renew()
            stop = min(start + _BLOCK_ROWS - position % _BLOCK_ROWS, n)
            rows = slice(start, stop)
            each = _Rows(norms[rows], numbers[rows], y[rows], steps[rows], shrinks[rows], chances[rows], scores[rows])
            slots.learn(X[rows], each)
            start = stop
        return slots.frozen(), scores

    def with_columns(self, places: Array, signs: Array, n_columns: int) -> "SupportSet":
        """Return the set with more columns of scores: column i becomes the columns ``places[i]`` times ``signs[i]``.

        One column of two classes becomes two; a column of several classes stays what it was, at another place.
        """

        def spread(values: Array) -> Array:
            wide = np.zeros((len(values), n_columns))
            wide[:, places] = values * signs
            return wide

        return replace(self, coef=spread(self.coef))


class _Settled(NamedTuple):
    """Matrices of support vectors that stay, with zeros for the slots of the loop. Nobody changes them."""

    between: Array
    inverse: Array
    factor: Array  # the inverse of the Cholesky factor of the Gram matrix; no rows if that is not positive definite
    rounded: Array  # the same in float32, in panels as the loop takes them
    sums: Array  # of the rows of the factor


class _Rows(NamedTuple):
    """What the loop takes for each row, besides X and kernel values; see ``core.BudgetRows``."""

    norms: Array
    numbers: Array
    y: Array
    steps: Array
    shrinks: Array
    uniforms: Array
    scores: Array


class _Slots:
    """The arrays of a support set with room for more, changed in place by the loop over the rows."""

    def __init__(self, owner: str, support: SupportSet, plan: BudgetPlan, n_rows: int):
        self._support, self._plan, self._values = support, plan, KernelValues(support.kernel)
        n, k = support.coef.shape
        slots = min(plan.rule.budget, n + n_rows) + 1
        slots += -slots % _SLOTS
        squares = [plan.keeps_between, plan.keeps_inverse, plan.rule.update == "newton"]
        what = f"the matrices of {slots} support vectors"
        n_squares = sum(squares) + (plan.rule.maintenance == "project_newest")  # and the factor
        check_memory(owner, "budget", plan.rule.budget, 2 * 8 * slots**2 * n_squares, what)
        self._keeps_rows = support.rows.ndim == 2 and not is_sparse(support.rows)
        width = support.rows.shape[1] if self._keeps_rows else 0
        self._stays = plan.rule.maintenance == "project_newest" and n == plan.rule.budget
        if self._stays:
            between, inverse, reduction = support.settled.between, support.settled.inverse, support.reduction
        else:
            between, inverse, reduction = (
                _grown(matrix, (slots, slots) if kept else (0, 0))
                for matrix, kept in zip((support.between, support.inverse, support.reduction), squares, strict=True)
            )
        self._state = core.BudgetState(
            coef=_grown(support.coef, (slots, k)),
            norms=_grown(support.norms, (slots,)),
            born=_grown(support.born, (slots,)),
            column=np.zeros(slots, dtype=np.int64),
            rows=_grown(support.rows, (slots, width)) if self._keeps_rows else np.zeros((0, 0)),
            between=between,
            inverse=inverse,
            reduction=reduction,
            totals=support.totals.copy(),
            counts=np.array([n]),
        )
        self._kept: Rows = support.rows  # where the loop does not keep the rows itself
        most = min(n_rows, _BLOCK_ROWS)
        self._cross = np.empty(most * (slots + most))  # once for all blocks: new pages cost as much as the arithmetic

    @property
    def _n(self) -> int:
        return int(self._state.counts[0])

    def _rows(self) -> Rows:
        return self._state.rows[: self._n] if self._keeps_rows else self._kept

    def learn(self, X: Rows, each: _Rows) -> None:
        """Learn a few rows."""
        n, m, values, state, rule = self._n, X.shape[0], self._values, self._state, self._plan.rule
        merges = rule.maintenance == "merge"  # its loop makes kernel values itself
        cross = self._cross[: 0 if merges else m * (n + m)].reshape(m, -1)
        if not merges:
            values.write(X, self._rows(), cross[:, :n])
            if not self._settles:  # a row meets those of its block that have joined: earlier ones
                values.write_own(X, cross[:, n:])
        kept = X if self._keeps_rows else np.zeros((m, 0))
        rows = core.BudgetRows(cross=cross, gamma=values.gamma, X=kept, **each._asdict())
        state.column[:n] = np.arange(n)
        if core.COMPILED and self._settles and m >= _FACTOR_ROWS:
            settled = self._settled()
            state = state._replace(factor=settled.factor, rounded=settled.rounded, sums=settled.sums)
        core.budget_learn(rule, rows, state, merge_places())
        if not self._keeps_rows:
            self._kept = _chosen(self._kept, X, state.column[: self._n])

    @property
    def _settles(self) -> bool:
        """Whether the support vectors stay from now on."""
        return self._plan.rule.maintenance == "project_newest" and self._n == self._plan.rule.budget

    def _settled(self) -> _Settled:
        """Return what support vectors that stay have for good."""
        if len(self._support.between) != self._n:
            self._support = self.frozen()
        return self._support.settled

    def renew(self) -> None:
        """Make the inverse from the Gram matrix again, without the rounding of many small changes."""
        n, state = self._n, self._state
        if len(state.inverse) and n and not self._stays:
            gram = _gram(state.between[:n, :n], state.born[:n])
            with one_blas_thread():
                factor, failed = lapack.dpotrf(gram, lower=1)
                inverse, failed = lapack.dpotri(factor, lower=1) if not failed else (factor, failed)
            if not failed:  # else the kernel is not positive definite: the inverse at hand is as good as any
                lower = np.tril(inverse)
                state.inverse[:n, :n] = lower + np.tril(lower, -1).T

    def frozen(self) -> SupportSet:
        """Return the support vectors in use as a value."""
        n, state = self._n, self._state
        support = replace(
            self._support,
            rows=self._rows().copy() if self._keeps_rows else self._kept,
            coef=state.coef[:n].copy(),
            norms=state.norms[:n].copy(),
            born=state.born[:n].copy(),
            between=self._support.between if self._stays else _in_use(state.between, n),
            inverse=self._support.inverse if self._stays else _in_use(state.inverse, n),
            reduction=_in_use(state.reduction, n),
            totals=state.totals,
        )
        if self._settles and "settled" in vars(self._support):  # of the same support vectors
            vars(support)["settled"] = self._support.settled
        return support


def uniforms(seed: int, numbers: Array) -> Array:
    """Return a number in [0, 1) for each row number, the same however the stream is cut (SplitMix64)."""
    with np.errstate(over="ignore"):
        bits = numbers.astype(np.uint64) + np.uint64(seed % 2**63) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _gram(between: Array, born: Array) -> Array:
    """Return both halves of a matrix of kernel values, of which entry (i, j) holds where i is not older than j."""
    return np.where(born[:, np.newaxis] >= born, between, between.T)


def in_panels(factor: Array) -> Array:
    """Return a triangle in float32, sixteen of its rows side by side."""
    n = len(factor)
    if not n:
        return np.zeros((0, _PANEL), dtype=np.float32)
    with np.errstate(over="ignore"):  # an infinite entry has an infinite bound of its rounding, and is not used
        rows = np.zeros((n + -n % _PANEL, n), dtype=np.float32)
        rows[:n] = factor
    return np.ascontiguousarray(rows.reshape(-1, _PANEL, n).transpose(0, 2, 1)).reshape(-1, _PANEL)


def _grown(values: Array, shape: tuple[int, ...]) -> Array:
    """Return a copy at the beginning of zeros of a larger shape."""
    grown, n = empty(shape, values.dtype), len(values)
    grown[n:] = 0
    if values.ndim == 2:
        grown[:n, values.shape[1] :] = 0
        grown[:n, : values.shape[1]] = values
    else:
        grown[:n] = values
    return grown


def _in_use(square: Array, n: int) -> Array:
    """Return the part of the slots in use: no copy where it is nearly all, since nobody else writes to it."""
    part = square[:n, :n]
    return part if len(square) <= n + _SLOTS else part.copy()


def _like(X: Rows, rows: Rows) -> Rows:
    """Return rows in float64, dense if the support vectors are."""
    if X.dtype == object:
        return X
    if is_sparse(X):
        X = X if is_sparse(rows) else X.toarray()
    elif is_sparse(rows):
        X = sparse.csr_array(X)
    X = X.astype(np.float64, copy=False)
    return X if is_sparse(X) else np.ascontiguousarray(X)


def _chosen(kept: Rows, X: Rows, column: Array) -> Rows:
    """Return the rows that the slots hold: of those before, or of a block."""
    pool = sparse.vstack([kept, X], format="csr") if is_sparse(kept) else np.concatenate([kept, X])
    return pool[column]
