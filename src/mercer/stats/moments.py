"""Second moments of features and targets."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.recycling import empty
from mercer.stats.base import add_product, as_columns, weighted


@dataclass
class Moments:
    r"""Weighted sums of features z about an origin o, and of targets y about an origin m:

    .. math:: W = \sum w_i, \; s = \sum w_i (z_i - o), \; t = \sum w_i (y_i - m), \;
       G = \sum w_i (z_i - o)(z_i - o)^T, \; H = \sum w_i (z_i - o)(y_i - m)^T, \; q = \sum w_i (y_i - m)^2.

    Origins near the means keep the centred moments from being small differences of large sums. Time n D^2 (half of
    that in multiplications, by symmetry), memory D^2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import Moments
    >>> moments = Moments.of(2, 1).update(np.eye(2), np.ones(2))
    >>> moments.weight, moments.gram.tolist()
    (2.0, [[1.0, 0.0], [0.0, 1.0]])
    """  # noqa: D400

    origin: Array
    target_origin: Array
    weight: float
    sum_features: Array
    sum_targets: Array
    gram: Array
    cross: Array
    sum_squares: Array

    @classmethod
    def of(
        cls, n_features: int, n_targets: int, origin: Array | None = None, target_origin: Array | None = None
    ) -> Self:
        """Return the empty statistic; an origin that is not given is 0."""
        centre = np.zeros(n_features) if origin is None else np.asarray(origin, dtype=np.float64)
        target_centre = np.zeros(n_targets) if target_origin is None else np.asarray(target_origin, dtype=np.float64)
        squares = np.zeros((n_features, n_features)), np.zeros((n_features, n_targets)), np.zeros(n_targets)
        return cls(centre, target_centre, 0.0, np.zeros(n_features), np.zeros(n_targets), *squares)

    def zero(self) -> Self:
        """Return the empty statistic of the same shape and origins."""
        return self.of(len(self.origin), len(self.target_origin), self.origin, self.target_origin)

    def update(self, Z: Rows, Y: Array, sample_weight: Array | None = None) -> Self:
        """Add rows of features, targets and weights. Features may be CSR if their origin is 0."""
        if self.origin.any():
            Z = Z - self.origin.astype(Z.dtype)
        root = weighted(Z, sample_weight, 0.5)
        add_product(self.gram, root, root)
        return self.add_sums(Z, as_columns(Y), sample_weight)

    def of_block(self, Z: Array, Y: Array, sample_weight: Array | None = None) -> Self:
        """Return the moments of a dense block of at most 4096 rows about these origins, to be merged.

        Z is overwritten. G has the precision of Z: a float64 copy of its D^2 entries would take a tenth of the time of
        G.
        """
        Z -= self.origin.astype(Z.dtype)
        root = weighted(Z, sample_weight, 0.5)
        part = self.zero()
        part.gram = np.matmul(root.T, root, out=empty(part.gram.shape, root.dtype))
        return part.add_sums(Z, as_columns(Y), sample_weight)

    def add_sums(self, Z: Rows, Y: Array, sample_weight: Array | None) -> Self:
        """Add everything but G, of rows whose features are about the origin already."""
        Y = Y - self.target_origin
        weight = np.ones(len(Y)) if sample_weight is None else sample_weight
        self.weight += float(weight.sum())
        sums = np.zeros((Z.shape[1], Y.shape[1] + 1))
        add_product(sums, Z, weight[:, None] * np.column_stack([Y, np.ones(len(Y))]))
        self.cross += sums[:, :-1]
        self.sum_features += sums[:, -1]
        self.sum_targets += weight @ Y
        self.sum_squares += weight @ Y**2
        return self

    def merge(self, other: Self) -> Self:
        """Add the moments of other rows about the same origins."""
        for mine, others in ((self.origin, other.origin), (self.target_origin, other.target_origin)):
            if not np.array_equal(mine, others):
                raise ValueError("Moments: only moments about the same origin can be merged. Give both the same one.")
        self.weight += other.weight
        if self.gram.dtype != np.float64:  # of a block: sums of blocks are float64
            self.gram = self.gram.astype(np.float64)
        for name in ("sum_features", "sum_targets", "gram", "cross", "sum_squares"):
            getattr(self, name).__iadd__(getattr(other, name))
        return self

    @property
    def feature_mean(self) -> Array:
        """The weighted mean of the features."""
        return self.origin + self.sum_features / self.weight

    @property
    def target_mean(self) -> Array:
        """The weighted mean of the targets."""
        return self.target_origin + self.sum_targets / self.weight

    def centred(self) -> tuple[Array, Array, Array]:
        """Return G, H and q about the means of features and targets."""
        shift = self.sum_features / self.weight
        gram = self.gram - np.outer(self.sum_features, shift)
        cross = self.cross - np.outer(shift, self.sum_targets)
        squares = np.maximum(self.sum_squares - self.sum_targets**2 / self.weight, 0.0)
        return gram, cross, squares
