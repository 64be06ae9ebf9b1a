"""Quasi-Monte Carlo Fourier features (Yang et al., 2014; Avron et al., 2016)."""

import numpy as np
from scipy.stats import qmc

from mercer._typing import Array, override
from mercer.features.fourier.phases import MatrixPhases, require_shift_invariant
from mercer.kernels import Kernel
from mercer.kernels.frequencies import frequency_distribution
from mercer.validation import check_memory

_BITS = 30


class QuasiRandomFeatures(MatrixPhases):
    r"""Fourier features whose frequencies are a scrambled Sobol sequence instead of independent draws.

    Points of the unit cube that fill it evenly, one coordinate a column (and one or two for a kernel's mixing
    variable), go through the quantile functions of the kernel's spectral distribution. Scrambling makes each point
    uniform, so the estimate is unbiased. On up to four columns the error falls nearly as 1/D instead of 1/sqrt(D), and
    this map is ``feature_map``'s choice; from about ten columns on ``OrthogonalFeatures`` is better.

    Parameters
    ----------
    kernel : shift-invariant kernel, default=Gaussian()
    n_components : int, default=100
        Number of features; powers of two use the sequence best, an odd number takes one feature with an offset.
    random_state : int, RandomState or None

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, n_frequencies)
    offsets_ : ndarray
    kernel_ : Kernel

    Notes
    -----
    Time and memory as ``FourierFeatures``. ``variance`` is estimated by re-draws.

    References
    ----------
    H. Avron, V. Sindhwani, J. Yang and M. W. Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant kernels",
    JMLR 17, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, QuasiRandomFeatures
    >>> X = np.random.RandomState(0).randn(5, 2)
    >>> sobol = QuasiRandomFeatures(Gaussian(gamma=0.5), n_components=1024, random_state=0)
    >>> Z = sobol.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - sobol.kernel_(X)).max() < 0.05)
    True
    """

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant("QuasiRandomFeatures", kernel)

    def _frequencies(self, kernel: Kernel, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> Array:
        distribution = frequency_distribution(kernel, n_features)
        n_numbers = distribution.n_uniforms
        if n_numbers > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"QuasiRandomFeatures: {kernel!r} on {n_features} columns needs {n_numbers} coordinates of the Sobol "
                f"sequence, which has {qmc.Sobol.MAXDIM}. Use OrthogonalFeatures or FourierFeatures."
            )
        what = f"{n_frequencies} Sobol points of {n_numbers} coordinates"
        n_points = 1 << max(0, (n_frequencies - 1).bit_length())
        scrambling = (_BITS + 2) ** 2 * n_numbers
        needed = 8 * (n_points * n_numbers + 2 * (n_features + 1) * n_frequencies + scrambling)
        check_memory("QuasiRandomFeatures", "n_components", self.n_components, needed, what)
        return distribution.at(_sobol_points(n_frequencies, n_numbers, rng))


def _sobol_points(n_points: int, n_numbers: int, rng: np.random.RandomState) -> Array:
    generator = np.random.Generator(np.random.PCG64(rng.randint(2**31 - 1)))
    sequence = qmc.Sobol(n_numbers, scramble=True, bits=_BITS, seed=generator)
    points: Array = sequence.random_base2(max(0, (n_points - 1).bit_length()))[:n_points]
    return points + 0.5 ** (_BITS + 1)  # the middle of the cells of the sequence: 0 has no quantile
