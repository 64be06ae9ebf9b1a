"""Leave-one-out errors on a few whole leaves: the density of the rows there is the one that the whole model meets."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.trees import RandomTree


@dataclass(frozen=True)
class LeafSample:
    """The rows of some leaves.

    A uniform sample of rows would be less dense than all rows, and would ask for wider kernels.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers, one leaf after the other.
    leaves : list of ndarray
        The place of each leaf in ``rows``.
    """

    rows: Array
    leaves: list[Array]

    @classmethod
    def of(cls, tree: RandomTree, n_leaves: int, rng: np.random.RandomState) -> "LeafSample":
        """Draw at most ``n_leaves`` leaves of a tree.

        >>> X = np.random.RandomState(0).randn(100, 2)
        >>> tree = RandomTree.of(X, 20, np.random.RandomState(0))
        >>> sample = LeafSample.of(tree, 2, np.random.RandomState(0))
        >>> len(sample.rows), [len(leaf) for leaf in sample.leaves]
        (40, [20, 20])
        """
        chosen = np.sort(rng.permutation(tree.n_leaves)[:n_leaves])
        parts = [tree.leaves[b] for b in chosen]
        ends = np.cumsum([len(part) for part in parts])
        return cls(
            np.concatenate(parts), [np.arange(b - len(part), b) for b, part in zip(ends.tolist(), parts, strict=True)]
        )


def relative_error(
    system: LeafSystem, Y: Array, alpha: float, sample_weight: Array | None = None, left_out: Array | None = None
) -> float:
    """Return the mean squared leave-one-out error in units of the variance of y, averaged over the targets.

    Each square counts as often as its row: weights are repetitions.
    """
    residuals = system.solve(Y, alpha, sample_weight, left_out=left_out).loo_residuals
    weight = np.ones(len(Y)) if sample_weight is None else sample_weight
    mean = weight @ Y / weight.sum()
    spread = weight @ (Y - mean) ** 2
    errors = weight @ np.square(residuals)  # type: ignore[arg-type]
    return float(np.mean(errors / np.where(spread > 0, spread, 1.0)))
