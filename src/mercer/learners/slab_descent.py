r"""Ridge regression that adds slab after slab of features, and chooses their number by an error on held-out rows.

One sweep of block coordinate descent. The model begins with no features. Step b takes the next slab Z of features and
the residuals R that the slabs before it have left, and solves exactly

.. math:: \min_V \|R - Z V\|^2 + b \alpha \|V\|^2,

the problem of the slab alone in a ridge regression on b slabs with the penalty alpha (features of b slabs carry the
factor b^{-1/2}). Then the residuals are updated. A part of the rows takes no part in the solutions: their squared error
is measured after every slab. As ``mercer.fitting.width`` does, the descent goes on while a doubling of the features is
expected to lower that error by 2 % or more. The slabs up to the least error are kept.

Departures from the textbook: one sweep only, because conjugate gradients reach the joint solution of a known number of
features in less time; and the penalty grows with the number of slabs, which is not known at the beginning.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.data import Block
from mercer.features import SeededBlocks
from mercer.fitting import FeatureRows
from mercer.learners.hashing import splitmix64
from mercer.recycling import empty
from mercer.solvers import Remedy, Solution, Status, cholesky
from mercer.stats import Moments
from mercer.watching import State, told

SOLVER = "slab descent"
# The part of the rows that is held out; of few rows more, up to a quarter, so that about 2000 are.
_HELD_OUT, _MOST_HELD_OUT, _FEW_ROWS = 0.05, 0.25, 2000
# A doubling of the features must lower the error by this part, as for n_components="auto". The gain of a doubling is
# taken from the mean gain of the last slabs.
_GAIN, _LAST = 0.02, 2
_HASHES = 2.0**64


@dataclass(frozen=True)
class GrownModel:
    """The coefficients (D, k) on the slabs that are kept, the intercepts (k,), and how the descent ended."""

    feature_map: SeededBlocks
    intercept: Array
    solution: Solution


def slab_descent(rows: FeatureRows, feature_map: SeededBlocks, alpha: float) -> GrownModel:
    """Add slabs of a map while they lower the error of held-out rows.

    Memory: the residuals, n k numbers, matrices of slab x slab, and the coefficients. Time n slab^2 / 2 multiplications
    per slab, and two passes over the rows.
    """
    descent = _Descent(rows, feature_map, alpha)
    status = Status.SUCCESS
    for number in range(feature_map.n_slabs):
        descent.add(number)
        state = State(SOLVER, number + 1, feature_map.n_slabs, note=f"held-out error {descent.errors[-1]:.4g}")
        if told(state):
            status = Status.CALLBACK
            break
        if _is_enough(descent.errors):
            break
    return descent.model(status)


def _is_enough(errors: list[float]) -> bool:
    """Return whether a doubling of the slabs is expected to lower the error by less than 2 %.

    >>> _is_enough([1.0, 0.9, 0.8]), _is_enough([1.0, 0.9, 0.899, 0.898])
    (False, True)
    """
    n_slabs = len(errors) - 1  # the first error is that of no slab
    if n_slabs < _LAST:
        return False
    gain = (errors[-1 - _LAST] - errors[-1]) / _LAST
    return gain * n_slabs < _GAIN * errors[-1]


class _Descent:
    def __init__(self, rows: FeatureRows, feature_map: SeededBlocks, alpha: float):
        self._rows, self._map, self._alpha = rows, feature_map, alpha
        self._share = float(np.clip(_FEW_ROWS / rows.n_rows, _HELD_OUT, _MOST_HELD_OUT))
        # the slabs of the map carry the factor (slab / D)^(1/2): without it, each slab has the size of the kernel
        self._scale = (feature_map.n_features_out_ / feature_map.features_at_once) ** 0.5
        self._residuals = np.empty((rows.n_rows, rows.targets.n_columns))
        self._coefs: list[Array] = []
        self._intercepts: list[Array] = []
        self.errors: list[float] = []
        self._each("targets", self._begin)

    def _each(self, title: str, work: Callable[[Block], "_Squares"]) -> None:
        """Go through all blocks, and note the error of the held-out rows."""
        total = self._rows.passes.reduce(title, work, self._rows.blocks, _Squares())
        self.errors.append(total.squares / max(total.weight, np.finfo(np.float64).tiny))

    def _begin(self, block: Block) -> "_Squares":
        left = self._residuals[block.first_row : block.first_row + block.n_rows]
        left[:] = self._rows.targets.encode(block) - self._rows.targets.origin
        return self._squares(block, left)

    def _squares(self, block: Block, left: Array) -> "_Squares":
        weight = self._weight(block, held_out=True)
        return _Squares(float(weight @ np.square(left).sum(axis=1)), float(weight.sum()))

    def _weight(self, block: Block, *, held_out: bool) -> Array:
        """Return the weights of a block, 0 for the rows that are held out, or for the others.

        Which rows are held out is a matter of their numbers: neither blocks nor threads change it.
        """
        numbers = np.arange(block.first_row, block.first_row + block.n_rows, dtype=np.uint64)
        chosen = (splitmix64(numbers) < np.uint64(self._share * _HASHES)) == held_out
        given = self._rows.targets.weight(block)
        return chosen.astype(np.float64) if given is None else np.where(chosen, given, 0.0)

    def _features(self, number: int, block: Block) -> Array:
        columns = self._map.columns_of(number)
        Z = empty((block.n_rows, columns.stop - columns.start), dtype=block.X.dtype)
        self._map.write_slab(number, block.X, Z)
        Z *= Z.dtype.type(self._scale)
        return Z

    def add(self, number: int) -> None:
        """Solve for one slab on the residuals, and update them."""
        columns = self._map.columns_of(number)
        into = Moments.of(
            columns.stop - columns.start, self._residuals.shape[1], self._scale * self._rows.origin[columns]
        )

        def sums(block: Block) -> Moments:
            left = self._residuals[block.first_row : block.first_row + block.n_rows]
            return into.of_block(self._features(number, block), left, self._weight(block, held_out=False))

        moments = self._rows.passes.reduce(f"slab {number + 1}", sums, self._rows.blocks, into.zero())
        gram, cross, _ = moments.centred()
        coef = cholesky(gram, cross, self._alpha * (number + 1)).value
        intercept = moments.target_mean - moments.feature_mean @ coef

        def update(block: Block) -> _Squares:
            left = self._residuals[block.first_row : block.first_row + block.n_rows]
            Z = self._features(number, block)
            left -= Z @ coef.astype(Z.dtype) + intercept
            return self._squares(block, left)

        self._coefs.append(coef)
        self._intercepts.append(intercept)
        self._each("residuals", update)

    def model(self, status: Status) -> GrownModel:
        """Return the slabs up to the least held-out error, at least one."""
        count = 1 + int(np.argmin(self.errors[1:]))
        kept = self._map.first_slabs(count)
        scale = (kept.n_features_out_ / self._map.features_at_once) ** 0.5
        coef = scale * np.vstack(self._coefs[:count])
        intercept = self._rows.targets.origin + np.sum(self._intercepts[:count], axis=0)
        found = Solution.converged(
            coef, SOLVER, iterations=len(self._coefs), history=self.errors[1:], n_components=kept.n_features_out_
        )
        if status is not Status.SUCCESS:
            found = found.unfinished(status, f"{len(self._coefs)} slabs were added", [Remedy.ALPHA])
        return GrownModel(kept, intercept, found)


@dataclass
class _Squares:
    """The weighted squares of the residuals of held-out rows, and their weight, as a statistic."""

    squares: float = 0.0
    weight: float = 0.0

    def zero(self) -> "_Squares":
        return _Squares()

    def update(self, squares: float, weight: float) -> "_Squares":
        self.squares += squares
        self.weight += weight
        return self

    def merge(self, other: "_Squares") -> "_Squares":
        return self.update(other.squares, other.weight)
