"""A new kernel: cosh(gamma <x, y>)."""

from dataclasses import KW_ONLY, dataclass
from math import factorial

import numpy as np

from mercer.kernels import DotProductKernel


@dataclass(frozen=True, repr=False)
class HyperbolicCosine(DotProductKernel):
    """The kernel cosh(gamma <x, y>), which does not tell x from -x."""

    _: KW_ONLY
    gamma: float = 1.0

    def __post_init__(self):
        if not self.gamma > 0:
            raise ValueError(
                f"HyperbolicCosine: gamma must be positive, got {self.gamma!r}."
            )

    def profile(self, t):
        """Return cosh(gamma t)."""
        return np.cosh(self.gamma * t)

    def coefficient(self, n):
        """Return a_n = gamma^n / n! for even n, else 0."""
        return 0.0 if n % 2 else self.gamma**n / factorial(n)
