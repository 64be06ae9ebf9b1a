"""Standard deviations of predictions, for learners that keep a posterior."""

from typing import overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows, RowsLike
from mercer.data import Blocks
from mercer.data.sources.collections import is_collection
from mercer.fitting import FeatureRows
from mercer.learners.base import LinearLearner
from mercer.learners.chunks import Out, lazy_results, written
from mercer.learners.far_rows import FarRows, GatheredFarRows
from mercer.learners.penalised_moments import PenalisedMoments
from mercer.learners.posterior import Posterior
from mercer.learners.predictions import rows_to_score
from mercer.solvers import Solution
from mercer.state import Sizes, require


class Deviations(LinearLearner):
    """A ridge regression that keeps a posterior where ``posterior`` is True."""

    posterior: bool
    _posterior: Posterior | None = None

    @overload
    def predict(self, X: RowsLike | Blocks, *, out: Out = None) -> Array: ...
    @overload
    def predict(self, X: RowsLike | Blocks, *, return_std: bool) -> Array | tuple[Array, Array]: ...

    def predict(
        self, X: RowsLike | Blocks, *, return_std: bool = False, out: Out = None
    ) -> Array | tuple[Array, Array]:
        """Return the predictions for the rows of X, an array or ``Blocks``.

        With ``return_std``, also the standard deviation of a new y at each row, noise included, in the shape of the
        predictions: the Gaussian-process posterior on the features (``mercer.learners.posterior``). It needs
        ``posterior=True`` at ``fit``, and D^2 multiplications per row.

        With ``out``, an array or the path of a .npy file, the predictions are written there chunk by chunk, and the
        array or the mapped file is returned: for streams whose results do not fit in memory.
        """
        check_is_fitted(self)
        if is_collection(X):
            if return_std:
                raise ValueError(f"{type(self).__name__}: a Dask collection takes no return_std; predict partitions.")
            return lazy_results(self, "predict", X, out)
        if out is not None:
            if return_std:
                raise ValueError(f"{type(self).__name__}: out takes the predictions alone; leave out return_std.")
            return written(self, "predict", X, out)
        if not return_std:
            return self._scores(X)
        if self._posterior is None:
            raise ValueError(
                f"{type(self).__name__}: return_std=True needs a posterior, and posterior is False. Fit again with "
                "posterior=True."
            )
        mean = self._scores(X)
        with GatheredFarRows().collecting():  # the same rows again
            deviations = self._deviations(X, self._posterior)
        return mean, deviations.reshape(mean.shape)

    def _deviations(self, X: RowsLike | Blocks, posterior: Posterior) -> Array:
        shrinker = self.shrinker()
        sketch = None if shrinker is None or shrinker.leverage is None else shrinker.leverage.sketch

        def work(rows: Rows) -> Array:
            Z: Array = np.asarray(self.feature_map_.transform(rows), dtype=np.float64)
            leverage = posterior.leverages(Z)[:, None]
            return leverage if sketch is None else np.hstack([leverage, Z @ sketch])

        def finish(rows: Rows, found: Array, far: FarRows, places: tuple[Array, Array]) -> Array:
            factors = None if shrinker is None else shrinker.all_factors(rows, found[:, 1:], places)
            return posterior.deviations(found[:, 0], factors)

        def size(blocks: Blocks) -> int:
            return rows_to_score(blocks, self.feature_map_.n_features_out_)

        return self._results(X, work, "standard deviation", size, finish)

    def _keep_posterior(self, rows: FeatureRows, system: PenalisedMoments, coef: Array) -> None:
        if self.posterior:
            self._posterior = Posterior.of(type(self).__name__, rows, system, coef)

    def _keep(self, solution: Solution, rows: FeatureRows) -> None:
        if self.posterior and self._posterior is None:
            raise ValueError(
                f"{type(self).__name__}: posterior=True needs a matrix of {rows.n_features} x {rows.n_features}, which "
                "sparse features or the memory do not allow. Take fewer or dense features, or posterior=False."
            )
        super()._keep(solution, rows)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        known = self._posterior
        n_targets = 1 if self.coef_.ndim == 1 else len(self.coef_)
        require(known is None or len(known.noise) == n_targets, "posterior must have a noise for each column of scores")
