"""Estimators that choose everything themselves, by leave-one-out errors of the training rows."""

from dataclasses import replace
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Blocks
from mercer.data.frame_columns import Frame
from mercer.data.sources.collections import is_collection
from mercer.fitting import Classes, HeldTargets, Numbers, Targets
from mercer.fitting.targets import ClassWeight, class_factors
from mercer.learners.chunks import Out, lazy_results, written
from mercer.learners.local.blended import Prepared
from mercer.learners.local.calibration import Calibration
from mercer.learners.local.intervals import Intervals
from mercer.learners.local.prediction_sets import PredictionSets
from mercer.learners.local.tuned_base import TunedEstimator
from mercer.solvers.local.boosting_losses import LogisticLoss, SquaredLoss
from mercer.state import Flag, Member, Names, Sizes, Stored, require
from mercer.stats import Accuracy, Determination

# The part of the mean square of residuals that is not the variance of single folds of trees, at least.
_LEAST_SQUARES = 0.25


class TunedRegressor(MultiOutputMixin, RegressorMixin, TunedEstimator[Numbers]):
    """Regression without settings: all is chosen by exact leave-one-out errors on the training rows.

    Columns are prepared (``ColumnPreparation``; the scaling is chosen). A metric is learned from gradients of a quick
    fit, diagonal and full. Kernel (Laplace of L1 and of Euclidean distances, Matern 3/2, Gaussian), scale and ridge are
    chosen by leave-one-out errors on a few whole leaves. The model is ``LocalKernelRidge`` on all rows. Where they
    help, predictions of boosted trees are one more column of the rows, or part of the mean: trees place jumps. No
    validation set is needed.

    Parameters
    ----------
    time_budget : float or None
        Seconds, a soft limit: the search ends at 60 % of them, and trees are left out where they would not fit.
    n_trees, n_landmarks : int
        Of the final model, as in ``LocalKernelRidge``. There are at most ``n_trees`` trees of leaves: after two, one
        more must be expected to take 0.5 % off the leave-one-out error. Where boosted trees have most of the mean, one
        tree of leaves is enough, and is all that is fitted.
    leaf_rows : int or None
        Of the final model. None: all rows in one leaf up to 4,096 rows, which is exact kernel ridge regression, and
        leaves of 1,024 rows for larger tables.
    max_rows : int or None
        Rows that the model holds at most, a uniform sample of longer sources. None: 2^20 rows, or fewer where a limit
        of memory (``config_context(memory=...)``, a cgroup, ``ulimit``) asks for fewer.
    keep_interrupted : bool, default=False
        After an interruption (Ctrl-C) of the search, fit one tree with the best choices so far instead of raising
        ``KeyboardInterrupt``. A second interruption raises.
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
        ``preparation_.encoding_.trees`` are the boosted trees, or None.
    model_ : LocalKernelRidge
        Of prepared rows, in float32 where they are more than 1024, with one column per target.
    low_order_ : LowOrderRidge or None
        A ridge regression on Fourier features of low order, where its mean with ``model_`` has a lower error.
    low_order_share_ : float
        Its share in the mean.
    boosted_ : BoostedTrees or None
        Boosted trees that are no columns, where a mean with them has a lower error.
    boosted_share_ : float
        Their share in the mean.
    intervals_ : Intervals
        What ``predict_interval`` uses.
    loo_score_ : float
        R^2 of the leave-one-out predictions of the training rows: what to expect of ``score`` on new rows.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each column in the squared gradients of the prediction, each times the variance of the prepared
        column.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for data frames

    Notes
    -----
    Time O(n L^2) for the final model with leaves of L rows; the search is on samples. The model holds the prepared
    rows, at most ``max_rows`` of them: all choices, the leaves and the boosted trees see these rows. Longer sources are
    read in three or four passes, with memory that does not grow with the number of rows: one counts the rows and finds
    the classes, one reads the held rows, and the model of low order, whose sums merge, is fitted on all rows. Its share
    is chosen by leave-one-out errors of the held rows, so that the other rows can only help. The sample depends on the
    numbers of the rows alone: an array, its blocks and its partitions hold the same rows.

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

    _stored = Stored(intervals_=Member(Intervals), is_flat=Flag(attribute="_is_flat"))
    _loss = SquaredLoss()

    intervals_: Intervals

    @overload
    def predict(
        self, X: RowsLike | Frame | Blocks, return_std: Literal[False] = False, *, out: Out = None
    ) -> Array: ...

    @overload
    def predict(
        self, X: RowsLike | Frame | Blocks, return_std: Literal[True], *, out: Out = None
    ) -> tuple[Array, Array]: ...

    def predict(
        self, X: RowsLike | Frame | Blocks, return_std: bool = False, *, out: Out = None
    ) -> Array | tuple[Array, Array]:
        """Return the predictions for the rows of X, float64, in the shape of y; ``out`` as in ``KernelRidge.predict``.

        With ``return_std`` also return the standard deviation of a new target about its prediction: the size of the
        residual that ``intervals_`` expects for the row.
        """
        if is_collection(X) and not return_std:
            return lazy_results(self, "predict", X, out)
        if out is not None:
            if return_std:
                raise ValueError(f"{type(self).__name__}: out takes predictions alone. Leave return_std or out away.")
            return written(self, "predict", X, out)
        if not return_std:
            return self._shaped(self._each(X, self._scores_of))

        def both(prepared: Prepared) -> Array:
            scores = self._scores_of(prepared)
            with self._threads():
                return np.stack([scores, self.intervals_.standard_deviations(prepared.rows)], axis=1)

        found = self._each(X, both)
        return self._shaped(found[:, 0]), self._shaped(found[:, 1])

    def _shaped(self, values: Array) -> Array:
        """Return one value per row and target in the shape of y."""
        return values.ravel() if self._is_flat else values

    @property
    def is_flat(self) -> bool:
        """Whether y was one-dimensional, as predictions then are."""
        return self._is_flat

    def predict_interval(self, X: RowsLike | Frame | Blocks, coverage: float = 0.9) -> Array:
        """Return intervals (n, 2) that hold the target of a new row with about the given probability.

        The half width is a quantile of the leave-one-out residuals, in units of the size that a model of them predicts
        for the row. The coverage is that of rows like the training rows; no theorem covers choices made on them.

        Parameters
        ----------
        X : as in ``fit``
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n, 2), or (n, n_targets, 2) for several targets
        """

        def both(prepared: Prepared) -> Array:
            centre = self._scores_of(prepared)
            with self._threads():
                half = self.intervals_.half_widths(type(self).__name__, prepared.rows, coverage)
            return np.stack([centre - half, centre + half], axis=-1)

        found = self._each(X, both)
        return found[:, 0] if self._is_flat else found

    def score(
        self, X: RowsLike | Frame | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return R^2 on the rows of X, with y, or ``Blocks``, which bring their own y and weights."""
        return self._scored(Determination(), super().score, X, y, sample_weight)

    def _targets(self) -> Numbers:
        return Numbers(type(self).__name__)

    def _unit(self, held: HeldTargets[Numbers]) -> Array:
        share = held.weight / held.weight.sum()
        size = np.abs(held.Y).max(axis=0)
        size = np.where(size > 0, size, 1.0)  # squares of the largest numbers would overflow
        scaled = held.Y / size
        deviation = np.sqrt(share @ (scaled - share @ scaled) ** 2)
        return np.where(deviation > 0, deviation * size, size)

    def _standardised(self, held: HeldTargets[Numbers]) -> HeldTargets[Targets]:
        scaled = held.Y / self._unit(held)
        return replace(held, Y=scaled - held.weight @ scaled / held.weight.sum())

    def _centre(self, held: HeldTargets[Numbers]) -> Array:
        unit = self._unit(held)  # a sum of the largest numbers would overflow
        return np.asarray(held.weight @ (held.Y / unit) / held.weight.sum() * unit)

    def _of_new_rows(self, residuals: Array, held: HeldTargets[Numbers], surplus: Array) -> Array:
        squares = held.weight @ residuals**2 / held.weight.sum()
        return residuals * np.sqrt(np.maximum(1 - surplus / np.where(squares > 0, squares, np.inf), _LEAST_SQUARES))

    def _finish(self, rows: Array, held: HeldTargets[Numbers], residuals: Array) -> None:
        self._is_flat = held.targets.is_flat
        self.loo_score_ = 1 - self._error(held, residuals)
        self.intervals_ = Intervals.of(self.model_, rows, held.weight, residuals=residuals)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_targets = self.model_.loo_residuals_.shape[1]
        require(self.intervals_.ratios.shape[1] == n_targets, "intervals_ must be of the targets of model_")
        require(n_targets == 1 or not self._is_flat, "a flat y has one column")


