"""The number of Fourier features needed for a given error, for ``components_for``.

With independent frequencies the exact variance gives Chebyshev's inequality, and a mean of D/2 cosines in [-1, 1]
gives Hoeffding's. The default map of a shift-invariant kernel has dependent frequencies:

- Orthogonal frequencies of a Gaussian kernel with an exact rotation have a variance in closed form. The closed form is
  within 2 % of the variance of re-drawn maps, so 2 % are added.
- For other radial kernels, signed Hadamard transforms and scrambled Sobol points no variance is known. On six kernels,
  1 to 70 columns and distances up to 7 length scales, their variance was at most that of independent frequencies,
  within the 10 % accuracy of 400 re-draws. So the variance of independent frequencies plus 10 % is used, and the
  nature of the result is ``"measured"``.
"""

from collections.abc import Iterator
from math import ceil, log
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from mercer._typing import Array
from mercer.features.bounds.rules import (
    Components,
    MeanSquare,
    Task,
    by_chebyshev,
    candidates,
    mean_square,
    register_bounds,
    register_mean_square,
)
from mercer.features.fourier.independent import FourierFeatures
from mercer.features.fourier.orthogonal import OrthogonalFeatures
from mercer.features.fourier.phases import phase_variance, require_shift_invariant
from mercer.features.fourier.quasi_random import QuasiRandomFeatures
from mercer.features.fourier.rotations import LEAST_CLOSED, gaussian_variance
from mercer.features.fourier.shift_invariant import ShiftInvariantFeatures
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.frequencies import frequency_distribution
from mercer.validation import check_integer, check_real

_OF_CLOSED_FORM, _COUPLED = 1.02, 1.1
_MOST_FREQUENCIES = 2**14


def rahimi_recht_components(
    kernel: Kernel, diameter: float, n_features: int, error: float, confidence: float = 0.99
) -> int:
    r"""Return the number of features, as sin/cos pairs, that keeps all errors on a set below ``error``.

    With m frequencies, on a compact set of the given diameter (Rahimi and Recht, 2007, Claim 1),

    .. math:: P\big(\sup |\langle z(x), z(y)\rangle - k(x, y)| \ge \epsilon\big)
              \le 2^8 (\sigma_p\, \mathrm{diam} / \epsilon)^2 \exp(-m \epsilon^2 / (4 (d + 2)))

    with :math:`\sigma_p^2 = E |w|^2`. The result is 2 m features. The bound is loose, and does not exist if the mean
    square of the frequencies is infinite (Laplacian, Matern with nu <= 1, ExponentialPower with alpha < 2).

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.features.bounds.fourier import rahimi_recht_components
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
            f"{owner}: the frequencies of {kernel!r} have no finite mean square, so there is no bound. "
            "Measure the error, or use a smoother kernel."
        )
    logarithm = log(2**8 * spread * (diameter / error) ** 2 / (1 - confidence))
    return 2 * ceil(max(1.0, 4 * (n_features + 2) / error**2 * logarithm))


# Cosines with offsets are independent and each is unbiased; the cosine and sine of a pair are not.


def _fourier_rule(chosen: FourierFeatures, task: Task) -> Iterator[Components]:
    """Yield the numbers of features by Chebyshev, Hoeffding, and Rahimi and Recht, for sin/cos pairs."""
    yield from by_chebyshev(chosen, task)
    if task.kind == "absolute":  # a mean of D/2 cosines in [-1, 1]
        yield Components(2 * ceil(2 * log(2 / task.delta) / task.error**2), "Hoeffding over frequencies")
    distribution = frequency_distribution(task.kernel, task.X.shape[1])
    if task.kind == "uniform" and np.isfinite(distribution.column_variances).all():
        diameter = 2 * float(row_norms(task.X).max())
        number = rahimi_recht_components(task.kernel, diameter, task.X.shape[1], task.error, 1 - task.delta)
        yield Components(number, f"Rahimi and Recht, Claim 1, on a ball of diameter {diameter:.3g}")


def _fourier_mean_square(chosen: FourierFeatures, task: Task) -> MeanSquare:
    # The variances per pair and per feature with an offset are computed once: the search needs no more kernel values.
    pair, single = (phase_variance(task.kernel, task.sample, task.sample, 1, n_single) for n_single in (0, 1))
    return MeanSquare(lambda n: ((n - n % 2) * pair + n % 2 * single) / float(n) ** 2)


def _coupled_mean_square(chosen: Any, task: Task) -> MeanSquare:
    independent = _fourier_mean_square(chosen, task)
    return MeanSquare(
        lambda n: _COUPLED * independent.at(n), "variance of independent frequencies, and 10 %", "measured"
    )


def _orthogonal_mean_square(chosen: OrthogonalFeatures, task: Task) -> MeanSquare:
    coupled, kernel, X = _coupled_mean_square(chosen, task), task.kernel, task.sample
    if not isinstance(kernel, Gaussian) or chosen.is_structured(X.shape[1]) or X.shape[1] < LEAST_CLOSED:
        return coupled

    most = _MOST_FREQUENCIES // X.shape[1] * X.shape[1]

    def at(n: int) -> Array:
        m = min((n + n % 2) // 2, most)  # further blocks are independent draws: the variance then falls as 1/D
        if m < LEAST_CLOSED:
            return coupled.at(n)
        n_single = n % 2 if m < most else 0
        variance = gaussian_variance(kernel, X, X, m, n_single)
        return np.asarray(_OF_CLOSED_FORM * (2 * m - n_single) / n * variance)

    return MeanSquare(at, "variance of orthogonal frequencies, and 2 %")


def _chosen(chosen: ShiftInvariantFeatures, task: Task) -> Any:
    return chosen.kind_for(task.kernel, task.X.shape[1])(task.kernel)


for _kind in (OrthogonalFeatures, QuasiRandomFeatures):
    register_bounds(_kind, by_chebyshev)
register_bounds(FourierFeatures, _fourier_rule)
register_mean_square(FourierFeatures, _fourier_mean_square)
register_mean_square(QuasiRandomFeatures, _coupled_mean_square)
register_mean_square(OrthogonalFeatures, _orthogonal_mean_square)
register_bounds(ShiftInvariantFeatures, lambda chosen, task: candidates(_chosen(chosen, task), task))
register_mean_square(ShiftInvariantFeatures, lambda chosen, task: mean_square(_chosen(chosen, task), task))
