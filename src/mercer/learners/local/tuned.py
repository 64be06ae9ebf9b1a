"""Estimators that choose everything themselves, by leave-one-out errors of the training rows."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d

from mercer._typing import Array
from mercer.learners.local.intervals import Intervals
from mercer.learners.local.ridge import (
    LocalKernelRidge,
    LocalKernelRidgeClassifier,
    class_weights,
    found_classes,
    labels_of,
    numbers_of,
)
from mercer.learners.local.tuned_base import TunedEstimator
from mercer.state import Member, Names, Sizes, Stored, require


class TunedRegressor(RegressorMixin, TunedEstimator):
    """Regression without settings: all is chosen by exact leave-one-out errors on the training rows.

    Columns are prepared (``ColumnPreparation``; the scaling is chosen). A metric is learned from gradients of a quick
    fit, diagonal and full. Kernel (Laplace of L1 and of Euclidean distances, Matern 3/2, Gaussian), scale and ridge are
    chosen by leave-one-out errors on a few whole leaves. The model is ``LocalKernelRidge`` on all rows. No validation
    set is needed.

    Parameters
    ----------
    time_budget : float or None
        Seconds, a soft limit: the search ends at 60 % of them, and trees are left out where they would not fit.
    n_trees, leaf_rows, n_landmarks : int
        Of the final model, as in ``LocalKernelRidge``.
    random_state : int, RandomState or None
        Without a time budget, one seed means one model, bit by bit.
    n_jobs : int or None
        Threads.
    verbose : int
        1 prints each trial to the standard error stream.

    Attributes
    ----------
    report_ : TuningReport
        What was tried, its errors, the choices, and the time.
    preparation_ : ColumnPreparation
    model_ : LocalKernelRidge
        Of prepared rows, in float32 where they are more than 4096.
    intervals_ : Intervals
        What ``predict_interval`` uses.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each column in the squared gradients of the prediction, by prepared columns of variance 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for data frames

    Notes
    -----
    Time O(n L^2) for the final model with L = ``leaf_rows``; the search is on samples. The model holds the prepared
    rows. All rows are in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TunedRegressor
    >>> X = np.random.RandomState(0).rand(600, 3)
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> model = TunedRegressor(random_state=0).fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.99)
    True
    >>> low, high = model.predict_interval(X[500:], coverage=0.9).T
    """

    _stored = Stored(model_=Member(LocalKernelRidge), intervals_=Member(Intervals))

    model_: LocalKernelRidge
    intervals_: Intervals

    def __init__(
        self,
        *,
        time_budget: float | None = None,
        n_trees: int = 3,
        leaf_rows: int = 1024,
        n_landmarks: int = 512,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.time_budget = time_budget
        self.n_trees = n_trees
        self.leaf_rows = leaf_rows
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: Any) -> Array:
        """Return the predictions for the rows of X, float64."""
        rows = self._prepared(X)
        with self._threads():
            return self.model_.predict(rows).astype(np.float64)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Return intervals (n, 2) that hold the target of a new row with about the given probability.

        The half width is a quantile of the leave-one-out residuals, in units of the size that a model of them predicts
        for the row. The coverage is that of rows like the training rows; no theorem covers choices made on them.

        Parameters
        ----------
        X : as in ``fit``
        coverage : float, default=0.9
            Between 0 and 1.
        """
        rows = self._prepared(X)
        with self._threads():
            centre = self.model_.predict(rows).astype(np.float64)
            half = self.intervals_.half_widths(type(self).__name__, rows, coverage)
        return np.column_stack([centre - half, centre + half])

    def _check_y(self, y: Any) -> Array:
        column: Array = column_or_1d(numbers_of(self, y), warn=True)
        return column

    def _coded(self, y: Array, weight: Array) -> tuple[Array, Any]:
        share = weight / (weight.sum() or 1.0)
        size = float(np.abs(y).max()) or 1.0
        centred = y / size - share @ (y / size)
        deviation = float(np.sqrt(share @ centred**2)) or 1.0
        return (centred / deviation)[:, None], np.ones(len(y))

    def _targets_of(self, y: Array) -> Array:
        return y[:, None]

    def _fit_model(self, kernel: Any, rows: Array, y: Array, weight: Array, params: dict[str, Any]) -> None:
        self.model_ = LocalKernelRidge(kernel, **params).fit(rows, y, weight)
        self.intervals_ = Intervals.of(self.model_, rows, weight)


class TunedClassifier(ClassifierMixin, TunedEstimator):
    """Classification without settings: all is chosen by exact leave-one-out errors on the training rows.

    As ``TunedRegressor``, on targets of +1 and -1 for each class, with probabilities calibrated on leave-one-out
    scores.

    Parameters
    ----------
    time_budget, n_trees, leaf_rows, n_landmarks : as in ``TunedRegressor``
    class_weight : dict, "balanced" or None
        As in ``LocalKernelRidgeClassifier``.
    random_state, n_jobs, verbose : as in ``TunedRegressor``

    Attributes
    ----------
    classes_ : ndarray
    report_, preparation_, feature_importances_, n_features_in_, feature_names_in_ : as in ``TunedRegressor``
    model_ : LocalKernelRidgeClassifier
        Of prepared rows, in float32 where they are more than 4096.

    Notes
    -----
    Costs are those of ``TunedRegressor``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TunedClassifier
    >>> X = np.random.RandomState(0).rand(600, 3)
    >>> y = np.where(np.sin(6 * X[:, 0]) > X[:, 1], "above", "below")
    >>> model = TunedClassifier(random_state=0).fit(X[:500], y[:500])
    >>> bool(model.score(X[500:], y[500:]) > 0.9), model.predict_proba(X[500:]).shape
    (True, (100, 2))
    """

    _stored = Stored(classes_=Names(("classes",)), model_=Member(LocalKernelRidgeClassifier))

    classes_: Array
    model_: LocalKernelRidgeClassifier

    def __init__(
        self,
        *,
        time_budget: float | None = None,
        n_trees: int = 3,
        leaf_rows: int = 1024,
        n_landmarks: int = 512,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.time_budget = time_budget
        self.n_trees = n_trees
        self.leaf_rows = leaf_rows
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows of X: (n,) for two classes, else (n, n_classes)."""
        rows = self._prepared(X)
        with self._threads():
            return self.model_.decision_function(rows)

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X."""
        rows = self._prepared(X)
        with self._threads():
            return self.model_.predict(rows)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for the rows of X: (n, n_classes)."""
        rows = self._prepared(X)
        with self._threads():
            return self.model_.predict_proba(rows).astype(np.float64)

    def _check_y(self, y: Any) -> Array:
        return labels_of(self, y)

    def _coded(self, y: Array, weight: Array) -> tuple[Array, Any]:
        self.classes_, codes = found_classes(type(self).__name__, y, weight)
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        of_class = class_weights(type(self).__name__, self.class_weight, self.classes_, totals)
        return self._targets_of(y), of_class[codes]

    def _targets_of(self, y: Array) -> Array:
        codes = np.searchsorted(self.classes_, y)
        return np.where(codes[:, None] == (np.arange(len(self.classes_)) if len(self.classes_) > 2 else 1), 1.0, -1.0)

    def _fit_model(self, kernel: Any, rows: Array, y: Array, weight: Array, params: dict[str, Any]) -> None:
        model = LocalKernelRidgeClassifier(kernel, class_weight=self.class_weight, **params)
        self.model_ = model.fit(rows, y, weight)
        self.classes_ = self.model_.classes_

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(np.array_equal(self.classes_, self.model_.classes_), "classes_ must be those of model_")
