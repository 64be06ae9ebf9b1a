"""What classifiers share: classes from scores, and fits that find the classes."""

from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, RowsLike
from mercer.data import Blocks, as_blocks
from mercer.data.sources.collections import is_collection
from mercer.fitting import Classes, FeatureRows
from mercer.fitting.targets import ClassWeight, class_factors
from mercer.learners.base import KernelLearner, Learner
from mercer.learners.chunks import Out, lazy_results, required, score_of, written
from mercer.solvers import Solution
from mercer.state import Names, Sizes, Stored, require
from mercer.stats import Accuracy

_PROBABILITIES = (
    ": its scores are no probabilities. Take KernelLogisticRegression or TunedClassifier, or calibrate the scores with "
    "sklearn.calibration.CalibratedClassifierCV."
)


class ClassScores(ClassifierMixin, Learner):
    """Classes from scores: one column for two classes (that of the second class), else one for each class."""

    _stored = Stored(classes_=Names(("classes",)))

    classes_: Array
    coef_: Array

    def decision_function(self, X: RowsLike | Blocks, *, out: Out = None) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``: (n,) for two classes, else (n, n_classes).

        ``out`` as in ``predict``.
        """
        if is_collection(X):
            return lazy_results(self, "decision_function", X, out)
        return self._scores(X) if out is None else written(self, "decision_function", X, out)

    def predict(self, X: RowsLike | Blocks, *, out: Out = None) -> Array:
        """Return the class of each row of X, an array or ``Blocks``.

        With ``out``, an array or the path of a .npy file, the results are written there chunk by chunk, and the array
        or the mapped file is returned: for streams whose results do not fit in memory.
        """
        check_is_fitted(self)
        if is_collection(X):
            return lazy_results(self, "predict", X, out)
        if out is not None:
            return written(self, "predict", X, out)
        return Classes(type(self).__name__, classes=self.classes_).decode(self._scores(X))

    def score(self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        name = type(self).__name__
        if isinstance(X, Blocks) or is_collection(X):
            blocks = as_blocks(X, y, sample_weight=sample_weight, owner=name)
            return score_of(self, blocks, Accuracy()).value
        return float(super().score(X, required(name, y), sample_weight))

    def _scores(self, X: RowsLike | Blocks) -> Array:
        raise NotImplementedError

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Say of a missing ``predict_proba`` who has one; ``hasattr`` stays False."""
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(said + (_PROBABILITIES if name == "predict_proba" else ""))

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_classes = sizes["classes"]
        enough = n_classes >= 2 and self._n_scores(sizes) == (1 if n_classes == 2 else n_classes)
        require(enough, "there must be a column of scores for each class")

    def _n_scores(self, sizes: Sizes) -> int:
        """Return the number of columns of scores of a model from a file."""
        return 1 if self.coef_.ndim == 1 else len(self.coef_)


class KernelClassifier(ClassScores, KernelLearner):
    """A learner of classes, found by the survey; ``class_weight`` multiplies the weights of the rows of a class."""

    class_weight: ClassWeight = None

    def _targets(self, rng: np.random.RandomState) -> Classes:
        return Classes(type(self).__name__, class_weight=self.class_weight)

    def _keep(self, solution: Solution, rows: FeatureRows) -> None:
        super()._keep(solution, rows)
        assert isinstance(rows.targets, Classes)  # noqa: S101 - those of ``_targets``
        self.classes_ = rows.targets.classes

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        class_factors(type(self).__name__, self.class_weight, self.classes_, np.ones(len(self.classes_)))
