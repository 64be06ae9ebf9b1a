"""The columns of a table as numbers: values, dates, categories, and what is missing."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.data.calendar import DATE_PARTS, calendar
from mercer.learners.local.scaling import weighted_median
from mercer.state import Flag, Many, OneOf, Real, Stored, Text, part


@part("TableColumn")
@dataclass(frozen=True)
class TableColumn:
    """How one column becomes columns of numbers.

    A number stays one column; where values are missing in the training rows, a second column is 1 there, and the median
    takes their place. A date becomes days since 1970, and the sine and cosine of its place in the year, in the week and
    in the day (``mercer.data.calendar``). Text and categories become a column of 0 and 1 for each category, the most
    frequent ones; a missing value is a category too.

    Attributes
    ----------
    kind : {"number", "date", "categories"}
    categories : list of str
    has_missing : bool
        Whether a missing value has a column of its own.
    fill : float
        What takes the place of a missing number or date (in days).
    """

    _stored = Stored(
        kind=OneOf(("number", "date", "categories")),
        categories=Many(Text()),
        has_missing=Flag(),
        fill=Real(),
    )

    kind: str
    categories: list[str]
    has_missing: bool
    fill: float

    @classmethod
    def of(
        cls, values: Array, kind: str, max_categories: int, weight: Array, frequent: float = np.inf
    ) -> "TableColumn":
        """Learn from the values of a column, as ``RawTable`` holds them, with the weights of its rows.

        Categories of a weight of at least ``frequent`` have a column beyond ``max_categories``, too.
        """
        if kind == "categories":
            counts: Counter[str] = Counter()
            for value, count in zip(values.tolist(), weight.tolist(), strict=True):
                if value is not None:
                    counts[value] += count
            by_count = sorted(counts, key=lambda value: (-counts[value], value))
            kept = by_count[:max_categories] + [one for one in by_count[max_categories:] if counts[one] >= frequent]
            return cls(kind, sorted(kept), any(value is None for value in values.tolist()), 0.0)
        missing = np.isnan(values)
        fill = 0.0 if missing.all() else weighted_median(values[~missing], weight[~missing])
        return cls(kind, [], bool(missing.any()), fill)

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of numbers."""
        own = {"number": [name], "categories": [f"{name}={value}" for value in self.categories]}
        own["date"] = [f"{name} {part}" for part in DATE_PARTS]
        return [*own[self.kind], *([f"{name} is missing"] if self.has_missing else [])]

    def numbers(self, values: Array) -> Array:
        """Return the columns of numbers, float64."""
        if self.kind == "categories":
            place = {value: j for j, value in enumerate(self.categories)}
            codes = np.array([place.get(value, -1) for value in values.tolist()], dtype=np.int64)
            out = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
            missing = np.array([value is None for value in values.tolist()])
        else:
            missing = np.isnan(values)
            filled = np.where(missing, self.fill, values)
            out = filled[:, None] if self.kind == "number" else calendar(filled)
        return np.column_stack([out, missing]) if self.has_missing else out
