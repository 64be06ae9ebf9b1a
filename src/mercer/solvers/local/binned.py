"""Columns cut into bins, and bundles of columns of 0 and 1 that no row shares."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer._typing import Array

# Bins per column: as many as codes of one byte. A jump lies between two bins only by luck.
BINS = 256
# Bundles that are tried for a column at most: one of many columns has a place in the last ones, or nowhere.
_MOST_TRIED = 16


@dataclass(frozen=True)
class Bins:
    """Columns cut into bins.

    The levels of a category are columns of 0 and 1, at most one of which is 1. A bundle holds such columns as one
    column of codes, the number of the column that is 1: sums over the rows are made once for all of them (G. Ke et al.,
    "LightGBM", NeurIPS 2017).

    Attributes
    ----------
    edges : list of ndarray
        For each column the values that part its bins, ascending.
    codes : ndarray of shape (d + b, n), uint8
        The bin of each row in each column: how many edges its value exceeds. Then the codes of the bundles.
    n_bins : ndarray of shape (d + b,), int32
        How many codes there are.
    tables, members : ndarray of shape (d,), int32
        For each column the row of ``codes`` that holds it, its own or a bundle, and its code there, -1 without one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.local.binned import Bins
    >>> bins = Bins.of(np.array([[1.0, 0.0, 7.5], [0.0, 1.0, 2.0], [0.0, 0.0, 9.0]]))
    >>> bins.codes.tolist()
    [[1, 0, 0], [0, 1, 0], [1, 0, 2], [1, 2, 0]]
    >>> bins.tables.tolist(), bins.members.tolist()
    ([3, 3, 2], [1, 2, -1])
    """

    edges: list[Array]
    codes: Array
    n_bins: Array
    tables: Array
    members: Array

    @classmethod
    def of(cls, X: Array) -> "Bins":
        """Cut the columns of finite rows (n, d) at quantiles, between values that occur."""
        edges = [_edges(X[:, j].astype(np.float64)) for j in range(X.shape[1])]
        codes = np.stack([np.searchsorted(e, X[:, j]).astype(np.uint8) for j, e in enumerate(edges)])
        n_bins = np.array([len(e) + 1 for e in edges], dtype=np.int32)
        tables, members = np.arange(len(edges), dtype=np.int32), np.full(len(edges), -1, dtype=np.int32)
        bundles = _bundles(codes, np.flatnonzero(n_bins == 2).tolist())
        for number, bundle in enumerate(bundles, len(edges)):
            tables[bundle], members[bundle] = number, np.arange(1, len(bundle) + 1)
        bundled = [np.einsum("ij,i->j", codes[bundle], members[bundle].astype(np.uint8)) for bundle in bundles]
        sizes = np.array([len(bundle) + 1 for bundle in bundles], dtype=np.int32)
        return cls(edges, np.vstack([codes, *bundled]), np.append(n_bins, sizes), tables, members)

    def ordered(self, order: Array) -> "Bins":
        """Return the same bins with the rows in another order."""
        return replace(self, codes=np.take(self.codes, order, axis=1))


def _edges(x: Array) -> Array:
    values, counts = np.unique(x, return_counts=True)
    ends = np.arange(len(values) - 1)
    if len(values) > BINS:  # the places nearest to equal numbers of rows
        reached = np.cumsum(counts)
        wanted = np.arange(1, BINS) * len(x) / BINS
        ends = np.unique(np.searchsorted(reached, wanted).clip(0, len(values) - 2))
    return np.asarray(values[ends] + (values[ends + 1] - values[ends]) / 2)


def _bundles(codes: Array, columns: Sequence[int]) -> list[list[int]]:
    """Return lists of columns of codes 0 and 1 no two of which are 1 in one row; columns without others are left out.

    Each column goes to the last bundle that has a place for it: the levels of a category are side by side.
    """
    bundles: list[list[int]] = []
    taken: list[Array] = []
    for column in columns:
        ones = np.packbits(codes[column])
        for bundle, rows in list(zip(bundles, taken, strict=True))[: -_MOST_TRIED - 1 : -1]:
            if len(bundle) < BINS - 1 and not np.any(rows & ones):
                bundle.append(column)
                np.bitwise_or(rows, ones, out=rows)
                break
        else:
            bundles.append([column])
            taken.append(ones)
    return [bundle for bundle in bundles if len(bundle) > 1]
