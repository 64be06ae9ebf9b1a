"""Tensor Sketch for polynomial kernels, and degree by degree for series (Pham and Pagh, 2013)."""

from copy import copy
from math import prod, sqrt
from typing import Any, Self, cast

import numpy as np

from mercer import core
from mercer._typing import Array, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.degrees import check_radius, largest_square
from mercer.features.sketches.expansions import Expansion, exponential_expansion, gaussian_expansion, series_expansion
from mercer.features.sketches.hashes import draw_hashes, stored_hashes
from mercer.features.sketches.strata import STORED_ALLOCATION, Strata, publish_allocation
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.kernels import DotProductKernel, Exponential, Gaussian, Kernel, Linear, Polynomial
from mercer.state import Count, Member, Real, Sizes, Stored, require
from mercer.validation import check_integer, check_memory


def _as_polynomial(kernel: Kernel) -> Polynomial | None:
    """Return a kernel that one sketch serves; None for a series, which takes a sketch a degree."""
    if isinstance(kernel, Linear):
        return Polynomial(1)
    return kernel if isinstance(kernel, Polynomial) else None


def _expansion(kernel: Kernel, X: Any) -> Expansion:
    if isinstance(kernel, Gaussian):
        return gaussian_expansion(kernel, X)
    if isinstance(kernel, Exponential):
        return exponential_expansion(kernel, X)
    check_radius("TensorSketch", cast(DotProductKernel, kernel), largest_square(X))
    return series_expansion("TensorSketch", kernel, X.shape[1])


def _check_sketches(n_sketches: Any, n_components: int) -> int:
    n_sketches = check_integer("TensorSketch", "n_sketches", n_sketches)
    if n_components % n_sketches:
        raise ValueError(
            f"TensorSketch: n_components must be a multiple of n_sketches, got {n_components} and {n_sketches}. "
            f"Take n_components={n_sketches * -(-n_components // n_sketches)}."
        )
    return int(n_sketches)


