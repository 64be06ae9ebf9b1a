"""The mean loss of bounded weights on features, as a box-constrained solver asks for it: value, gradient, Hessian."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks
from mercer.features import KitchenSinks
from mercer.fitting.passes import Passes
from mercer.fitting.targets import Targets
from mercer.solvers.box.box_newton import Expansion
from mercer.stats import Curvature, Moments


class EmpiricalRisk:
    """The mean loss over rows of a weighted sum of feature functions with values in [-1, 1].

    Parameters
    ----------
    sinks : KitchenSinks
        Fitted.
    blocks : Blocks
    targets : Targets
    passes : Passes
    loss : "squared", "squared_hinge" or "logistic"

    Attributes
    ----------
    bound : float
        What the feature functions are divided by.
    n_features, n_columns : int
        Shape of the weights.
    """

    def __init__(self, sinks: KitchenSinks, blocks: Blocks, targets: Targets, passes: Passes, loss: str):
        self._sinks, self._blocks, self._targets, self._passes = sinks, blocks, targets, passes
        self._loss = loss
        self.n_features, self.n_columns = sinks.n_features_out_, targets.n_columns
        self.bound = self._bound()
        self._scale = self.n_features**0.5 / self.bound  # from the features of the map to functions within [-1, 1]

    def expansion(self) -> Callable[[Array], Expansion]:
        """Return the function from weights (n_features, n_columns) to the second-order expansion of the risk."""
        return self._of_squares() if self._loss == "squared" else self._by_pass

    def _bound(self) -> float:
        """Return the bound of the feature functions: known, or their largest absolute value on the rows."""
        if np.isfinite(self._sinks.bound_):
            return float(self._sinks.bound_)

        def work(block: Block) -> Largest:
            return Largest().update(self._sinks.transform(block.X))

        largest = self._passes.reduce("bound of phi", work, self._blocks, Largest()).value
        return largest * self.n_features**0.5 or 1.0

    def _of_squares(self) -> Callable[[Array], Expansion]:
        """Return the expansion of the squared loss, from the moments of one pass."""
        empty, scale = Moments.of(self.n_features, self.n_columns), self._scale

        def work(block: Block) -> Moments:
            return empty.zero().update(self._features(block), self._targets.encode(block))

        moments = self._passes.reduce("moments", work, self._blocks, empty.zero())
        gram, cross = scale**2 * moments.gram / moments.weight, scale * moments.cross / moments.weight
        squares = moments.sum_squares / moments.weight

        def expand(alpha: Array) -> Expansion:
            image = gram @ alpha
            values = 0.5 * (np.einsum("ij,ij->j", alpha, image - 2 * cross) + squares)
            return Expansion(values, image - cross, np.broadcast_to(gram, (self.n_columns, *gram.shape)))

        return expand

    def _by_pass(self, alpha: Array) -> Expansion:
        """Return the expansion of a loss of margins, in one pass over the rows."""
        empty, scale = Curvature.of(self.n_features, self.n_columns), self._scale

        def work(block: Block) -> Curvature:
            Z = self._features(block)
            return empty.zero().update(Z, *_margin_losses(self._loss, self._targets.encode(block), Z @ (scale * alpha)))

        total = self._passes.reduce("risk", work, self._blocks, empty.zero())
        n_rows = self._blocks.n_rows or 1  # known after a pass
        return Expansion(total.values / n_rows, scale * total.gradients / n_rows, scale**2 * total.hessians / n_rows)

    def _features(self, block: Block) -> Array:
        """Return features in float64: the gap is a difference of sums, which float32 would lose."""
        if block.sample_weight is not None:
            raise ValueError(f"{self._passes.owner}: the empirical risk has no sample_weight. Make the blocks without.")
        return self._sinks.transform(block.X).astype(np.float64, copy=False)


@dataclass
class Largest:
    """The largest absolute entry of rows, as a statistic."""

    value: float = 0.0

    def zero(self) -> Self:
        """Return the statistic of no rows."""
        return type(self)()

    def update(self, values: Rows) -> Self:
        """Add rows of values."""
        self.value = max(self.value, float(np.abs(values).max(initial=0.0)))
        return self

    def merge(self, other: Self) -> Self:
        """Add the entries of other rows."""
        self.value = max(self.value, other.value)
        return self


def _margin_losses(loss: str, signs: Array, scores: Array) -> tuple[Array, Array, Array]:
    """Return a loss of margins and its first and second derivatives by the scores."""
    margins = signs * scores
    if loss == "logistic":
        wrong = special.expit(-margins)
        return np.logaddexp(0, -margins), -signs * wrong, wrong * (1 - wrong)
    lacking = np.maximum(1 - margins, 0)
    return 0.5 * lacking**2, -signs * lacking, (lacking > 0).astype(np.float64)
