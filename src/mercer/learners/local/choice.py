"""A point of the search of a tuned estimator: metric, kernel, scale and ridge."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.kernels import ExponentialPower, Gaussian, Kernel, Laplacian, Matern, Metric, ScaledColumns

# Kernels of a distance r in units of the median Euclidean distance, with the scales at which they begin.
FAMILIES: Mapping[str, tuple[Callable[[float], Kernel], tuple[float, ...]]] = {
    "L1 Laplace": (lambda scale: Laplacian(gamma=1 / scale), (2.0, 8.0)),
    "Laplace": (lambda scale: ExponentialPower(1.0, length_scale=scale), (1.4, 5.6)),
    "Matern 3/2": (lambda scale: Matern(1.5, length_scale=scale), (1.0,)),
    "Gaussian": (lambda scale: Gaussian(gamma=0.5 / scale**2), (1.0,)),
}


@dataclass(frozen=True)
class Choice:
    """A point of the search: metric, kernel family, scale and ridge, with its error."""

    metric: str
    family: str
    scale: float
    alpha: float
    error: float = np.inf

    @property
    def described(self) -> dict[str, str]:
        """The choice in words, for a report."""
        return {
            "metric": self.metric,
            "kernel": f"{self.family}, scale {self.scale:.3g}",
            "alpha": f"{self.alpha:.3g}",
        }

    def __str__(self) -> str:
        return f"{self.family}, {self.metric} metric, scale {self.scale:.3g}, alpha {self.alpha:.3g}"

    @property
    def inner(self) -> Kernel:
        """The kernel of rows in the space of the metric, in units of the median distance."""
        return FAMILIES[self.family][0](self.scale)

    def kernel(self, transform: Array) -> Kernel:
        """Return the kernel of scaled rows, whose metric is rows times ``transform`` (d, d)."""
        if self.metric == "full":
            return Metric(self.inner, transform)
        return ScaledColumns(self.inner, tuple(np.diagonal(transform).tolist()))
