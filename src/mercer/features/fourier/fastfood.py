"""Fastfood (Le, Sarlos and Smola, 2013)."""

import numpy as np

from mercer._typing import Rows, override
from mercer.features.fourier.orthogonal import require_radial
from mercer.features.fourier.phases import PhaseFeatures, Projections
from mercer.features.fourier.structured import HadamardProjections, check_blocks, check_structured, padded_size
from mercer.features.sketches.hashes import draw_signs
from mercer.kernels import Kernel, RadialKernel
from mercer.state import Integers, Reals, Sizes, Stored


class Fastfood(PhaseFeatures):
    r"""Fourier features by products of Hadamard and diagonal matrices, one of them Gaussian.

    A block of projections of a row, padded to a power of two p, is

    .. math:: V x = \tfrac{1}{\sqrt{p}}\, S H G \Pi H B x

    with H the unnormalised Hadamard matrix, B random signs, Pi a random permutation, G Gaussian, and
    :math:`S_{ii} = s_i / \|G\|_F` with s_i drawn from the kernel's distribution of frequency lengths in p dimensions
    (chi with p degrees of freedom over sigma for the Gaussian). A normalised Gaussian times such a length is a draw of
    a frequency: the estimate is unbiased for every radial kernel and every number of columns. Rows of a block are
    dependent, which makes its variance larger than that of independent frequencies;
    ``OrthogonalFeatures(structured=True)`` costs the same and errs less from 64 columns on.

    Parameters
    ----------
    kernel : radial kernel, default=Gaussian()
    n_components : int, default=100
        Number of features, any; as many blocks as it takes are drawn, and the last one is cut.
    random_state : int, RandomState or None

    Attributes
    ----------
    diagonals_ : ndarray of shape (2, n_blocks, p)
        B and G of each block.
    permutation_ : ndarray of int32, shape (n_blocks, p)
    radii_ : ndarray of shape (n_frequencies,)
        The lengths s_i.
    offsets_ : ndarray
    kernel_ : Kernel

    Notes
    -----
    Time O(D log p) per row, memory O(D), with D at least 2p. ``variance`` is estimated by re-draws.

    References
    ----------
    Q. Le, T. Sarlos and A. Smola, "Fastfood: approximating kernel expansions in loglinear time", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Fastfood, Gaussian
    >>> X = np.random.RandomState(0).randn(5, 20)
    >>> Z = Fastfood(Gaussian(gamma=0.02), n_components=2000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Gaussian(gamma=0.02)(X)).max() < 0.2)
    True
    """

    _stored = Stored(
        diagonals_=Reals((2, "b", "p")),
        permutation_=Integers(("b", "p"), (np.int32,), least=0, below="p"),
        radii_=Reals(("m",), 0.0),
    )

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_radial("Fastfood", kernel)

    def _draw(self, kernel: RadialKernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:  # type: ignore[override]
        n_single = self._n_single(n_components)
        n_frequencies = (n_components + n_single) // 2
        size = padded_size(X.shape[1])
        n_blocks = -(-n_frequencies // size)
        check_structured("Fastfood", n_components, 80 * n_blocks * size, size, min(3, n_blocks + 1))
        signs = draw_signs(rng, (n_blocks, size), dtype=np.int64)
        self.diagonals_ = np.stack([signs, rng.standard_normal((n_blocks, size))])
        self.permutation_ = np.stack([rng.permutation(size).astype(np.int32) for _ in range(n_blocks)])
        self.radii_ = kernel.radii(rng, n_frequencies, size)
        self.offsets_ = rng.uniform(0, 2 * np.pi, n_single)
        return n_components

    @property
    @override
    def projections(self) -> Projections:
        size = self.permutation_.shape[1]
        norms = np.repeat(np.linalg.norm(self.diagonals_[1], axis=1), size)[: len(self.radii_)]
        turns = self.radii_ / (2 * np.pi * norms * size**0.5)
        return HadamardProjections(self.diagonals_, self.permutation_, turns)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        gaussian = float(np.abs(self.diagonals_[1]).max())
        return float(1 + norm * max(float(self.radii_.max()), 2.0 * X.shape[1] * max(gaussian, 1.0)))

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        check_blocks(sizes)
