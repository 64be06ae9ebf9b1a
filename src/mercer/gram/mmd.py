"""The maximum mean discrepancy of two samples by features, and its tests."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from mercer._typing import Array, Rows, RowsLike, Seed, is_sparse
from mercer.features import FeatureMap, feature_map
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.parameter import as_kernel
from mercer.structures import as_rows
from mercer.structures.ragged import stack_rows
from mercer.validation import check_integer, check_same_width

# Sign or share vectors that are multiplied with the features at once.
_AT_ONCE = 256


class MMD(NamedTuple):
    """The squared discrepancy of two samples, its p-value, and the values under the null hypothesis."""

    squared: float  # the unbiased estimate, which may be negative
    p_value: float
    null: Array  # (n_permutations,)


def mmd(
    X: RowsLike,
    Y: RowsLike,
    kernel: Kernel | None = None,
    *,
    features: FeatureMap | None = None,
    n_components: int = 512,
    test: str = "permutation",
    n_permutations: int = 500,
    random_state: Seed = None,
) -> MMD:
    r"""Test whether two samples, or two bags, have the same distribution, by the maximum mean discrepancy.

    With z the features of the kernel, the squared discrepancy is the unbiased

    .. math:: \frac{\sum_{i \ne j} \langle z(x_i), z(x_j) \rangle}{m (m - 1)}
              + \frac{\sum_{i \ne j} \langle z(y_i), z(y_j) \rangle}{n (n - 1)} - 2 \langle \bar z_x, \bar z_y \rangle

    Parameters
    ----------
    X, Y : rows of numbers, or objects of the kernel's domain
        At least two of each.
    kernel : Kernel, default=Gaussian(gamma="median")
        Its bandwidth is found on both samples together.
    features : feature map, optional
        In place of ``feature_map(kernel, n_components)``. It is fitted on both samples together.
    n_components : int, default=512
    test : "permutation" or "wild"
        "permutation" deals the objects out to the samples again. "wild" (wild bootstrap) exchanges x_i and y_i by coin
        tosses; it needs samples of one size.
    n_permutations : int, default=500
    random_state : int, RandomState or None

    Returns
    -------
    MMD
        ``squared``, ``p_value`` and ``null``, the squared discrepancies of the exchanged samples.

    Notes
    -----
    The p-value (1 + number of null values at least as large) / (1 + n_permutations) is exact: under the null hypothesis
    it is at most a with a probability of at most a, whatever the features and however few objects. Time
    O((m + n) D n_permutations), memory that of the features.

    References
    ----------
    A. Gretton et al., "A kernel two-sample test", JMLR 2012.
    K. Chwialkowski, D. Sejdinovic and A. Gretton, "A wild bootstrap for degenerate kernel tests", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import mmd
    >>> rng = np.random.RandomState(0)
    >>> mmd(rng.randn(100, 2), rng.randn(120, 2) + 1.0, random_state=0).p_value < 0.01
    True
    """
    if test not in ("permutation", "wild"):
        raise ValueError(f"mmd: test must be 'permutation' or 'wild', got {test!r}.")
    n_permutations = check_integer("mmd", "n_permutations", n_permutations)
    rng = check_random_state(random_state)
    Z, m = _features(X, Y, kernel, features, n_components, rng)
    if test == "wild" and Z.shape[0] != 2 * m:
        raise ValueError(
            f"mmd: test='wild' needs samples of one size, got {m} and {Z.shape[0] - m}. Take 'permutation'."
        )
    draw = _exchanged if test == "wild" else _dealt
    observed = np.zeros((1, Z.shape[0]), dtype=bool)
    observed[0, :m] = True
    squared = float(_squared(Z, observed, wild=test == "wild")[0])
    null = np.concatenate(
        [
            _squared(Z, draw(m, Z.shape[0], min(_AT_ONCE, n_permutations - start), rng), wild=test == "wild")
            for start in range(0, n_permutations, _AT_ONCE)
        ]
    )
    # Equal values count against the null hypothesis' rejection; rounding must not make them differ.
    at_least = null >= squared - 1e-12 * max(abs(squared), float(np.abs(null).max()))
    return MMD(squared, float((1 + at_least.sum()) / (1 + n_permutations)), null)


def _features(
    X: RowsLike,
    Y: RowsLike,
    kernel: Kernel | None,
    features: FeatureMap | None,
    n_components: int,
    rng: np.random.RandomState,
) -> tuple[Rows, int]:
    """Return the features of both samples, one after the other, and the size of the first."""
    chosen = as_kernel("mmd", kernel, Gaussian(gamma="median"))
    domain = chosen.domain if features is None else features.domain
    left, right = as_rows("mmd", domain, X), as_rows("mmd", domain, Y, "Y")
    check_same_width("mmd", left, right)
    for name, rows in (("X", left), ("Y", right)):
        if rows.shape[0] < 2:
            raise ValueError(f"mmd: {name} must hold at least 2 rows or objects, got {rows.shape[0]}.")
    both = stack_rows([left, right]).astype(np.float64)
    made = feature_map(chosen, n_components) if features is None else features
    Z: Rows = made.set_params(random_state=int(rng.randint(2**31 - 1))).fit_transform(both)
    return Z if is_sparse(Z) else np.asarray(Z), left.shape[0]


def _dealt(m: int, n_both: int, n_draws: int, rng: np.random.RandomState) -> Array:
    """Return which objects are in the first sample, dealt out at random."""
    order = np.argsort(rng.random_sample((n_draws, n_both)), axis=1)
    first = np.zeros((n_draws, n_both), dtype=bool)
    np.put_along_axis(first, order[:, :m], True, axis=1)
    return first


def _exchanged(m: int, n_both: int, n_draws: int, rng: np.random.RandomState) -> Array:
    """Return which objects are in the first sample where each pair is exchanged by a coin."""
    coins = rng.random_sample((n_draws, m)) < 0.5
    return np.hstack([coins, ~coins])


def _squared(Z: Rows, first: Array, *, wild: bool) -> Array:
    """Return the unbiased squared discrepancy for each choice of the first sample."""
    m = int(first[0].sum())
    n = first.shape[1] - m
    lengths = np.asarray(Z.multiply(Z).sum(axis=1)).ravel() if is_sparse(Z) else np.einsum("ij,ij->i", Z, Z)
    if wild:  # pairs z(x_i) - z(y_i) with signs: products of a pair with itself are left out
        difference = Z[:m] - Z[m:]
        signs = np.where(first[:, :m], 1.0, -1.0)
        sums = _times(signs, difference)
        own = difference.multiply(difference).sum() if is_sparse(difference) else (difference**2).sum()
        return np.asarray((np.einsum("ij,ij->i", sums, sums) - float(own)) / (m * (m - 1)))
    inside, outside = _times(first.astype(np.float64), Z), _times((~first).astype(np.float64), Z)
    of_first = first.astype(np.float64) @ lengths
    within = (np.einsum("ij,ij->i", inside, inside) - of_first) / (m * (m - 1))
    without = (np.einsum("ij,ij->i", outside, outside) - (lengths.sum() - of_first)) / (n * (n - 1))
    return np.asarray(within + without - 2 * np.einsum("ij,ij->i", inside, outside) / (m * n))


def _times(weights: Array, Z: Rows) -> Array:
    return np.asarray((Z.T @ weights.T).T if is_sparse(Z) else weights @ Z)
