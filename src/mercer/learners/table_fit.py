"""The fit of a model of a table: in memory by tuned estimators, in passes by others."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from mercer._typing import Array
from mercer.checkpoints import kept
from mercer.config import memory_budget
from mercer.data import Block, Blocks, Source, TablePreparation, TableWarning, reservoir
from mercer.data.calendar import DATE_PARTS
from mercer.data.object_column import ObjectColumn
from mercer.data.prepared import PreparedReader, Split
from mercer.data.raw_table import RawTable, read_table
from mercer.data.sources.base import PIECE_ROWS
from mercer.data.sources.collections import DaskArray
from mercer.data.table_summary import missing_refused
from mercer.data.target import TargetSummary, encoder
from mercer.gram import approximation_error
from mercer.learners.baselines import linear_score
from mercer.learners.far_rows import GatheredFarRows
from mercer.learners.local.preparation import ColumnPreparation
from mercer.learners.local.tuned import TunedClassifier, TunedRegressor
from mercer.learners.local.tuned_base import TunedEstimator
from mercer.learners.ridge import KernelRidge, KernelRidgeClassifier
from mercer.validation import check_real

if TYPE_CHECKING:
    from mercer.learners.table_model import TableModel

# Rows that the baseline of a linear model is measured on.
_BASELINE_ROWS = 5000
# Rows that the error of the kernel is measured on.
_MEASURED_ROWS = 2000
# Rows held out where a learner has no leave-one-out score.
_HELD_OUT = 0.2
# Bytes that a tuned fit holds per row and prepared column, and per row besides; a column of text has at most 33.
_BYTES_PER_ENTRY, _BYTES_PER_ROW, _CATEGORIES = 48, 4096, 33
# Features of the ridge regression that takes the place of a tuned estimator on tables beyond memory.
_COMPONENTS = 1024
# Bytes of a direct solve for each entry of a D x D matrix.
_BYTES_PER_SQUARE = 48


class StreamLearner(Protocol):
    """What the fit of a table asks of a learner that reads rows in passes."""

    def fit(self, X: Blocks | DaskArray, y: DaskArray | None = None) -> Self:
        """Learn blocks of prepared rows, or lazy arrays of them."""

    def score(self, X: Blocks) -> float:
        """Return the accuracy or R^2."""


class TableFit:
    """One fit of a ``TableModel``, whose attributes it sets.

    Parameters
    ----------
    model : TableModel
        Unfitted.
    source : Source
        With chosen columns and the target, read several times.
    watch : callable, optional
        Called with each piece of the first pass.
    """

    def __init__(self, model: "TableModel", source: Source, watch: Callable[[Block], None] | None):
        self._model, self._source, self._watch = model, source, watch
        self._target = str(source.columns.target)

    def run(self) -> None:
        """Read, decide, fit and score."""
        model, source = self._model, self._source
        summary = TargetSummary(source.name, self._target)

        def both(piece: Block) -> None:
            summary.update(piece.y)
            if self._watch is not None:
                self._watch(piece)

        given = (model.classifier, model.regressor)
        tuned = source.columns.objects is None and all(
            learner is None or isinstance(learner, TunedEstimator) for learner in given
        )
        preparation = None
        if tuned:
            for piece in source.pieces(PIECE_ROWS):
                both(piece)
        else:
            preparation = self._preparation().fit(source, watch=both)
        source.n_rows = summary.n_rows
        model.task_ = summary.task(model.task)
        learner = chosen_learner(model)
        if isinstance(learner, TunedClassifier | TunedRegressor) and self._is_beyond_memory():
            learner = learner_for_streams(model)
        model.n_train_, model.n_test_, model.score_, model.loo_score_ = summary.n_rows, 0, None, None
        model.kernel_error_ = {}
        is_classification = model.task_ == "classification"
        model.baselines_ = {"majority": summary.majority} if is_classification else {"mean": 0.0}
        if isinstance(learner, TunedClassifier | TunedRegressor):
            model.preparation_ = None
            self._fit_table(learner)
        else:
            self._fit_blocks(learner, self._preparation().fit(source) if preparation is None else preparation)
        model.loo_score_ = loo_score(model.learner_, summary.variance)

    def _preparation(self) -> TablePreparation | ObjectColumn:
        given = self._model.preparation
        if self._source.columns.objects is not None:
            return ObjectColumn()
        return TablePreparation() if given is None else clone(given)

    def _is_beyond_memory(self) -> bool:
        columns = self._source.columns
        width = len(columns.numbers) + len(DATE_PARTS) * len(columns.dates) + _CATEGORIES * len(columns.categories)
        need = int(self._source.n_rows or 0) * (_BYTES_PER_ENTRY * width + _BYTES_PER_ROW)
        budget = memory_budget()
        # recorded: a fit that goes on later makes the same choice, whatever memory is free then
        if need <= kept("memory for a table", lambda: budget.n_bytes):
            return False
        warn(
            f"{self._source.name}: a tuned model of {self._source.n_rows:,} rows needs about {need / 2**30:.1f} GiB, "
            f"and {budget.n_bytes / 2**30:.1f} GiB are there ({budget.source}). Ridge regression on {_components()} "
            "features takes its place, in passes over the rows. Allow more memory (--memory), or train on fewer rows.",
            TableWarning,
            stacklevel=6,
        )
        return True

    def _split(self, learner: BaseEstimator) -> Split | None:
        fraction = self._model.test_fraction
        if fraction is None:
            fraction = 0.0 if _has_loo_score(learner) else _HELD_OUT
        fraction = check_real("TableModel", "test_fraction", fraction, least=0)
        return Split(fraction, self._model.random_state) if fraction else None

    def _fit_table(self, learner: TunedClassifier | TunedRegressor) -> None:
        model = self._model
        table, y, _ = read_table(self._source)
        assert y is not None  # noqa: S101 - the target is chosen
        table, labels = table.finite(self._source.name), encoder(model.task_)(y)
        refuses = self._model.preparation is not None and self._model.preparation.missing == "error"
        if refuses and (missing := table.missing):
            raise missing_refused(self._source.name, missing, table.n_rows)
        split = self._split(learner)
        if split is not None:
            held_out = split.draw()(len(labels))
            split.check(len(labels), self._source.name)
            model.n_test_ = int(held_out.sum())

            def score() -> float | None:
                first = clone(learner).fit(table.some(~held_out), labels[~held_out])
                return float(first.score(table.some(held_out), labels[held_out])) if model.n_test_ > 1 else None

            model.score_ = kept("score of held-out rows", score)
        model.learner_ = learner.fit(table, labels)
        rows = np.random.RandomState(model.random_state).permutation(len(labels))[:_BASELINE_ROWS]
        self._linear_baseline(_scaled(table.some(rows)), labels[rows])

    def _fit_blocks(self, learner: StreamLearner, preparation: TablePreparation | ObjectColumn) -> None:
        model, source, encode = self._model, self._source, encoder(self._model.task_)
        split = self._split(learner)
        if split is not None:
            train, test = (
                Blocks(PreparedReader(source, preparation, encode=encode, split=split, held_out=out), owner=source.name)
                for out in (False, True)
            )
            model.n_test_ = int(test.n_rows or 0)

            def score() -> float | None:
                first = clone(learner).fit(train)
                return self._score(first, test, preparation) if model.n_test_ > 1 else None

            model.score_ = kept("score of held-out rows", score)
        blocks = Blocks(PreparedReader(source, preparation, encode=encode), owner=source.name)
        model.learner_, model.preparation_ = learner.fit(blocks), preparation
        if source.columns.objects is not None:
            return
        pairs = ((block.X, np.asarray(block.y)) for block in blocks.labelled())
        X, y = reservoir(pairs, _BASELINE_ROWS, np.random.RandomState(model.random_state), trusted=True)
        self._linear_baseline(X if isinstance(X, np.ndarray) else None, y)
        if hasattr(learner, "feature_map_"):
            error = approximation_error(learner.feature_map_, X[:_MEASURED_ROWS]).frobenius
            model.kernel_error_ = {"value": error.value, "low": error.low, "high": error.high}

    @staticmethod
    def _score(learner: StreamLearner, blocks: Blocks, preparation: TablePreparation | ObjectColumn) -> float:
        far = GatheredFarRows(getattr(preparation, "column_names", None))
        with far.collecting():
            score = learner.score(blocks)
        far.warn("TableModel")
        return score

    def _linear_baseline(self, X: Array | None, y: Array) -> None:
        """Add the score of a linear model; sparse rows have none."""
        is_classification = self._model.task_ == "classification"
        if X is not None and len(np.unique(y)) > 1:
            self._model.baselines_["linear"] = linear_score(X, y, is_classification=is_classification)


def chosen_learner(model: "TableModel") -> StreamLearner | TunedClassifier | TunedRegressor:
    """Return the learner of the task of a model, unfitted."""
    if model.classifier is None and model.regressor is None:
        tuned = TunedClassifier if model.task_ == "classification" else TunedRegressor
        return tuned(random_state=model.random_state)
    learner = model.classifier if model.task_ == "classification" else model.regressor
    if learner is None:
        raise ValueError(f"TableModel: the task is {model.task_}, and no learner is given for it.")
    if is_classifier(learner) != (model.task_ == "classification"):
        raise ValueError(f"TableModel: {type(learner).__name__} does not do {model.task_}.")
    chosen: StreamLearner | TunedClassifier | TunedRegressor = clone(learner)
    return chosen


def learner_for_streams(model: "TableModel") -> KernelRidge | KernelRidgeClassifier:
    """Return the learner that takes the place of a tuned one where rows cannot be held."""
    learner = KernelRidgeClassifier if model.task_ == "classification" else KernelRidge
    return learner(n_components=_components(), random_state=model.random_state)


def _components() -> int:
    """Return the number of features whose matrices take a quarter of the memory, at most 1024."""
    return int(np.clip(np.sqrt(memory_budget().n_bytes / (4 * _BYTES_PER_SQUARE)), 32, _COMPONENTS)) // 2 * 2


def _scaled(table: RawTable) -> Array:
    return np.asarray(ColumnPreparation(method="clip", random_state=0).fit_transform(table))


def _has_loo_score(learner: BaseEstimator) -> bool:
    return isinstance(learner, TunedEstimator) or (isinstance(learner, KernelRidge) and learner.alpha == "loo")


def loo_score(learner: BaseEstimator, variance: float) -> float | None:
    """Return the leave-one-out score of a fitted learner, if it has one."""
    if isinstance(learner, TunedEstimator):
        return float(learner.loo_score_)
    scores = np.asarray(getattr(learner, "scores_", []))
    if _has_loo_score(learner) and variance > 0 and np.isfinite(scores).any():
        return 1 - float(np.nanmin(scores)) / variance
    return None
