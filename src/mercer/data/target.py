"""The target of a table: whether it holds classes or numbers, and its encoding for learners."""

from collections import Counter
from collections.abc import Callable
from typing import Literal
from warnings import warn

import numpy as np

from mercer._typing import Array
from mercer.data.columns import TableError, TableWarning
from mercer.stats import ColumnMoments

Task = Literal["classification", "regression"]
# Largest number of distinct whole numbers that "auto" takes for classes; ten times more are refused as classes.
_MOST_CLASSES = 100


class TargetSummary:
    """A summary of the values of a target. The learner finds the classes themselves.

    Parameters
    ----------
    owner : str
        The name that begins error messages.
    target : str
        The name of the column.
    """

    def __init__(self, owner: str, target: str):
        self._owner, self._target = owner, target
        self.n_rows = 0
        self._is_text = False
        self._whole = True
        self._distinct: Counter[object] = Counter()
        self.moments = ColumnMoments.of(1)

    def update(self, values: Array | None) -> None:
        """Add rows."""
        assert values is not None  # noqa: S101
        if values.dtype.kind in "OUb":
            missing = np.array([value is None for value in values.tolist()])
            self._is_text = True
        else:
            missing = ~np.isfinite(values)
            self._whole = self._whole and bool((values == np.floor(values)).all())
            self.moments.update(np.asarray(values, dtype=np.float64)[:, None])
        if missing.any():
            row = self.n_rows + int(np.argmax(missing)) + 1
            what = "misses a value" if self._is_text or np.isnan(values[missing]).any() else "holds infinity"
            raise TableError(f"{self._owner}: the target {self._target!r} {what} in row {row}. Leave such rows out.")
        if len(self._distinct) <= 10 * _MOST_CLASSES:
            self._distinct.update(values.tolist())
        self.n_rows += len(values)

    def merge(self, other: "TargetSummary") -> "TargetSummary":
        """Add the summary of rows that follow."""
        self._is_text, self._whole = self._is_text or other._is_text, self._whole and other._whole
        self.moments.merge(other.moments)
        self._distinct.update(other._distinct)
        self.n_rows += other.n_rows
        return self

    def task(self, asked: str) -> Task:
        """Return the task; "auto" is decided by the values. A task that the values do not allow is an error."""
        n_values = len(self._distinct)
        if asked == "auto":
            few = self._whole and n_values <= _MOST_CLASSES
            asked = "classification" if self._is_text or few else "regression"
            if few and not self._is_text and n_values > 2:
                warn(
                    f"{self._owner}: the target {self._target!r} holds {n_values} whole numbers, taken as classes. "
                    "task='regression' takes them as numbers (in the shell --task regression).",
                    TableWarning,
                    stacklevel=4,
                )
        if asked == "regression" and self._is_text:
            raise TableError(
                f"{self._owner}: the target {self._target!r} holds text; regression needs numbers. Correct what is not "
                "a number, or choose another task (--task classification)."
            )
        many = not self._is_text and n_values > 10 * _MOST_CLASSES
        if asked == "classification" and (many or not (self._is_text or self._whole)):
            what = f"more than {10 * _MOST_CLASSES} values" if self._whole else "numbers that are not whole"
            raise TableError(
                f"{self._owner}: the target {self._target!r} holds {what}; classification needs labels. Ask for "
                f"regression (--task regression), or read the column as text (--type {self._target}=category)."
            )
        if n_values < 2:
            only = next(iter(self._distinct), None)
            raise TableError(f"{self._owner}: the target {self._target!r} holds one value only, {only!r}.")
        return "classification" if asked == "classification" else "regression"

    @property
    def variance(self) -> float:
        """The variance of a target of numbers."""
        return float(self.moments.deviation[0] ** 2)

    @property
    def majority(self) -> float:
        """The share of the most frequent label."""
        return max(self._distinct.values(), default=0) / max(self.n_rows, 1)


def encoder(task: Task) -> Callable[[Array], Array]:
    """Return the function from the values of a target to the y of a learner: labels, or numbers."""
    return _as_numbers if task == "regression" else _as_labels


def _as_numbers(values: Array) -> Array:
    return values.astype(np.float64)


def _as_labels(values: Array) -> Array:
    """Return whole numbers as integers, text as NumPy text, and truth values as the texts true and false."""
    if values.dtype.kind == "b":
        return np.where(values, "true", "false")
    return values.astype(np.int64 if values.dtype.kind == "f" else str if values.dtype.kind == "O" else values.dtype)
