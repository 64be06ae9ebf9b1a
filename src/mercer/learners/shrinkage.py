r"""Predictions far from the training rows return to the prior, which random Fourier features do not by themselves.

The prediction of a row becomes prior + s (score - prior), s = min(s_c, s_h). The prior is the mean of y, or the scores
of a model that knows the shares of the classes alone. Both factors are 1 for rows like the training rows.

By columns: with u the largest distance, over the columns, by which the row lies beyond the limits of far rows
(``mercer.learners.far_rows``), in units of the margin between the bulk of the column and that limit,

.. math:: s_c = 1 - u^2 (3 - 2 u) \text{ for } 0 \le u \le 1, \quad s_c = 0 \text{ for } u > 1.

By leverage, in ridge regression: h = (z - mean)^T (G + alpha I)^{-1} (z - mean). A training row has h < 1. The
prediction of a row has the variance sigma^2 h, and where that exceeds the variance of y the mean of y is the better
prediction:

.. math:: s_h = \min(1, c / h), \quad c = \max(2 \, \mathrm{var}(y) / \sigma^2, \; \max_{sample} h).

So no row of the sample that the map was fitted on is changed. h is estimated from 8 fixed random signs per feature
(Johnson and Lindenstrauss, 1984; a standard error of 50 %), in 8 D multiplications per row. Both factors are
continuous functions of the row.
"""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array, Rows
from mercer.features import FeatureMap
from mercer.features.composed.base import Composition, Wrapper
from mercer.features.composed.concatenate import Concatenate
from mercer.fitting import FeatureRows
from mercer.learners.far_rows import FarRows
from mercer.learners.penalised_moments import PenalisedMoments
from mercer.state import Reals, Sizes, Stored, part, require

# Variances of y that the variance of a prediction may reach before the prediction is shrunk.
_VARIANCES = 2.0
# Rows per feature from which leverages say something: with fewer, the model may pass through all rows.
_ROWS_PER_FEATURE = 2


def returns_to_prior(feature_map: FeatureMap, level: float) -> bool:
    """Return whether the kernel of a map falls to 0 away from the rows though its features do not."""
    if isinstance(feature_map, Concatenate):
        return all(returns_to_prior(member, level) for member in feature_map.maps_)
    if isinstance(feature_map, Wrapper):
        return returns_to_prior(feature_map.map_, level)
    return (
        not isinstance(feature_map, Composition) and feature_map.reaches(feature_map.n_features_in_, level) is not None
    )


@part("Leverage")
@dataclass(frozen=True)
class Leverage:
    """Estimates leverages: the squared length of ``sketch.T (z - mean)``.

    Attributes
    ----------
    sketch : ndarray of shape (f, m)
    mean : ndarray of shape (m,)
        Of the training rows, times the sketch.
    limits : ndarray of shape (k,)
        Leverages from which the predictions of each target are shrunk.
    """

    _stored = Stored(sketch=Reals(("f", "m")), mean=Reals(("m",)), limits=Reals(("k",), positive=True, finite=False))

    sketch: Array
    mean: Array
    limits: Array

    def _check_stored(self, sizes: Sizes) -> None:
        require(not np.isnan(self.limits).any(), "limits must be numbers")

    @property
    def n_features(self) -> int:
        """The features of the map."""
        return len(self.sketch)

    @property
    def n_targets(self) -> int:
        """The columns of scores."""
        return len(self.limits)

    @classmethod
    def of(cls, rows: FeatureRows, system: PenalisedMoments, coef: Array, n_rows: int) -> "Leverage | None":
        """Return the estimator of a ridge solution (D, k) on ``n_rows`` rows; None with few rows or no factor."""
        if n_rows < _ROWS_PER_FEATURE * rows.n_features or system.sketch is None:
            return None
        moments, sketch = system.moments, system.sketch
        n_counted = rows.targets.n_counted(moments.weight)
        freedom = n_counted - 1 - len(coef) + system.alpha * float(np.square(sketch).sum())
        spread, noise = system.squares / n_counted, system.residual(coef) / max(freedom, 1.0)
        limits = np.divide(_VARIANCES * spread, noise, out=np.full(len(noise), np.inf), where=noise > 0)
        found = cls(sketch, moments.feature_mean @ sketch, limits)
        largest = found.of_products(rows.feature_map.times(rows.sample.counted, sketch.astype(rows.dtype)))
        return cls(found.sketch, found.mean, np.maximum(limits, largest.max(initial=1.0)))

    def of_products(self, products: Array) -> Array:
        """Return the leverages of rows, given their features times the sketch."""
        centred = products - self.mean.astype(products.dtype)
        found: Array = np.einsum("ij,ij->i", centred, centred)
        return found

    def factors(self, products: Array) -> Array | None:
        """Return s_h, of shape (n, k), None where all are 1."""
        leverage = self.of_products(products)
        if leverage.max(initial=0.0) <= self.limits.min():
            return None
        factors: Array = np.minimum(1.0, self.limits / np.maximum(leverage, np.finfo(leverage.dtype).tiny)[:, None])
        return factors


