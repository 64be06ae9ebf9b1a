"""A learner on a table: the preparation of its columns, the learner, and what the target means."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from mercer._typing import Array
from mercer.data import Blocks
from mercer.data.tables import PreparedReader, SpooledTable, Table, TableError, TablePreparation, Wanted
from mercer.data.tables.base import Batch
from mercer.data.tables.preparation import columns_of
from mercer.data.tables.reader import Split
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.classification import ClassScores
from mercer.learners.far_rows import GatheredFarRows
from mercer.learners.regression import OneTarget
from mercer.state import Count, Member, Names, OneOf, Real, Sizes, Stored, Text, require
from mercer.validation import check_real

Task = Literal["classification", "regression"]
# A target of whole numbers is taken for classes up to so many of them.
_MOST_CLASSES = 100
# Rows a call of predict: long enough for the threads to share.
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
        Of that draw.

    Attributes
    ----------
    preparation_, learner_ : fitted
    task_, target_ : str
    classes_ : ndarray
        The labels, for classification.
    score_ : float or None
        Accuracy or R^2 on the rows held out.
    n_train_, n_test_ : int

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge
    >>> from mercer.data.tables import open_table
    >>> from mercer.learners.table_model import TableModel
    >>> path = os.path.join(tempfile.mkdtemp(), "squares.csv")
    >>> _ = open(path, "w").write("x,y\n" + "".join(f"{i / 50},{(i / 50) ** 2}\n" for i in range(100)))
    >>> model = TableModel(regressor=KernelRidge(alpha=1e-3, random_state=0)).fit(open_table(path), "y")
    >>> round(float(next(model.predict(open_table(path)))[50]), 1)  # of 1.0, whose square is 1
    1.0
    """

    _stored = Stored(
        preparation_=Member(TablePreparation, {"n_features_out_": "d"}),
        learner_=Member((ClassScores, OneTarget), {"n_features_in_": "d"}),
        task_=OneOf(("classification", "regression")),
        target_=Text(),
        classes_=Names(("classes",), optional=True),
        score_=Real(nullable=True),
        n_train_=Count(),
        n_test_=Count(),
    )

    def __init__(
        self,
        classifier: Any = None,
        regressor: Any = None,
        preparation: Any = None,
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

    def fit(
        self,
        table: Table,
        target: str | None = None,
        *,
        ignore: tuple[str, ...] = (),
        watch: Callable[[Batch], None] | None = None,
    ) -> Self:
        """Prepare and learn, from passes over the table; text is parsed in the first one only.

        Parameters
        ----------
        table : Table
        target : str, optional
            The column to predict; left out where the table has labels of its own.
        ignore : names of columns to leave out
        watch : callable, optional
            Called with each batch of the first pass, for progress.
        """
        target = target if target is not None else table.own_target
        if target is None:
            raise TableError(f"{table.name}: which column is the target?")
        wanted = columns_of(table, target, ignore)
        source = table if table.rereadable else SpooledTable(table, wanted)
        fitted = unfitted(self)
        try:
            fitted._fit(source, wanted, target, watch)
        finally:
            if isinstance(source, SpooledTable):
                source.close()
        adopt(self, fitted)
        return self

    def _check_stored(self, sizes: Sizes) -> None:
        classifies = self.task_ == "classification"
        require(is_classifier(self.learner_) == classifies, "learner_ must do task_")
        require(hasattr(self, "classes_") == classifies, "classes_ must be there for classification")
        if classifies:
            codes = self.learner_.classes_
            require(codes.dtype.kind in "iu" and codes.min() >= 0, "the learner's classes must be numbers of classes_")
            require(codes.max() < sizes["classes"], "the learner's classes must be numbers of classes_")

    def _fit(self, table: Table, wanted: Wanted, target: str, watch: Callable[[Batch], None] | None) -> None:
        labels = Labels(table.name, target)

        def both(batch: Batch) -> None:
            labels.update(batch.target)
            if watch is not None:
                watch(batch)

        preparation = TablePreparation() if self.preparation is None else clone(self.preparation)
        preparation.fit(table, wanted, watch=both)
        table.n_rows = labels.n_rows
        self.task_ = labels.task(self.task)
        learner = self.classifier if self.task_ == "classification" else self.regressor
        if learner is None:
            raise ValueError(f"TableModel: the task is {self.task_}, and no learner is given for it.")
        if is_classifier(learner) != (self.task_ == "classification"):
            raise ValueError(f"TableModel: {type(learner).__name__} does not do {self.task_}.")
        if self.task_ == "classification":
            self.classes_ = labels.classes()
        encode = labels.encoder(self.task_)
        fraction = check_real("TableModel", "test_fraction", self.test_fraction, least=0)
        split = Split(fraction, self.random_state) if fraction else None
        train = PreparedReader(table, wanted, preparation, encode=encode, split=split)
        self.learner_ = clone(learner).fit(Blocks(train, owner=table.name))
        self.preparation_, self.target_ = preparation, target
        self.n_train_, self.n_test_, self.score_ = int(train.n_rows or 0), 0, None
        if split is not None:
            test = PreparedReader(table, wanted, preparation, encode=encode, split=split, held_out=True)
            self.n_test_ = int(test.n_rows or 0)
            self.score_ = self._score(test)

    def _score(self, reader: PreparedReader) -> float:
        """Return the accuracy or R^2 over a pass."""
        right, squares, total, n_rows, sums = 0, 0.0, 0.0, 0, 0.0
        far = self.far_rows()
        for block in Blocks(reader, _PREDICT_ROWS, owner="TableModel").labelled():
            assert block.y is not None  # noqa: S101
            with far.collecting():
                predicted = self.learner_.predict(block.X)
            n_rows += block.n_rows
            right += int((predicted == block.y).sum())
            squares += float(((predicted - block.y) ** 2).sum())
            total += float((block.y.astype(np.float64) ** 2).sum())
            sums += float(block.y.sum())
        far.warn("TableModel")
        if self.task_ == "classification":
            return right / n_rows
        return 1 - squares / max(total - sums**2 / n_rows, np.finfo(float).tiny)

    def predict(self, table: Table) -> Iterator[Array]:
        """Yield the predictions for the rows of a table, some thousand at a time: labels, or numbers."""
        far = self.far_rows()
        for X in self.rows(table):
            with far.collecting():
                predicted = self.labels(self.learner_.predict(X))
            yield predicted
        far.warn("TableModel")

    def far_rows(self) -> GatheredFarRows:
        """Return what gathers the far rows of a table, by the names of its columns."""
        prepared = self.preparation_
        categories = zip(prepared.category_names_, prepared.categories_, strict=True)
        of_categories = [f"{name}={category}" for name, known in categories for category in known]
        return GatheredFarRows([*prepared.number_names_, *of_categories])

    def labels(self, predicted: Array) -> Array:
        """Return what the learner predicts as the target's own values."""
        return np.asarray(self.classes_)[predicted.astype(np.int64)] if self.task_ == "classification" else predicted

    def scores(self, X: Any) -> tuple[Array, Array]:
        """Return the scores of prepared rows, a column a class, and the classes; probabilities where there are."""
        classes = self.labels(self.learner_.classes_)
        if hasattr(self.learner_, "predict_proba"):
            return self.learner_.predict_proba(X), classes
        values = self.learner_.decision_function(X)
        return (np.column_stack([-values, values]) if values.ndim == 1 else values), classes

    def rows(self, table: Table) -> Iterator[Any]:
        """Yield the rows of a table as the learner takes them, matched by the names of the columns."""
        self.preparation_.match(table, self.target_)
        reader = PreparedReader(table, self.preparation_.wanted(), self.preparation_)
        yield from Blocks(reader, _PREDICT_ROWS, owner=table.name)

    def transform(self, table: Table) -> Iterator[Any]:
        """Yield the features of the rows of a table."""
        feature_map = self.learner_.feature_map_
        if feature_map is None:
            raise ValueError("TableModel: the learner has no features yet: it has not seen enough rows with a loss.")
        for X in self.rows(table):
            yield feature_map.transform(X)


class Labels:
    """What one pass learns of the target."""

    def __init__(self, owner: str, target: str):
        self._owner, self._target = owner, target
        self.n_rows = 0
        self._is_text = False
        self._whole = True
        self._counts: Counter[Any] = Counter()
        self._many = False

    def update(self, values: Array | None) -> None:
        """Add rows."""
        assert values is not None  # noqa: S101
        if values.dtype == object:
            missing = np.array([value is None for value in values])
            self._is_text = True
        else:
            missing = ~np.isfinite(values)
            self._whole = self._whole and bool((values == np.floor(values)).all())
        if missing.any():
            row = self.n_rows + int(np.argmax(missing)) + 1
            what = "misses a value" if self._is_text or np.isnan(values[missing]).any() else "holds infinity"
            raise TableError(f"{self._owner}: the target {self._target!r} {what} in row {row}. Leave such rows out.")
        if not self._many:
            found, counts = np.unique(values, return_counts=True)
            self._counts.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
            self._many = not self._is_text and len(self._counts) > 10 * _MOST_CLASSES
        self.n_rows += len(values)

    def task(self, asked: str) -> Task:
        """Return the task, found from the values where ``asked`` is "auto", or refuse it."""
        if asked == "auto":
            few = self._whole and not self._many and len(self._counts) <= _MOST_CLASSES
            asked = "classification" if self._is_text or few else "regression"
        if asked == "regression" and self._is_text:
            raise TableError(f"{self._owner}: the target {self._target!r} holds text; regression needs numbers.")
        if asked == "classification" and (self._many or not (self._is_text or self._whole)):
            what = f"more than {10 * _MOST_CLASSES} values" if self._whole else "numbers that are not whole"
            raise TableError(
                f"{self._owner}: the target {self._target!r} holds {what}; classification needs labels. Ask for "
                "regression, or declare the column categorical."
            )
        if len(self._counts) < 2:
            only = next(iter(self._counts), None)
            raise TableError(f"{self._owner}: the target {self._target!r} holds one value only, {only!r}.")
        return "classification" if asked == "classification" else "regression"

    def classes(self) -> Array:
        """Return the labels, in order."""
        values = sorted(self._counts)
        return np.array(values) if self._is_text else np.array(values).astype(np.int64)

    def encoder(self, task: Task) -> Callable[[Array], Array]:
        """Return the function from values to what the learner takes: codes of the labels, or numbers."""
        if task == "regression":
            return lambda values: values.astype(np.float64)
        known = {value: code for code, value in enumerate(sorted(self._counts))}
        if self._is_text:
            return lambda values: np.array([known[value] for value in values], dtype=np.int64)
        ordered = np.array(sorted(self._counts))
        return lambda values: np.searchsorted(ordered, values)
