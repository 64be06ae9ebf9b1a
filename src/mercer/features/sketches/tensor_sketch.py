"""Tensor Sketch for polynomial kernels, and degree by degree for series (Pham and Pagh, 2013)."""

from copy import copy
from typing import Self, cast

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.hashes import stored_hashes
from mercer.features.sketches.polynomial_sketch import PolynomialSketch
from mercer.features.sketches.series_sketch import SeriesSketch
from mercer.features.sketches.strata import STORED_ALLOCATION, Strata, publish_allocation
from mercer.kernels import DotProductKernel, Gaussian, Kernel, Linear, Polynomial
from mercer.state import Count, Member, Real, Sizes, Stored, require
from mercer.validation import check_integer


def _as_polynomial(kernel: Kernel) -> Polynomial | None:
    """Return the kernel if one sketch is enough; None for a series, which needs one sketch per degree."""
    if isinstance(kernel, Linear):
        return Polynomial(1)
    return kernel if isinstance(kernel, Polynomial) else None


def _check_sketches(n_sketches: object, n_components: int) -> int:
    n_sketches = check_integer("TensorSketch", "n_sketches", n_sketches)
    if n_components % n_sketches:
        raise ValueError(
            f"TensorSketch: n_components must be a multiple of n_sketches, got {n_components} and {n_sketches}. "
            f"Take n_components={n_sketches * -(-n_components // n_sketches)}."
        )
    return int(n_sketches)


