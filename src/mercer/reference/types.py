"""Groups of arguments of the widest primitives. Each mirrors a struct of csrc/types.hpp.

The NumPy primitives take these tuples. The compiled ones take their fields one by one, in the same order, so that
``mercer.core`` only unpacks them.
"""

from typing import NamedTuple

from mercer._typing import Array

# The losses of online learning, by number: the order of ``enum class Loss``.
LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "absolute")
# Updates and maintenance of a budget of support vectors: the orders of ``BudgetUpdate`` and ``BudgetMaintenance``.
BUDGET_UPDATES = ("gradient", "perceptron", "margin_perceptron", "passive_aggressive", "newton")
BUDGET_MAINTENANCE = (
    "merge",
    "project",
    "project_newest",
    "absorb",
    "absorb_nearest",
    "remove",
    "oldest",
    "random",
    "shrink",
    "stochastic",
    "stochastic_weighted",
)


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


class BudgetRule(NamedTuple):
    """How a budget of support vectors learns a row, and what it does with one too many."""

    update: str  # one of BUDGET_UPDATES
    maintenance: str  # one of BUDGET_MAINTENANCE
    loss: int  # a number of LOSSES; "absolute" is the epsilon-insensitive loss
    budget: int
    epsilon: float  # errors that the epsilon-insensitive loss does not see
    ridge: float  # noise of Newton steps; 1 / ridge limits passive-aggressive coefficients
    tolerance: float  # a row that leaves less than this part of its length outside the span does not join


class BudgetRows(NamedTuple):
    """A block of m rows to learn, by kernel values of each with the s slots before the block and with the m rows.

    All float64, but for ``numbers``.
    """

    cross: Array  # (m, s + m), or (m, 0) for merging: kernel values, or the exponents of Gaussian ones
    gamma: float  # 0: cross holds kernel values; else exponents gamma |x - y|^2
    norms: Array  # (m,): k(x, x)
    X: Array  # (m, d): the rows; (m, 0) where the caller keeps them
    numbers: Array  # (m,) int64: their numbers in the stream
    y: Array  # (m,)
    steps: Array  # (m,): step sizes of gradient descent
    shrinks: Array  # (m,): the coefficients are multiplied by it before the row joins
    uniforms: Array  # (m,): numbers in [0, 1), for removal by chance
    scores: Array  # (m, k), written: the scores before each row


class BudgetState(NamedTuple):
    """Slots for support vectors, one more than ever stay; all are changed in place. Those not needed have no rows."""

    coef: Array  # (slots, k)
    norms: Array  # (slots,): k(x, x)
    born: Array  # (slots,) int64: the number of the row in the stream
    column: Array  # (slots,) int64: the column of ``BudgetRows.cross``
    rows: Array  # (slots, d)
    between: Array  # (slots, slots): kernel values
    inverse: Array  # (slots, slots): the inverse of the Gram matrix, for projections
    covariance: Array  # (slots, slots), of Newton steps
    mean: Array  # (slots, k), of Newton steps
    totals: Array  # (2,) float64: what the Forgetron has spent, and the perceptron's mistakes
    counts: Array  # (1,) int64: the number of slots in use


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
