"""Random trees that cut rows into leaves of bounded size."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.state import Integers, Reals, Sizes, Stored, part, require

# Rows from which the direction of a split is drawn. A direction has their covariance, whatever the number of rows.
_DIRECTION_ROWS = 2000


@part("RandomTree")
@dataclass(frozen=True)
class RandomTree:
    r"""A binary tree of splits :math:`\langle v, x \rangle \le t` along random directions.

    The direction v of a node is a Gaussian vector with the covariance of the rows of that node, so that the rows are
    cut where they vary most. The threshold is a quantile near the median, so that the rows fall into as few leaves as
    the bound allows, all of nearly the same size. A tree does not read y: leave-one-out errors on its leaves are exact.

    Attributes
    ----------
    directions : ndarray of shape (n_nodes, d), float64
    thresholds : ndarray of shape (n_nodes,), float64
    children : ndarray of shape (n_nodes, 2), int64
        The left and the right child of each node. A number c >= 0 is the node c, a number c < 0 is the leaf -1 - c.
    order : ndarray of shape (n,), int64
        Row numbers, sorted by leaf.
    ends : ndarray of shape (n_leaves,), int64
        Where each leaf ends in ``order``.

    Notes
    -----
    Time O(n d) per level. Rows that are equal along a direction stay together, unless all rows of a node are equal:
    then the node is cut by row number, and new rows go to the first half.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.local.trees import RandomTree
    >>> X = np.random.RandomState(0).randn(100, 3)
    >>> tree = RandomTree.of(X, 30, np.random.RandomState(0))
    >>> [len(leaf) for leaf in tree.leaves]
    [25, 25, 25, 25]
    >>> bool((tree.leaf_of(X)[tree.leaves[2]] == 2).all())
    True
    """

    _stored = Stored(
        directions=Reals(("nodes", "d"), dtypes=(np.float64,)),
        thresholds=Reals(("nodes",), dtypes=(np.float64,)),
        children=Integers(("nodes", 2), (np.int64,)),
        order=Integers(("n",), (np.int64,), least=0, below="n"),
        ends=Integers(("leaves",), (np.int64,), least=1),
    )

    directions: Array
    thresholds: Array
    children: Array
    order: Array
    ends: Array

    @classmethod
    def of(cls, X: Rows, leaf_rows: int, rng: np.random.RandomState) -> "RandomTree":
        """Cut the rows of X into leaves of at most ``leaf_rows`` rows."""
        return _Growing(X, leaf_rows, rng).tree()

    @property
    def n_rows(self) -> int:
        """Number of rows in all leaves."""
        return len(self.order)

    @property
    def n_columns(self) -> int:
        """Number of columns of the rows."""
        return int(self.directions.shape[1])

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.ends)

    @property
    def slices(self) -> list[slice]:
        """The place of each leaf in ``order``."""
        starts = [0, *self.ends[:-1].tolist()]
        return [slice(a, b) for a, b in zip(starts, self.ends.tolist(), strict=True)]

    @property
    def leaves(self) -> list[Array]:
        """The row numbers of each leaf."""
        return [self.order[place] for place in self.slices]

    def leaf_of(self, X: Rows) -> Array:
        """Return the number of the leaf of each row of X."""
        found = np.zeros(X.shape[0], dtype=np.int64)
        if not len(self.children):
            return found
        waiting = [(0, np.arange(X.shape[0]))]
        while waiting:
            node, rows = waiting.pop()
            left = _along(X, rows, self.directions[node]) <= self.thresholds[node]
            for child, some in zip(self.children[node].tolist(), (rows[left], rows[~left]), strict=True):
                if child < 0:
                    found[some] = -1 - child
                elif len(some):
                    waiting.append((child, some))
        return found

    def _check_stored(self, sizes: Sizes) -> None:
        ends, n_nodes = self.ends, sizes["nodes"]
        require(len(ends) and ends[-1] == sizes["n"] and np.all(np.diff(ends) > 0), "ends must ascend to the last row")
        require(np.all(np.bincount(self.order, minlength=sizes["n"]) == 1), "order must hold every row once")
        require(n_nodes == len(ends) - 1, "there must be one node less than leaves")
        # A child has a greater number than its parent, so that no path returns; each child has one parent.
        children = np.sort(self.children.ravel())
        whole = np.concatenate([np.arange(-len(ends), 0), np.arange(1, n_nodes)]) if n_nodes else children
        require(np.array_equal(children, whole), "children must hold every leaf and every node but the first once")
        nodes = np.arange(n_nodes)[:, None]
        require(np.all((self.children < 0) | (self.children > nodes)), "a child must follow its parent")


def leaves_of(X: Rows, leaf_rows: int, rows: Array, rng: np.random.RandomState) -> list[Array]:
    """Return the leaves (row numbers) of a random tree that hold some of the rows; nodes without these are not split.

    Time O(n d) and a little more, whatever the number of levels: each level halves the rows that are left.

    >>> X = np.random.RandomState(0).randn(100, 2)
    >>> [len(leaf) for leaf in leaves_of(X, 30, np.array([7, 7]), np.random.RandomState(0))]
    [25]
    """
    growing, wanted, found = _Growing(X, leaf_rows, rng), np.zeros(X.shape[0], dtype=bool), []
    wanted[rows] = True
    waiting = [np.arange(X.shape[0])]
    while waiting:
        some = waiting.pop()
        if not wanted[some].any():
            continue
        if len(some) <= leaf_rows:
            found.append(some)
        else:
            waiting += reversed(growing.split(some))
    return found


class _Growing:
    """The nodes of a tree while it grows, depth first: a child has a greater number than its parent."""

    def __init__(self, X: Rows, leaf_rows: int, rng: np.random.RandomState):
        self._X, self._leaf_rows, self._rng = X, leaf_rows, rng
        self._directions: list[Array] = []
        self._thresholds: list[float] = []
        self._children: list[list[int]] = []
        self._leaves: list[Array] = []

    def tree(self) -> RandomTree:
        waiting: list[tuple[Array, int, int]] = [(np.arange(self._X.shape[0]), -1, 0)]
        while waiting:
            rows, parent, side = waiting.pop()
            is_leaf = len(rows) <= self._leaf_rows
            number = -1 - len(self._leaves) if is_leaf else len(self._children)
            if parent >= 0:
                self._children[parent][side] = number
            if is_leaf:
                self._leaves.append(rows)
                continue
            left, right = self.split(rows)
            waiting += [(right, number, 1), (left, number, 0)]
        return RandomTree(
            np.array(self._directions).reshape(len(self._directions), self._X.shape[1]),
            np.array(self._thresholds),
            np.array(self._children, dtype=np.int64).reshape(-1, 2),
            np.concatenate(self._leaves).astype(np.int64),
            np.cumsum([len(leaf) for leaf in self._leaves]).astype(np.int64),
        )

    def split(self, rows: Array) -> tuple[Array, Array]:
        direction = self._direction(rows)
        values = _along(self._X, rows, direction)
        order = np.argsort(values, kind="stable")
        n_leaves = -(-len(rows) // self._leaf_rows)
        cut, threshold = _cut_near(values[order], len(rows) * (n_leaves // 2) // n_leaves)
        self._directions.append(direction)
        self._thresholds.append(threshold)
        self._children.append([0, 0])
        return np.sort(rows[order[:cut]]), np.sort(rows[order[cut:]])

    def _direction(self, rows: Array) -> Array:
        """Return sum_i g_i (x_i - mean) of some rows, scaled to length 1: a Gaussian vector with their covariance."""
        n_some = min(len(rows), _DIRECTION_ROWS)
        some = self._X[rows[self._rng.permutation(len(rows))[:n_some]]].astype(np.float64)
        weights = self._rng.standard_normal(n_some)
        direction = np.asarray(some.T @ (weights - weights.mean())).ravel()  # the mean of the rows cancels
        length = np.linalg.norm(direction)
        return direction / length if np.isfinite(length) and length > 0 else np.zeros(len(direction))


def _along(X: Rows, rows: Array, direction: Array) -> Array:
    """Return <v, x> of some rows in float64, so that a row falls on the same side in every precision."""
    some = X[rows]
    if sparse.issparse(some):
        return np.asarray(some.astype(np.float64, copy=False) @ direction)
    # A sum over columns, and no matrix product: the bits of a row do not depend on the rows around it.
    return np.asarray(np.einsum("ij,j->i", some.astype(np.float64, copy=False), direction))


def _cut_near(values: Array, wanted: int) -> tuple[int, float]:
    """Return how many of the sorted values go to the left, and the threshold between them and the others.

    The cut is the place nearest to ``wanted`` where the value changes.
    """
    changes = np.flatnonzero(values[1:] > values[:-1]) + 1
    if not len(changes):
        return wanted, float(values[0])
    cut = int(changes[np.argmin(np.abs(changes - wanted))])
    low, high = float(values[cut - 1]), float(values[cut])
    threshold = low + (high - low) / 2
    return cut, threshold if low <= threshold < high else low
