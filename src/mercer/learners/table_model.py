"""A learner on a table: the preparation of its columns, the learner, and what the target means."""

from collections import Counter
from collections.abc import Callable, Iterator
from os import PathLike
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks, Choice, TableError, TablePreparation, as_blocks
from mercer.data.object_column import ObjectColumn
from mercer.data.prepared import PreparedReader, warn_of_unseen
from mercer.data.raw_table import RawTable
from mercer.data.sources.collections import Collection as DaskCollection
from mercer.data.sources.collections import is_collection
from mercer.data.spool import SpooledSource
from mercer.data.traits import traits_of_source
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.base import Learner
from mercer.learners.checkpointed import checkpointed, same_data
from mercer.learners.classification import ClassScores
from mercer.learners.far_rows import GatheredFarRows
from mercer.learners.local.tuned import TunedClassifier, TunedRegressor
from mercer.learners.local.tuned_base import TunedEstimator
from mercer.learners.regression import OneTarget
from mercer.learners.table_collection import fit_collection, lazy_predictions
from mercer.learners.table_fit import TableFit
from mercer.learners.table_source import Table, matched, opened, without
from mercer.state import Count, Many, Member, OneOf, Real, Sizes, Stored, Text, require
from mercer.state import Table as Pairs

# Rows per call of predict: enough for all threads.
_PREDICT_ROWS = 16384


class TableResult(NamedTuple):
    """The results for some rows: predictions, scores of the classes, and intervals (n, 2) or sets of classes (n, k)."""

    predicted: Array
    scores: Array | None = None
    intervals: Array | None = None


