"""Tensor Sketch of keys: functions and products of kernels that count common parts."""

from copy import copy
from itertools import pairwise
from math import sqrt
from typing import Any, Self

import numpy as np

from mercer import core, key_core
from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.degrees import check_coefficients, check_radius, tail
from mercer.features.sketches.hashes import draw_hashes
from mercer.features.sketches.strata import allocate_by_moments, sample_rows, smooth_pieces
from mercer.features.sketches.variances import PairMoments, power_sketch_variance, tensor_sketch_variance
from mercer.features.structured.draws import draw_coefficients, draw_seed
from mercer.kernels import Composed, Kernel, Polynomial, Product, Spectrum
from mercer.kernels.structured.parts import PartDraw, counted_parts, is_keyed, key_matrix, samples_parts
from mercer.key_core import Counted
from mercer.state import LARGEST_DEGREE, Count, Integers, Real, Reals, Sizes, Stored, require
from mercer.validation import check_integer

_NAME = "PartTensorSketch"
_SERIES_DEGREES = 30  # last degree of an infinite series, as in TensorSketch
_ALLOCATION_ROWS = 300
_MANY_KEYS = 2**61  # columns of the keys themselves: no degree above 0 has exact features


class PartTensorSketch(KernelMap):
    r"""The map of f(k(x, y)), or of a product, of kernels that count common parts: Tensor Sketch of the keys.

    For ``Polynomial(p)``, and for a product of p kernels, it is the circular convolution of p count sketches of the
    keys, under independent hashes. It is unbiased, which a sketch of features that are hashed already is not: that
    squares the noise of the first hash into a bias. For other f each degree of the series has a sketch, as in
    ``TensorSketch``.

    Parameters
    ----------
    kernel : Composed or Product, default=Composed(Polynomial(2), Spectrum(3))
        A dot-product kernel of a kernel of parts, or a product of such kernels; these may be sums, multiples and
        ``Normalized`` ones.
    n_components : int, default=4096
    random_state : int, RandomState or None
    n_masks : int or None, default=50
        As in ``PartFeatures``. Each factor of the sketch draws its own masks.

    Attributes
    ----------
    degrees_, widths_ : ndarray of int64
        Degree and number of features of each sketch; a sketch of degree 0 is a constant feature.
    scales_ : ndarray
        Factor of each sketch.
    seeds_ : ndarray of uint64
        Seed of keys and masks of each factor, sketch by sketch.
    hashes_ : ndarray of uint64, shape (n_factors, 4)
        The polynomial that hashes the keys of each factor.
    index_, sign_ : ndarray
        Bucket and sign of coef0 in each factor.
    n_masks_ : int or None
    truncation_error_ : float
        The largest part of k(x, x), on the objects of ``fit``, above the last degree of an infinite series.
    kernel_ : Composed or Product

    Notes
    -----
    With N, t and s those of ``PartFeatures``, the variance is that of ``TensorSketch``, exactly. Kernels whose masks
    are drawn have an estimate from re-draws. Time O(p parts + p D log D) per object.

    References
    ----------
    N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Composed, Normalized, Polynomial
    >>> from mercer.features import PartTensorSketch
    >>> from mercer.kernels import Spectrum
    >>> kernel = Composed(Polynomial(2, coef0=1.0), Normalized(Spectrum(2)))
    >>> fitted = PartTensorSketch(kernel, n_components=1024, random_state=0).fit(["abab", "abc"])
    >>> Z = fitted.transform(["abab", "abc"])
    >>> bool(np.abs(Z @ Z.T - kernel(["abab", "abc"])).max() < 6 * np.sqrt(fitted.variance(["abab", "abc"]).max()))
    True
    """

    # m sketches of f factors in all.
    _stored = Stored(
        degrees_=Integers(("m",), (np.int64,), least=0, below=LARGEST_DEGREE + 1),
        widths_=Integers(("m",), (np.int64,), least=1),
        scales_=Reals(("m",), 0.0, dtypes=(np.float64,)),
        seeds_=Integers(("f",), (np.uint64,), least=0, below=2**61),
        hashes_=Integers(("f", 4), (np.uint64,), least=0, below=2**61 - 1),
        index_=Integers(("f",), (np.int32,), least=0),
        sign_=Integers(("f",), (np.int8,), least=-1, below=2),
        n_masks_=Count(least=1, nullable=True),
        truncation_error_=Real(0.0, finite=False),
    )

    _natural_kernel = Composed(Polynomial(2), Spectrum(3))

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 4096,
        random_state: Seed = None,
        n_masks: int | None = 50,
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.n_masks = n_masks

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not is_function_of_parts(kernel):
            raise ValueError(
                f"{_NAME}: kernel must be Composed(f, k) or a product, with k a kernel that counts common parts, such "
                f"as Composed(Polynomial(2), Spectrum(3)), got {kernel!r}. Use feature_map(kernel)."
            )

    @override
    def _check_params(self) -> None:
        super()._check_params()
        if self.n_masks is not None:
            check_integer(_NAME, "n_masks", self.n_masks)

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(sizes["f"] == int(self.degrees_.sum()), "there must be a hash for each factor")
        require(sizes["D"] == int(self.widths_.sum()), "n_features_out must be the sum of widths_")
        require(bool(np.all(self.index_ < np.repeat(self.widths_, self.degrees_))), "index_ must lie in its sketch")
        require(bool(np.all(self.widths_[self.degrees_ == 0] == 1)), "a constant must be one feature")
        degree = _degree(self.kernel_)
        if degree is not None:
            sound = sizes["m"] == 1 and self.degrees_[0] == degree
            require(sound, "a polynomial must have one sketch of its degree")

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        super().fit_checked(X, rng)

    @override
    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        degree = _degree(kernel)
        self.n_masks_, self.truncation_error_ = self.n_masks, 0.0
        if degree is not None:
            self.degrees_, self.widths_ = np.array([degree]), np.array([n_components])
            self.scales_ = np.ones(1)
        else:
            self._allocate(kernel, X, n_components, rng)
        self._draw_hashes(rng)
        return int(self.widths_.sum())

    def _allocate(self, kernel: Any, X: Rows, n_components: int, rng: np.random.RandomState) -> None:
        """Share the features among the degrees of a series, by their variance on a sample of the objects."""
        f = kernel.f
        last = _SERIES_DEGREES if f.last_degree is None else f.last_degree
        coefficients = check_coefficients(_NAME, f, last)
        sample = X[sample_rows(rng, X.shape[0], _ALLOCATION_ROWS)]
        counted = counted_parts(kernel.inner, sample, PartDraw(draw_seed(rng), self.n_masks))
        largest = check_radius(_NAME, f, float(counted.squares.max(initial=0.0)))
        pairs = _moments(counted, counted)
        G = np.tile(np.sqrt(coefficients), (len(sample), 1))
        degrees = np.flatnonzero(coefficients).tolist()
        shared = allocate_by_moments(pairs, G, degrees, _MANY_KEYS, n_components)
        pieces = [(0, 1, 1.0)] if shared.exact else []
        for degree, width in shared.sketched.items():
            lengths = [1] if degree == 0 else smooth_pieces(width)
            pieces += [(degree, length, length / width) for length in lengths]
        self.degrees_ = np.array([degree for degree, _, _ in pieces], dtype=np.int64)
        self.widths_ = np.array([width for _, width, _ in pieces], dtype=np.int64)
        self.scales_ = np.sqrt([coefficients[degree] * share for degree, _, share in pieces])
        self.truncation_error_ = 0.0 if f.last_degree is not None else tail(f, last + 1, largest)

    def _draw_hashes(self, rng: np.random.RandomState) -> None:
        n_factors = int(self.degrees_.sum())
        self.seeds_ = np.array([draw_seed(rng) for _ in range(n_factors)], dtype=np.uint64)
        self.hashes_ = draw_coefficients(rng, (n_factors, 4))
        width = np.repeat(self.widths_, self.degrees_)
        drawn = [draw_hashes(rng, int(n), (1,)) for n in width]
        self.index_ = np.array([index[0] for index, _ in drawn], dtype=np.int32)
        self.sign_ = np.array([sign[0] for _, sign in drawn], dtype=np.int8)

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other._draw_hashes(rng)
        return other

    def _sampled(self) -> bool:
        inners = [_inner(self.kernel_, j) for j in range(int(self.degrees_.max(initial=0)))]
        return self.n_masks_ is not None and any(samples_parts(inner) for inner in inners)

    def _counted(self, X: Rows, factor: int) -> Counted:
        """Return the keys of objects for one factor, with the weight of gamma in their values."""
        draw = PartDraw(int(self.seeds_[factor]), self.n_masks_)
        counted = counted_parts(_inner(self.kernel_, factor), X, draw)
        gamma, _ = _gamma_and_constant(self.kernel_)
        return counted._replace(values=counted.values * sqrt(gamma), squares=counted.squares * gamma)

    @override
    def writer(self, X: Rows) -> Writer:
        constant = sqrt(_gamma_and_constant(self.kernel_)[1])
        found_once = isinstance(self.kernel_, Composed) and not self._sampled() and len(self.seeds_) > 0
        ends, factors = np.cumsum([0, *self.widths_]).tolist(), np.cumsum([0, *self.degrees_]).tolist()

        def write(rows: slice, out: Array) -> None:
            objects = X[rows]
            once = self._counted(objects, 0) if found_once else None
            bounds = zip(pairwise(ends), pairwise(factors), self.scales_, strict=True)
            for (start, stop), (first, last), scale in bounds:
                sketches = np.empty((last - first, len(objects), stop - start), dtype=out.dtype)
                for j in range(first, last):
                    counted = self._counted(objects, j) if once is None else once
                    key_core.sketch_keys(counted, self.hashes_[j], sketches[j - first])
                    sketches[j - first][:, self.index_[j]] += out.dtype.type(self.sign_[j] * constant)
                _write_product(sketches, float(scale), out[:, start:stop])

        return write

    @override
    def scratch_bytes(self, X: Rows) -> float:
        widest = int((self.degrees_ * self.widths_).max(initial=1)) + int(self.widths_.max(initial=1))
        return float(X.dtype.itemsize * widest)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        if self._sampled():
            return None
        if isinstance(self.kernel_, Product):
            return tensor_sketch_variance(
                [self._pairs(term, X, Y) for term in self.kernel_.terms], self.n_features_out_
            )
        pairs = self._pairs(_inner(self.kernel_, 0), X, Y)
        total = np.zeros_like(pairs.t)
        for degree, width, scale in zip(self.degrees_, self.widths_, self.scales_, strict=True):
            total += scale**4 * power_sketch_variance(pairs, int(degree), int(width)) if degree else 0.0
        return total

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        if _degree(self.kernel_) is not None:
            return 0.0
        t = self._pairs(_inner(self.kernel_, 0), X, Y).t
        mean = sum(scale**2 * t**degree for degree, scale in zip(self.degrees_, self.scales_, strict=True))
        return np.asarray(mean - self.kernel_.evaluate(X, Y))

    def _pairs(self, inner: Kernel, X: Rows, Y: Rows) -> PairMoments:
        """Return the moments of the keys of all pairs, with one more entry for coef0."""
        seed = int(self.seeds_[0]) if len(self.seeds_) else 1
        counted = [counted_parts(inner, rows, PartDraw(seed, self.n_masks_)) for rows in (X, Y)]
        pairs = _moments(*counted)
        gamma, coef0 = _gamma_and_constant(self.kernel_)
        x, y = (gamma * part.squares + coef0 for part in counted)
        return PairMoments(gamma * pairs.t + coef0, np.outer(x, y), gamma**2 * pairs.s + coef0**2)