class TunedClassifier(ClassifierMixin, TunedEstimator[Classes]):
    """Classification without settings: all is chosen by exact leave-one-out errors on the training rows.

    As ``TunedRegressor``, on targets of +1 and -1 for each class, with probabilities calibrated on leave-one-out
    scores.

    Parameters
    ----------
    time_budget, n_trees, leaf_rows, n_landmarks, max_rows : as in ``TunedRegressor``
    class_weight : dict, "balanced" or None
        As in ``LocalKernelRidgeClassifier``.
    keep_interrupted, random_state, n_jobs, verbose : as in ``TunedRegressor``

    Attributes
    ----------
    classes_ : ndarray
    report_, preparation_, feature_importances_, n_features_in_, feature_names_in_ : as in ``TunedRegressor``
    model_ : LocalKernelRidge
        Of prepared rows, in float32 where they are more than 1024, on targets of +1 and -1.
    low_order_, low_order_share_, boosted_, boosted_share_ : as in ``TunedRegressor``
    calibration_ : Calibration
        From leave-one-out scores to probabilities.
    sets_ : PredictionSets
        What ``predict_set`` uses.
    loo_score_ : float
        Accuracy of the leave-one-out predictions of the training rows: what to expect of ``score`` on new rows.

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

    _stored = Stored(classes_=Names(("classes",)), calibration_=Member(Calibration), sets_=Member(PredictionSets))
    _loss = LogisticLoss()

    classes_: Array
    calibration_: Calibration
    sets_: PredictionSets

    def __init__(
        self,
        *,
        time_budget: float | None = None,
        n_trees: int = 3,
        leaf_rows: int | None = None,
        n_landmarks: int = 128,
        max_rows: int | None = None,
        class_weight: ClassWeight = None,
        keep_interrupted: bool = False,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            time_budget=time_budget,
            n_trees=n_trees,
            leaf_rows=leaf_rows,
            n_landmarks=n_landmarks,
            max_rows=max_rows,
            keep_interrupted=keep_interrupted,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def decision_function(self, X: RowsLike | Frame | Blocks) -> Array:
        """Return the scores of the rows of X: (n,) for two classes, else (n, n_classes)."""
        if is_collection(X):
            return lazy_results(self, "decision_function", X)
        scores = self._each(X, self._scores_of)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: RowsLike | Frame | Blocks, *, out: Out = None) -> Array:
        """Return the class of each row of X; ``out`` as in ``KernelRidge.predict``."""
        if is_collection(X):
            return lazy_results(self, "predict", X, out)
        if out is not None:
            return written(self, "predict", X, out)
        scores = self.decision_function(X)
        return Classes(type(self).__name__, classes=self.classes_).decode(scores)

    def predict_proba(self, X: RowsLike | Frame | Blocks) -> Array:
        """Return the probability of each class for the rows of X: (n, n_classes)."""
        if is_collection(X):
            return lazy_results(self, "predict_proba", X)
        scores = self._each(X, self._scores_of)
        return self.calibration_.probabilities(scores)

    def predict_set(self, X: RowsLike | Frame | Blocks, coverage: float = 0.9) -> Array:
        """Return for each row of X the set of classes that holds its class with about the given probability.

        The set holds the most probable class, and every class whose probability is at least a threshold: a quantile
        of the leave-one-out probabilities of the training rows for their own classes.

        Parameters
        ----------
        X : as in ``fit``
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of bool, of shape (n, n_classes)
        """
        scores = self._each(X, self._scores_of)
        return self.sets_.sets(type(self).__name__, self.calibration_.probabilities(scores), coverage)

    def score(
        self, X: RowsLike | Frame | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy on the rows of X, with y, or ``Blocks``, which bring their own y and weights."""
        return self._scored(Accuracy(), super().score, X, y, sample_weight)

    def _targets(self) -> Classes:
        return Classes(type(self).__name__, class_weight=self.class_weight)

    def _standardised(self, held: HeldTargets[Classes]) -> HeldTargets[Targets]:
        return replace(held)

    def _finish(self, rows: Array, held: HeldTargets[Classes], residuals: Array) -> None:
        self.classes_ = held.targets.classes
        scores = held.Y - residuals
        flat = scores.ravel() if scores.shape[1] == 1 else scores
        right = held.targets.decode(flat) == held.targets.decode(held.Y.ravel() if scores.shape[1] == 1 else held.Y)
        self.loo_score_ = float(held.weight @ right / held.weight.sum())
        self.calibration_ = Calibration.of(scores, held.Y, held.weight)
        codes = (held.Y[:, 0] > 0).astype(int) if held.Y.shape[1] == 1 else held.Y.argmax(axis=1)
        self.sets_ = PredictionSets.of(self.calibration_.probabilities(scores), codes, held.weight)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_classes = sizes["classes"]
        class_factors(type(self).__name__, self.class_weight, self.classes_, np.ones(n_classes))
        n_columns = {self.model_.loo_residuals_.shape[1], self.calibration_.n_columns}
        require(n_classes >= 2 and n_columns == {1 if n_classes == 2 else n_classes}, "scores need a column per class")
