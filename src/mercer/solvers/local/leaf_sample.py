"""Leave-one-out errors on a few whole leaves, where the rows are as dense as in the whole model."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array, Rows
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.trees import RandomTree, leaves_of


@dataclass(frozen=True)
class LeafSample:
    """The rows of some leaves.

    A uniform sample of rows would be less dense than all rows, and would prefer wider kernels.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers, one leaf after the other.
    leaves : list of ndarray
        The positions of each leaf in ``rows``.
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
        return cls._of([tree.leaves[b] for b in chosen])

    @classmethod
    def around(cls, X: Rows, leaf_rows: int, queries: Array, rng: np.random.RandomState) -> "LeafSample":
        """Take the leaves of some rows, given by their numbers: two metrics can be compared on the same rows.

        The other leaves of the tree are not grown.
        """
        return cls._of(leaves_of(X, leaf_rows, queries, rng))

    @classmethod
    def _of(cls, parts: list[Array]) -> "LeafSample":
        ends = np.cumsum([len(part) for part in parts])
        return cls(
            np.concatenate(parts), [np.arange(b - len(part), b) for b, part in zip(ends.tolist(), parts, strict=True)]
        )


def relative_error(
    system: LeafSystem,
    Y: Array,
    alpha: float,
    sample_weight: Array | None = None,
    left_out: Array | None = None,
    *,
    variance: Array | None = None,
) -> float:
    """Return the mean squared leave-one-out error in units of the variance of y, averaged over the targets.

    Weights are repetitions: a row of weight 2 counts twice. ``variance`` (k,) is the variance of y on other rows, which
    makes the errors of different samples comparable; by default, the variance of y on the rows of the system.
    """
    residuals = system.solve(Y, alpha, sample_weight, left_out=left_out).loo_residuals
    weight = np.ones(len(Y)) if sample_weight is None else sample_weight
    if variance is None:
        variance = variances(Y, weight)
    errors = weight @ np.square(residuals) / weight.sum()  # type: ignore[arg-type]
    return float(np.mean(errors / variance))


def variances(Y: Array, weight: Array) -> Array:
    """Return the weighted variance of each column, 1 where it is 0."""
    share = weight / weight.sum()
    found = share @ (Y - share @ Y) ** 2
    return np.asarray(np.where(found > 0, found, 1.0))
