"""Groups of arguments of the primitives with many arguments. Each group mirrors a struct of csrc/types.hpp.

The NumPy primitives take these tuples. The compiled primitives take the fields as separate arguments in the same
order, so that ``mercer.core`` only unpacks the tuples.
"""

from typing import NamedTuple

import numpy as np

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
    shrunk: Array  # (n, K), changed: 1 if the coordinate is no longer visited
    weights: Array  # changed: (K, D) for dense rows; (D, K) for CSR rows, a K above 1 rounded up to a multiple of 8
    intercepts: Array  # (K,), changed: the weights of a feature of value ``constant``
    progress: Array  # (3, K), changed: thresholds of shrinking, duality gaps, largest violations
    one_sided: bool  # classification; False: regression
    epsilon: float
    constant: float


class OnlineResult(NamedTuple):
    """What online learning on a Gram matrix of n rows writes, for k columns of scores."""

    scores: Array  # (n, k): on input the scores before the first row; on output the scores before each row
    coef: Array  # (n, k): coefficients of the rows that had a loss, in order
    active: Array  # (n,) int64: the numbers of these rows
    counts: Array  # (2,) int64: the number of rows processed, and the number of rows that had a loss


class BinnedRows(NamedTuple):
    """The rows and the columns that a symmetric tree sees.

    Columns of two bins may share a bundle if no row has bin 1 in two of them: the code of a row in the bundle names the
    column in which its bin is 1. One pass over the codes of a bundle sums the rows of all its columns.
    """

    codes: Array  # (tables, n) uint8: the bins of all rows, column by column, then the codes of the bundles
    rows: Array  # (m,) int32: the rows that the tree sees
    columns: Array  # (c,) int32: the columns that may split
    n_bins: Array  # (tables,) int32: the bins of columns, and the codes of bundles
    tables: Array  # (d,) int32: the table that sums the rows of each column: its own, or a bundle
    members: Array  # (d,) int32: the code of each column in its bundle, -1 for a column without one


class BoostedRows(NamedTuple):
    """What a boosted tree is fitted to, and what it changes. All arrays are float64, and of all n rows."""

    targets: Array  # (n, k)
    weights: Array  # (n,): 0 for rows that are predicted only
    judges: Array  # (n,): the weights of the rows whose squared errors are summed, 0 for others
    scores: Array  # (n, k), changed
    expected: Array  # (n, k), changed: the targets that the scores expect
    logistic: bool  # the loss log(1 + exp(-2 y f)) of targets +1 and -1, else the squared error


class BoostedTree(NamedTuple):
    """What a tree writes."""

    columns: Array  # (depth,) int32
    bins: Array  # (depth,) int32: rows of a larger bin go to the right
    values: Array  # (2^depth, k): what each cell adds to the scores
    errors: Array  # (k,): the weighted sums of squared errors of the judges, after this tree


class BudgetRule(NamedTuple):
    """How a model with a budget of support vectors learns a row, and how it removes a surplus support vector."""

    update: str  # one of BUDGET_UPDATES
    maintenance: str  # one of BUDGET_MAINTENANCE
    loss: int  # a number of LOSSES; "absolute" is the epsilon-insensitive loss
    budget: int
    epsilon: float  # errors up to epsilon have no loss
    ridge: float  # noise of Newton steps; 1 / ridge limits passive-aggressive coefficients
    tolerance: float  # a row joins only if the part of its length outside the span exceeds this fraction


class BudgetRows(NamedTuple):
    """A block of m rows to learn, given by the kernel values of each row with the s earlier slots and the m rows.

    All arrays except ``numbers`` are float64.
    """

    cross: Array  # (m, s + m), or (m, 0) for merging: kernel values, or the exponents of Gaussian ones
    gamma: float  # 0: cross holds kernel values; else exponents gamma |x - y|^2
    norms: Array  # (m,): k(x, x)
    X: Array  # (m, d): the rows; (m, 0) if the caller keeps the rows
    numbers: Array  # (m,) int64: the numbers of the rows in the stream
    y: Array  # (m,)
    steps: Array  # (m,): step sizes of gradient descent
    shrinks: Array  # (m,): factors of the coefficients, applied before each row joins
    uniforms: Array  # (m,): numbers in [0, 1), for random removal
    scores: Array  # (m, k), written: the scores before each row


class BudgetState(NamedTuple):
    """Slots for support vectors, one more than the budget. All arrays change in place; unneeded arrays are empty."""

    coef: Array  # (slots, k)
    norms: Array  # (slots,): k(x, x)
    born: Array  # (slots,) int64: the number of the row in the stream
    column: Array  # (slots,) int64: the column of ``BudgetRows.cross``
    rows: Array  # (slots, d)
    between: Array  # (slots, slots): kernel values, where the slot of the row is not older than that of the column
    inverse: Array  # (slots, slots): the inverse of the Gram matrix, for projections
    reduction: Array  # (slots, slots), of Newton steps: by how much the rows seen reduce the variance
    totals: Array  # (2,) float64: the damage of the Forgetron's removals, and the perceptron's mistakes
    counts: Array  # (1,) int64: the number of slots in use
    # (slots, slots), or none: the inverse of the Cholesky factor of the Gram matrix, a triangle. The compiled loop
    # may read it where the slots of a full budget stay.
    factor: Array = np.zeros((0, 0))
    # (panels * slots, 16) float32, or none: entry (p * slots + j, l) is factor[16 p + l, j]. The compiled loop may read
    # it for decisions that this precision settles.
    rounded: Array = np.zeros((0, 16), dtype=np.float32)
    sums: Array = np.zeros(0)  # (slots,) of the rows of factor, if there is rounded


class ClusterRows(NamedTuple):
    """State of n rows in clusters."""

    norms: Array  # (n,) float64: squared lengths
    labels: Array  # (n,) int32: the nearest centre; -1 before the first search
    margins: Array  # (n,) float32: every other centre is farther by at least this much


class ClusterHeads(NamedTuple):
    """Products of n rows and k centres with h orthonormal directions, and the lengths of the remainders ("rests").

    All arrays are float32. Without directions (h = 0), ``apart`` may be empty.
    """

    rows: Array  # (n, h)
    rests: Array  # (n,): lengths of the rests of the rows
    centres: Array  # (k, h)
    sizes: (
        Array  # (3, k): squared lengths of the centres; lengths of their rests; distances of rests from the mean rest
    )
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
    """The changes of the sums and weights of the clusters by rows that change their cluster."""

    row_weight: Array  # (n,) float64; empty: every row has weight 1
    sums: Array  # (k, D) float64, changed: weighted features
    weight: Array  # (k,) float64, changed: weights