def is_function_of_parts(kernel: Kernel) -> bool:
    """Return whether a kernel is a function, or a product, of kernels that count common parts."""
    if isinstance(kernel, Product):
        return all(is_keyed(term) for term in kernel.terms)
    return isinstance(kernel, Composed) and is_keyed(kernel.inner)


def _degree(kernel: Any) -> int | None:
    """Return the degree where one sketch is enough; None for a series, which needs one sketch per degree."""
    if isinstance(kernel, Product):
        return len(kernel.terms)
    return kernel.f.degree if isinstance(kernel.f, Polynomial) else None


def _inner(kernel: Any, factor: int) -> Kernel:
    """Return the kernel whose keys a factor sketches."""
    found: Kernel = kernel.terms[factor] if isinstance(kernel, Product) else kernel.inner
    return found


def _gamma_and_constant(kernel: Any) -> tuple[float, float]:
    polynomial = not isinstance(kernel, Product) and isinstance(kernel.f, Polynomial)
    return (kernel.f.gamma, kernel.f.coef0) if polynomial else (1.0, 0.0)


def _moments(left: Counted, right: Counted) -> PairMoments:
    vocabulary = np.unique(np.concatenate([left.keys, right.keys]))
    return PairMoments.of(key_matrix(left, vocabulary), key_matrix(right, vocabulary))


def _write_product(sketches: Array, scale: float, out: Array) -> None:
    """Write the sketch of a product: the convolution of the factors; a constant where there are none."""
    if not len(sketches):
        out[...] = scale
        return
    if len(sketches) == 1:
        out[...] = sketches[0]
    else:
        product = np.empty(out.shape, dtype=out.dtype)
        core.convolve(sketches, product)
        out[...] = product
    out *= out.dtype.type(scale)