@dataclass(frozen=True)
class Shrinker:
    """Returns the predictions of far rows to the prior.

    Parameters
    ----------
    prior : ndarray of shape (k,)
    limits : ndarray of shape (2, d)
        Beyond these values of a column, a row is far.
    margins : ndarray of shape (d,)
        The distance of the limits from the bulk of each column.
    leverage : Leverage or None
    """

    prior: Array
    limits: Array
    margins: Array
    leverage: Leverage | None

    def factors(self, X: Rows, rows: Array, columns: Array) -> Array:
        """Return s_c of all rows of a block, given the places of the entries beyond the limits."""
        entries = np.asarray(X[rows, columns]).ravel() if len(rows) else np.zeros(0)
        beyond = np.maximum(self.limits[0, columns] - entries, entries - self.limits[1, columns])
        u = np.zeros(X.shape[0])
        np.maximum.at(u, rows, np.minimum(beyond / self.margins[columns], 1.0))
        shrunk: Array = 1.0 - u**2 * (3.0 - 2.0 * u)
        return shrunk

    def apply(self, scores: Array, factors: Array) -> int:
        """Shrink the scores (n, k) in place by factors (n, k) or (n, 1), and return how many rows are changed."""
        changed = np.flatnonzero(factors.min(axis=1) < 1.0)
        if len(changed):
            prior = self.prior.astype(scores.dtype)
            scores[changed] = prior + factors[changed].astype(scores.dtype) * (scores[changed] - prior)
        return len(changed)

    def with_sketch(self, coef: Array) -> Array:
        """Return the coefficients (D, k), and the sketch of leverages next to them."""
        return coef if self.leverage is None else np.hstack([coef, self.leverage.sketch])

    def finish(self, X: Rows, scores: Array, far: FarRows, places: tuple[Array, Array]) -> Array:
        """Return the scores (n, k), shrunk for far rows, given the products with ``with_sketch``."""
        n_targets = len(self.prior)
        factors = self.all_factors(X, scores[:, n_targets:], places)
        scores = scores if self.leverage is None else scores[:, :n_targets].copy()
        n_changed = 0 if factors is None else self.apply(scores, factors)
        far.see_shrunk(max(n_changed - len(np.unique(places[0])), 0))
        return scores

    def all_factors(self, X: Rows, products: Array, places: tuple[Array, Array]) -> Array | None:
        """Return s = min(s_c, s_h), of shape (n, k) or (n, 1), None where all are 1.

        ``products`` are those of the features with the sketch.
        """
        by_columns = self.factors(X, *places)[:, None] if len(places[0]) else None
        by_leverage = None if self.leverage is None else self.leverage.factors(products)
        if by_columns is None or by_leverage is None:
            return by_leverage if by_columns is None else by_columns
        return np.minimum(by_columns, by_leverage)
