"""Tables that are Dask data frames: columns with text, dates and missing values, prepared where the rows are.

Two passes come before those of the learner: one for the kinds of the columns, one for summaries of the columns and of
the target. Each partition returns a few numbers and its categories. The prepared rows are a lazy Dask array, and never
reach this process.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from warnings import catch_warnings, simplefilter, warn

import numpy as np

from mercer._typing import Array
from mercer.data import Source, TableError, TablePreparation, TableWarning
from mercer.data.columns import Columns, nearest, some
from mercer.data.frame_columns import Frame, PandasFrame
from mercer.data.lazy import as_pandas
from mercer.data.raw_source import RawSource
from mercer.data.raw_table import RawTable
from mercer.data.sources.base import PIECE_ROWS
from mercer.data.sources.collections import Collection as DaskCollection
from mercer.data.sources.collections import DaskArray, Delayed, delayed_parts
from mercer.data.sources.collections import is_frame as is_dask_frame
from mercer.data.table_summary import TableSummary
from mercer.data.target import TargetSummary, Task, encoder
from mercer.learners.local.tuned import TunedClassifier, TunedRegressor
from mercer.learners.local.tuned_base import TunedEstimator
from mercer.learners.table_fit import StreamLearner, chosen_learner, learner_for_streams, loo_score
from mercer.learners.table_source import named

if TYPE_CHECKING:
    import pandas as pd

    from mercer.learners.table_model import TableModel

T = TypeVar("T")

_OWNER = "TableModel"
_KINDS = {"number": "number", "date": "date", "categories": "category"}


@dataclass(frozen=True)
class TableFrame:
    """The partitions of a Dask data frame as parts of one table: ``kinds`` of its columns, and the target's name."""

    parts: list[Delayed]
    kinds: Mapping[str, str]
    target: str

    @classmethod
    def of(
        cls, frame: DaskCollection, target: str | int | None, ignore: Collection[str | int]
    ) -> "tuple[TableFrame, list[str]]":
        """Find the kinds of the columns; return the frame, and the names of those that are ignored."""
        if not is_dask_frame(frame):
            raise TableError(f"{_OWNER}: a Dask array has no names of columns. Give a Dask data frame.")
        if target is None:
            raise TableError(f"{_OWNER}: which column is the target? The columns are {some(list(frame.columns))}.")
        names = [str(name) for name in frame.columns]
        (target,), ignored = named(_OWNER, names, [target], "the target"), named(_OWNER, names, ignore)
        used = [name for name in frame.columns if str(name) not in ignored]
        parts = delayed_parts(frame[used])
        return cls(parts, _one_kind(_computed(_kinds_of, parts)), target), ignored

    def summaries(self) -> "tuple[TableSummary, TargetSummary, list[int]]":
        """Return the summaries of the columns and of the target, and the rows of each partition."""
        found = _computed(_summary_of, self.parts, self.kinds, self.target)
        table, labels = _empty(self.kinds, self.target)
        for part in found:
            if part is not None:
                table.merge(part[0])
                labels.merge(part[1])
        return table, labels, [0 if part is None else part[0].n_rows for part in found]

    def prepared(self, preparation: TablePreparation, task: Task, n_rows: Sequence[int]) -> tuple[DaskArray, DaskArray]:
        """Return the prepared columns and the encoded target as lazy Dask arrays."""
        import dask.array as da  # noqa: PLC0415 - optional
        from dask.delayed import delayed  # noqa: PLC0415

        embedded = delayed(preparation, pure=False, traverse=False)
        dtype = np.dtype(np.float64 if task == "regression" else object)
        kept = [(number, part, n) for number, (part, n) in enumerate(zip(self.parts, n_rows, strict=True)) if n]
        rows, labels = [], []
        for number, part, n in kept:
            X = delayed(_rows_of, pure=False)(number, part, self.kinds, self.target, embedded)
            rows.append(da.from_delayed(X, (n, preparation.n_features_out_), dtype=np.float32))
            y = delayed(_labels_of, pure=False)(number, part, self.kinds, self.target, task)
            labels.append(da.from_delayed(y, (n,), dtype=dtype))
        return da.concatenate(rows), da.concatenate(labels)


