"""How many Fourier features for a wanted error, for ``components_for``."""

from collections.abc import Iterator
from math import ceil, log
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from mercer.features.bounds import Components, chebyshev, register_bounds
from mercer.features.fourier import FourierFeatures, phase_variance, rahimi_recht_components
from mercer.kernels.spectral import column_variances


def _fourier_rule(chosen: FourierFeatures, task: Any) -> Iterator[Components]:
    """Yield what Chebyshev, Hoeffding and Rahimi and Recht ask for, with sin/cos pairs."""
    if task.kind != "uniform":
        X, kernel = task.sample, task.kernel
        yield chebyshev(task, lambda n: phase_variance(kernel, X, X, n, 0), "Chebyshev, exact variance")
    if task.kind == "absolute":  # a mean of D/2 cosines in [-1, 1]
        yield Components(2 * ceil(2 * log(2 / task.delta) / task.error**2), "Hoeffding over frequencies")
    if task.kind == "uniform" and np.isfinite(column_variances(task.kernel, task.X.shape[1])).all():
        diameter = 2 * float(row_norms(task.X).max())
        number = rahimi_recht_components(task.kernel, diameter, task.X.shape[1], task.error, 1 - task.delta)
        yield Components(number, f"Rahimi and Recht, Claim 1, on a ball of diameter {diameter:.3g}")


register_bounds(FourierFeatures, _fourier_rule)
