"""Sums of features over the rows of each cluster."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.linalg import squared_norms
from mercer.stats.base import add_product


@dataclass
class ClusterSums:
    r"""Weighted sums over clusters, in float64: :math:`W_c = \sum_{i \in c} w_i`, :math:`S_c = \sum_{i \in c} w_i z_i`.

    With :math:`q = \sum_i w_i \|z_i\|^2`, they give the centres :math:`S_c / W_c` and the inertia for any centres,
    without a pass over the rows. A row that changes its cluster is subtracted from one sum and added to another, so
    that the cost of a pass grows with the number of changes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import ClusterSums
    >>> sums = ClusterSums.of(2, 3).update(np.eye(3), np.array([0, 1, 1]))
    >>> sums.weight.tolist(), sums.sums.tolist()
    ([1.0, 2.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    >>> sums.move(np.eye(3)[1:2], np.array([1]), np.array([0])).weight.tolist()
    [2.0, 1.0]
    """

    weight: Array
    sums: Array
    squares: float
    moves: int

    @classmethod
    def of(cls, n_clusters: int, n_features: int) -> Self:
        """Return the empty statistic."""
        return cls(np.zeros(n_clusters), np.zeros((n_clusters, n_features)), 0.0, 0)

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(*self.sums.shape)

    def update(self, Z: Rows, labels: Array, sample_weight: Array | None = None) -> Self:
        """Add rows of features, dense or CSR, with the numbers of their clusters, and weights."""
        weight = np.ones(len(labels)) if sample_weight is None else sample_weight
        member = np.zeros((len(labels), len(self.weight)), dtype=Z.dtype)
        member[np.arange(len(labels)), labels] = weight
        add_product(self.sums, member, Z)
        self.weight += np.bincount(labels, weight, minlength=len(self.weight))
        self.squares += float(weight @ squared_norms(Z))
        return self

    def move(self, Z: Rows, old: Array, new: Array, sample_weight: Array | None = None) -> Self:
        """Take rows from their old clusters and add them to new ones."""
        weight = np.ones(len(old)) if sample_weight is None else sample_weight
        each = np.arange(len(old))
        member = np.zeros((len(old), len(self.weight)), dtype=Z.dtype)
        member[each, new] += weight.astype(Z.dtype)
        member[each, old] -= weight.astype(Z.dtype)
        add_product(self.sums, member, Z)
        n_clusters = len(self.weight)
        self.weight += np.bincount(new, weight, minlength=n_clusters) - np.bincount(old, weight, minlength=n_clusters)
        self.moves += int(np.count_nonzero(old != new))
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        self.weight += other.weight
        self.sums += other.sums
        self.squares += other.squares
        self.moves += other.moves
        return self

    def centres(self, otherwise: Array) -> Array:
        """Return the mean of each cluster; the row of ``otherwise`` for an empty cluster."""
        full = self.weight > self._rounding()
        return np.where(full[:, None], self.sums / np.where(full, self.weight, 1.0)[:, None], otherwise)

    def empty(self) -> Array:
        """Return the numbers of the clusters without rows of positive weight."""
        return np.flatnonzero(self.weight <= self._rounding())

    def inertia(self, centres: Array) -> float:
        """Return the weighted sum of squared distances of the rows to their clusters' centres."""
        inside = np.einsum("kd,kd->k", centres, centres) @ self.weight - 2 * np.einsum("kd,kd->", self.sums, centres)
        return max(float(self.squares + inside), 0.0)

    def variance(self) -> float:
        """Return the mean over the features of their weighted variance."""
        mean = self.sums.sum(axis=0) / self.weight.sum()
        return max(float(self.squares / self.weight.sum() - mean @ mean), 0.0) / len(mean)

    def _rounding(self) -> float:
        """Return the weight that counts as 0: after rows are added and subtracted, rounding remains."""
        return float(1e-12 * self.weight.sum())


@dataclass
class Farthest:
    """The rows farthest from their centres, the farthest first: new centres of clusters without rows.

    >>> import numpy as np
    >>> from mercer.stats import Farthest
    >>> Farthest.of(1, 2).update(np.eye(2), np.array([1.0, 4.0]), np.array([0, 0])).rows.tolist()
    [[0.0, 1.0]]
    """

    n_kept: int
    distances: Array
    labels: Array
    weight: Array
    rows: Array

    @classmethod
    def of(cls, n_kept: int, n_features: int) -> Self:
        """Return the empty statistic, of at most ``n_kept`` rows."""
        return cls(n_kept, np.zeros(0), np.zeros(0, dtype=int), np.zeros(0), np.zeros((0, n_features)))

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(self.n_kept, self.rows.shape[1])

    def update(self, Z: Rows, distances: Array, labels: Array, sample_weight: Array | None = None) -> Self:
        """Add rows of features, dense or CSR, with squared distances, clusters and weights; drop weights of 0."""
        weight = np.ones(len(labels)) if sample_weight is None else sample_weight
        order = np.argsort(-np.where(weight > 0, distances, -np.inf), kind="stable")[: self.n_kept]
        order = order[weight[order] > 0]
        rows = Z[order] if isinstance(Z, np.ndarray) else Z[order].toarray()
        part = type(self)(self.n_kept, distances[order], labels[order], weight[order], rows.astype(np.float64))
        return self.merge(part)

    def merge(self, other: Self) -> Self:
        """Add other rows, and keep the farthest; among equally far rows, the first."""
        distances = np.concatenate([self.distances, other.distances])
        order = np.argsort(-distances, kind="stable")[: self.n_kept]
        for name in ("distances", "labels", "weight", "rows"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)])[order])
        return self