class TensorSketch(KernelMap):
    r"""Tensor Sketch of a polynomial kernel, or of the Taylor series of another kernel.

    The p-fold tensor power of a row represents :math:`\langle x, y \rangle^p` exactly, with d^p features. Its count
    sketch to D buckets, with the hashes of a product, is the circular convolution of p count sketches of the row:

    .. math:: z(x) = \mathrm{FFT}^{-1}\big(\mathrm{FFT}(C_1 x) \cdots \mathrm{FFT}(C_p x)\big)

    so the cost is O(p (nnz(x) + D log D)) per row. ``gamma`` scales the row and ``coef0`` is one more column. For a
    polynomial kernel the estimate is unbiased, and ``variance`` returns its exact variance.

    For ``Exponential``, ``Gaussian`` and any other dot-product kernel (the paper's outlook) each degree of the series
    has its own sketch. ``Exponential`` and ``Gaussian`` are expanded around the mean of the rows. Degrees 0, 1 and 2
    have exact features if there are enough features; the other degrees get features in proportion to the square root of
    their variance on 300 rows. A degree is left out if it would add more variance than signal (``dropped_degrees_``),
    and an infinite series ends at degree 30 (``truncated_at_``). The degrees left out cause a bias. ``variance`` is the
    exact mean squared error, the variance plus the squared bias, also for rows that ``fit`` did not see.

    Parameters
    ----------
    kernel : dot-product kernel or Gaussian, default=Polynomial(2)
    n_components : int, default=100
        Number of features D. The transform is fastest if D has no prime factor above 5.
    random_state : int, RandomState or None
    n_sketches : int, default=1
        Average t independent sketches of ``n_components / t`` features each (Lemma 9 of the paper): the whole output
        has ``n_components`` features, and each sketch is scaled by 1/sqrt(t). One sketch has the smallest variance;
        with several sketches Hoeffding's inequality applies (``components_for``).

    Attributes
    ----------
    index_ : ndarray of int32, shape (n_sketches, degree, n_features or n_features + 1)
        Bucket of each column in each factor; the last column belongs to coef0, if coef0 is not 0.
    sign_ : ndarray of int8, same shape
        Sign of each column in each factor.
    exact_degrees_, dropped_degrees_ : ndarray of int
        For a series: the degrees with exact features, and the degrees left out.
    allocation_ : dict of int to int
        For a series: the number of features per sketched degree.
    truncated_at_ : int or None
        For a series: the last degree kept of an infinite series; None for a finite series.
    truncation_error_ : float
        For a series: the largest error, on the rows of ``fit``, of leaving out the degrees above ``truncated_at_``.
    kernel_ : Kernel
        The kernel approximated.

    Notes
    -----
    Memory: 5 bytes per column and factor, plus the output. For CSR input the time depends on the non-zeros.

    References
    ----------
    N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Polynomial, TensorSketch
    >>> X = np.random.RandomState(0).randn(6, 20) / 5
    >>> sketch = TensorSketch(Polynomial(2, coef0=1.0), n_components=1000, random_state=0)
    >>> Z = sketch.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - sketch.kernel_(X)).max() < 6 * np.sqrt(sketch.variance(X).max()))
    True
    """

    _stored = Stored(
        **stored_hashes("t", "p", "c"),
        **STORED_ALLOCATION,
        truncated_at_=Count(nullable=True, optional=True),
        truncation_error_=Real(0.0, finite=False, optional=True),
        strata_=Member(Strata, {"n_features_out": "D"}, nullable=True),
    )

    strata_: Strata | None

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Seed = None,
        n_sketches: int = 1,
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.n_sketches = n_sketches

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, DotProductKernel | Gaussian):
            raise ValueError(
                f"TensorSketch: kernel must be a dot-product or a Gaussian kernel, got {kernel!r}. "
                "feature_map(kernel, n_components=...) chooses a map for every kernel that has one."
            )

    def _check_params(self) -> None:
        super()._check_params()
        _check_sketches(self.n_sketches, self.n_components)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        shape, polynomial = self.index_.shape, _as_polynomial(self.kernel_)
        if polynomial is None:
            strata = self.strata_
            sound = strata is not None and shape == (0, 0, 0) and strata.expansion.width == sizes["d"]
            require(sound, "strata_ must belong to a series, have n_features_in_ columns, and have no index_")
            return
        require(self.strata_ is None, "kernel_ must not be a polynomial if there are strata_")
        width = sizes["d"] + (polynomial.coef0 > 0)
        sound = shape[0] and shape[1:] == (polynomial.degree, width)
        require(sound, "index_ must hold a bucket per factor and column")
        require(sizes["D"] % shape[0] == 0, "n_features_out must be a multiple of the number of sketches")
        n_buckets = sizes["D"] // shape[0]
        require(self.index_.max(initial=0) < n_buckets, f"index_ must hold integers below {n_buckets}")

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        polynomial = _as_polynomial(kernel)
        n_sketches = _check_sketches(self.n_sketches, n_components)
        if polynomial is None:
            return self._draw_series(kernel, X, n_components, n_sketches, rng)
        self._keep(PolynomialSketch.draw(polynomial, X.shape[1], n_components, n_sketches, rng))
        return n_components

    def _draw_series(
        self, kernel: Kernel, X: Rows, n_components: int, n_sketches: int, rng: np.random.RandomState
    ) -> int:
        if n_sketches > 1:
            raise ValueError(
                f"TensorSketch: n_sketches must be 1 for {kernel!r}, whose degrees have a sketch each, "
                f"got {n_sketches}."
            )
        sketch = SeriesSketch.draw(kernel, X, n_components, rng)
        self._keep(sketch)
        publish_allocation(self, sketch.strata)
        self.truncated_at_, self.truncation_error_ = sketch.truncated_at, sketch.truncation_error(X)
        return sketch.strata.n_features_out

    def _keep(self, sketch: PolynomialSketch | SeriesSketch) -> None:
        """Set the fitted attributes of a sketch; the attributes of the other kind of sketch are empty."""
        if isinstance(sketch, PolynomialSketch):
            self.index_, self.sign_, self.strata_ = sketch.index, sketch.sign, None
        else:
            self.index_, self.sign_ = np.zeros((0, 0, 0), dtype=np.int32), np.zeros((0, 0, 0), dtype=np.int8)
            self.strata_ = sketch.strata

    @property
    def _sketch(self) -> PolynomialSketch | SeriesSketch:
        """The fitted sketch; the kernel decides its kind."""
        polynomial = _as_polynomial(self.kernel_)
        if polynomial is not None:
            return PolynomialSketch(polynomial, self.n_features_out_, self.index_, self.sign_)
        return SeriesSketch(self.kernel_, cast(Strata, self.strata_), self.truncated_at_)

    @override
    def writer(self, X: Rows) -> Writer:
        return self._sketch.writer(X)

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return self._sketch.scratch_bytes(X)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        return self._sketch.variance(X, Y)

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        return self._sketch.bias(X, Y)

    @property
    @override
    def is_random(self) -> bool:
        return self._sketch.is_random

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other._keep(self._sketch.redrawn(rng))
        return other

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return self._sketch.largest_feature(norm, X)