class TableModel(BaseEstimator):
    r"""A learner of a table: of files and data frames with numbers, text, dates, truth values and missing values.

    One object, and one model file, hold the learner and what turns the columns of a table into its X and y. Columns are
    matched by name. A model that ``mercer train`` has written is a ``TableModel``.

    Parameters
    ----------
    classifier, regressor : learner, optional
        Which of them is fitted depends on the target. By default ``TunedClassifier`` and ``TunedRegressor``, which
        choose everything; if a table is too large for memory, ``KernelRidgeClassifier`` and ``KernelRidge`` take their
        place, with a warning, and read it in passes.
    preparation : TablePreparation, optional
        For learners that take numbers alone; the tuned estimators prepare the columns themselves.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto": classification where the target is text, or whole numbers of at most 100 values.
    test_fraction : float or None
        Rows held out to measure ``score_``, drawn one by one; the model is then fitted on all rows. None: 0.2 for
        learners without leave-one-out predictions, else 0.
    random_state : int, default=0
        Seed of the tuned estimators, and of the draw of the rows held out.

    Attributes
    ----------
    learner_ : fitted
    preparation_ : TablePreparation or None
        None for learners that prepare the columns themselves.
    task_, target_ : str
    ignored_ : list of str
        Columns that were left out.
    classes_ : ndarray
        The labels, for classification.
    loo_score_ : float or None
        Accuracy or R^2 of the leave-one-out predictions of the training rows, if the learner has them.
    score_ : float or None
        Accuracy or R^2 on the rows held out, of a model of the others; None where fewer than two are.
    baselines_ : dict of str to float
        The score of a constant ("mean" or "majority"), and of a linear model ("linear", leave-one-out, on at most
        5,000 rows).
    kernel_error_ : dict of str to float
        The relative error of the Gram matrix of training rows, by the Frobenius norm, with the ends of its 95 %
        interval ("value", "low", "high"); empty for learners without a feature map of numbers.
    n_train_, n_test_ : int
        Rows of the model, and rows held out.

    Notes
    -----
    Learners of numbers read a table in passes, with memory that does not grow with its rows; text is parsed once. The
    tuned estimators hold it.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge
    >>> from mercer.learners import TableModel
    >>> path = os.path.join(tempfile.mkdtemp(), "squares.csv")
    >>> _ = open(path, "w").write("x,y\n" + "".join(f"{i / 50},{(i / 50) ** 2}\n" for i in range(100)))
    >>> model = TableModel(regressor=KernelRidge(random_state=0)).fit(path, "y")
    >>> round(float(model.predict(path)[50]), 1)  # of 1.0, whose square is 1
    1.0
    """

    _stored = Stored(
        preparation_=Member((TablePreparation, ObjectColumn), {"n_features_out_": "d"}, nullable=True),
        learner_=Member((ClassScores, OneTarget, TunedEstimator), {"n_features_in_": "d"}),
        task_=OneOf(("classification", "regression")),
        target_=Text(),
        ignored_=Many(Text()),
        loo_score_=Real(nullable=True),
        score_=Real(nullable=True),
        baselines_=Pairs(Text(), Real()),
        kernel_error_=Pairs(Text(), Real()),
        n_train_=Count(),
        n_test_=Count(),
    )

    def __init__(
        self,
        classifier: ClassScores | TunedClassifier | None = None,
        regressor: OneTarget | TunedRegressor | None = None,
        preparation: TablePreparation | None = None,
        *,
        task: str = "auto",
        test_fraction: float | None = None,
        random_state: int = 0,
    ):
        self.classifier = classifier
        self.regressor = regressor
        self.preparation = preparation
        self.task = task
        self.test_fraction = test_fraction
        self.random_state = random_state

    @classmethod
    def of(cls, learner: BaseEstimator) -> "TableModel":
        """Return the model of a table that a learner fitted in Python is.

        The columns are those that it was fitted on, by the names of its data frame; of an array, by their numbers.
        """
        if not (is_classifier(learner) or is_regressor(learner)):
            raise ValueError(f"TableModel: {type(learner).__name__} predicts neither classes nor numbers.")
        check_is_fitted(learner)
        model = cls()
        model.learner_, model.preparation_ = learner, None
        model.task_ = "classification" if is_classifier(learner) else "regression"
        model.target_, model.ignored_ = "", []
        model.loo_score_, model.score_, model.baselines_ = getattr(learner, "loo_score_", None), None, {}
        model.n_train_, model.n_test_, model.kernel_error_ = 0, 0, {}
        return model

    @property
    def classes_(self) -> Array:
        """The labels, for classification."""
        classes: Array = self.learner_.classes_
        return classes

    @property
    def kinds(self) -> dict[str, str]:
        """The columns that the model needs, with their kinds: "number", "date" or "categories"."""
        if isinstance(self.preparation_, ObjectColumn):
            return {self.preparation_.column_: "categories"}
        if self.preparation_ is not None:
            prepared = self.preparation_
            kinds = dict.fromkeys(prepared.number_names_, "number") | dict.fromkeys(prepared.date_names_, "date")
            return kinds | dict.fromkeys(prepared.category_names_, "categories")
        if isinstance(self.learner_, TunedEstimator):
            return self.learner_.preparation_.kinds
        unnamed = [f"x{j}" for j in range(self.learner_.n_features_in_)]
        return {str(name): "number" for name in getattr(self.learner_, "feature_names_in_", unnamed)}

    def fit(
        self,
        table: Table,
        target: str | int | None = None,
        *,
        ignore: tuple[str | int, ...] = (),
        text: str | int | None = None,
        watch: Callable[[Block], None] | None = None,
    ) -> Self:
        """Prepare and learn.

        Parameters
        ----------
        table : path, data frame of pandas or polars, pyarrow table, ``Blocks`` of one of them, or ``open_source(...)``
            A Dask data frame is prepared and learned where its partitions are, by learners that read rows in passes;
            no rows are held out.
        target : str or int, optional
            The column to predict, by name or number; left out where the source brings its labels (svmlight).
        ignore : names or numbers of columns
            These are left out and never parsed, here and in ``predict``.
        text : str or int, optional
            The column of text that the kernel compares, in place of prepared numbers and categories. Not needed for
            files of sequences or graphs.
        watch : callable, optional
            Called with each piece of the first pass, for progress.
        """
        if is_collection(table):
            return self._fit_collection(table, target, ignore, text)
        table, ignored = without("TableModel", table, ignore) if text is None else (table, [])
        source = opened("TableModel", table, objects=text is not None)
        given = tuple(name for name in ignored if name in source.kinds)
        chosen = source.choose(Choice(target, ignore=given, text=text).of(source))
        if chosen.columns.target is None:
            raise TableError(f"{source.name}: which column is the target?")
        chosen.warn_of_doubts()
        fitted = unfitted(self)
        spooled = None if chosen.rereadable else SpooledSource(chosen)
        try:
            with checkpointed(fitted):
                same_data(lambda: traits_of_source(chosen))
                TableFit(fitted, spooled or chosen, watch).run()
        finally:
            if spooled is not None:
                spooled.close()
        fitted.target_, fitted.ignored_ = chosen.columns.target, ignored
        adopt(self, fitted)
        return self

    def _fit_collection(
        self, frame: DaskCollection, target: str | int | None, ignore: tuple[str | int, ...], text: str | int | None
    ) -> Self:
        if text is not None:
            raise ValueError(
                "TableModel: text names a column of strings of this process, and X is a Dask data frame. Give "
                "X.compute(), or leave text away: the column is then read as categories."
            )
        fitted = unfitted(self)
        fit_collection(fitted, frame, target, ignore)
        adopt(self, fitted)
        return self

    def _check_stored(self, sizes: Sizes) -> None:
        require(is_classifier(self.learner_) == (self.task_ == "classification"), "learner_ must do task_")
        prepares = isinstance(self.learner_, TunedEstimator)
        require(prepares == (self.preparation_ is None), "preparation_ must be there for learners of numbers alone")

    def predict(self, table: Table) -> Array:
        """Return the predictions for the rows of a table, as in ``fit`` without the target: labels, or numbers.

        Those of a Dask data frame are a lazy series.
        """
        if is_collection(table):
            check_is_fitted(self, "learner_")
            return lazy_predictions(self, "predict", table)
        return np.concatenate([result.predicted for result in self.results(table)])

    def predict_proba(self, table: Table) -> Array:
        """Return the probability of each class, in the order of ``classes_``."""
        if not hasattr(self.learner_, "predict_proba"):
            raise AttributeError(
                f"TableModel: {type(self.learner_).__name__} has no probabilities. TunedClassifier (the default) and "
                "KernelLogisticRegression have them."
            )
        if is_collection(table):
            return lazy_predictions(self, "predict_proba", table)
        return np.concatenate([np.asarray(result.scores) for result in self.results(table, scores=True)])

    def predict_interval(self, table: Table, coverage: float = 0.9) -> Array:
        """Return intervals (n, 2) that hold the target of a new row with about the given probability."""
        if self.task_ == "classification":
            raise AttributeError("TableModel: intervals are of numbers; predict_set returns sets of classes.")
        return self._covering(table, coverage)

    def predict_set(self, table: Table, coverage: float = 0.9) -> Array:
        """Return for each row the set of classes, (n, n_classes) of bool, with about the given probability."""
        if self.task_ == "regression":
            raise AttributeError("TableModel: sets are of classes; predict_interval returns intervals of numbers.")
        return self._covering(table, coverage)

    def _covering(self, table: Table, coverage: float) -> Array:
        return np.concatenate([np.asarray(result.intervals) for result in self.results(table, coverage=coverage)])

    def results(
        self, table: Table, *, scores: bool = False, coverage: float | None = None, after: int = 0
    ) -> Iterator[TableResult]:
        """Yield the results of some thousands of rows at a time: predictions and, where asked for, more.

        Parameters
        ----------
        table : as in ``predict``
        scores : bool
            For classification, one column per class: probabilities where the learner has them.
        coverage : float, optional
            For intervals, or for sets of classes, that hold the target with this probability.
        after : int
            Rows at the beginning that have their results already: they are read, and nothing is computed for them.
        """
        far, scores = self._far_rows(), scores and self.task_ == "classification"
        covering = None if coverage is None else self._covering_method()
        for X in _after(self.rows(table), after):
            with far.collecting():
                predicted = self.learner_.predict(X)
            with GatheredFarRows().collecting():  # the same rows again
                of_classes = self._scores(X) if scores else None
                intervals = None if covering is None else covering(X, coverage)
            yield TableResult(predicted, of_classes, intervals)
        far.warn("TableModel")

    def _covering_method(self) -> Callable[[Rows, float | None], Array]:
        name = "predict_set" if self.task_ == "classification" else "predict_interval"
        method: Callable[[Rows, float | None], Array] | None = getattr(self.learner_, name, None)
        if method is None:
            raise ValueError(
                f"TableModel: {type(self.learner_).__name__} has no {name}; TunedRegressor and TunedClassifier, the "
                "default learners (in the shell --model tuned), have intervals and sets."
            )
        return method

    def _scores(self, X: Rows) -> Array:
        if hasattr(self.learner_, "predict_proba"):
            probabilities: Array = self.learner_.predict_proba(X)
            return probabilities
        values: Array = self.learner_.decision_function(X)
        return np.column_stack([-values, values]) if values.ndim == 1 else values

    def _far_rows(self) -> GatheredFarRows:
        """Return what gathers the far rows of a source, by the names of its columns."""
        return GatheredFarRows(getattr(self.preparation_, "column_names", None))

    def rows(self, table: Table) -> Iterator[Rows | RawTable | Blocks]:
        """Yield the rows of a table as the learner takes them, matched by the names of the columns."""
        check_is_fitted(self, "learner_")
        if is_collection(table):
            raise TableError(
                "TableModel: of a Dask data frame there are predict and predict_proba. Call other methods on its "
                "partitions, with map_partitions."
            )
        owner = str(table) if isinstance(table, str | PathLike) else "TableModel"
        if isinstance(self.preparation_, ObjectColumn):
            source = self.preparation_.match(opened(owner, table, objects=True), self.target_)
            yield from Blocks(PreparedReader(source, self.preparation_), _PREDICT_ROWS, owner=source.name)
            return
        left_out = [] if self.preparation_ is None else self.preparation_.left_out_
        source = matched(owner, table, self.kinds, {*left_out, *self.ignored_, self.target_})
        if self.preparation_ is not None:
            told_of = list(source.kinds)  # by ``matched``
            reader = PreparedReader(self.preparation_.match(source, self.target_, told_of), self.preparation_)
            yield from Blocks(reader, _PREDICT_ROWS, owner=source.name)
            return
        first_row, unseen = 0, dict[str, Counter[str]]()
        for block in source.pieces(_PREDICT_ROWS):
            piece = RawTable.of_block(block, source).matched(source.name, self.kinds, first_row=first_row)
            piece = piece.finite(source.name)
            first_row += block.n_rows
            if isinstance(self.learner_, TunedEstimator):
                self.learner_.preparation_.count_unseen(piece, unseen)
                yield piece
            else:
                yield self._numbers(piece, source.name, first_row - block.n_rows)
        if first_row == 0:
            raise TableError(f"{source.name}: there are no rows.")
        warn_of_unseen(source.name, unseen)

    def _numbers(self, piece: RawTable, owner: str, first_row: int) -> Array | Blocks:
        X = np.column_stack(piece.values)
        gone = np.isnan(X)
        if gone.any():
            row, column = (int(i) for i in np.argwhere(gone)[0])
            raise TableError(
                f"{owner}: column {piece.column_names[column]!r} misses a value in row {first_row + row + 1}, and "
                f"{type(self.learner_).__name__} takes no missing values. Fill it in, or train a TableModel."
            )
        return as_blocks(X, owner=owner) if isinstance(self.learner_, Learner) else X

    def transform(self, table: Table, *, after: int = 0) -> Iterator[Rows]:
        """Yield the features of the rows of a table that follow its first ``after`` rows."""
        feature_map = getattr(self.learner_, "feature_map_", None)
        if feature_map is None:
            raise ValueError(
                f"TableModel: {type(self.learner_).__name__} has no feature map. Train another learner (in the shell "
                "--model ridge)."
            )
        for X in _after(self.rows(table), after):
            yield feature_map.transform(X)


def _after(pieces: Iterator[Rows | RawTable | Blocks], n_rows: int) -> Iterator[Rows | RawTable | Blocks]:
    """Yield the pieces that follow the first rows, which end with a piece: results keep their bits."""
    end = 0
    for piece in pieces:
        start, end = end, end + int(piece.n_rows or 0 if isinstance(piece, Blocks) else piece.shape[0])
        if start < n_rows < end:
            raise ValueError(
                f"TableModel: after must be the end of a piece, such as {start} or {end} rows, got {n_rows}. The sizes "
                "of pieces follow the memory budget: give it as before."
            )
        if start >= n_rows:
            yield piece
