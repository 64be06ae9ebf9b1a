"""Fourier features of the additive chi-squared map: the exponential chi-squared kernel."""

from copy import copy
from typing import Self

import numpy as np
from sklearn.utils import Tags

from mercer._typing import Array, Rows, Seed, is_sparse, override
from mercer.features.additive import AdditiveFeatures
from mercer.features.base import Writer
from mercer.features.fourier.independent import FourierFeatures
from mercer.features.fourier.orthogonal import OrthogonalFeatures
from mercer.features.fourier.phases import MatrixProjections, PhaseFeatures
from mercer.features.fourier.shift_invariant import few_entries
from mercer.features.kernel_map import KernelMap
from mercer.kernels import Chi2, ExponentialChi2, Gaussian, Kernel
from mercer.kernels.evaluation.bandwidth import inverse_square
from mercer.state import Member, Stored
from mercer.validation import check_integer


class ExponentialChi2Features(KernelMap):
    r"""The map of ``ExponentialChi2``: Fourier features of the additive chi-squared map.

    With psi the map of ``Chi2``, :math:`\chi^2(x, y) \approx \|\psi(x) - \psi(y)\|^2`: the kernel is a Gaussian of
    psi with gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    kernel : ExponentialChi2, default=ExponentialChi2(sigma=1.0)
    n_components : int, default=100
    random_state : int, RandomState or None
    order : int, default=3
        Order n of psi, which has (2n + 1) n_features features. The error left by it is a bias.

    Attributes
    ----------
    additive_ : AdditiveFeatures
    fourier_ : OrthogonalFeatures or FourierFeatures
        The latter where CSR rows have few non-zeros (see ``ShiftInvariantFeatures``).
    kernel_ : Kernel

    Notes
    -----
    Time O((2n + 1) d log d + D log d) per row from 64 features of psi on. ``variance`` is the mean squared error over
    re-draws, the bias of psi included.

    References
    ----------
    S. Vempati, A. Vedaldi, A. Zisserman and C. V. Jawahar, "Generalized RBF feature maps for efficient detection",
    BMVC 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ExponentialChi2
    >>> from mercer.features import ExponentialChi2Features
    >>> X = np.random.RandomState(0).dirichlet(np.ones(4), size=5)
    >>> Z = ExponentialChi2Features(ExponentialChi2(sigma=0.5), n_components=2000, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - ExponentialChi2(sigma=0.5)(X)).max() < 0.1)
    True
    """

    _stored = Stored(
        additive_=Member(AdditiveFeatures, {"n_features_in_": "d", "n_features_out_": "inner"}),
        fourier_=Member((OrthogonalFeatures, FourierFeatures), {"n_features_in_": "inner", "n_features_out_": "D"}),
    )

    _natural_kernel = ExponentialChi2()

    def __init__(
        self, kernel: Kernel | None = None, *, n_components: int = 100, random_state: Seed = None, order: int = 3
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.order = order

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, ExponentialChi2):
            raise ValueError(f"ExponentialChi2Features: kernel must be ExponentialChi2, got {kernel!r}.")

    def _check_params(self) -> None:
        super()._check_params()
        check_integer("ExponentialChi2Features", "order", self.order, least=0)

    def _draw(self, kernel: ExponentialChi2, X: Rows, n_components: int, rng: np.random.RandomState) -> int:  # type: ignore[override]
        order = check_integer("ExponentialChi2Features", "order", self.order, least=0)
        additive = AdditiveFeatures(Chi2(), n_components=(2 * order + 1) * X.shape[1])
        additive.fit_member(X, rng)
        gamma = 0.5 * inverse_square(kernel.sigma)
        if not 0 < gamma < np.inf:
            raise ValueError(f"ExponentialChi2Features: the square of sigma overflows, got sigma={kernel.sigma!r}.")
        width = additive.n_features_out_
        chosen: type[PhaseFeatures] = FourierFeatures if few_entries(X, width, n_components) else OrthogonalFeatures
        fourier = chosen(Gaussian(gamma=gamma), n_components=n_components)
        fourier.fit_member(np.empty((0, width)), rng)
        self.additive_, self.fourier_ = additive, fourier
        return n_components

    @override
    def writer(self, X: Rows) -> Writer:
        write_additive = self.additive_.writer(X)
        width, by_entries = self.additive_.n_features_out_, self._by_entries(X)
        if by_entries:  # cache the turns before blocks on several threads ask for them
            self.fourier_.writer(np.empty((0, width), dtype=X.dtype))

        def write(rows: slice, out: Array) -> None:
            if by_entries:
                inner = self.additive_.sparse_features(X[rows], rows.start)
            else:
                inner = np.empty((len(out), width), dtype=out.dtype)
                write_additive(rows, inner)
            self.fourier_.writer(inner)(slice(0, len(out)), out)

        return write

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other.fourier_ = self.fourier_.redrawn(rng)
        return other

    def _by_entries(self, X: Rows) -> bool:
        """Whether products with the non-zeros of X take the place of transforms of dense rows."""
        return is_sparse(X) and isinstance(self.fourier_.projections, MatrixProjections)

    @override
    def scratch_bytes(self, X: Rows) -> float:
        if self._by_entries(X):
            return 4 * (2 * self.additive_.order_ + 1) * self.additive_.scratch_bytes(X)
        return self.additive_.scratch_bytes(X) + float(X.dtype.itemsize * self.additive_.n_features_out_)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        inner = self.additive_.largest_feature(norm, X)
        return self.fourier_.largest_feature(inner * float(X.shape[1]) ** 0.5, X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
