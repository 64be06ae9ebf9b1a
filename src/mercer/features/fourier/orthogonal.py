"""Orthogonal random features for radial kernels (Yu et al., 2016)."""

from copy import copy
from typing import Any, Self
from warnings import warn

import numpy as np
from scipy import special

from mercer import core
from mercer._typing import Array, override
from mercer.config import get_config
from mercer.features.base import Writer
from mercer.features.fourier.independent import PhaseFeatures
from mercer.kernels import Gaussian, Kernel, RadialKernel
from mercer.kernels.evaluation.distances import squared_distances
from mercer.state import Flag, Integers, Reals, Sizes, Stored, require
from mercer.validation import check_memory

# Below this many columns three signed Hadamard transforms are far from a random rotation: the estimate is biased
# (relative Gram errors that do not fall below 0.1 to 0.4 at d = 10 and 4), and an exact rotation is cheap.
LEAST_STRUCTURED = 64
_CANDIDATES = 16
# Bytes a radius while its candidates are drawn and sorted, and bytes a column of a group of rows in a buffer.
_RADIUS_BYTES, _TRANSFORM_BYTES = 8 * (3 * _CANDIDATES + 2), 32
# On fewer columns or frequencies what the strata leave within themselves is no longer small beside the rest.
LEAST_CLOSED = 5


