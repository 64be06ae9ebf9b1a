"""The Matern kernel, of any smoothness."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from mercer import core
from mercer._typing import Array, override
from mercer.kernels.radial import LengthScaled
from mercer.kernels.stationary import NOT_CONVEX
from mercer.validation import check_real

# From here on Bessel functions overflow at ordinary distances, and the uniform expansion in 1 / nu is exact to 1e-10.
_LARGE_NU = 50.0
# Every Matern function is 0 in float64 from here on. Farther away, K_nu and some products have no value.
_FAR = 1e6
# The coefficients of t and t^2 in closed forms, by nu.
_POLYNOMIALS = {0.5: (0.0, 0.0), 1.5: (1.0, 0.0), 2.5: (1.0, 1 / 3)}


@dataclass(frozen=True, repr=False)
class Matern(LengthScaled):
    r"""The Matern kernel :math:`\frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t)` with :math:`t = \sqrt{2\nu}\, r / \ell`.

    ``nu=0.5`` is exp(-r / l), ``nu=1.5`` and ``nu=2.5`` have closed forms, and the Gaussian is the limit. Frequencies
    follow a multivariate t distribution with 2 nu degrees of freedom: one chi^2 per frequency, shared by the columns.

    Parameters
    ----------
    nu : float
        Smoothness, positive.
    length_scale : float, "scale", "median" or "auto", default="scale"
        Positive; see ``Cauchy``.

    Examples
    --------
    >>> from mercer import Matern
    >>> Matern(1.5, length_scale=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.6537]])
    """

    nu: float

    def __post_init__(self) -> None:
        super().__post_init__()
        way_out = "nu=0.5 is the exponential kernel, the roughest in common use."
        object.__setattr__(self, "nu", check_real("Matern", "nu", self.nu, least=0, strict=True, way_out=way_out))

    @override
    def profile(self, q: Array) -> Array:
        return matern_profile(self.nu, q)

    @property
    def _mean_mixing(self) -> float:
        return self.nu / (self.nu - 1) if self.nu > 1 else np.inf

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        with np.errstate(divide="ignore", over="ignore"):  # an infinite s ends at the largest frequency
            return self.nu / rng.gamma(self.nu, size=n)

    def _mixing_at(self, points: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(self.nu / special.gammaincinv(self.nu, points[:, 0]))

    @property
    def why_no_grids(self) -> str | None:
        """None where nu is at most 1/2."""
        return None if self.nu <= 0.5 else NOT_CONVEX

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw pitches for one column and nu <= 1/2, where the kernel is a mixture of Laplace kernels.

        t^nu K_nu(t) is the mean of exp(-u t) over u = B^(-1/2) with B ~ Beta(nu, 1/2 - nu).
        """
        with np.errstate(divide="ignore"):  # an infinite rate ends at the smallest pitch
            rates = np.ones(n_grids) if self.nu == 0.5 else rng.beta(self.nu, 0.5 - self.nu, n_grids) ** -0.5
        return self._as_pitches(rng.gamma(2.0, 1.0, n_grids) / ((2 * self.nu) ** 0.5 * rates))


def matern_profile(nu: float, q: Array) -> Array:
    """Return the Matern function where r^2 / length^2 is q, which may be overwritten."""
    if nu > _LARGE_NU:
        return _by_expansion(nu, 2 * np.minimum(q, _FAR**2) / nu)
    if q.dtype == np.float32 and q.ndim == 2 and nu in _POLYNOMIALS:
        core.matern_values(2 * nu, *_POLYNOMIALS[nu], q)
        return q
    q *= 2 * nu
    t: Array = np.sqrt(q, out=q)
    np.minimum(t, _FAR, out=t)
    if nu in _POLYNOMIALS:
        linear, quadratic = _POLYNOMIALS[nu]
        return np.asarray((1 + t * (linear + t * quadratic)) * np.exp(-t))
    return _by_bessel(nu, t)


def _by_bessel(nu: float, t: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logarithm = (1 - nu) * np.log(2) - special.gammaln(nu) + nu * np.log(t) + np.log(special.kve(nu, t)) - t
    # t = 0, or so small that K_nu overflows: 1 - t^2 / (4 (nu - 1)) is exact there.
    near = ~np.isfinite(logarithm) & ~np.isnan(t)
    values: Array = np.exp(np.where(near, 0.0, logarithm))
    if nu > 1:
        values[near] = 1 - t[near] ** 2 / (4 * (nu - 1))
    return values


def _by_expansion(nu: float, z2: Array) -> Array:
    """Use the uniform expansion of K_nu(nu z) for large nu (NIST DLMF 10.41.4), divided by its value at z = 0.

    z2 is z^2. Written in sqrt(1 + z^2) - 1, found without a difference: that of the root and 1 has no digit left at
    nu = 1e16.
    """
    root = np.sqrt(1 + z2)
    above = z2 / (1 + root)
    exponent = -nu * (above - np.log1p(above / 2)) - np.log1p(above) / 2
    return np.asarray(np.exp(exponent) * _corrections(nu, 1 / root) / _corrections(nu, np.ones(())))


def _corrections(nu: float, p: Array) -> Array:
    u1 = (3 * p - 5 * p**3) / 24
    u2 = (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152
    u3 = (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720
    u4 = 4465125 * p**4 - 94121676 * p**6 + 349922430 * p**8 - 446185740 * p**10 + 185910725 * p**12
    v = 1 / nu  # powers of nu overflow
    return np.asarray(1 - u1 * v + u2 * v**2 - u3 * v**3 + u4 * v**4 / 39813120)
