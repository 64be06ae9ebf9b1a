"""The Matern function of any smoothness."""

import numpy as np
from scipy import special

from mercer._typing import Array

# From here on Bessel functions overflow at ordinary distances, and the uniform expansion in 1 / nu is exact to 1e-10.
_LARGE_NU = 50.0


def matern_profile(nu: float, q: Array) -> Array:
    """Return the Matern function where r^2 / length^2 is q."""
    t = np.sqrt(2 * nu * q)
    if nu == 0.5:
        return np.exp(-t)
    if nu == 1.5:
        return (1 + t) * np.exp(-t)
    if nu == 2.5:
        return (1 + t + t * t / 3) * np.exp(-t)
    return _by_expansion(nu, 2 * q / nu) if nu > _LARGE_NU else _by_bessel(nu, t)


def _by_bessel(nu: float, t: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logarithm = (1 - nu) * np.log(2) - special.gammaln(nu) + nu * np.log(t) + np.log(special.kve(nu, t)) - t
    near = ~np.isfinite(logarithm)  # t = 0, or so small that K_nu overflows: 1 - t^2 / (4 (nu - 1)) is exact there
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