class OrthogonalFeatures(PhaseFeatures):
    r"""Random Fourier features with orthogonal frequencies, for radial kernels.

    In blocks of n_features, the directions of the frequencies are a random orthonormal basis, and their lengths are
    drawn from the kernel's own radial distribution: each frequency alone is distributed as in ``FourierFeatures``, so
    the estimate is unbiased, and the directions of a block, which cannot repeat each other, bring its variance down.
    The lengths are stratified over all frequencies.

    ``structured`` replaces the basis by :math:`H D_3 H D_2 H D_1` with Hadamard matrices H and random signs D, at
    O(D log d) time and O(D) memory instead of O(D d). That is no uniformly random basis: it is a good one only from
    64 columns on.

    Parameters
    ----------
    kernel : radial kernel, default=Gaussian()
        Gaussian, Matern, Cauchy, RationalQuadratic or ExponentialPower.
    n_components : int, default=100
        Number of features; an odd number takes one feature with an offset.
    random_state : int, RandomState or None
    structured : bool or "auto", default="auto"
        Fast signed Hadamard transforms instead of an exact rotation; ``"auto"`` from 64 columns on.

    Attributes
    ----------
    structured_ : bool
        Whether the rotation is that of Hadamard transforms.
    frequencies_ : ndarray of shape (n_features, n_frequencies)
        Where ``structured_`` is False.
    signs_ : ndarray of int8, shape (3, n_blocks, size)
        The diagonals D_1, D_2, D_3 of each block, size the next power of two, where ``structured_`` is True.
    radii_ : ndarray of shape (n_frequencies,)
        Lengths of the frequencies.
    offsets_ : ndarray
    kernel_ : Kernel

    Notes
    -----
    ``variance`` is a closed form for the Gaussian with an exact rotation on at least 5 columns and 5 frequencies, where
    it was found within 2 % of re-draws (it takes strata for narrow), and estimated by re-draws elsewhere.

    References
    ----------
    F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar, "Orthogonal random features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, OrthogonalFeatures
    >>> X = np.random.RandomState(0).randn(5, 8)
    >>> orthogonal = OrthogonalFeatures(Gaussian(gamma=0.1), n_components=800, random_state=0)
    >>> Z = orthogonal.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - orthogonal.kernel_(X)).max() < 6 * np.sqrt(orthogonal.variance(X).max()))
    True
    """

    _stored = Stored(
        structured_=Flag(),
        frequencies_=Reals(("d", "m"), optional=True),
        signs_=Integers((3, "b", "p"), (np.int8,), least=-1, below=2, optional=True),
        radii_=Reals(("m",), 0.0),
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Any = None,
        structured: bool | str = "auto",
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.structured = structured

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_radial("OrthogonalFeatures", kernel)
        if self.structured not in (True, False, "auto"):
            raise ValueError(f"OrthogonalFeatures: structured must be True, False or 'auto', got {self.structured!r}.")

    def _draw(self, kernel: Kernel, X: Any, n_components: int, rng: np.random.RandomState) -> int:
        n_features = X.shape[1]
        if self.structured is True and n_features < LEAST_STRUCTURED:
            warn(
                f"OrthogonalFeatures: structured=True is biased below {LEAST_STRUCTURED} columns, and X has "
                f"{n_features}. structured='auto' takes an exact rotation here.",
                stacklevel=5,
            )
        self.structured_ = self.is_structured(n_features)
        if not self.structured_:
            return super()._draw(kernel, X, n_components, rng)
        n_single = self._n_single(n_components)
        n_frequencies = (n_components + n_single) // 2
        size = padded_size(n_features)
        shape = (3, -(-n_frequencies // size), size)
        n_bytes = 27 * shape[1] * size + _RADIUS_BYTES * n_frequencies
        check_structured("OrthogonalFeatures", n_components, n_bytes, size, min(2, shape[1]))
        signs = rng.randint(2, size=shape, dtype=np.int8)
        signs *= 2
        signs -= 1
        self.signs_ = signs
        # Radii as in `size` dimensions: a uniform direction there times such a radius, cut to n_features columns, has
        # the distribution of a frequency of n_features columns.
        self.radii_ = stratified_radii(kernel, rng, n_frequencies, size)
        self.offsets_ = rng.uniform(0, 2 * np.pi, n_single)
        return n_components

    def _frequencies(self, kernel: Kernel, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> Array:
        needed = (8 * n_features + _RADIUS_BYTES) * n_frequencies
        check_memory("OrthogonalFeatures", "n_components", self.n_components, needed, "frequencies and their lengths")
        directions = np.hstack(
            [
                _orthonormal(rng, n_features, min(n_features, n_frequencies - start))
                for start in range(0, n_frequencies, n_features)
            ]
        )
        self.radii_ = stratified_radii(kernel, rng, n_frequencies, n_features)
        return directions * self.radii_

    @override
    def writer(self, X: Any) -> Writer:
        if not self.structured_:
            return super().writer(X)
        return structured_writer(self, X, self.signs_, np.empty((0, 0), dtype=np.int32), self._turns_per_unit())

    @property
    def _by_matrix(self) -> bool:
        return not self.structured_

    @override
    def scratch_bytes(self, X: Any) -> float:
        return 0.0 if self._by_matrix else dense_bytes(X)

    def _turns_per_unit(self) -> Array:
        # Three unnormalised transforms multiply lengths by size^(3/2).
        size = self.signs_.shape[2]
        turns: Array = self.radii_ / (2 * np.pi * size**1.5)
        return turns

    @override
    def largest_feature(self, norm: float, X: Any) -> float:
        return float(1 + norm * max(float(self.radii_.max()), float(X.shape[1] * 2) ** 1.5))

    def is_structured(self, n_features: int) -> bool:
        """Return whether ``fit`` takes Hadamard transforms on this many columns."""
        return n_features >= LEAST_STRUCTURED if self.structured == "auto" else bool(self.structured)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        if not isinstance(self.kernel_, Gaussian) or self.structured_:
            return None
        if X.shape[1] < LEAST_CLOSED or len(self.radii_) < LEAST_CLOSED:
            return None
        return gaussian_variance(self.kernel_, X, Y, len(self.radii_), len(self.offsets_))

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.structured = self.structured_
        return super(OrthogonalFeatures, other).redrawn(rng)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        found = {"frequencies_", "signs_"} & set(vars(self))
        wanted = {"signs_" if self.structured_ else "frequencies_"}
        require(found == wanted, "signs_ must be there where structured_ is true, else frequencies_")
        if self.structured_:
            check_blocks(sizes)


def require_radial(owner: str, kernel: Kernel) -> None:
    """Refuse a kernel without a radial distribution."""
    if not isinstance(kernel, RadialKernel):
        raise ValueError(
            f"{owner}: kernel must be radial (Gaussian, Matern, Cauchy, RationalQuadratic or ExponentialPower), got "
            f"{kernel!r}. FourierFeatures takes every shift-invariant kernel; feature_map chooses for any kernel."
        )


def check_blocks(sizes: Sizes) -> None:
    """Refuse blocks of p projections, b of them, that do not take d columns or have no m frequencies."""
    require(sizes["p"] == padded_size(sizes["d"]), "the blocks must have a power of two columns, as X has or more")
    require(sizes["m"] <= sizes["b"] * sizes["p"], "the blocks must have as many rows as there are frequencies")


def padded_size(n_features: int) -> int:
    """Return the length of the Hadamard transforms: a power of two, at least 8."""
    return max(8, 1 << (n_features - 1).bit_length())


def check_structured(owner: str, n_components: int, n_bytes: int, size: int, n_buffers: int) -> None:
    """Refuse tables, and on each thread transforms of ``size`` columns of a group of rows, beyond memory."""
    in_work = _TRANSFORM_BYTES * n_buffers * size * get_config().threads
    check_memory(
        owner, "n_components", n_components, n_bytes + in_work, f"transforms of {size} columns and their signs"
    )


def dense_bytes(X: Any) -> float:
    """Return the bytes of a row of X that is made dense: none where it is."""
    return 0.0 if isinstance(X, np.ndarray) else float(X.shape[1] * X.dtype.itemsize)


def stratified_radii(kernel: Any, rng: np.random.RandomState, n: int, n_features: int) -> Array:
    """Draw n radii, each of the kernel's distribution, spread evenly over it.

    Of 16 n draws in order, one is taken at random from every 16: a random one of the n is then a random one of all
    draws, so its distribution is exact, and any two lie in different strata.
    """
    candidates = np.sort(kernel.radii(rng, n * _CANDIDATES, n_features)).reshape(n, _CANDIDATES)
    radii: Array = candidates[np.arange(n), rng.randint(_CANDIDATES, size=n)]
    rng.shuffle(radii)
    return radii


def _orthonormal(rng: np.random.RandomState, n_features: int, n_vectors: int) -> Array:
    """Draw orthonormal columns, uniformly: QR of Gaussians, with the signs that LAPACK leaves to chance made random."""
    Q, R = np.linalg.qr(rng.standard_normal((n_features, n_vectors)))
    signed: Array = Q * np.where(np.diag(R) < 0, -1.0, 1.0)
    return signed


def structured_writer(
    feature_map: PhaseFeatures, X: Any, diagonals: Array, permutation: Array, turns_per_unit: Array
) -> Writer:
    """Return the writer of a map whose projections are products of Hadamard and diagonal matrices."""
    diagonals, turns = diagonals.astype(X.dtype), turns_per_unit.astype(X.dtype)
    offsets = (feature_map.offsets_ / (2 * np.pi)).astype(X.dtype)
    scale = (2 / feature_map.n_features_out_) ** 0.5

    def write(rows: slice, out: Array) -> bool:
        return core.hadamard_features(X, rows, diagonals, permutation, turns, offsets, scale, out)

    return write


def gaussian_variance(kernel: Gaussian, X: Array, Y: Array, m: int, n_single: int) -> Array:
    """Return the variance with m frequencies, of which the last ``n_single`` (0 or 1) has an offset.

    Two frequencies of one block, with independent radii, have E[cos cos'] = e^(-z^2/2) 1F1(-d/2; d/2; z^2/2) where
    z = sqrt(2 gamma) |x - y|; of two blocks, k^2. Radii from one stratum would make these k(sqrt(2) (x - y)) and
    e^(-z^2) 0F1(; d/2; z^4/4); the m radii come from m strata, so pairs from one stratum are left out of the mean.
    """
    d = X.shape[1]
    squared = 2 * float(kernel.gamma) * squared_distances(X, Y)
    k = np.exp(-squared / 2)
    same_block = k * special.hyp1f1(-d / 2, d / 2, squared / 2)
    between = [
        _without_own_stratum(same_block, k**2, m) - k**2,  # k(sqrt(2) z) = k(z)^2 for the Gaussian
        _without_own_stratum(k**2, k**2 * special.hyp0f1(d / 2, squared**2 / 4), m) - k**2,
    ]
    # The offset feature counts half of a pair, and its own phase leaves its covariances as they are.
    n_pairs = m - n_single
    D = 2 * n_pairs + n_single
    weights = np.full(m, 2 / D)
    weights[n_pairs:] = 1 / D
    block = np.arange(m) // d
    pairs_in_block = np.bincount(block, weights) @ np.bincount(block, weights) - weights @ weights
    pairs_across = 1 - weights @ weights - pairs_in_block
    alone = n_pairs * (2 / D) ** 2 * (1 - k**2) ** 2 / 2 + n_single * (1 - k**2 + k**4 / 2) / D**2
    variance: Array = alone + pairs_in_block * between[0] + pairs_across * between[1]
    return np.maximum(variance, 0.0)


def _without_own_stratum(independent: Array, one_stratum: Array, m: int) -> Array:
    """Return the mean over radii of different strata, given that over independent radii and within one stratum."""
    if m == 1:
        return independent
    c = _CANDIDATES
    mean: Array = ((m * c - 1) * independent - (c - 1) * one_stratum) / ((m - 1) * c)
    return mean
