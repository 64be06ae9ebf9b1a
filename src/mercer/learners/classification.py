"""What classifiers share: the classes of y, found in the first pass, and their weights."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array
from mercer.data import Block
from mercer.learners.base import KernelLearner
from mercer.state import Names, Sizes, Stored, require
from mercer.stats import ClassTotals
from mercer.validation import check_finite_y, check_real


class ClassScores(ClassifierMixin, KernelLearner):
    """Classes from scores: one column for two classes (that of the second), else one for each."""

    _stored = Stored(classes_=Names(("classes",)))

    classes_: Array

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``: (n,) for two classes, else (n, n_classes)."""
        return self._scores(X)

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X, an array or ``Blocks``."""
        check_is_fitted(self)
        scores = self._scores(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        classes: Array = self.classes_[chosen]
        return classes

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        return float(super().score(X, *self._scored_with(X, y, sample_weight)))

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_classes = sizes["classes"]
        n_columns = 1 if self.coef_.ndim == 1 else len(self.coef_)
        require(n_classes >= 2 and n_columns == (1 if n_classes == 2 else n_classes), "coef_ must have a row a class")

    def _check_y(self, y: Any) -> Array:
        labels: Array = check_finite_y(type(self).__name__, column_or_1d(y, warn=True))
        check_classification_targets(labels)
        return labels


class KernelClassifier(ClassScores):
    """A learner of classes, found in the first pass.

    ``class_weight`` multiplies the weights of the rows by their class's: given as a dict from class to number (1 for
    those left out), or "balanced", W / (n_classes W_c) with W and W_c the sums of the sample weights of all rows and
    of those of class c.
    """

    _of_fit: ClassVar[tuple[str, ...]] = ("_weight_of_class", "_sum_of_weights")
    class_weight: Any = None
    _weight_of_class: Array | None
    _sum_of_weights: float

    def _sought(self, rng: np.random.RandomState) -> ClassTotals:
        return ClassTotals()

    def _look(self, found: ClassTotals, block: Block, weight: Array) -> None:
        found.update(self._check_y(block.y), weight)

    def _after_survey(self, found: Any, rng: np.random.RandomState) -> None:
        classes, totals = found.classes, found.totals
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: y must hold at least 2 classes, got 1 class: {classes.tolist()[0]!r}. "
                "Check the labels, or give rows of another class."
            )
        self.classes_ = classes
        self._weight_of_class, self._sum_of_weights = self._class_weights(totals), float(totals.sum())

    def _class_weights(self, totals: Array) -> Array | None:
        """Return the weight of each class, None where all are 1."""
        name, given = type(self).__name__, self.class_weight
        if given is None:
            return None
        if isinstance(given, Mapping):
            unknown = [label for label in given if label not in self.classes_]
            if unknown:
                raise ValueError(f"{name}: class_weight names {unknown[0]!r}, which is no class of y: {self.classes_}.")
            weights = [given.get(label, 1.0) for label in self.classes_.tolist()]
            return np.array([check_real(name, "class_weight", value, least=0) for value in weights])
        if not isinstance(given, str) or given != "balanced":
            raise ValueError(
                f"{name}: class_weight must be None, 'balanced' or a dict from class to weight, got {given!r}."
            )
        # A class whose rows all have weight 0 weighs nothing whatever it is multiplied by.
        balanced: Array = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
        return balanced

    def _check_params(self) -> None:
        super()._check_params()
        self._class_weights(np.ones(len(self.classes_)))

    def _codes(self, block: Block) -> Array:
        """Return the number of each row's class in ``classes_``."""
        labels = self._check_y(block.y)
        codes: Array = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        if not np.array_equal(self.classes_[codes], labels):
            raise ValueError(
                f"{type(self).__name__}: the source of X gave classes in a later pass that the first did not have; "
                "every pass must give the same rows."
            )
        return codes

    def _block_weight(self, block: Block) -> Array | None:
        weight = super()._block_weight(block)
        if self._weight_of_class is None:
            return weight
        of_class: Array = self._weight_of_class[self._codes(block)]
        return of_class if weight is None else weight * of_class

    def _signs(self, block: Block) -> Array:
        """Return targets of +1 for the rows of a class and -1 for the others: a column a class, one for two classes."""
        codes = self._codes(block)[:, None]
        return np.where(codes == (np.arange(len(self.classes_)) if len(self.classes_) > 2 else 1), 1.0, -1.0)
