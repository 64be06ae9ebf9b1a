"""Random Maclaurin features for dot-product kernels (Kar and Karnick, 2012)."""

from math import ceil, log2
from typing import Any
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from mercer import core
from mercer._typing import Array
from mercer.features.base import FeatureMap, Writer
from mercer.features.closed_forms import PairMoments, maclaurin_variance
from mercer.kernels import DotProductKernel, Kernel
from mercer.validation import check_integer, check_memory, check_real

# Degrees less likely than this are left out of the law of a series that does not end: no draw would ever show them.
_LEAST_LOG2_PROBABILITY = -60
_TAIL_TERMS = 10_000


class RandomMaclaurin(FeatureMap):
    r"""Random Maclaurin features of a dot-product kernel :math:`f(\langle x, y \rangle) = \sum_n a_n \langle x, y \rangle^n`.

    Each feature draws a degree N with probability :math:`q_N \propto p^{-(N+1)}` over the degrees with a_N > 0, and N
    vectors of random signs:

    .. math:: z_i(x) = \sqrt{a_N / (q_N D)} \prod_{j=1}^{N} \langle \omega_j, x \rangle

    The estimate is unbiased, with the exact variance that ``variance`` returns. Kar and Karnick's law
    :math:`p^{-(N+1)}` sums to one only for p = 2 and an endless series, so it is normalised here.

    Parameters
    ----------
    kernel : dot-product kernel, default=Polynomial(2)
    n_components : int, default=100
        Number of features of the whole output, those of ``h01`` included.
    random_state : int, RandomState or None
    h01 : bool, default=False
        Take the constant :math:`\sqrt{a_0}` and the linear part :math:`\sqrt{a_1} x` exactly (n_features + 1 of the
        features), and draw only degrees from 2 on.
    max_degree : int or None
        Leave out higher degrees; ``truncation_error_`` bounds what that loses.
    p : float, default=2.0
        Base of the law of degrees, above 1.

    Attributes
    ----------
    degrees_ : ndarray of int64
        Degree of each random feature, highest first.
    signs_ : ndarray of int8, shape (n_features, sum of degrees_)
        The sign vectors: one factor of all features that have it after the other.
    coefficients_ : ndarray
        Maclaurin coefficient of each degree.
    law_ : ndarray
        Probability of each degree.
    truncation_error_ : float
        :math:`\sum_{n > K} a_n r^n` over the degrees left out, with r the largest :math:`|x|^2` seen in ``fit``.
    kernel_ : Kernel
        The kernel approximated.

    Notes
    -----
    Time O(nnz(x) sum(degrees_)) a row; memory one byte an entry of ``signs_``, and its copy in X's precision during a
    transform.

    References
    ----------
    P. Kar and H. Karnick, "Random feature maps for dot product kernels", AISTATS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Exponential, RandomMaclaurin
    >>> X = np.random.RandomState(0).randn(5, 4) / 4
    >>> maclaurin = RandomMaclaurin(Exponential(gamma=1.0), n_components=1000, h01=True, random_state=0)
    >>> Z = maclaurin.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - maclaurin.kernel_(X)).max() < 6 * np.sqrt(maclaurin.variance(X).max()))
    True
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Any = None,
        h01: bool = False,
        max_degree: int | None = None,
        p: float = 2.0,
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.h01 = h01
        self.max_degree = max_degree
        self.p = p

    def _check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, DotProductKernel):
            raise ValueError(
                f"RandomMaclaurin: kernel must be a dot-product kernel f(<x, y>), such as Polynomial or Exponential, got "
                f"{kernel!r}. feature_map(kernel, n_components=...) chooses a map for every kernel that has one."
            )

    def _draw(self, kernel: Kernel, X: Any, n_components: int, rng: np.random.RandomState) -> int:
        assert isinstance(kernel, DotProductKernel)
        coefficients = self._coefficients(kernel)
        radius = _largest_square(kernel, X)
        exact = self._exact_width(coefficients, X.shape[1])
        law = self._law(coefficients, first=2 if exact else 0)
        n_random = self._random_width(n_components, exact, bool(law.any()))
        self._warn_if_divergent(kernel, X)

        degrees = np.sort(rng.choice(len(law), size=n_random, p=law))[::-1] if n_random else np.zeros(0, dtype=np.int64)
        total = int(degrees.sum())
        what = f"{total} sign vectors of {X.shape[1]} columns"
        needed = X.shape[1] * total * (1 + X.dtype.itemsize)
        check_memory("RandomMaclaurin", "n_components", n_components, needed, what)
        signs = rng.randint(2, size=(X.shape[1], total), dtype=np.int8)
        signs *= 2
        signs -= 1

        self.degrees_, self.signs_, self.law_ = degrees.astype(np.int64), signs, law
        self.truncation_error_ = _tail(kernel, len(coefficients), radius)
        self.coefficients_ = coefficients
        return exact + n_random

    def _coefficients(self, kernel: DotProductKernel) -> Array:
        """Return the coefficients of the degrees in play, refusing a negative one."""
        p = check_real("RandomMaclaurin", "p", self.p, least=1, strict=True)
        last = ceil(-_LEAST_LOG2_PROBABILITY / log2(p)) if kernel.last_degree is None else kernel.last_degree
        if self.max_degree is not None:
            last = min(last, check_integer("RandomMaclaurin", "max_degree", self.max_degree, least=0))
        coefficients = kernel.maclaurin(last)
        bad = np.flatnonzero(~(coefficients >= 0))
        if len(bad):
            raise ValueError(
                f"RandomMaclaurin: {kernel!r} is not a positive definite kernel: its Maclaurin coefficient a_{bad[0]} = "
                f"{coefficients[bad[0]]:.6g} is negative (Kar and Karnick, 2012, Theorem 2). Choose a kernel whose "
                "coefficients are all >= 0, such as Polynomial or Exponential."
            )
        if not coefficients.any():
            raise ValueError(
                f"RandomMaclaurin: max_degree={self.max_degree} leaves no degree of {kernel!r}. Raise max_degree."
            )
        return coefficients

    def _law(self, coefficients: Array, first: int) -> Array:
        degrees = np.arange(len(coefficients))
        law = np.where((coefficients > 0) & (degrees >= first), float(self.p) ** -(degrees + 1.0), 0.0)
        total = law.sum()
        return law / total if total > 0 else law

    def _exact_width(self, coefficients: Array, n_features: int) -> int:
        """Return how many features H0/1 appends."""
        if not self.h01:
            return 0
        has_constant, has_linear = coefficients[0] > 0, len(coefficients) > 1 and coefficients[1] > 0
        if not has_constant and not has_linear:
            warn(
                "RandomMaclaurin: h01=True has nothing to append: the kernel has neither a constant nor a linear part. "
                "Leave h01 out, or give the kernel a coef0.",
                stacklevel=5,
            )
        return int(has_constant) + n_features * int(has_linear)

    def _random_width(self, n_components: int, exact: int, any_random: bool) -> int:
        if not any_random:
            if exact > n_components:
                raise ValueError(
                    f"RandomMaclaurin: n_components must be at least {exact} for the exact features of this kernel with "
                    f"h01=True, got {n_components}."
                )
            return 0
        least = exact + 1
        if n_components < least:
            raise ValueError(
                f"RandomMaclaurin: with h01=True n_components counts the {exact} exact features too and must be at least "
                f"{least}, got {n_components}. Raise it, or leave h01 out."
            )
        return n_components - exact

    def _warn_if_divergent(self, kernel: DotProductKernel, X: Any) -> None:
        """Warn where the series of the variance diverges: p m >= radius^2, at its largest for x = y."""
        if not np.isfinite(kernel.radius):
            return
        squares = row_norms(X, squared=True)
        fourth = np.asarray((X.multiply(X) if sparse.issparse(X) else X * X).__pow__(2).sum(axis=1)).ravel()
        worst = float(self.p * np.max(3 * squares**2 - 2 * fourth)) / kernel.radius**2
        if worst >= 1 and self.max_degree is None:
            warn(
                f"RandomMaclaurin: the variance of {kernel!r} is infinite on these rows: p (3|x|^4 - 2 sum x_i^4) reaches "
                f"{worst:.3g} and must stay below 1. Multiply X by less than {worst**-0.25:.3g}, or set max_degree.",
                stacklevel=5,
            )

    def _writer(self, X: Any) -> Writer:
        coefficients, law = self.coefficients_, self.law_
        widths = np.array(
            [(self.degrees_ >= j).sum() for j in range(1, self.degrees_.max(initial=0) + 1)], dtype=np.int64
        )
        used = law > 0
        scale_of_degree = np.sqrt(
            np.divide(coefficients, law, out=np.zeros_like(law), where=used) / max(len(self.degrees_), 1)
        )
        scales = scale_of_degree[self.degrees_].astype(X.dtype)
        W = self.signs_.astype(X.dtype)
        n_projected = int(widths[0]) if len(widths) else 0
        W[:, :n_projected] *= scales[:n_projected]
        exact = self._n_features_out - len(self.degrees_)

        def write(rows: slice, out: Array) -> None:
            if exact:
                self._write_exact(X, rows, out[:, :exact])
            random = out[:, exact:]
            core.project_product(X, rows, W, widths, random)
            random[:, n_projected:] = scales[n_projected:]

        return write

    def _write_exact(self, X: Any, rows: slice, out: Array) -> None:
        a0, a1 = (*self.coefficients_[:2], 0.0)[:2]
        if a0 > 0:
            out[:, 0] = np.sqrt(a0)
        if a1 > 0:
            block = X[rows].toarray() if sparse.issparse(X) else X[rows]
            np.multiply(block, X.dtype.type(np.sqrt(a1)), out=out[:, int(a0 > 0) :])

    def _variance(self, X: Array, Y: Array) -> Array:
        if not len(self.degrees_):
            return np.zeros((X.shape[0], Y.shape[0]))
        return maclaurin_variance(PairMoments.of(X, Y), self.coefficients_, self.law_, len(self.degrees_))

    def _largest_feature(self, norm: float, X: Any) -> float:
        one_norm = max(float(X.shape[1]) ** 0.5 * norm, 1.0)
        coefficients = np.divide(self.coefficients_, self.law_, out=np.ones_like(self.law_), where=self.law_ > 0)
        return float(np.sqrt(coefficients.max()) * one_norm ** int(self.degrees_.max(initial=1)))


def _largest_square(kernel: DotProductKernel, X: Any) -> float:
    """Return max |x|^2, refusing rows on which the series of the kernel does not converge."""
    largest = float(row_norms(X, squared=True).max())
    if largest >= kernel.radius:
        raise ValueError(
            f"RandomMaclaurin: {kernel!r} needs |x|^2 < {kernel.radius:g} on every row, and X reaches {largest:.6g}. "
            f"Multiply X by less than {(kernel.radius / largest) ** 0.5:.3g}."
        )
    return largest


def _tail(kernel: DotProductKernel, first: int, r: float) -> float:
    """Return the sum of a_n r^n from n = ``first`` on."""
    total, quiet = 0.0, 0
    last = _TAIL_TERMS if kernel.last_degree is None else kernel.last_degree
    for n in range(first, last + 1):
        try:
            term = kernel.coefficient(n) * r**n
        except OverflowError:
            return float("inf")
        total += term
        quiet = quiet + 1 if term <= 1e-17 * total else 0
        if quiet > 8:  # several in a row: a series may skip degrees
            break
    return total
