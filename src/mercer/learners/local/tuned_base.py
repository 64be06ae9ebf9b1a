"""What tuned estimators share: columns prepared, everything chosen, a model on leaves fitted, and a report."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array
from mercer.config import config_context
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.local.preparation import ColumnPreparation
from mercer.learners.local.report import Trial, TuningReport
from mercer.learners.local.search import Search
from mercer.learners.local.table_columns import raw_columns
from mercer.solvers.local.leaf_sample import variances
from mercer.state import Count, Member, Names, Reals, Sizes, Stored, require
from mercer.validation import check_integer, check_jobs, check_real, check_weights

# The part of a time budget that the search may use; the rest is for the final fit.
_SEARCH_SHARE = 0.6
# Up to so many rows all factors are float64, which costs little there.
_FLOAT64_ROWS = 4096


class TunedEstimator(BaseEstimator):
    """What both tuned estimators do: prepare the columns, search, and fit a model on leaves.

    A subclass writes ``_check_y``, ``_coded`` (targets and factors of weights for the search) and ``_fit_model``.
    """

    _stored = Stored(
        n_features_in_=Count("d", least=1),
        feature_names_in_=Names(("d",), ascending=False, text=True, optional=True),
        preparation_=Member(ColumnPreparation, {"n_features_in_": "d"}),
        report_=Member(TuningReport),
        feature_importances_=Reals(("d",), 0.0),
    )

    time_budget: float | None
    n_trees: int
    leaf_rows: int
    n_landmarks: int
    random_state: Any
    n_jobs: int | None
    verbose: int
    preparation_: ColumnPreparation
    model_: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose everything on the rows of X, and fit the model.

        Parameters
        ----------
        X : array, sparse matrix (which becomes dense) or data frame of shape (n_samples, n_features)
            Numbers, NaN where one is missing. Data frames of pandas and polars may also hold text, categories, booleans
            and dates.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows in every fit. What is drawn from the rows does not see weights.

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        with self._threads(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fitted._fit(X, y, sample_weight)
        adopt(self, fitted)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        start = time.monotonic()
        self._check_params()
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.preparation_ = ColumnPreparation(random_state=seed)
        values, kinds = raw_columns(name, self.preparation_._checked(X, reset=True))
        self._take_columns()
        y = self._check_y(y)
        if len(y) != len(values[0]):
            raise ValueError(
                f"{name}: X has {len(values[0])} rows and y has {len(y)}: inconsistent numbers of samples. Each row "
                "needs one entry of y."
            )
        given = np.ones(len(y)) if sample_weight is None else check_weights(name, sample_weight, len(y))
        Y, factor = self._coded(y, given)
        kept = given * factor > 0
        if not kept.any():
            raise ValueError(f"{name}: sample_weight must not be all zero. Leave it out for equal weights.")
        weight, left_out = (given * factor)[kept], (np.minimum(given, 1.0) * factor)[kept]
        values = values if kept.all() else [column[kept] for column in values]
        numbers = self.preparation_._learn_columns((values, kinds), weight)
        self.preparation_._dtype = np.dtype(np.float64 if len(numbers) <= _FLOAT64_ROWS else np.float32)
        deadline = np.inf if self.time_budget is None else start + _SEARCH_SHARE * self.time_budget
        search = Search(
            numbers,
            Y[kept],
            weight,
            left_out,
            dtype=self.preparation_._dtype,
            leaf_rows=self.leaf_rows,
            seed=seed,
            deadline=deadline,
            tell=self._tell,
        )
        scaling, rows, choice = search.run()
        self.preparation_.method, self.preparation_.scaling_ = scaling.method, scaling
        n_trees = self._trees_in_time(search.trials, len(rows), start)
        params = {
            "alpha": choice.alpha,
            "n_landmarks": self.n_landmarks,
            "leaf_rows": self.leaf_rows,
            "n_trees": n_trees,
            "random_state": seed,
        }
        self._fit_model(search.kernel(choice), rows, y[kept], given[kept], params)
        self.feature_importances_ = self._importances(search.importances)
        chosen = {
            "columns": scaling.method,
            "metric": choice.metric,
            "kernel": f"{choice.family}, scale {choice.scale:.3g}",
            "alpha": f"{choice.alpha:.3g}",
            "trees": str(len(self.model_.trees_)),
        }
        residuals = self.model_.loo_residuals_.reshape(len(weight), -1)
        error = float(np.mean(weight @ residuals**2 / weight.sum() / variances(self._targets_of(y[kept]), weight)))
        self.report_ = TuningReport.of(search.trials, chosen, error, search.ended, time.monotonic() - start)

    def _prepared(self, X: Any) -> Array:
        check_is_fitted(self)
        preparation = self.preparation_
        expanded = preparation._expanded(X, type(self).__name__)
        return preparation.scaling_.transform(expanded, preparation._dtype)

    def _take_columns(self) -> None:
        """Keep the number and the names of the columns where scikit-learn looks for them."""
        self.n_features_in_ = self.preparation_.n_features_in_
        if hasattr(self.preparation_, "feature_names_in_"):
            self.feature_names_in_ = self.preparation_.feature_names_in_

    def _importances(self, gradients: Array) -> Array:
        """Return the share of each column of X in the squared gradients of the prepared columns."""
        totals = np.bincount(self.preparation_.sources_, weights=gradients, minlength=self.n_features_in_)
        return totals / totals.sum() if totals.sum() > 0 else totals

    def _trees_in_time(self, trials: list[Trial], n_rows: int, start: float) -> int:
        """Return as many trees as fit into what is left of the budget, from the time of the fits on some leaves."""
        if self.time_budget is None:
            return self.n_trees
        times = [trial.seconds for trial in trials if trial.step in ("kernel", "scale", "alpha")]
        left = self.time_budget - (time.monotonic() - start)
        per_tree = (float(np.median(times)) if times else 0.5) * max(1.0, n_rows / (4 * self.leaf_rows))
        return int(np.clip(left / max(per_tree, 1e-9), 1, self.n_trees))

    def _tell(self, trial: Trial) -> None:
        if self.verbose:
            sys.stderr.write(
                f"{type(self).__name__}: {trial.step:<8}{trial.error:>8.4f}  {trial.what} ({trial.seconds:.2f} s)\n"
            )

    def _check_params(self) -> None:
        name = type(self).__name__
        if self.time_budget is not None:
            check_real(name, "time_budget", self.time_budget, least=0, strict=True, way_out="None sets no limit.")
        check_integer(name, "n_trees", self.n_trees)
        check_integer(name, "leaf_rows", self.leaf_rows)
        check_integer(name, "n_landmarks", self.n_landmarks, least=0)

    def _check_stored(self, sizes: Sizes) -> None:
        self._check_params()
        check_random_state(self.random_state)
        require(isinstance(self.verbose, int), "verbose must be an integer")
        with self._threads():
            pass
        width = len(self.preparation_.sources_)
        require(self.model_.n_features_in_ == width, "model_ must take the columns that preparation_ gives")

    @contextmanager
    def _threads(self) -> Iterator[None]:
        with config_context(threads=check_jobs(type(self).__name__, self.n_jobs)):
            yield

    def _check_y(self, y: Any) -> Array:
        raise NotImplementedError

    def _coded(self, y: Array, weight: Array) -> tuple[Array, Any]:
        raise NotImplementedError

    def _targets_of(self, y: Array) -> Array:
        raise NotImplementedError

    def _fit_model(self, kernel: Any, rows: Array, y: Array, weight: Array, params: dict[str, Any]) -> None:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "report_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
