"""From the columns of a table to the numbers of a learner, learned in one pass."""

from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator

from mercer._typing import Array, Rows
from mercer.data.calendar import DATE_PARTS
from mercer.data.columns import Choice, Codes, Column, Columns, TableError, TableWarning, nearest, some
from mercer.data.frame_columns import Frame
from mercer.data.raw_source import opened_table
from mercer.data.sources.base import PIECE_ROWS, Block, Source
from mercer.data.table_summary import TableSummary, expanded, standardised
from mercer.fresh_fit import adopt, unfitted
from mercer.state import Count, Flag, Many, OneOf, Reals, Sizes, Stored, Text, require

_MISSING = ("indicate", "impute", "error")


class TablePreparation(BaseEstimator):
    r"""A streamed encoder: numbers standardised, dates as numbers, categories one-hot, missing values as columns.

    .. math:: x \mapsto (x - \bar x) / s

    for numbers, with the mean and the standard deviation of the rows of ``fit``, and 1[x = c] for each category c. A
    date becomes seven numbers (``mercer.data.calendar``). Sparse rows are scaled and not centred. Constant columns are
    left out. A category that ``fit`` has not seen gives 0 for all categories.

    Parameters
    ----------
    missing : {"indicate", "impute", "error"}, default="indicate"
        "indicate": a missing category is a category, and a missing number is the mean, with a column that is 1 there.
        "impute": the mean and the most frequent category alone. "error": missing values are refused.
    max_categories : int, default=1000
        The most frequent categories of a column have columns; the others share a row of zeros.

    Attributes
    ----------
    number_names_, date_names_, category_names_ : list of str
        The names of the columns that are used.
    mean_, scale_ : ndarray
        Of numbers, then of the parts of each date.
    indicated_ : list of str
        The columns of numbers and dates whose missing values have a column.
    categories_ : list of list of str
    missing_levels_ : list of bool
        For each column of categories, whether a missing value is a category.
    most_frequent_ : list of int
    left_out_ : list of str
        Columns with a single value, which are not used.
    missing_ : str
        What ``transform`` does with missing values.
    is_sparse_ : bool
    n_features_out_ : int

    Notes
    -----
    One pass; time and memory per piece of rows are linear in its size.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import TablePreparation, prepared_blocks
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,city\n30,Rome\n50,Oslo\n")
    >>> preparation = TablePreparation().fit(path)
    >>> preparation.column_names
    ['age', 'city=Oslo', 'city=Rome']
    >>> [rows.tolist() for rows in prepared_blocks(preparation, path)]
    [[[-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]]
    """

    _stored = Stored(
        number_names_=Many(Text(), "n"),
        date_names_=Many(Text(), "dates"),
        category_names_=Many(Text(), "c"),
        indicated_=Many(Text(), "indicated"),
        left_out_=Many(Text()),
        mean_=Reals(("numbers",)),
        scale_=Reals(("numbers",), positive=True),
        categories_=Many(Many(Text()), "c"),
        missing_levels_=Many(Flag(), "c"),
        most_frequent_=Many(Count(), "c"),
        missing_=OneOf(_MISSING),
        is_sparse_=Flag(),
        n_features_out_=Count(least=1),
    )

    def __init__(self, *, missing: str = "indicate", max_categories: int = 1000):
        self.missing = missing
        self.max_categories = max_categories

    def fit(
        self,
        table: str | PathLike[str] | Frame | Source,
        *,
        target: Column | None = None,
        ignore: Sequence[Column] = (),
        watch: Callable[[Block], None] | None = None,
    ) -> Self:
        """Learn from all rows in one pass.

        Parameters
        ----------
        table : path, data frame of pandas or polars, pyarrow table, or ``open_source(...)``
            A source whose columns are chosen is taken as it is.
        target : str or int, optional
            The column to predict, which is not encoded.
        ignore : sequence of str or int
            Columns to leave out; they are never parsed.
        watch : callable, optional
            Called with each piece of the pass.
        """
        self._check_missing()
        source = opened_table("TablePreparation", table)
        if target is not None or ignore:
            source = source.choose(Choice(target, ignore=tuple(ignore)).of(source))
        source = source if source.is_ready else source.choose(source.columns)
        summary = TableSummary(source)
        for piece in source.pieces(PIECE_ROWS):
            summary.update(piece)
            if watch is not None:
                watch(piece)
        return self.fit_summary(summary)

    def fit_summary(self, summary: TableSummary) -> Self:
        """Learn from the summary of all rows, which may be merged from summaries of parts."""
        self._check_missing()
        summary.check(refuse_missing=self.missing == "error")
        fitted = unfitted(self)
        fitted._set(summary)
        adopt(self, fitted)
        return self

    def _check_missing(self) -> None:
        if self.missing not in _MISSING:
            raise ValueError(f"TablePreparation: missing must be one of {list(_MISSING)}, got {self.missing!r}.")

    def _check_stored(self, sizes: Sizes) -> None:
        names = self.used
        require(len(set(names)) == len(names), "the names of the columns must differ")
        require(set(self.indicated_) <= {*self.number_names_, *self.date_names_}, "indicated_ must be numbers or dates")
        require(len(set(self.indicated_)) == len(self.indicated_), "indicated_ must be different columns")
        n_numbers = sizes["n"] + len(DATE_PARTS) * sizes["dates"]
        require(sizes["numbers"] == n_numbers, "mean_ must be of the numbers and the parts of dates")
        require(self.n_features_out_ == self._width(), "n_features_out_ must count the numbers and the categories")
        require(not self.is_sparse_ or n_numbers == self._width() == sizes["n"], "sparse rows have numbers only")
        for known, most in zip(self.categories_, self.most_frequent_, strict=True):
            require(most < len(known) == len(set(known)), "most_frequent_ must be the number of a category")

    @property
    def used(self) -> list[str]:
        """The names of the columns that are used."""
        return [*self.number_names_, *self.date_names_, *self.category_names_]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of the result."""
        of_dates = [f"{name} {part}" for name in self.date_names_ for part in DATE_PARTS]
        of_missing = [f"{name} is missing" for name in self.indicated_]
        levels = zip(self.category_names_, self.categories_, self.missing_levels_, strict=True)
        of_categories = [
            title
            for name, known, gone in levels
            for title in (*(f"{name}={value}" for value in known), *([f"{name} is missing"] if gone else []))
        ]
        return [*self.number_names_, *of_dates, *of_missing, *of_categories]

    def _width(self) -> int:
        of_categories = sum(map(len, self.categories_)) + sum(self.missing_levels_)
        return len(self.mean_) + len(self.indicated_) + of_categories

    def _set(self, summary: TableSummary) -> None:
        moments, columns, n_parts = summary.moments, summary.columns, len(DATE_PARTS)
        indicates = self.missing == "indicate" and not summary.is_sparse
        varied = moments.high > moments.low
        gone = {name for name, (n, _) in summary.missing.items() if indicates and n < summary.n_rows}
        n_numbers = len(columns.numbers)
        kept = [j for j, name in enumerate(columns.numbers) if varied[j] or name in gone]
        starts = [n_numbers + n_parts * j for j in range(len(columns.dates))]
        dates = [j for j, start in enumerate(starts) if varied[start] or columns.dates[j] in gone]
        categorical = [j for j, name in enumerate(columns.categories) if len(summary.counts[j]) + (name in gone) > 1]
        self.number_names_ = [columns.numbers[j] for j in kept]
        self.date_names_ = [columns.dates[j] for j in dates]
        self.category_names_ = [columns.categories[j] for j in categorical]
        self._set_left_out(summary)
        places = np.array([*kept, *(starts[j] + i for j in dates for i in range(n_parts))], dtype=np.int64)
        self.mean_, deviation = moments.mean[places], moments.deviation[places]
        self.scale_ = np.where(varied[places] & (deviation > 0), deviation, 1.0)
        self.indicated_ = [name for name in (*self.number_names_, *self.date_names_) if name in gone]
        self._set_categories([summary.counts[j] for j in categorical], summary.name)
        self.missing_levels_ = [columns.categories[j] in gone for j in categorical]
        self.missing_, self.is_sparse_ = self.missing, bool(summary.is_sparse)
        self.n_features_out_ = self._width()

    def _set_left_out(self, summary: TableSummary) -> None:
        used, name, columns = set(self.used), summary.name, summary.columns
        self.left_out_ = [one for one in (*columns.numbers, *columns.dates, *columns.categories) if one not in used]
        if not used:
            raise TableError(f"{name}: every column holds one value only, or none: there is nothing to learn from.")
        if self.left_out_:
            warn(f"{name}: left out, being constant or empty: {some(self.left_out_)}.", TableWarning, stacklevel=4)

    def _set_categories(self, counts: Sequence[Counter[str]], owner: str) -> None:
        self.categories_, self.most_frequent_ = [], []
        for name, found in zip(self.category_names_, counts, strict=True):
            frequent = sorted(found, key=lambda value: (-found[value], value))[: self.max_categories]
            known = sorted(frequent)
            self.categories_.append(known)
            self.most_frequent_.append(known.index(frequent[0]))
            if len(found) > len(known):
                warn(
                    f"{owner}: column {name!r} has {len(found):,} categories; the {len(known):,} most frequent ones "
                    f"are used (max_categories, in the shell --max-categories). If it names the rows, leave it out "
                    f"(--ignore {name}).",
                    TableWarning,
                    stacklevel=5,
                )

    def match(self, source: Source, target: str | None = None, ignored: Sequence[str] = ()) -> Source:
        """Return a source with the columns of ``fit`` chosen, in the order of ``fit``.

        A missing column is an error. Columns that are neither used nor ``ignored`` cause a warning.
        """
        declare = getattr(source, "declare", None)
        if declare is not None:
            declare(
                dict.fromkeys(self.number_names_, "number")
                | dict.fromkeys(self.date_names_, "date")
                | dict.fromkeys(self.category_names_, "category")
            )
        kinds = source.kinds
        missing = [name for name in self.used if name not in kinds]
        if missing and self.is_sparse_ and source.is_sparse:
            missing = []  # the last columns of a sparse file may be empty
        if missing:
            free = [name for name in kinds if name not in self.used]
            raise TableError(
                f"{source.name}: the model needs the column{'s' * (len(missing) > 1)} {some(missing)}."
                f"{nearest(missing[0], free)}"
            )
        for names, kind, what in ((self.number_names_, "number", "numbers"), (self.date_names_, "date", "dates")):
            for name in names:
                if kinds.get(name, kind) != kind:
                    raise TableError(f"{source.name}: column {name!r} must hold {what} as in training.")
        known = {*self.used, *self.left_out_, target, source.own_target, *ignored}
        extra = [name for name in kinds if name not in known]
        if extra:
            warn(f"{source.name}: columns that the model does not know, ignored: {some(extra)}.", TableWarning, 3)
        dates = tuple(self.date_names_)
        return source.choose(Columns(tuple(self.number_names_), tuple(self.category_names_), dates=dates))

    def transform(
        self,
        piece: Block,
        columns: Columns,
        *,
        owner: str = "TablePreparation",
        first_row: int = 0,
        unseen: dict[str, Counter[str]] | None = None,
    ) -> Rows:
        """Return rows as float32 numbers, dense or CSR.

        Parameters
        ----------
        piece : Block
        columns : Columns
            The columns of the piece; columns that this preparation does not use are ignored.
        owner : str
            The name that begins error messages.
        first_row : int
            The number of the first row of the piece, for error messages.
        unseen : dict, optional
            Counts, by column, the categories that ``fit`` has not seen.
        """
        own = Columns(tuple(self.number_names_), dates=tuple(self.date_names_))
        numbers = piece.X
        given = (*columns.numbers, *columns.dates)
        if given != (*own.numbers, *own.dates):
            position = {name: j for j, name in enumerate(given)}
            numbers = numbers[:, [position[name] for name in (*own.numbers, *own.dates)]]
        if self.is_sparse_:
            return standardised(numbers, self.mean_, self.scale_)
        numbers = numbers if isinstance(numbers, np.ndarray) else numbers.toarray()
        X = np.zeros((piece.n_rows, self.n_features_out_), dtype=np.float32)
        standard = standardised(expanded(numbers, own), self.mean_, self.scale_)
        if not np.isfinite(standard).all():
            self._fill(owner, numbers, standard, first_row)
        X[:, : standard.shape[1]] = standard
        start = self._indicate(X, numbers, standard.shape[1])
        for j, name in enumerate(self.category_names_):
            codes = piece.categories[columns.categories.index(name)]
            places = self._places(owner, j, codes, first_row, unseen)
            rows = np.flatnonzero(places >= 0)
            X[rows, start + places[rows]] = 1
            start += len(self.categories_[j]) + self.missing_levels_[j]
        return X

    def _indicate(self, X: Array, numbers: Array, start: int) -> int:
        """Write the columns of missing numbers and dates, and return the column after them."""
        place = {name: j for j, name in enumerate((*self.number_names_, *self.date_names_))}
        for name in self.indicated_:
            X[:, start] = np.isnan(numbers[:, place[name]])
            start += 1
        return start

    def _fill(self, owner: str, numbers: Array, standard: Array, first_row: int) -> None:
        """Replace missing values by 0, the mean after standardising; refuse infinity, and what may not be replaced."""
        missing = np.isnan(numbers)
        wrong = ~np.isfinite(numbers) if self.missing_ == "error" else np.isinf(numbers)
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            name = (*self.number_names_, *self.date_names_)[column]
            if missing[row, column]:
                raise _missing(owner, name, first_row + row)
            raise TableError(f"{owner}: column {name!r} holds infinity in row {first_row + row + 1}.")
        standard[np.isnan(standard)] = 0

    def _places(
        self, owner: str, j: int, column: Codes, first_row: int, unseen: dict[str, Counter[str]] | None
    ) -> Array:
        """Return the position of the category of each row among the known categories; -1 if it is unknown."""
        name, known = self.category_names_[j], self.categories_[j]
        position = {value: i for i, value in enumerate(known)}
        table = np.array([position.get(value, -1) for value in column.values] or [-1])
        places: Array = table[np.maximum(column.codes, 0)]
        missing = column.codes < 0
        if missing.any():
            if self.missing_ == "error":
                raise _missing(owner, name, first_row + int(np.argmax(missing)))
            fill = self.most_frequent_[j] if self.missing_ == "impute" else -1
            places[missing] = len(known) if self.missing_levels_[j] else fill
        if unseen is not None and len(known) < self.max_categories:  # else a value may be one of the rarer ones
            for code in column.codes[(places < 0) & ~missing].tolist():
                unseen.setdefault(name, Counter())[column.values[code]] += 1
        return places


def _missing(owner: str, name: str, row: int) -> TableError:
    return TableError(
        f"{owner}: column {name!r} misses a value in row {row + 1}. Fill it in, or train with missing='indicate' "
        "(in the shell --missing indicate)."
    )
