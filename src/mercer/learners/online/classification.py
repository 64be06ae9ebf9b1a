"""Online learners of classes: labels as numbers, classes that come later in the stream, and counts of mistakes."""

from typing import Self

import numpy as np

from mercer._typing import Array, override
from mercer.data import Blocks
from mercer.fitting import Classes
from mercer.fitting.targets import classes_in
from mercer.learners.classification import ClassScores
from mercer.learners.online.base import BLOCK_ROWS, Labels, OnlineLearner, Stream, TargetsOf
from mercer.learners.training_rows import training_rows
from mercer.state import Count, Stored

NEW_CLASSES = ("error", "learn")
# Kinds of arrays of text.
_TEXT = "OSUT"


class OnlineClassifier(OnlineLearner, ClassScores):
    """An online learner of classes; ``new_classes`` says what happens to a class that was not named at the start."""

    _stored = Stored(n_mistakes_=Count())

    _losses = ("hinge", "squared_hinge", "logistic")
    new_classes: str
    n_mistakes_: int

    def partial_fit(self, X: Stream, y: Labels = None, classes: Labels = None) -> Self:
        """Learn more rows in one pass, in their order; the parameters are those of ``fit``.

        ``classes`` lists all classes that the stream may hold. The first call needs it; later ones may leave it out.
        With ``new_classes="learn"`` no call needs it, and it may name more classes than before: the first call then
        begins with the classes of its rows, at least two.
        """
        return self._pass(X, y, fresh=False, classes=classes)

    @override
    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.new_classes, str) or self.new_classes not in NEW_CLASSES:
            raise ValueError(
                f"{type(self).__name__}: new_classes must be one of {list(NEW_CLASSES)}, got {self.new_classes!r}."
            )

    @override
    def _opened(self, X: Stream, y: Labels, classes: Labels, *, fresh: bool) -> tuple[Blocks, TargetsOf]:
        name = type(self).__name__
        self._check_params()
        first = not hasattr(self, "n_features_in_")
        blocks, targets = training_rows(self, X, y, None, Classes(name), reset=first, collections=True)
        blocks = blocks.recut(BLOCK_ROWS, name)
        known = getattr(self, "classes_", None)
        if fresh or (known is None and classes is None and self.new_classes == "learn"):
            self.classes_ = targets.of(classes_in(blocks, targets)).classes
        elif classes is not None:
            # Each class twice: scikit-learn warns of labels most of which differ.
            given = np.unique(targets.check(np.repeat(np.atleast_1d(np.asarray(classes)), 2, axis=0)))
            self._name_classes(targets.of(given).classes)
        elif known is None:
            raise ValueError(
                f"{name}: classes must be passed on the first call to partial_fit: all the classes that the stream "
                "may hold, partial_fit(X, y, classes=[...]), or construct the learner with new_classes='learn'."
            )
        return blocks, lambda block: np.asarray(block.y if targets.checked else targets.check(block.y))

    def _name_classes(self, given: Array) -> None:
        """Take the classes that a call names."""
        known = getattr(self, "classes_", None)
        if known is None:
            self.classes_ = given
        elif self.new_classes == "learn":
            self._add_classes(given)
        elif not np.array_equal(given, known):
            raise ValueError(
                f"{type(self).__name__}: classes must stay what they were on the first call to partial_fit, "
                f"{known.tolist()}, got {given.tolist()}. Leave classes out, set new_classes='learn', or start again "
                "with fit or a clone."
            )

    def _add_classes(self, labels: Array) -> None:
        """Add the classes among the labels that are not known, with scores below those of the best known class."""
        if (self.classes_.dtype.kind in _TEXT) != (labels.dtype.kind in _TEXT):
            raise ValueError(
                f"{type(self).__name__}: a new class must be text where the classes are text, and a number where they "
                f"are numbers, {self.classes_.tolist()}, got {labels.tolist()[0]!r}."
            )
        classes = np.union1d(self.classes_, labels)
        if len(classes) == len(self.classes_):
            return
        if self.__sklearn_is_fitted__():
            self.state_ = self.state_.with_classes(self.loss, len(classes), np.searchsorted(classes, self.classes_))
        self.classes_ = classes

    @override
    def _n_columns(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @override
    def _numbers(self, targets: Array) -> Array:
        if self.new_classes == "learn":
            self._add_classes(targets)
        codes = np.minimum(np.searchsorted(self.classes_, targets), len(self.classes_) - 1)
        unseen = np.flatnonzero(self.classes_[codes] != targets)
        if len(unseen):
            row, label = getattr(self, "n_seen_", 0) + int(unseen[0]), targets[unseen].tolist()[0]
            raise ValueError(
                f"{type(self).__name__}: y holds {label!r} at row {row} of the stream, which is not among the classes "
                f"{self.classes_.tolist()}. Name all classes on the first call, partial_fit(X, y, classes=[...]), or "
                "set new_classes='learn'."
            )
        return np.where(codes == 1, 1.0, -1.0) if len(self.classes_) == 2 else codes.astype(np.float64)

    @override
    def _mistakes(self, scores: Array, y: Array) -> dict[str, int]:
        wrong = (scores[:, 0] > 0) != (y > 0) if scores.shape[1] == 1 else scores.argmax(axis=1) != y
        return {"n_mistakes_": getattr(self, "n_mistakes_", 0) + int(np.count_nonzero(wrong))}
