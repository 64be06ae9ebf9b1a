"""Pivoted partial Cholesky factorisation of a Gram matrix: the pivots, without the matrix.

A pivot is a row x_s; after the pivots S the residual of a row is what they leave of its k(x, x):

    r(x) = k(x, x) - k(x, S) k(S, S)^-1 k(S, x) = k(x, x) - |f(x)|^2,  f(x) = L^-1 k(S, x),  L L^T = k(S, S).

The sum of r over the rows is the trace of the error of the Nystroem approximation with landmarks S.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from mercer._typing import Array, Rows
from mercer.kernels import Kernel
from mercer.parallel import for_each_block, row_blocks

# Residuals below this part of k(x, x) are rounding: pivots there would make L singular.
_FLAT = 1e-12
_TIE = 1e-9  # residuals that differ by less, as a part, are equal but for rounding
_PROPOSALS = 256  # per batch: enough for efficient matrix products, few compared with the rows
_TRACE_ROWS = 2048  # the residual trace is exact up to this many rows, else estimated from as many draws
_TILE_ENTRIES = 2**17  # a tile of kernel values: 1 MiB in float64, which a core's cache holds
# The cost of a proposal, in rows of a pass: proposals come in small batches, with Python code around them.
_PROPOSAL_COST = 2
# f of all rows is held if there are at most 4 rows per pivot, and f takes at most 32 MiB; rows per block of f.
_HELD_RATIO, _HELD_ENTRIES, _HELD_ROWS = 4, 2**22, 256


class Pivots(NamedTuple):
    """Row numbers of the pivots in order, the residual trace that they leave, and its standard error (0: exact)."""

    indices: Array
    residual_trace: float
    residual_trace_error: float


class _Factor:
    """The triangular factor of the pivots so far, which grows by batches."""

    def __init__(self, kernel: Kernel, X: Rows, n_pivots: int):
        self.kernel, self.X = kernel, X
        self.indices = np.zeros(0, dtype=np.int64)
        self._L = np.zeros((n_pivots, n_pivots))

    @property
    def triangle(self) -> Array:
        """L of the pivots so far."""
        j = len(self.indices)
        return self._L[:j, :j]

    def of(self, numbers: Array) -> Array:
        """Return f of the rows of these numbers, in float64."""
        if not len(self.indices):
            return np.zeros((len(numbers), 0))
        values = self.kernel.evaluator(self.X[self.indices], np.float64)(self.X[numbers])
        solved: Array = solve_triangular(self.triangle, values.T, lower=True, check_finite=False)
        return solved.T

    def grow(self, indices: Array, left: Array, corner: Array) -> None:
        """Add pivots whose f is ``left`` and whose residual matrix has the Cholesky factor ``corner``."""
        j, more = len(self.indices), len(indices)
        self._L[j : j + more, :j] = left
        self._L[j : j + more, j : j + more] = corner
        self.indices = np.concatenate([self.indices, indices])

    def residuals(self, diagonal: Array) -> Array:
        """Return r of all rows, at the cost of a pass over them.

        In float64 for rows of either precision: float32 residuals would draw other pivots from the same seed.
        """
        out = diagonal.copy()
        if len(self.indices):
            columns = self.kernel.evaluator(self.X[self.indices], np.float64)
            identity = np.eye(len(self.indices))
            inverse = solve_triangular(self.triangle, identity, lower=True, check_finite=False).T

            def work(rows: slice) -> None:
                out[rows] -= _squared_lengths(columns(self.X[rows]), inverse)

            for_each_block(work, row_blocks(len(out), max(1, _TILE_ENTRIES // len(self.indices))))
        return _without_rounding(out, diagonal)


class _HeldFactor(_Factor):
    """The factor together with f of all rows, for few rows: nothing is computed twice."""

    def __init__(self, kernel: Kernel, X: Rows, n_pivots: int):
        super().__init__(kernel, X, n_pivots)
        self._f = np.zeros((X.shape[0], n_pivots))

    def of(self, numbers: Array) -> Array:
        """Return f of the rows of these numbers, in float64."""
        held: Array = self._f[numbers, : len(self.indices)]
        return held

    def grow(self, indices: Array, left: Array, corner: Array) -> None:
        """Add pivots as ``_Factor`` does, and append their columns to f of all rows."""
        j, more = len(self.indices), len(indices)
        super().grow(indices, left, corner)
        if not more:
            return
        columns = self.kernel.evaluator(self.X[indices], np.float64)

        def work(rows: slice) -> None:
            values = columns(self.X[rows]) - self._f[rows, :j] @ left.T
            self._f[rows, j : j + more] = solve_triangular(corner, values.T, lower=True, check_finite=False).T

        for_each_block(work, row_blocks(len(self._f), _HELD_ROWS))

    def residuals(self, diagonal: Array) -> Array:
        """Return r of all rows, in one pass over f."""
        f = self._f[:, : len(self.indices)]
        return _without_rounding(diagonal - np.einsum("ij,ij->i", f, f), diagonal)


def _without_rounding(residuals: Array, diagonal: Array) -> Array:
    """Return residuals with 0 in place of what is rounding."""
    residuals[residuals <= _FLAT * diagonal] = 0.0
    return residuals


def _squared_lengths(values: Array, inverse: Array) -> Array:
    """Return |values @ inverse|^2 of each row, skipping the zeros below the diagonal of ``inverse``."""
    total = np.zeros(len(values))
    for start in range(0, inverse.shape[1], _PROPOSALS):
        stop = min(start + _PROPOSALS, inverse.shape[1])
        f = values[:, :stop] @ inverse[:stop, start:stop]
        total += np.einsum("ij,ij->i", f, f)
    return total


def randomly_pivoted_cholesky(
    kernel: Kernel, X: Rows, n_pivots: int, rng: np.random.RandomState, *, diagonal: Array
) -> Pivots:
    """Draw pivots one after the other, each with probability proportional to the residuals before it.

    Pivots are drawn by rejection. Proposals are drawn with probabilities u that are residuals of an earlier time.
    Residuals only fall, so a proposal that is kept with probability r(x)/u(x) has exactly the right distribution, and a
    test costs one row instead of all. The residuals of all rows are computed again if that costs less than the
    rejections so far, or than those to be expected: an early pass is cheap, since a row then costs few pivots.
    Proposals are tested in batches, with matrix products.

    Cost with m pivots that leave a fraction 1/e of the trace: at most e m proposals of m^2 operations each, in practice
    far fewer with one or two passes of n j^2 operations, j well below m. O(n + m^2) memory. Stops early when nothing
    is left.

    References
    ----------
    Y. Chen, E. Epperly, J. Tropp and R. Webber, "Randomly pivoted Cholesky", 2022; E. Epperly, J. Tropp and R. Webber,
    "Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky", 2024.
    """
    few = len(diagonal) <= _HELD_RATIO * n_pivots and len(diagonal) * n_pivots <= _HELD_ENTRIES
    factor = (_HeldFactor if few else _Factor)(kernel, X, n_pivots)
    upper = diagonal.copy()
    cumulative = np.cumsum(upper)
    n_rejected = 0
    while len(factor.indices) < n_pivots and cumulative[-1] > 0:
        proposals = np.searchsorted(cumulative, rng.random_sample(_PROPOSALS) * cumulative[-1], side="right")
        chosen, left, corner = _accepted(factor, proposals, upper, diagonal, rng, n_pivots - len(factor.indices))
        factor.grow(chosen, left, corner)
        n_rejected += _PROPOSALS - len(chosen)
        if _pass_pays(len(factor.indices), n_pivots, len(upper), len(chosen), n_rejected):
            upper = factor.residuals(diagonal)
            cumulative, n_rejected = np.cumsum(upper), 0
    return Pivots(factor.indices, *_trace_left(factor, upper, cumulative, diagonal, rng))


def _pass_pays(j: int, n_pivots: int, n_rows: int, n_chosen: int, n_rejected: int) -> bool:
    """Return whether a pass over all rows costs less than the rejections so far, or than those to be expected."""
    behind = _PROPOSAL_COST * n_rejected > n_rows
    ahead = (n_pivots - j) * (_PROPOSALS / max(n_chosen, 1) - 1)
    return behind or _PROPOSAL_COST * ahead * n_pivots**2 > n_rows * j**2


def _accepted(
    factor: _Factor, proposals: Array, upper: Array, diagonal: Array, rng: np.random.RandomState, most: int
) -> tuple[Array, Array, Array]:
    """Test proposals in turn, each against the residuals that those accepted before it leave.

    Returns the accepted rows, their f before the batch, and the Cholesky factor of their residual matrix. Kernel values
    and products are those of all proposals that can still pass, in one call each.
    """
    f = factor.of(proposals)
    left_over = diagonal[proposals] - np.einsum("ij,ij->i", f, f)
    bar = np.maximum(rng.random_sample(len(proposals)) * upper[proposals], _FLAT * diagonal[proposals])
    able = np.flatnonzero(left_over > bar)  # residuals only fall
    f, left_over, bar, rows = f[able], left_over[able], bar[able], factor.X[proposals[able]]
    gram = factor.kernel.evaluator(rows, np.float64)(rows) - f @ f.T if len(able) else np.zeros((0, 0))
    columns = np.zeros((len(able), min(most, len(able))))
    kept: list[int] = []
    for s in range(len(able)):
        j = len(kept)
        if j == most:
            break
        if left_over[s] <= bar[s]:
            continue
        column = gram[s:, s] - columns[s:, :j] @ columns[s, :j]
        column /= np.sqrt(left_over[s])
        column[0] = np.sqrt(left_over[s])
        columns[s:, j] = column
        left_over[s:] -= column**2
        kept.append(s)
    return proposals[able[kept]], f[kept], columns[kept, : len(kept)]


def _trace_left(
    factor: _Factor, upper: Array, cumulative: Array, diagonal: Array, rng: np.random.RandomState
) -> tuple[float, float]:
    """Return the residual trace and its standard error: exact for few rows, else from draws weighted by ``upper``."""
    if len(diagonal) <= _TRACE_ROWS or cumulative[-1] <= 0:
        return float(factor.residuals(diagonal).sum()), 0.0
    drawn = np.searchsorted(cumulative, rng.random_sample(_TRACE_ROWS) * cumulative[-1], side="right")
    f = factor.of(drawn)
    ratios = np.maximum(diagonal[drawn] - np.einsum("ij,ij->i", f, f), 0.0) / upper[drawn]
    return float(cumulative[-1] * ratios.mean()), float(cumulative[-1] * ratios.std() / np.sqrt(_TRACE_ROWS))


def greedily_pivoted_cholesky(kernel: Kernel, X: Rows, n_pivots: int, *, diagonal: Array) -> Pivots:
    """Take the row of the largest residual each time: the pivoted incomplete Cholesky factorisation.

    Cost: n m kernel values, n m^2 operations limited by memory bandwidth, n m numbers held.

    References
    ----------
    S. Fine and K. Scheinberg, "Efficient SVM training using low-rank kernel representations", JMLR 2001.
    """
    n = len(diagonal)
    factor = np.empty((n_pivots, n))
    residual = diagonal.copy()
    indices: list[int] = []
    while len(indices) < n_pivots:
        # The first of the largest, rounding aside: which of two equal rows it is must not depend on their layout.
        s = int(np.argmax(residual >= (1 - _TIE) * residual.max()))
        if residual[s] <= _FLAT * diagonal[s]:
            break
        j = len(indices)
        column = kernel.evaluator(X[[s]], np.float64)(X)[:, 0]
        column -= factor[:j, s] @ factor[:j]
        factor[j] = column / np.sqrt(residual[s])
        residual -= factor[j] ** 2
        residual[s] = 0.0
        np.maximum(residual, 0.0, out=residual)
        indices.append(s)
    return Pivots(np.array(indices, dtype=np.int64), float(residual.sum()), 0.0)
