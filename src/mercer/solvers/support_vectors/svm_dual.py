"""Support vector problems in their duals: quadratic functions over a box, several problems on the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np

from mercer._typing import Array
from mercer.solvers.support_vectors.low_rank_program import LowRankProgram

# Rows whose terms are summed at once: they stay in cache.
_SUMMED_ROWS = 4096


class LossKind(NamedTuple):
    """Properties of a loss: whether its targets are +1 and -1, and whether it is squared."""

    one_sided: bool
    is_squared: bool


LOSSES: Mapping[str, LossKind] = MappingProxyType(
    {
        "hinge": LossKind(one_sided=True, is_squared=False),
        "squared_hinge": LossKind(one_sided=True, is_squared=True),
        "epsilon_insensitive": LossKind(one_sided=False, is_squared=False),
        "squared_epsilon_insensitive": LossKind(one_sided=False, is_squared=True),
    }
)
PLAIN_LOSSES = frozenset(name for name, kind in LOSSES.items() if not kind.is_squared)


def check_loss(solver: str, loss: str, takes: frozenset[str]) -> LossKind:
    """Return the kind of a loss; a loss that the solver does not take is an error."""
    if loss not in takes:
        names = ", ".join(repr(name) for name in sorted(takes))
        raise ValueError(f"{solver}: loss must be one of {names}, got {loss!r}.")
    return LOSSES[loss]


@dataclass(frozen=True)
class BoxProblems:
    r"""K problems :math:`\min_w \frac12 \|w\|^2 + \sum_i c_i \ell(t_{ik}, \langle w, z_i \rangle)` on the same rows.

    In the dual, with :math:`w = \sum_i \beta_i z_i`, each is

    .. math:: \min_\beta \tfrac12 \|w\|^2 + \sum_i \tfrac12 r_i \beta_i^2 - t_i \beta_i + \epsilon |\beta_i|

    over :math:`0 \le \beta_i \,\mathrm{sign}(t_i) \le u_i` if one-sided, else :math:`|\beta_i| \le u_i`; u = c and
    r = 0 for the hinge and the insensitive loss, u infinite and r = 1 / (2 c) for their squares. A row of cost 0 has
    u = 0. The last feature of each z has the value ``constant``; its weight is the intercept, penalised like others.

    Attributes
    ----------
    targets : ndarray of shape (n, K)
    upper, ridge : ndarray of shape (n,)
        u and r.
    one_sided : bool
    epsilon, constant : float
    """

    targets: Array
    upper: Array
    ridge: Array
    one_sided: bool
    epsilon: float = 0.0
    constant: float = 1.0

    @classmethod
    def of(cls, loss: str, targets: Array, cost: Array, *, epsilon: float = 0.0, constant: float = 1.0) -> Self:
        """Return the problems of one of ``LOSSES`` with the cost of each row."""
        kind, upper, ridge = LOSSES[loss], cost, np.zeros(len(cost))
        if kind.is_squared:
            upper = np.where(cost > 0, np.inf, 0.0)
            ridge = np.divide(0.5, cost, out=np.zeros(len(cost)), where=cost > 0)
        return cls(targets, upper, ridge, kind.one_sided, 0.0 if kind.one_sided else epsilon, constant)

    @property
    def is_squared(self) -> bool:
        """Whether the losses are squared: rows of cost > 0 then have a ridge."""
        return bool(self.ridge.any())

    def clipped(self, duals: Array) -> Array:
        """Return the nearest duals in the box."""
        upper = self.upper[:, None]
        lower = -upper
        if self.one_sided:
            positive = self.targets >= 0
            lower, upper = np.where(positive, 0.0, lower), np.where(positive, upper, 0.0)
        return np.clip(duals, lower, upper)

    def losses(self, rows: slice, scores: Array) -> Array:
        """Return the losses of some rows at their scores (n, K), multiplied by the costs."""
        residual = self.targets[rows] - scores
        if self.one_sided:
            excess = np.where(self.targets[rows] >= 0, residual, -residual)
        else:
            excess = np.abs(residual) - self.epsilon
        excess = np.maximum(excess, 0.0)
        upper, ridge = self.upper[rows, None], self.ridge[rows, None]
        linear = np.where(np.isfinite(upper), upper, 0.0) * excess
        return np.where(ridge > 0, excess**2 / (2 * np.where(ridge > 0, ridge, 1.0)), linear)

    def conjugates(self, rows: slice, duals: Array) -> Array:
        """Return the separable part of the dual objective of some rows."""
        ridge = self.ridge[rows, None]
        conjugates: Array = duals * (0.5 * ridge * duals - self.targets[rows]) + self.epsilon * np.abs(duals)
        return conjugates

    def gaps(self, rows: slice, scores: Array, duals: Array) -> Array:
        """Return the part of each coordinate in the duality gap, >= 0. At the scores of w, they sum to the gap."""
        gaps: Array = self.losses(rows, scores) + self.conjugates(rows, duals) + duals * scores
        return gaps

    def conjugate_sums(self, targets: Array, duals: Array) -> Array:
        """Return the sums of ``conjugates`` over all rows, for tables of some of the problems in any precision."""
        sums = np.zeros(duals.shape[1])
        for start in range(0, len(duals), _SUMMED_ROWS):
            rows = slice(start, start + _SUMMED_ROWS)
            values = duals[rows].astype(np.float64)
            terms = values * (0.5 * self.ridge[rows, None])
            terms -= targets[rows]
            terms *= values
            if self.epsilon:
                terms += self.epsilon * np.abs(values)
            sums += np.ascontiguousarray(terms.T).sum(axis=1)  # the sum of a column must not depend on the others
        return sums

    def duals_at(self, scores: Array) -> Array:
        """Return the duals of squared losses at their scores (n, K): the negative derivatives of the losses."""
        residual = self.targets - scores
        if self.one_sided:
            excess = np.where((residual > 0) == (self.targets >= 0), residual, 0.0)
        else:
            excess = residual - np.clip(residual, -self.epsilon, self.epsilon)
        duals: Array = excess / self.ridge[:, None]
        return duals

    def one(self, k: int, rows: Array) -> Self:
        """Return problem k alone, on some of the rows."""
        return replace(self, targets=self.targets[rows, k : k + 1], upper=self.upper[rows], ridge=self.ridge[rows])

    def program(self, Z: Array) -> LowRankProgram:
        """Return the dual of a single problem of a loss that is not squared, on features of rows of cost > 0."""
        target, sides = self.targets[:, 0], np.ones((1, Z.shape[0]))
        signs = np.where(target >= 0, sides, -sides) if self.one_sided else np.vstack([sides, -sides])
        return LowRankProgram(Z, signs, self.epsilon - signs * target, self.upper, self.constant)
