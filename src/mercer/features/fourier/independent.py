"""Random Fourier features for shift-invariant kernels (Rahimi and Recht, 2007)."""

import numpy as np

from mercer._typing import Array, Seed, override
from mercer.features.fourier.phases import MatrixPhases, phase_variance, require_shift_invariant
from mercer.features.sketches.scalar_draws import register_scalar
from mercer.kernels import Columns, Kernel, LowOrder, Product, ScaledColumns, StationaryKernel
from mercer.kernels.frequencies import frequency_distribution
from mercer.validation import check_real


class FourierFeatures(MatrixPhases):
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
    order : float or None
        With a number, each column takes part in a frequency with probability order / n_features: the kernel is then
        ``LowOrder(kernel, order=order)``, of functions of a few columns each; in a product, each factor is.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, n_frequencies)
        Those of the pairs first.
    offsets_ : ndarray
        Offsets of the features that are no pairs.
    kernel_ : Kernel
        The kernel approximated, ``gamma="scale"`` and the like replaced by numbers; ``LowOrder`` with an order.

    Notes
    -----
    Time O(nnz(x) D / 2) per row, through BLAS where X is dense; memory 8 bytes per entry of ``frequencies_`` and a copy
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

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        random_state: Seed = None,
        pairs: bool = True,
        order: float | None = None,
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.pairs = pairs
        self.order = order

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant(type(self).__name__, kernel)
        if self.order is not None:
            self._low_order(kernel)

    @override
    def _approximated(self, kernel: Kernel) -> Kernel:
        return kernel if self.order is None else self._low_order(kernel)

    def _low_order(self, kernel: Kernel) -> Kernel:
        """Return the kernel of low order: of scaled and selected columns inside of these, of a product each factor."""
        if isinstance(kernel, ScaledColumns | Columns):
            return kernel.with_params(kernel=self._low_order(kernel.kernel))
        if isinstance(kernel, Product):
            return Product(tuple(self._low_order(term) for term in kernel.terms))
        order = check_real(type(self).__name__, "order", self.order, least=0, strict=True)
        return LowOrder(kernel, order=order) if isinstance(kernel, StationaryKernel) else kernel

    def _n_single(self, n_components: int) -> int:
        return n_components % 2 if self.pairs else n_components

    def _frequencies(self, kernel: Kernel, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> Array:
        return frequency_distribution(kernel, n_features).draw(rng, n_frequencies)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        return phase_variance(self.kernel_, X, Y, self.n_features_out_, len(self.offsets_))


register_scalar(StationaryKernel, lambda kernel, n: FourierFeatures(kernel, n_components=n, pairs=False))
