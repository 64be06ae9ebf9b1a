r"""The Gaussian-process posterior of ridge regression on features, in weight space.

Ridge regression with penalty alpha is the posterior mean of the model y = b + w^T (z(x) - mean) + e with independent
noise e of variance sigma^2, weights w of variance sigma^2 / alpha and a flat prior of b. With the Cholesky factor
G + alpha I = L L^T of the fit, a new y at x has the variance

.. math:: \sigma^2 (1 + 1 / W + h(x)), \quad h(x) = \|L^{-1} (z(x) - \mathrm{mean})\|^2,

with W the sum of the weights (Rasmussen and Williams, "Gaussian processes for machine learning", 2006, section 2.1).

The noise is the residual sum of squares over the degrees of freedom that are left, sigma^2 = RSS / (W - 1 - df): the
leave-one-out residuals e_i have the variance sigma^2 / (1 - h_i), and with the mean leverage for h_i their mean square
gives this estimate. Where less than one degree of freedom is left, the estimate is that of the marginal likelihood,
(RSS + alpha |w|^2) / (W - 1).

Rows that are shrunk to the prior by a factor s (``mercer.learners.shrinkage``) have the variance
sigma^2 (1 + 1 / W + s^2 h) + (1 - s)^2 (var(y) - sigma^2): that of y where s is 0.

Time D^2 multiplications per row; memory one D x D matrix, which model files hold too.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mercer import triangular
from mercer._typing import Array
from mercer.fitting import FeatureRows
from mercer.learners.penalised_moments import PenalisedMoments
from mercer.parallel import one_blas_thread
from mercer.state import Real, Reals, Sizes, Stored, part, require


@part("Posterior")
@dataclass(frozen=True)
class Posterior:
    """What standard deviations of predictions need.

    Attributes
    ----------
    factor : ndarray of shape (f, f)
        L, lower triangular.
    mean : ndarray of shape (f,)
        Of the features.
    weight : float
        The sum of the weights, W.
    noise, spread : ndarray of shape (k,)
        The variance of the noise and of y, for each target.
    """

    _stored = Stored(
        factor=Reals(("f", "f")),
        mean=Reals(("f",)),
        weight=Real(positive=True),
        noise=Reals(("k",), least=0.0),
        spread=Reals(("k",), least=0.0),
    )

    factor: Array
    mean: Array
    weight: float
    noise: Array
    spread: Array

    @property
    def n_features(self) -> int:
        """The features of the map."""
        return len(self.mean)

    @classmethod
    def of(cls, owner: str, rows: FeatureRows, system: PenalisedMoments, coef: Array) -> "Posterior":
        """Return the posterior of a ridge solution (D, k), from the moments of the rows, in 2/3 D^3 multiplications."""
        moments, alpha, factor = system.moments, system.alpha, system.factor
        if factor is None:
            raise ValueError(
                f"{owner}: posterior=True needs a Cholesky factor of the Gram matrix plus alpha={alpha:g}, and "
                "rounding leaves none. Give a larger alpha (or alphas), or float64 rows."
            )
        with one_blas_thread():
            inverse = solve_triangular(factor, np.eye(len(factor)), lower=True, check_finite=False)
        n_counted, residual = rows.targets.n_counted(moments.weight), system.residual(coef)
        freedom = n_counted - 1 - len(factor) + alpha * float(np.square(inverse).sum())
        noise = residual / freedom
        if freedom < 1:
            noise = (residual + alpha * np.square(coef).sum(axis=0)) / max(n_counted - 1, 1.0)
        return cls(factor, moments.feature_mean, float(moments.weight), noise, system.squares / n_counted)

    def leverages(self, Z: Array) -> Array:
        """Return h of rows of features, in float64: the factor may be ill-conditioned."""
        solved = triangular.solve(self.factor, (Z - self.mean).T, overwrite=True)
        found: Array = np.square(solved).sum(axis=0, dtype=np.float64)
        return found

    def deviations(self, leverage: Array, factors: Array | None) -> Array:
        """Return the standard deviations (n, k) of new y, given leverages (n,) and the factors s of shrunk rows."""
        s = np.ones((len(leverage), 1)) if factors is None else factors
        of_model = self.noise * (1.0 + 1.0 / self.weight + s**2 * leverage[:, None])
        prior = (1.0 - s) ** 2 * np.maximum(self.spread - self.noise, 0.0)
        variances: Array = of_model + prior
        return np.sqrt(variances)

    def _check_stored(self, sizes: Sizes) -> None:
        require(np.all(np.diag(self.factor) > 0), "factor must have a positive diagonal")
        require(not np.triu(self.factor, 1).any(), "factor must be lower triangular")