class TensorSketch(KernelMap):
    r"""Tensor Sketch of a polynomial kernel, or of the Taylor series of another.

    The p-fold tensor power of a row represents :math:`\langle x, y \rangle^p` exactly, with d^p features. Its count
    sketch to D buckets, with the hashes of a product, is the circular convolution of p count sketches of the row:

    .. math:: z(x) = \mathrm{FFT}^{-1}\big(\mathrm{FFT}(C_1 x) \cdots \mathrm{FFT}(C_p x)\big)

    so it costs O(p (nnz(x) + D log D)) a row. ``gamma`` scales the row and ``coef0`` is one more column. For a
    polynomial the estimate is unbiased, with the exact variance that ``variance`` returns.

    Over ``Exponential``, ``Gaussian`` and any other dot-product kernel (the paper's outlook) each degree of the series
    gets a sketch of its own, around the mean of the rows for the first two. Degrees 0, 1 and 2 are exact where they
    fit, and features go to the others in proportion to the square root of their variance on 300 rows. A degree is left
    out where it would add more variance than signal (``dropped_degrees_``), and an endless series ends at degree 30
    (``truncated_at_``). What is left out is a bias. ``variance`` counts it: it is the exact mean squared error, the
    variance plus the square of the bias, also for rows that ``fit`` did not see.

    Parameters
    ----------
    kernel : dot-product kernel or Gaussian, default=Polynomial(2)
    n_components : int, default=100
        Number of features D. Fast where D has no prime factor beyond 5, correct for all.
    random_state : int, RandomState or None
    n_sketches : int, default=1
        Average t independent sketches of ``n_components / t`` features each, as Lemma 9 of the paper does: the whole
        output has ``n_components`` features, each sketch scaled by 1/sqrt(t). One sketch has the least variance; more
        make Hoeffding's inequality apply (``components_for``).

    Attributes
    ----------
    index_ : ndarray of int32, shape (n_sketches, degree, n_features or n_features + 1)
        Bucket of each column in each factor; the last column is coef0's, where it is not 0.
    sign_ : ndarray of int8, same shape
        Sign of each column in each factor.
    exact_degrees_, dropped_degrees_ : ndarray of int
        For a series: the degrees with exact features, and those left out.
    allocation_ : dict of int to int
        For a series: the features of each sketched degree.
    truncated_at_ : int or None
        For a series: the degree beyond which an endless one is cut; None for a series that ends.
    truncation_error_ : float
        For a series: the most that the degrees beyond ``truncated_at_`` carry of the kernel on the rows of ``fit``.
    kernel_ : Kernel
        The kernel approximated.

    Notes
    -----
    Memory: 5 bytes a column and factor, plus the output. CSR input costs by its non-zeros.

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

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Any = None,
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
        if self.strata_ is not None:
            sound = polynomial is None and shape == (0, 0, 0) and self.strata_.expansion.width == sizes["d"]
            require(sound, "strata_ must be of a series, of n_features_in_ columns and without index_")
            return
        require(polynomial is not None, "kernel_ must be a polynomial without strata_")
        kernel, width = cast(Polynomial, polynomial), sizes["d"] + (cast(Polynomial, polynomial).coef0 > 0)
        require(shape[0] and shape[1:] == (kernel.degree, width), "index_ must hold a bucket a factor and column")
        require(sizes["D"] % shape[0] == 0, "n_features_out must be a multiple of the number of sketches")
        n_buckets = sizes["D"] // shape[0]
        require(self.index_.max(initial=0) < n_buckets, f"index_ must hold integers below {n_buckets}")

    def _draw(self, kernel: Kernel, X: Any, n_components: int, rng: np.random.RandomState) -> int:
        polynomial = _as_polynomial(kernel)
        n_sketches = _check_sketches(self.n_sketches, n_components)
        if polynomial is None:
            return self._draw_series(kernel, X, n_components, n_sketches, rng)
        shape = (n_sketches, polynomial.degree, X.shape[1] + (polynomial.coef0 > 0))
        what = f"hash tables of {n_sketches} sketches x {shape[1]} factors x {shape[2]} columns"
        check_memory("TensorSketch", "degree", polynomial.degree, 5 * prod(shape), what)
        self.index_, self.sign_ = draw_hashes(rng, n_components // n_sketches, shape)
        self.strata_: Strata | None = None
        return n_components

    def _draw_series(
        self, kernel: Kernel, X: Any, n_components: int, n_sketches: int, rng: np.random.RandomState
    ) -> int:
        if n_sketches > 1:
            raise ValueError(
                f"TensorSketch: n_sketches must be 1 for {kernel!r}, whose degrees have a sketch each, "
                f"got {n_sketches}."
            )
        expansion = _expansion(kernel, X)
        strata = Strata.on_rows("TensorSketch", expansion, X, n_components, rng)
        self.index_, self.sign_ = np.zeros((0, 0, 0), dtype=np.int32), np.zeros((0, 0, 0), dtype=np.int8)
        self.strata_ = strata
        publish_allocation(self, strata)
        endless = isinstance(kernel, Gaussian) or cast(DotProductKernel, kernel).last_degree is None
        self.truncated_at_ = expansion.last_degree if endless else None
        self.truncation_error_ = expansion.beyond(kernel, X)
        return strata.n_features_out

    @override
    def writer(self, X: Any) -> Writer:
        if self.strata_ is not None:
            return self.strata_.writer(X)
        kernel = cast(Polynomial, _as_polynomial(self.kernel_))
        n_sketches = len(self.index_)
        # The average's 1/sqrt(t) goes into the rows: the p-th root of it, since a sketch is a product of p factors.
        share = n_sketches ** (-0.5 / kernel.degree)
        scale, constant = share * sqrt(kernel.gamma), share * sqrt(kernel.coef0)
        width = self.n_features_out_ // n_sketches

        def write(rows: slice, out: Array) -> None:
            for i, (index, sign) in enumerate(zip(self.index_, self.sign_, strict=True)):
                core.tensor_sketch(X, rows, index, sign, scale, constant, out[:, i * width : (i + 1) * width])

        return write

    @override
    def scratch_bytes(self, X: Any) -> float:
        return 0.0 if self.strata_ is None else self.strata_.scratch_bytes(X)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        if self.strata_ is not None:
            return self.strata_.variance(X, Y)
        kernel = cast(Polynomial, _as_polynomial(self.kernel_))
        pairs = PairMoments.affine(X, Y, kernel.gamma, kernel.coef0)
        n_sketches = len(self.index_)
        return power_sketch_variance(pairs, kernel.degree, self.n_features_out_ // n_sketches) / n_sketches

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        if self.strata_ is None or (self.truncated_at_ is None and not self.strata_.allocation.dropped):
            return 0.0
        return self.strata_.mean(X, Y) - self.kernel_.evaluate(X, Y)

    @property
    @override
    def is_random(self) -> bool:
        return self.strata_ is None or self.strata_.is_random

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        if self.strata_ is not None:
            other.strata_ = self.strata_.redrawn(rng)
        else:
            n_buckets = self.n_features_out_ // len(self.index_)
            other.index_, other.sign_ = draw_hashes(rng, n_buckets, self.index_.shape)
        return other

    @override
    def largest_feature(self, norm: float, X: Any) -> float:
        if self.strata_ is not None:
            return np.inf
        # Spectra are bounded by products of 1-norms, times 2 a factor that the core takes back at the end, and the
        # inverse transform sums D of them before it divides.
        kernel = cast(Polynomial, _as_polynomial(self.kernel_))
        one_norm = sqrt(kernel.gamma * X.shape[1]) * norm + sqrt(kernel.coef0)
        return float(self.n_features_out_ * (2 * one_norm) ** kernel.degree)
