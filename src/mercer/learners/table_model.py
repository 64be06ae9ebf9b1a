"""A learner on a table: the preparation of its columns, the learner, and what the target means."""

from collections.abc import Callable, Iterator
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks, Choice, Source, TableError, TablePreparation
from mercer.data.prepared import PreparedReader, Split
from mercer.data.spool import SpooledSource
from mercer.data.target import TargetSummary, encoder
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.classification import ClassScores
from mercer.learners.far_rows import GatheredFarRows
from mercer.learners.regression import OneTarget
from mercer.state import Count, Member, OneOf, Real, Sizes, Stored, Text, require
from mercer.validation import check_real

# Rows per call of predict: enough for all threads.
_PREDICT_ROWS = 16384


class TableModel(BaseEstimator):
    r"""A learner together with what turns the columns of a table into its X and y, so that one file holds both.

    Parameters
    ----------
    classifier, regressor : learner, optional
        Which of them is fitted depends on the target.
    preparation : TablePreparation, optional
    task : {"auto", "classification", "regression"}, default="auto"
        "auto": classification where the target is text, or whole numbers of at most 100 values.
    test_fraction : float, default=0.0
        Rows held out of training, drawn one by one, to measure ``score_`` on.
    random_state : int, default=0
        Seed of the draw of the rows held out.

    Attributes
    ----------
    preparation_, learner_ : fitted
    task_, target_ : str
    classes_ : ndarray
        The labels, for classification: those of ``learner_``, which finds them.
    score_ : float or None
        Accuracy or R^2 on the rows held out; None where fewer than two are.
    n_train_, n_test_ : int

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge
    >>> from mercer.data import open_source
    >>> from mercer.learners.table_model import TableModel
    >>> path = os.path.join(tempfile.mkdtemp(), "squares.csv")
    >>> _ = open(path, "w").write("x,y\n" + "".join(f"{i / 50},{(i / 50) ** 2}\n" for i in range(100)))
    >>> model = TableModel(regressor=KernelRidge(alpha=1e-3, random_state=0)).fit(open_source(path), "y")
    >>> round(float(next(model.predict(open_source(path)))[50]), 1)  # of 1.0, whose square is 1
    1.0
    """

    _stored = Stored(
        preparation_=Member(TablePreparation, {"n_features_out_": "d"}),
        learner_=Member((ClassScores, OneTarget), {"n_features_in_": "d"}),
        task_=OneOf(("classification", "regression")),
        target_=Text(),
        score_=Real(nullable=True),
        n_train_=Count(),
        n_test_=Count(),
    )

    def __init__(
        self,
        classifier: ClassScores | None = None,
        regressor: OneTarget | None = None,
        preparation: TablePreparation | None = None,
        *,
        task: str = "auto",
        test_fraction: float = 0.0,
        random_state: int = 0,
    ):
        self.classifier = classifier
        self.regressor = regressor
        self.preparation = preparation
        self.task = task
        self.test_fraction = test_fraction
        self.random_state = random_state

    @property
    def classes_(self) -> Array:
        """The labels, for classification."""
        classes: Array = self.learner_.classes_
        return classes

    def fit(
        self,
        source: Source,
        target: str | int | None = None,
        *,
        ignore: tuple[str | int, ...] = (),
        watch: Callable[[Block], None] | None = None,
    ) -> Self:
        """Prepare and learn, from passes over the rows; text is parsed in the first one only.

        Parameters
        ----------
        source : Source
            What ``open_source`` returns.
        target : str or int, optional
            The column to predict, by name or number; left out where the source brings its labels.
        ignore : names or numbers of columns to leave out
        watch : callable, optional
            Called with each piece of the first pass, for progress.
        """
        chosen = source.choose(Choice(target, ignore=tuple(ignore)).of(source))
        if chosen.columns.target is None:
            raise TableError(f"{source.name}: which column is the target?")
        fitted = unfitted(self)
        if chosen.rereadable:
            fitted._fit(chosen, chosen.columns.target, watch)
        else:
            spooled = SpooledSource(chosen)
            try:
                fitted._fit(spooled, chosen.columns.target, watch)
            finally:
                spooled.close()
        adopt(self, fitted)
        return self

    def _check_stored(self, sizes: Sizes) -> None:
        require(is_classifier(self.learner_) == (self.task_ == "classification"), "learner_ must do task_")

    def _fit(self, source: Source, target: str, watch: Callable[[Block], None] | None) -> None:
        summary = TargetSummary(source.name, target)

        def both(piece: Block) -> None:
            summary.update(piece.y)
            if watch is not None:
                watch(piece)

        preparation = TablePreparation() if self.preparation is None else clone(self.preparation)
        preparation.fit(source, watch=both)
        source.n_rows = summary.n_rows
        self.task_ = summary.task(self.task)
        fraction = check_real("TableModel", "test_fraction", self.test_fraction, least=0)
        split, encode = Split(fraction, self.random_state) if fraction else None, encoder(self.task_)
        train = PreparedReader(source, preparation, encode=encode, split=split)
        self.learner_ = clone(self._learner()).fit(Blocks(train, owner=source.name))
        self.preparation_, self.target_ = preparation, target
        self.n_train_, self.n_test_, self.score_ = int(train.n_rows or 0), 0, None
        if split is not None:
            test = PreparedReader(source, preparation, encode=encode, split=split, held_out=True)
            self.n_test_ = int(test.n_rows or 0)
            self.score_ = self._score(Blocks(test, owner=source.name)) if self.n_test_ > 1 else None

    def _learner(self) -> ClassScores | OneTarget:
        """Return the learner of the task."""
        learner = self.classifier if self.task_ == "classification" else self.regressor
        if learner is None:
            raise ValueError(f"TableModel: the task is {self.task_}, and no learner is given for it.")
        if is_classifier(learner) != (self.task_ == "classification"):
            raise ValueError(f"TableModel: {type(learner).__name__} does not do {self.task_}.")
        return learner

    def _score(self, blocks: Blocks) -> float:
        far = self._far_rows()
        with far.collecting():
            score: float = self.learner_.score(blocks)
        far.warn("TableModel")
        return score

    def predict(self, source: Source) -> Iterator[Array]:
        """Yield the predictions for the rows of a source, some thousands at a time: labels, or numbers."""
        for predicted, _ in self.predict_scores(source, scores=False):
            yield predicted

    def predict_scores(self, source: Source, *, scores: bool = True) -> Iterator[tuple[Array, Array | None]]:
        """Yield predictions and, for classification, the scores behind them: one column per class.

        The scores are probabilities where the learner has them.
        """
        far = self._far_rows()
        scores = scores and self.task_ == "classification"
        for X in self.rows(source):
            with far.collecting():
                predicted = self.learner_.predict(X)
            with GatheredFarRows().collecting():  # the same rows again
                of_classes = self._scores(X) if scores else None
            yield predicted, of_classes
        far.warn("TableModel")

    def _scores(self, X: Rows) -> Array:
        if hasattr(self.learner_, "predict_proba"):
            probabilities: Array = self.learner_.predict_proba(X)
            return probabilities
        values: Array = self.learner_.decision_function(X)
        return np.column_stack([-values, values]) if values.ndim == 1 else values

    def _far_rows(self) -> GatheredFarRows:
        """Return what gathers the far rows of a source, by the names of its columns."""
        prepared = self.preparation_
        categories = zip(prepared.category_names_, prepared.categories_, strict=True)
        of_categories = [f"{name}={category}" for name, known in categories for category in known]
        return GatheredFarRows([*prepared.number_names_, *of_categories])

    def rows(self, source: Source) -> Iterator[Rows]:
        """Yield the rows of a source as the learner takes them, matched by the names of the columns."""
        reader = PreparedReader(self.preparation_.match(source, self.target_), self.preparation_)
        yield from Blocks(reader, _PREDICT_ROWS, owner=source.name)

    def transform(self, source: Source) -> Iterator[Rows]:
        """Yield the features of the rows of a source."""
        feature_map = self.learner_.feature_map_
        if feature_map is None:
            raise ValueError("TableModel: the learner has no features yet: it has not seen enough rows with a loss.")
        for X in self.rows(source):
            yield feature_map.transform(X)