def fit_collection(
    model: "TableModel", frame: DaskCollection, target: str | int | None, ignore: Collection[str | int]
) -> None:
    """Prepare and learn where the rows are, and set the attributes of an unfitted model."""
    _check_learners(model)
    table, ignored = TableFrame.of(frame, target, ignore)
    summary, labels, n_rows = table.summaries()
    preparation = (model.preparation or TablePreparation()).fit_summary(summary)
    model.task_ = labels.task(model.task)
    learner = _learner(model)
    model.n_train_, model.n_test_, model.score_, model.kernel_error_ = summary.n_rows, 0, None, {}
    model.baselines_ = {"majority": labels.majority} if model.task_ == "classification" else {"mean": 0.0}
    X, y = table.prepared(preparation, model.task_, n_rows)
    model.learner_, model.preparation_ = learner.fit(X, y), preparation
    model.loo_score_ = loo_score(model.learner_, labels.variance)
    model.target_, model.ignored_ = table.target, ignored


def _check_learners(model: "TableModel") -> None:
    """Refuse, before any work, what needs the rows in this process."""
    for learner in (model.classifier, model.regressor):
        if isinstance(learner, TunedEstimator):
            raise ValueError(
                f"{_OWNER}: {type(learner).__name__} prepares tables in this process, and X is a Dask data frame. Give "
                "KernelRidgeClassifier or KernelRidge, or X.compute(); or fit the learner itself on columns of numbers."
            )
    if model.test_fraction:
        raise ValueError(
            f"{_OWNER}: test_fraction={model.test_fraction} holds out rows of this process. Cut the Dask data frame by "
            "its random_split, fit on one part, and compare predictions of the other."
        )


def _learner(model: "TableModel") -> StreamLearner:
    learner = chosen_learner(model)
    if not isinstance(learner, TunedClassifier | TunedRegressor):
        return learner
    ridge = learner_for_streams(model)
    warn(
        f"{_OWNER}: tuned models prepare tables in one process. {type(ridge).__name__} on {ridge.n_components} "
        "features takes their place, because X is a Dask data frame. Give a classifier or a regressor to choose.",
        TableWarning,
        stacklevel=4,
    )
    return ridge


def lazy_predictions(model: "TableModel", method: str, frame: DaskCollection) -> Array:
    """Return ``predict`` or ``predict_proba`` of each partition of a Dask data frame, as a lazy series or frame."""
    import dask  # noqa: PLC0415 - optional
    from dask.dataframe.dispatch import make_meta  # noqa: PLC0415

    if not is_dask_frame(frame):
        raise TableError(f"{_OWNER}: a Dask array has no names of columns. Give a Dask data frame.")
    names = [str(name) for name in frame.columns]
    missing = [name for name in model.kinds if name not in names]
    if missing:
        free = [name for name in names if name not in model.kinds]
        raise TableError(
            f"{_OWNER}: the model needs the column{'s' * (len(missing) > 1)} {some(missing)}."
            f"{nearest(missing[0], free)}"
        )
    example = _example(model, method)
    used = frame[[name for name in frame.columns if str(name) in model.kinds]]
    meta = as_pandas(example, make_meta(used).index[:0])
    embedded = dask.delayed(model, pure=False, traverse=False)
    found: Array = used.map_partitions(_predicted, embedded, method, meta=meta, enforce_metadata=False)
    return found


def _example(model: "TableModel", method: str) -> Array:
    """Return results of some rows, for their shape and type."""
    if method == "predict_proba":
        return np.zeros((2, len(model.classes_)))
    return np.asarray(model.classes_[:1]) if model.task_ == "classification" else np.zeros(1)


def _predicted(frame: PandasFrame, model: "TableModel", method: str) -> "pd.Series | pd.DataFrame":
    example = _example(model, method)
    if not frame.shape[0]:
        return as_pandas(example, frame.index)
    with catch_warnings():
        simplefilter("ignore")  # a warning of a worker reaches nobody
        found = getattr(model, method)(frame)
    return as_pandas(found.astype(example.dtype) if found.dtype.kind == "f" else found, frame.index)


