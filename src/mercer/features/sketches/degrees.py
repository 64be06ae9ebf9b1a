"""Degrees of a Maclaurin series: which degrees are used, their probabilities, and the error of leaving some out."""

from math import ceil, log2

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows, is_sparse
from mercer.kernels import DotProductKernel
from mercer.validation import check_integer, check_real

# An infinite series leaves out the degrees whose probability is below this number: no draw would ever show them.
_LEAST_LOG2_PROBABILITY = -60
_TAIL_TERMS = 10_000


def check_coefficients(owner: str, kernel: DotProductKernel, last: int) -> Array:
    """Return a_0, ..., a_last; refuse a negative coefficient, with which the function would not be a kernel."""
    coefficients = kernel.maclaurin(last)
    bad = np.flatnonzero(~(coefficients >= 0))
    if len(bad):
        raise ValueError(
            f"{owner}: {kernel!r} is not a positive definite kernel: its Maclaurin coefficient a_{bad[0]} = "
            f"{coefficients[bad[0]]:.6g} is negative (Kar and Karnick, 2012, Theorem 2). Choose a kernel whose "
            "coefficients are all >= 0, such as Polynomial or Exponential."
        )
    if not np.isfinite(coefficients).all():
        raise ValueError(
            f"{owner}: the Maclaurin coefficients of {kernel!r} overflow at degree {int(np.argmax(coefficients))}. "
            "Lower gamma."
        )
    return coefficients


def series(owner: str, kernel: DotProductKernel, p: float, max_degree: int | None) -> Array:
    """Return the coefficients of the degrees that a draw with base p can show, up to ``max_degree``."""
    p = check_real(owner, "p", p, least=1, strict=True)
    last = ceil(-_LEAST_LOG2_PROBABILITY / log2(p)) if kernel.last_degree is None else kernel.last_degree
    if max_degree is not None:
        last = min(last, check_integer(owner, "max_degree", max_degree, least=0))
    coefficients = check_coefficients(owner, kernel, last)
    if not coefficients.any():
        raise ValueError(f"{owner}: max_degree={max_degree} leaves no degree of {kernel!r}. Raise max_degree.")
    return coefficients


def degree_distribution(coefficients: Array, p: float, first: int = 0) -> Array:
    """Return probabilities proportional to p^-(n+1) over the degrees n >= first with a_n > 0; zeros if there are none.

    Kar and Karnick's p^-(n+1) sums to one only if p = 2 and the series has every degree.

    >>> import numpy as np
    >>> degree_distribution(np.array([1.0, 0.0, 1.0]), p=2.0)
    array([0.8, 0. , 0.2])
    """
    degrees = np.arange(len(coefficients))
    weights = np.where((coefficients > 0) & (degrees >= first), float(p) ** -(degrees + 1.0), 0.0)
    total = weights.sum()
    return weights / total if total > 0 else weights


def largest_square(X: Rows) -> float:
    """Return max |x|^2 in float64."""
    return float(_power_sums(X, 2).max())


def check_radius(owner: str, kernel: DotProductKernel, largest: float) -> float:
    """Return the largest argument of the series; refuse an argument at which the series does not converge."""
    if largest >= kernel.radius:
        raise ValueError(
            f"{owner}: {kernel!r} needs |x|^2 < {kernel.radius:g} on every row, and X reaches {largest:.6g}. "
            f"Multiply X by less than {(kernel.radius / largest) ** 0.5:.3g}."
        )
    return largest


def tail(kernel: DotProductKernel, first: int, r: float) -> float:
    """Return the sum of a_n r^n over n >= ``first``: the largest error of leaving out those degrees."""
    closed = kernel.tail(first, r)
    if closed is not None:
        return closed
    total, quiet = 0.0, 0
    last = _TAIL_TERMS if kernel.last_degree is None else kernel.last_degree
    for n in range(first, last + 1):
        try:
            term = kernel.coefficient(n) * r**n
        except OverflowError:
            return float("inf")
        total += term
        quiet = quiet + 1 if term <= 1e-17 * total else 0
        if quiet > 8:  # several negligible terms in sequence, since a series may skip degrees
            break
    return total


def variance_ratio(kernel: DotProductKernel, p: float, moment: float) -> float:
    """Return the largest ratio of successive terms of the variance series; the series diverges if the ratio is >= 1.

    The terms are a_n^2 / q_n m^n with m = E[W(x)^2 W(y)^2] of one factor W, which is largest at x = y: ``moment`` is
    the largest E[W(x)^4].
    """
    return p * moment / kernel.radius**2 if np.isfinite(kernel.radius) else 0.0


def largest_sign_moment(X: Rows) -> float:
    """Return the largest E[<w, x>^4] = 3|x|^4 - 2 sum_i x_i^4 over the rows, with w random signs."""
    return float((3 * _power_sums(X, 2) ** 2 - 2 * _power_sums(X, 4)).max())


def _power_sums(X: Rows, n: int) -> Array:
    """Return sum_i x_i^n of each row, in float64 because powers of float32 numbers overflow early."""
    if is_sparse(X):
        powers = sparse.csr_array((X.data.astype(np.float64) ** n, X.indices, X.indptr), shape=X.shape)
        return np.asarray(powers.sum(axis=1)).ravel()
    sums: Array = np.einsum("ij," * (n - 1) + "ij->i", *[X] * n, dtype=np.float64)
    return sums
