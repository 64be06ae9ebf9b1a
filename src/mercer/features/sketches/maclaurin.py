"""Random Maclaurin features for dot-product kernels (Kar and Karnick, 2012)."""

from copy import copy
from typing import Self, cast
from warnings import warn

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.degrees import (
    check_radius,
    degree_distribution,
    largest_square,
    series,
    tail,
    variance_ratio,
)
from mercer.features.sketches.factors import DrawnFactors, Factors, SignFactors
from mercer.features.sketches.hashes import draw_signs
from mercer.features.sketches.scalar_draws import ScalarDraws, register_scalar
from mercer.features.sketches.variances import maclaurin_variance
from mercer.kernels import Composed, DotProductKernel, Kernel
from mercer.state import LARGEST_DEGREE, Integers, Member, Real, Reals, Sizes, Stored, require
from mercer.validation import check_integer, check_memory, check_real

_NAME = "RandomMaclaurin"


class RandomMaclaurin(KernelMap):
    r"""Random Maclaurin features of a dot-product kernel.

    For :math:`f(\langle x, y \rangle) = \sum_n a_n \langle x, y \rangle^n` with all a_n >= 0, each feature draws a
    degree N with probability :math:`q_N \propto p^{-(N+1)}` over the degrees with a_N > 0, and N vectors of random
    signs:

    .. math:: z_i(x) = \sqrt{a_N / (q_N D)} \prod_{j=1}^{N} \langle \omega_j, x \rangle

    The estimate is unbiased, except for degrees that are left out: degrees above ``max_degree``, and in an infinite
    series degrees with a probability below 2^-60. ``variance`` returns the exact mean squared error, which includes
    the bias of degrees left out. Kar and Karnick's distribution :math:`p^{-(N+1)}` sums to one only for p = 2 and an
    infinite series, so mercer normalises the distribution.

    Parameters
    ----------
    kernel : dot-product kernel or Composed, default=Polynomial(2)
        For ``Composed(f, inner)`` each factor of each feature is an independent scalar draw of the inner kernel's map.
    n_components : int, default=100
        Number of features in all, including the exact features of ``h01``.
    random_state : int, RandomState or None
    h01 : bool, default=False
        Represent the constant :math:`\sqrt{a_0}` and the linear part :math:`\sqrt{a_1} x` exactly (n_features + 1 of
        the features), and draw only degrees of 2 and above.
    max_degree : int or None
        Leave out higher degrees; ``truncation_error_`` bounds the resulting error.
    p : float, default=2.0
        Base of the distribution of degrees, above 1.

    Attributes
    ----------
    degrees_ : ndarray of int64
        Degree of each random feature, highest first.
    signs_ : ndarray of int8, shape (n_features, sum of degrees_)
        The sign vectors: the first factor of all features, then the second factor of all features of degree 2 or more,
        and so on. Empty for a composed kernel, whose factors are in ``inner_``.
    inner_ : ScalarDraws or None
        The draws of the inner kernel of a composed kernel.
    coefficients_ : ndarray
        Maclaurin coefficient of each degree.
    distribution_ : ndarray
        Probability of each degree.
    truncation_error_ : float
        :math:`\sum_{n > K} a_n r^n` over the degrees left out, with r the largest :math:`|x|^2` seen in ``fit``.
    kernel_ : Kernel
        The kernel approximated.

    Notes
    -----
    Time O(nnz(x) sum(degrees_)) per row; dense rows take an eighth of the operations. Memory: one byte per entry of
    ``signs_``; for CSR rows also a copy of ``signs_`` in X's precision during a transform.

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

    _stored = Stored(
        degrees_=Integers(("r",), (np.int64,), least=0, below="q"),
        signs_=Integers(("d", "v"), (np.int8,), least=-1, below=2),
        inner_=Member(ScalarDraws, {"n_draws": "draws"}, nullable=True),
        distribution_=Reals(("q",), 0.0),
        coefficients_=Reals(("q",), 0.0),
        truncation_error_=Real(0.0, finite=False),
    )

    inner_: ScalarDraws | None

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Seed = None,
        h01: bool = False,
        max_degree: int | None = None,
        p: float = 2.0,
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.h01 = h01
        self.max_degree = max_degree
        self.p = p

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if isinstance(kernel, Composed) and self.h01:
            raise ValueError(
                f"{_NAME}: h01=True needs an exact linear part, and the linear part of {kernel!r} is the inner "
                "kernel itself, which is not exact. Leave h01 out."
            )
        if not isinstance(kernel, DotProductKernel | Composed):
            raise ValueError(
                f"{_NAME}: kernel must be a dot-product kernel f(<x, y>), such as Polynomial or Exponential, got "
                f"{kernel!r}. feature_map(kernel, n_components=...) chooses a map for every kernel that has one."
            )

    def _check_params(self) -> None:
        super()._check_params()
        check_real(_NAME, "p", self.p, least=1, strict=True)
        if self.max_degree is not None:
            check_integer(_NAME, "max_degree", self.max_degree, least=0)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        degrees, n_factors = self.degrees_, int(self.degrees_.sum())
        require(sizes["q"] <= LARGEST_DEGREE + 1, f"the degrees must be at most {LARGEST_DEGREE}")
        require(np.all(degrees[1:] <= degrees[:-1]), "degrees_ must not ascend")
        require(np.all(self.distribution_[degrees] > 0), "distribution_ must be positive for every degree drawn")
        composed = isinstance(self.kernel_, Composed)
        require(composed == (self.inner_ is not None), "only a composed kernel has an inner_, and needs one")
        require(sizes["v"] == (0 if composed else n_factors), "signs_ must have one vector per factor")
        require(not composed or sizes["draws"] == max(n_factors, 1), "inner_ must have one draw per factor")
        a0, a1 = _first_two(self.coefficients_)
        exact = sizes["D"] - sizes["r"]
        require(exact in (0, int(a0 > 0) + sizes["d"] * int(a1 > 0)), "n_features_out must count the features")

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        composed = kernel if isinstance(kernel, Composed) else None
        f = cast(DotProductKernel, kernel if composed is None else composed.f)
        coefficients = series(_NAME, f, self.p, self.max_degree)
        largest = largest_square(X) if composed is None else float(composed.inner.evaluate_diag(X).max())
        largest = check_radius(_NAME, f, largest)
        exact = self._exact_width(coefficients, X.shape[1])
        distribution = degree_distribution(coefficients, self.p, first=2 if exact else 0)
        n_random = _random_width(n_components, exact, any_random=bool(distribution.any()))
        n_expected = round(n_random * float(np.arange(len(distribution)) @ distribution))
        _check_size(X, n_expected if composed is None else 0, n_components)
        self.degrees_ = _draw_degrees(distribution, n_random, rng)
        factors = _draw_factors(composed, X, int(self.degrees_.sum()), n_components, rng)
        self._keep(factors, X.shape[1])
        self.distribution_, self.coefficients_ = distribution, coefficients
        self.truncation_error_ = tail(f, len(coefficients), largest)
        self._warn_if_divergent(f, factors, X)
        return exact + n_random

    def _keep(self, factors: Factors, n_features: int) -> None:
        """Set the fitted attributes of the factors; the attributes of the other kind of factors are empty."""
        self.signs_ = factors.signs if isinstance(factors, SignFactors) else np.zeros((n_features, 0), dtype=np.int8)
        self.inner_ = factors.draws if isinstance(factors, DrawnFactors) else None

    @property
    def _factors(self) -> Factors:
        """The fitted factors; the kernel decides their kind."""
        if isinstance(self.kernel_, Composed):
            return DrawnFactors(self.kernel_, cast(ScalarDraws, self.inner_))
        return SignFactors(self.signs_)

    def _exact_width(self, coefficients: Array, n_features: int) -> int:
        """Return the number of exact features that ``h01`` adds."""
        if not self.h01:
            return 0
        a0, a1 = _first_two(coefficients)
        if a0 == a1 == 0:
            warn(
                f"{_NAME}: h01=True has nothing to append: the kernel has neither a constant nor a linear part. "
                "Leave h01 out, or give the kernel a coef0.",
                stacklevel=5,
            )
        return int(a0 > 0) + n_features * int(a1 > 0)

    def _warn_if_divergent(self, kernel: DotProductKernel, factors: Factors, X: Rows) -> None:
        if self.max_degree is not None or not np.isfinite(kernel.radius):
            return
        ratio = variance_ratio(kernel, self.p, factors.largest_moment(X))
        if ratio < 1:
            return
        what, way_out = factors.divergence(ratio)
        warn(
            f"{_NAME}: the variance of {kernel!r} is infinite on these rows: {what} reaches {ratio:.3g} times the "
            f"squared radius of convergence and must stay below it. {way_out}, or set max_degree.",
            stacklevel=5,
        )

    @override
    def writer(self, X: Rows) -> Writer:
        scales = self._scales().astype(X.dtype)
        widths = np.array([(self.degrees_ > j).sum() for j in range(self.degrees_.max(initial=0))], dtype=np.int64)
        n_projected = int(widths[0]) if len(widths) else 0
        exact = self.n_features_out_ - len(self.degrees_)
        write_products = self._factors.writer(X, widths, scales[:n_projected])

        def write(rows: slice, out: Array) -> None:
            if exact:
                self._write_exact(X, rows, out[:, :exact])
            random = out[:, exact:]
            write_products(rows, random[:, :n_projected])
            random[:, n_projected:] = scales[n_projected:]  # degree 0: a constant

        return write

    @override
    def scratch_bytes(self, X: Rows) -> float:
        draws = float(self._factors.numbers_per_factor * self.degrees_.sum())
        exact = self.n_features_out_ - len(self.degrees_)
        return float(X.dtype.itemsize * (draws + exact))

    def _scales(self) -> Array:
        """Return sqrt(a_N / (q_N D)) for the degree N of each random feature."""
        ratios = self.coefficients_[self.degrees_] / self.distribution_[self.degrees_]
        return np.sqrt(ratios / max(len(self.degrees_), 1))

    def _write_exact(self, X: Rows, rows: slice, out: Array) -> None:
        a0, a1 = _first_two(self.coefficients_)
        if a0 > 0:
            out[:, 0] = np.sqrt(a0)
        if a1 > 0:
            block = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
            np.multiply(block, X.dtype.type(np.sqrt(a1)), out=out[:, int(a0 > 0) :])

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        if not len(self.degrees_):
            return np.zeros((X.shape[0], Y.shape[0]))
        moments = self._factors.moments(X, Y)
        if moments is None:
            return None
        return maclaurin_variance(*moments, self.coefficients_, self.distribution_, len(self.degrees_))

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        f = self.kernel_.f if isinstance(self.kernel_, Composed) else cast(DotProductKernel, self.kernel_)
        factors = self._factors
        if factors.has_exact_mean and f.last_degree is not None and f.last_degree < len(self.coefficients_):
            return 0.0
        mean = factors.mean(X, Y)
        return np.asarray(np.polynomial.polynomial.polyval(mean, self.coefficients_) - self.kernel_.evaluate(X, Y))

    @property
    @override
    def is_random(self) -> bool:
        return len(self.degrees_) > 0

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other, n_features = copy(self), self.n_features_in_
        other.degrees_ = _draw_degrees(self.distribution_, len(self.degrees_), rng)
        other._keep(self._factors.redrawn(n_features, int(other.degrees_.sum()), rng), n_features)
        return other

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        scale = max(self._scales().max(initial=1.0), self.coefficients_.max() ** 0.5)
        return float(scale * self._factors.largest_product(norm, X.shape[1], int(self.degrees_.max(initial=1))))


def _first_two(coefficients: Array) -> tuple[float, float]:
    return float(coefficients[0]), float(coefficients[1]) if len(coefficients) > 1 else 0.0


def _random_width(n_components: int, exact: int, *, any_random: bool) -> int:
    """Return the number of random features, 0 for a kernel of degree <= 1; refuse an ``n_components`` too small."""
    least = exact + int(any_random)
    if n_components < least:
        raise ValueError(
            f"{_NAME}: with h01=True n_components counts the {exact} exact features too and must be at least {least}, "
            f"got {n_components}. Raise it, or leave h01 out."
        )
    return n_components - exact if any_random else 0


def _draw_degrees(distribution: Array, size: int, rng: np.random.RandomState) -> Array:
    """Draw degrees, highest first, so that the features that have a j-th factor are a prefix for every j."""
    if size == 0:
        return np.zeros(0, dtype=np.int64)
    return np.sort(rng.choice(len(distribution), size=size, p=distribution))[::-1].astype(np.int64)


def _draw_factors(
    kernel: Composed | None, X: Rows, n_factors: int, n_components: int, rng: np.random.RandomState
) -> Factors:
    """Draw the factors: scalar draws of the inner kernel, or random signs if there is no inner kernel."""
    if kernel is not None:
        return DrawnFactors.draw(kernel, X, n_factors, rng)
    _check_size(X, n_factors, n_components)
    return SignFactors(draw_signs(rng, (X.shape[1], n_factors)))


def _check_size(X: Rows, n_vectors: int, n_components: int) -> None:
    """Raise if the signs, their copy in X's precision and the degrees do not fit in memory."""
    needed = X.shape[1] * n_vectors * (1 + X.dtype.itemsize) + 40 * n_components
    what = f"{n_vectors} sign vectors of {X.shape[1]} columns, and degrees"
    check_memory(_NAME, "n_components", n_components, needed, what)


register_scalar(DotProductKernel, lambda kernel, n: RandomMaclaurin(kernel, n_components=n))
register_scalar(Composed, lambda kernel, n: RandomMaclaurin(kernel, n_components=n))