def _computed(work: Callable[..., T | str], parts: Sequence[Delayed], *more: object) -> list[T]:
    """Do some work on each partition where it is; of several that are refused, the error names the first."""
    import dask  # noqa: PLC0415 - optional

    task = dask.delayed(work, pure=False)
    found = list(dask.compute(*(task(number, part, *more) for number, part in enumerate(parts))))
    for result in found:
        if isinstance(result, str):
            raise TableError(result)
    return found


def _place(number: int) -> str:
    return f"{_OWNER}: partition {number}"


def _kinds_of(number: int, frame: Frame) -> dict[str, str] | str:
    """Return the kinds of the columns of a partition that hold a value, or why it is refused."""
    if not frame.shape[0]:
        return {}
    try:
        table = RawTable.of(_place(number), frame)
    except ValueError as error:
        return str(error)
    empty = [name for name, (n, _) in table.missing.items() if n == table.n_rows]
    kinds = dict(zip(table.column_names, table.kinds, strict=True))
    return {name: "" if name in empty else kind for name, kind in kinds.items()}


def _one_kind(found: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the kind of each column in all partitions: numbers and text together are text."""
    kinds: dict[str, str] = {}
    for number, part in enumerate(found):
        for name, kind in part.items():
            before = kinds.setdefault(name, kind)
            if "date" in (before, kind) and kind and before not in ("", kind):
                raise TableError(
                    f"{_place(number)} holds {kind} in column {name!r}, and those before it hold {before}. Convert the "
                    "column where the partitions are made."
                )
            kinds[name] = before if not kind or before == kind else kind if not before else "categories"
    if not kinds:
        raise TableError(f"{_OWNER}: there are no rows.")
    return {name: kind or "number" for name, kind in kinds.items()}


def _source(owner: str, frame: Frame, kinds: Mapping[str, str], target: str) -> Source:
    """Return a partition as a source, with columns of the kinds of the whole table."""
    source = RawSource(owner, RawTable.of(owner, frame, only=kinds).matched(owner, kinds))
    numbers, dates, categories = (
        tuple(name for name in kinds if kinds[name] == kind and name != target) for kind in _KINDS
    )
    return source.choose(Columns(numbers, categories, target, dates=dates))


def _empty(kinds: Mapping[str, str], target: str) -> tuple[TableSummary, TargetSummary]:
    no_rows = RawTable([np.empty(0)] * len(kinds), list(kinds.values()), list(kinds))
    source = RawSource(_OWNER, no_rows)
    numbers, dates, categories = (
        tuple(name for name in kinds if kinds[name] == kind and name != target) for kind in _KINDS
    )
    return TableSummary(source.choose(Columns(numbers, categories, target, dates=dates))), TargetSummary(_OWNER, target)


def _summary_of(
    number: int, frame: Frame, kinds: Mapping[str, str], target: str
) -> tuple[TableSummary, TargetSummary] | str | None:
    """Return the summaries of a partition, or why it is refused; None without rows."""
    if not frame.shape[0]:
        return None
    place = _place(number)
    try:
        source = _source(place, frame, kinds, target)
        table, labels = TableSummary(source), TargetSummary(place, target)
        for piece in source.pieces(PIECE_ROWS):
            table.update(piece)
            labels.update(piece.y)
    except ValueError as error:
        return str(error)
    return table, labels


def _rows_of(number: int, frame: Frame, kinds: Mapping[str, str], target: str, preparation: TablePreparation) -> Array:
    """Return the prepared rows of a partition."""
    source = _source(_place(number), frame, kinds, target)
    rows = [
        preparation.transform(piece, source.columns, owner=source.name, first_row=number_of_piece * PIECE_ROWS)
        for number_of_piece, piece in enumerate(source.pieces(PIECE_ROWS))
    ]
    return np.concatenate(rows)


def _labels_of(number: int, frame: Frame, kinds: Mapping[str, str], target: str, task: Task) -> Array:
    """Return the encoded target of a partition."""
    table = RawTable.of(_place(number), frame, only=[target]).matched(_place(number), {target: kinds[target]})
    return encoder(task)(table.values[0])
