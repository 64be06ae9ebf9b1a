"""Random Fourier features for shift-invariant kernels (Rahimi and Recht, 2007)."""

from abc import abstractmethod
from math import ceil, log
from typing import Any

import numpy as np

from mercer import core
from mercer._typing import Array, override
from mercer.config import DEFAULT_BLOCK_ROWS, get_config
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.memo import remembered
from mercer.features.sketches.scalar_draws import register_scalar
from mercer.kernels import Gaussian, Kernel, StationaryKernel
from mercer.kernels.frequencies import frequency_distribution, is_shift_invariant
from mercer.state import Reals, Sizes, Stored, require
from mercer.validation import block_norm, check_finite_features, check_integer, check_memory, check_real

# Rows a block: every block has its own copy of the frequencies made, in the order that the product reads.
_TALL_BLOCK = 1024


class PhaseFeatures(KernelMap):
    """Cosines and sines of projections on frequencies; a subclass writes ``_frequencies``, the draw of those.

    The output is [cosines, sines] of the pairs, then, where ``n_components`` is odd, one cosine with a random offset.
    Every feature has the factor sqrt(2 / D), which makes the estimate of each frequency count by its features.
    """

    # m frequencies, s of them with an offset instead of a pair.
    _stored = Stored(
        offsets_=Reals(("s",), 0.0, most=2 * np.pi),
    )

    _natural_kernel = Gaussian()

    @abstractmethod
    def _frequencies(self, kernel: Kernel, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> Array:
        """Draw frequencies, one a column."""

    def _n_single(self, n_components: int) -> int:
        """Return how many features are cosines with an offset."""
        return n_components % 2

    def _draw(self, kernel: Kernel, X: Any, n_components: int, rng: np.random.RandomState) -> int:
        n_single = self._n_single(n_components)
        n_frequencies = (n_components + n_single) // 2
        name, n_features = type(self).__name__, X.shape[1]
        # The frequencies, and as much again while they are drawn; later that much in turns, in X's precision.
        needed = 16 * (n_features + 1) * n_frequencies
        check_memory(name, "n_components", n_components, needed, f"{n_frequencies} frequencies of {n_features} columns")
        self.frequencies_ = self._frequencies(kernel, n_frequencies, n_features, rng)
        self.offsets_ = rng.uniform(0, 2 * np.pi, n_single)
        return n_components

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        sound = sizes["s"] <= sizes["m"] and sizes["D"] == 2 * sizes["m"] - sizes["s"]
        require(sound, "n_features_out must be twice the frequencies less the offsets")

    @override
    def writer(self, X: Any) -> Writer:
        turns = remembered(self, self.frequencies_, X.dtype.str, lambda: self._turns(X.dtype))
        offsets = (self.offsets_ / (2 * np.pi)).astype(X.dtype)
        scale = (2 / self.n_features_out_) ** 0.5

        def write(rows: slice, out: Array) -> bool:
            return core.fourier(X, rows, turns, offsets, scale, out)

        return write

    def _turns(self, dtype: Any) -> Array:
        turns: Array = np.empty(self.frequencies_.shape, dtype=dtype)
        return np.divide(self.frequencies_, 2 * np.pi, out=turns, casting="same_kind")  # rounded once, from float64

    def _write_checked(self, write: Writer, X: Any, rows: slice, out: Array) -> None:
        write_phases(type(self).__name__, write, X, rows, out)

    @property
    def _by_matrix(self) -> bool:
        """Whether projections are products with ``frequencies_``, and no fast transforms."""
        return True

    @override
    def block_rows(self, n_rows: int) -> int:
        config = get_config()
        if config.block_rows != DEFAULT_BLOCK_ROWS or not self._by_matrix:
            return config.block_rows
        return max(config.block_rows, min(_TALL_BLOCK, -(-n_rows // config.threads)))

    @override
    def largest_feature(self, norm: float, X: Any) -> float:
        return 1 + norm * float(np.linalg.norm(self.frequencies_))

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return frequency_distribution(self.kernel_, n_features).reaches(level)


def write_phases(owner: str, write: Writer, X: Any, rows: slice, out: Array) -> None:
    """Write cosines and sines of a block, refusing what is not finite.

    A row that is not finite, or a projection that overflows, shows in the phases: rows need no pass of their own.
    """
    if not write(rows, out):
        block_norm(owner, "X", X, rows)
        check_finite_features(owner, out, rows.start)


class FourierFeatures(PhaseFeatures):
    r"""Random Fourier features, for every shift-invariant kernel.

    k(x, y) is the mean of :math:`\cos\langle w, x - y\rangle` over the kernel's distribution of frequencies w. With D
    features, each frequency gives a pair, or each a cosine with a random offset b:

    .. math:: \sqrt{2/D}\,(\cos\langle w, x\rangle, \sin\langle w, x\rangle)
              \quad\text{or}\quad \sqrt{2/D}\,\cos(\langle w, x\rangle + b).

    Both are unbiased. Pairs need half the projections and their variance, :math:`(1 + k(2x, 2y) - 2 k^2) / D`, is below
    that of offsets, :math:`(1 + k(2x, 2y)/2 - k^2) / D`, wherever :math:`k(2x, 2y) < 2 k^2`: everywhere for
    ``Gaussian`` and ``Laplacian``, and for all kernels but between rows far apart. ``OrthogonalFeatures`` does better
    still for radial kernels.

    Parameters
    ----------
    kernel : shift-invariant kernel, default=Gaussian()
        Also a product of them, whose frequencies are sums of independent draws, and ``ScaledColumns`` and ``Columns``
        of them.
    n_components : int, default=100
        Number of features D. With pairs an odd D takes one feature with an offset.
    random_state : int, RandomState or None
    pairs : bool, default=True
        Cosine and sine of each frequency, or a cosine with a random offset.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, n_frequencies)
        Those of the pairs first.
    offsets_ : ndarray
        Offsets of the features that are no pairs.
    kernel_ : Kernel
        The kernel approximated, ``gamma="scale"`` and the like replaced by numbers.

    Notes
    -----
    Time O(nnz(x) D / 2) a row, through BLAS where X is dense; memory 8 bytes an entry of ``frequencies_`` and a copy
    in X's precision during a transform. Cosine and sine of a given phase are within 2e-7 (float32) and 5e-16 (float64)
    up to 1000 turns. The phase itself is a dot product, rounded relative to its size: of t turns float32 knows the
    fraction to about 4e-7 t, so features of rows far from the origin lose digits. Centre such data, or pass float64.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
    D. J. Sutherland and J. Schneider, "On the error of random Fourier features", UAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FourierFeatures, Matern
    >>> X = np.random.RandomState(0).randn(5, 3)
    >>> fourier = FourierFeatures(Matern(1.5, length_scale=2.0), n_components=2000, random_state=0)
    >>> Z = fourier.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - fourier.kernel_(X)).max() < 6 * np.sqrt(fourier.variance(X).max()))
    True
    """

    _stored = Stored(
        frequencies_=Reals(("d", "m")),
    )

    def __init__(
        self, kernel: Kernel | None = None, *, n_components: int = 100, random_state: Any = None, pairs: bool = True
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.pairs = pairs

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant(type(self).__name__, kernel)

    def _n_single(self, n_components: int) -> int:
        return n_components % 2 if self.pairs else n_components

    def _frequencies(self, kernel: Kernel, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> Array:
        return frequency_distribution(kernel, n_features).draw(rng, n_frequencies)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        return phase_variance(self.kernel_, X, Y, self.n_features_out_, len(self.offsets_))


def require_shift_invariant(owner: str, kernel: Kernel) -> None:
    """Refuse a kernel that has no distribution of frequencies."""
    if not is_shift_invariant(kernel):
        raise ValueError(
            f"{owner}: kernel must be shift-invariant, such as Gaussian, Laplacian or Matern, or a product of such "
            f"kernels, got {kernel!r}. feature_map(kernel, n_components=...) chooses a map for any kernel that has one."
        )


def phase_variance(kernel: Kernel, X: Array, Y: Array, n_components: int, n_single: int) -> Array:
    """Return the variance of an estimate from independent frequencies, ``n_single`` of the features with offsets."""
    k, double = kernel(X, Y), kernel(2 * X, 2 * Y)
    pair, single = 1 + double - 2 * k**2, 1 + double / 2 - k**2
    variance: Array = ((n_components - n_single) * pair + n_single * single) / n_components**2
    return np.maximum(variance, 0.0)


def rahimi_recht_components(
    kernel: Kernel, diameter: float, n_features: int, error: float, confidence: float = 0.99
) -> int:
    r"""Return how many features of sin/cos pairs keep every error on a set below ``error``.

    With m frequencies, on a compact set of the given diameter (Rahimi and Recht, 2007, Claim 1),

    .. math:: P\big(\sup |\langle z(x), z(y)\rangle - k(x, y)| \ge \epsilon\big)
              \le 2^8 (\sigma_p\, \mathrm{diam} / \epsilon)^2 \exp(-m \epsilon^2 / (4 (d + 2)))

    with :math:`\sigma_p^2 = E |w|^2`. The result is 2 m features. The bound is loose, and void where the mean square
    of the frequencies is infinite (Laplacian, Matern with nu <= 1, ExponentialPower below 2).

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.features.fourier.independent import rahimi_recht_components
    >>> rahimi_recht_components(Gaussian(gamma=0.5), diameter=2.0, n_features=2, error=0.1)
    53872
    """
    owner = "rahimi_recht_components"
    require_shift_invariant(owner, kernel)
    diameter = check_real(owner, "diameter", diameter, least=0, strict=True)
    error = check_real(owner, "error", error, least=0, strict=True)
    confidence = check_real(owner, "confidence", confidence, least=0)
    if confidence >= 1:
        raise ValueError(f"{owner}: confidence must be below 1, got {confidence!r}.")
    n_features = check_integer(owner, "n_features", n_features)
    spread = float(frequency_distribution(kernel, n_features).column_variances.sum())
    if not np.isfinite(spread):
        raise ValueError(
            f"{owner}: the frequencies of {kernel!r} have no finite mean square, so the bound says nothing. "
            "Measure the error, or use a smoother kernel."
        )
    logarithm = log(2**8 * spread * (diameter / error) ** 2 / (1 - confidence))
    return 2 * ceil(max(1.0, 4 * (n_features + 2) / error**2 * logarithm))


# Cosines with offsets are independent and unbiased one by one; the cosine and sine of a pair are not.
register_scalar(StationaryKernel, lambda kernel, n: FourierFeatures(kernel, n_components=n, pairs=False))
