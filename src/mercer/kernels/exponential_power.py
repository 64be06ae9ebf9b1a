"""The exponential power kernel."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer._typing import Array, override
from mercer.kernels.matern import matern_profile
from mercer.kernels.radial import LengthScaled
from mercer.kernels.stationary import NOT_CONVEX
from mercer.validation import check_real

# Half a smaller index is 0. The kernel is 1/e at all distances by then.
_LEAST_INDEX = 1e-300


@dataclass(frozen=True, repr=False)
class ExponentialPower(LengthScaled):
    r"""The exponential power kernel :math:`\exp(-(r / \ell)^\alpha)` for 0 < alpha <= 2.

    ``alpha=1`` is the Laplace kernel of the Euclidean distance, ``alpha=2`` a Gaussian. The mixing variable is twice a
    positive stable variable of index alpha / 2, drawn by Kanter's (1975) formula.

    Parameters
    ----------
    alpha : float
        In (0, 2]; above 2 the function is not positive definite.
    length_scale : float, "scale", "median" or "auto", default="scale"
        Positive; see ``Cauchy``.

    Examples
    --------
    >>> from mercer import ExponentialPower
    >>> ExponentialPower(1.0, length_scale=2.0)([[0.0]], [[2.0]]).round(4)
    array([[0.3679]])
    """

    alpha: float

    _n_mixing: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        way_out = "Above 2 the function is not positive definite."
        alpha = check_real("ExponentialPower", "alpha", self.alpha, least=0, strict=True, way_out=way_out)
        if alpha > 2:
            raise ValueError(f"ExponentialPower: alpha must be in (0, 2], got {self.alpha!r}. {way_out}")
        object.__setattr__(self, "alpha", alpha)

    @override
    def profile(self, q: Array) -> Array:
        if self.alpha == 1:
            return matern_profile(0.5, q)  # much faster than a power
        np.power(q, self.alpha / 2, out=q)
        np.negative(q, out=q)
        return np.exp(q, out=q)

    @property
    def _mean_mixing(self) -> float:
        return 2.0 if self.alpha == 2 else np.inf

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        return self._stable(np.pi * (1 - rng.random_sample(n)), rng.standard_exponential(n))

    def _mixing_at(self, points: Array) -> Array:
        return self._stable(np.pi * points[:, 0], -np.log1p(-points[:, 1]))

    def _stable(self, angle: Array, exponential: Array) -> Array:
        """Return twice a positive stable variable, in logarithms: its own range exceeds that of floats."""
        a = max(self.alpha / 2, _LEAST_INDEX)
        if a == 1:
            return np.full(len(angle), 2.0)
        with np.errstate(divide="ignore", over="ignore"):  # the ends of the range are 0 and the largest frequency
            log_s = np.log(np.sin(a * angle)) - np.log(np.sin(angle)) / a
            log_s += (1 - a) / a * (np.log(np.sin((1 - a) * angle)) - np.log(exponential))
            return 2 * np.exp(np.minimum(log_s, 600.0))

    @property
    def why_no_grids(self) -> str | None:
        """None where alpha is at most 1."""
        return None if self.alpha <= 1 else NOT_CONVEX

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw pitches for one column and alpha <= 1, where exp(-t^alpha) is convex.

        The survival function exp(-v) (1 + alpha v), v = (t / l)^alpha, is that of v ~ Gamma(2) with probability alpha
        and v ~ Gamma(1) otherwise.
        """
        shapes = np.where(rng.random_sample(n_grids) < self.alpha, 2.0, 1.0)
        return self._as_pitches(rng.standard_gamma(shapes) ** (1 / self.alpha))
