"""Groups of arguments of the widest primitives. Each mirrors a struct of csrc/types.hpp.

The NumPy primitives take these tuples. The compiled ones take their fields one by one, in the same order, so that
``mercer.core`` only unpacks them.
"""

from typing import NamedTuple

from mercer._typing import Array

# The losses of online learning, by number: the order of ``enum class Loss``.
LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "absolute")


class CsrRows(NamedTuple):
    """Rows in CSR format. ``indptr`` may be any n + 1 consecutive pointers of a larger matrix."""

    data: Array
    indices: Array
    indptr: Array


class BoxTables(NamedTuple):
    """K linear problems in their dual variables, on the same n rows of D features.

    Tables and weights have the precision of the features; ``shrunk`` is uint8 and ``progress`` float64.
    """

    targets: Array  # (n, K): labels -1 and +1, or the values of a regression
    bounds: Array  # (n, 3): upper bound, ridge and squared norm of each row
    duals: Array  # (n, K), changed in place
    shrunk: Array  # (n, K), changed: 1 where the coordinate is not visited any more
    weights: Array  # changed: (K, D) for dense rows; (D, K) for CSR rows, a K above 1 rounded up to a multiple of 8
    intercepts: Array  # (K,), changed: the weights of a feature of value ``constant``
    progress: Array  # (3, K), changed: thresholds of shrinking, duality gaps, largest violations
    one_sided: bool  # classification; False: regression
    epsilon: float
    constant: float


class OnlineResult(NamedTuple):
    """What online learning on a Gram matrix of n rows writes, for k columns of scores."""

    scores: Array  # (n, k): the scores before the first row; afterwards those before each row
    coef: Array  # (n, k): coefficients of the rows that had a loss, one after the other
    active: Array  # (n,) int64: the numbers of these rows
    counts: Array  # (2,) int64: the number of rows done, and of those that had a loss


class ClusterRows(NamedTuple):
    """State of n rows in clusters."""

    norms: Array  # (n,) float64: squared lengths
    labels: Array  # (n,) int32: the nearest centre; -1 before the first search
    margins: Array  # (n,) float32: every other centre is farther by at least this much


class ClusterHeads(NamedTuple):
    """Products of n rows and k centres with h orthonormal directions, and the lengths of what these leave (rests).

    All float32. Without directions (h = 0), ``apart`` may be empty.
    """

    rows: Array  # (n, h)
    rests: Array  # (n,): lengths of the rests of the rows
    centres: Array  # (k, h)
    sizes: Array  # (3, k): squared lengths of the centres; lengths of their rests; distances of these from their mean
    apart: Array  # (k, k): distances of the rests of the centres from each other


class ClusterDoubts(NamedTuple):
    """Rows whose nearest centre is not known yet, and the centres that each may be nearest to."""

    rows: Array  # (m,) int64
    candidates: Array  # (m, k / 64 rounded up) uint64, one bit per centre; no columns: all centres


class ClusterScale(NamedTuple):
    """How much rounding may change a squared distance: ``slack`` times the squared lengths of the row and centre."""

    slack: float
    longest: float  # the squared length of the longest centre


class ClusterChanges(NamedTuple):
    """What rows that change their cluster add to the clusters' sums, or take from them."""

    row_weight: Array  # (n,) float64; empty: every row has weight 1
    sums: Array  # (k, D) float64, changed: weighted features
    weight: Array  # (k,) float64, changed: weights
