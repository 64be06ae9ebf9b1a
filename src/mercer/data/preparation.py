"""From the columns of a table to the numbers of a learner, learned in one pass."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Self
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer._typing import Array, Rows
from mercer.data.columns import Codes, Columns, TableError, TableWarning, nearest, some
from mercer.data.sources.base import PIECE_ROWS, Block, Source
from mercer.fresh_fit import adopt, unfitted
from mercer.state import Count, Flag, Many, Reals, Sizes, Stored, Text, require
from mercer.stats import ColumnMoments


class TablePreparation(BaseEstimator):
    r"""Numbers standardised, categories one-hot, missing values refused or imputed.

    .. math:: x \mapsto (x - \bar x) / s

    for numbers, with the mean and the standard deviation of the rows of ``fit``, and 1[x = c] for each category c.
    Sparse rows are scaled and not centred. Constant columns are left out. A category that ``fit`` has not seen gives 0
    for all categories.

    Parameters
    ----------
    impute : bool, default=False
        Replace missing values by the mean or the most frequent category. By default, missing values are an error.
    max_categories : int, default=1000
        A column with more categories is an error: its values are probably names.

    Attributes
    ----------
    number_names_, category_names_ : list of str
        The names of the columns that are used.
    mean_, scale_ : ndarray
    categories_ : list of list of str
    most_frequent_ : list of int
    left_out_ : list of str
        Columns with a single value, which are not used.
    imputes_ : bool
        Whether ``transform`` replaces missing values.
    is_sparse_ : bool
    n_features_out_ : int

    Notes
    -----
    One pass; time and memory per piece of rows are linear in its size.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import TablePreparation, open_source
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,city\n30,Rome\n50,Oslo\n")
    >>> source = open_source(path)
    >>> preparation = TablePreparation().fit(source)
    >>> source = preparation.match(source)
    >>> [preparation.transform(piece, source.columns).tolist() for piece in source.pieces(512)]
    [[[-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]]
    """

    _stored = Stored(
        number_names_=Many(Text(), "n"),
        category_names_=Many(Text(), "c"),
        left_out_=Many(Text()),
        mean_=Reals(("n",)),
        scale_=Reals(("n",), positive=True),
        categories_=Many(Many(Text()), "c"),
        most_frequent_=Many(Count(), "c"),
        imputes_=Flag(),
        is_sparse_=Flag(),
        n_features_out_=Count(least=1),
    )

    def __init__(self, *, impute: bool = False, max_categories: int = 1000):
        self.impute = impute
        self.max_categories = max_categories

    def fit(self, source: Source, *, watch: Callable[[Block], None] | None = None) -> Self:
        """Learn from all rows in one pass.

        Parameters
        ----------
        source : Source
            A source whose columns are chosen; all columns by default.
        watch : callable, optional
            Called with each piece of the pass.
        """
        source = source if source.is_ready else source.choose(source.columns)
        summary = _Summary(source, self.max_categories)
        for piece in source.pieces(PIECE_ROWS):
            summary.update(piece)
            if watch is not None:
                watch(piece)
        summary.check(impute=self.impute)
        fitted = unfitted(self)
        fitted._set(summary)
        adopt(self, fitted)
        return self

    def _check_stored(self, sizes: Sizes) -> None:
        names = [*self.number_names_, *self.category_names_]
        require(len(set(names)) == len(names), "the names of the columns must differ")
        width = sizes["n"] + sum(map(len, self.categories_))
        require(self.n_features_out_ == width, "n_features_out_ must count the numbers and the categories")
        require(not self.is_sparse_ or not sizes["c"], "sparse rows have no categories")
        for known, most in zip(self.categories_, self.most_frequent_, strict=True):
            require(most < len(known) == len(set(known)), "most_frequent_ must be the number of a category")

    def _set(self, summary: "_Summary") -> None:
        moments, columns = summary.moments, summary.columns
        varied = np.flatnonzero(moments.high > moments.low)
        categorical = [j for j, counts in enumerate(summary.counts) if len(counts) > 1]
        self.number_names_ = [columns.numbers[j] for j in varied]
        self.category_names_ = [columns.categories[j] for j in categorical]
        used = {*self.number_names_, *self.category_names_}
        self.left_out_ = [name for name in (*columns.numbers, *columns.categories) if name not in used]
        name = summary.name
        if not used:
            raise TableError(f"{name}: every column holds one value only, or none: there is nothing to learn from.")
        if self.left_out_:
            warn(f"{name}: left out, being constant or empty: {some(self.left_out_)}.", TableWarning, stacklevel=3)
        self.mean_, self.scale_ = moments.mean[varied], moments.deviation[varied]
        self.categories_ = [sorted(summary.counts[j]) for j in categorical]
        most = [summary.counts[j].most_common(1)[0][0] for j in categorical]
        self.most_frequent_ = [known.index(value) for known, value in zip(self.categories_, most, strict=True)]
        self.imputes_ = bool(self.impute)
        self.is_sparse_ = bool(summary.is_sparse)
        self.n_features_out_ = len(varied) + sum(map(len, self.categories_))

    def match(self, source: Source, target: str | None = None) -> Source:
        """Return a source with the columns of ``fit`` chosen, in the order of ``fit``.

        A missing column is an error. Columns that are not used cause a warning.
        """
        declare = getattr(source, "declare", None)
        if declare is not None:
            declare(dict.fromkeys(self.number_names_, "number") | dict.fromkeys(self.category_names_, "category"))
        used, kinds = [*self.number_names_, *self.category_names_], source.kinds
        missing = [name for name in used if name not in kinds]
        if missing and self.is_sparse_ and source.is_sparse:
            missing = []  # the last columns of a sparse file may be empty
        if missing:
            free = [name for name in kinds if name not in used]
            raise TableError(
                f"{source.name}: the model needs the column{'s' * (len(missing) > 1)} {some(missing)}."
                f"{nearest(missing[0], free)}"
            )
        for name in self.number_names_:
            if kinds.get(name, "number") != "number":
                raise TableError(f"{source.name}: column {name!r} must hold numbers as in training, and holds text.")
        known = {*used, *self.left_out_, target, source.own_target}
        extra = [name for name in kinds if name not in known]
        if extra:
            warn(f"{source.name}: columns that the model does not know, ignored: {some(extra)}.", TableWarning, 3)
        return source.choose(Columns(tuple(self.number_names_), tuple(self.category_names_)))

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
        numbers = piece.X
        if columns.numbers != tuple(self.number_names_):
            position = {name: j for j, name in enumerate(columns.numbers)}
            numbers = numbers[:, [position[name] for name in self.number_names_]]
        if self.is_sparse_:
            return sparse.csr_matrix(sparse.csr_matrix(numbers).multiply(1 / self.scale_), dtype=np.float32)
        numbers = numbers if isinstance(numbers, np.ndarray) else numbers.toarray()
        X = np.zeros((piece.n_rows, self.n_features_out_), dtype=np.float32)
        standard = numbers - self.mean_
        standard /= self.scale_
        if not np.isfinite(standard).all():
            self._fill(owner, numbers, standard, first_row)
        start = len(self.number_names_)
        X[:, :start] = standard
        for name, known, fill in zip(self.category_names_, self.categories_, self.most_frequent_, strict=True):
            codes = piece.categories[columns.categories.index(name)]
            places = self._places(owner, name, codes, known, fill, first_row, unseen)
            rows = np.flatnonzero(places >= 0)
            X[rows, start + places[rows]] = 1
            start += len(known)
        return X

    def _fill(self, owner: str, numbers: Array, standard: Array, first_row: int) -> None:
        """Replace missing values by 0, the mean after standardising; refuse infinity, and what may not be replaced."""
        missing = np.isnan(numbers)
        wrong = np.isinf(numbers) if self.imputes_ else ~np.isfinite(numbers)
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            name = self.number_names_[column]
            if missing[row, column]:
                raise _missing(owner, name, first_row + row)
            raise TableError(f"{owner}: column {name!r} holds infinity in row {first_row + row + 1}.")
        standard[missing] = 0

    def _places(
        self,
        owner: str,
        name: str,
        column: Codes,
        known: Sequence[str],
        fill: int,
        first_row: int,
        unseen: dict[str, Counter[str]] | None,
    ) -> Array:
        """Return the position of the category of each row among the known categories; -1 if it is unknown."""
        position = {value: j for j, value in enumerate(known)}
        table = np.array([position.get(value, -1) for value in column.values] or [-1])
        places: Array = table[np.maximum(column.codes, 0)]
        missing = column.codes < 0
        if missing.any():
            if not self.imputes_:
                raise _missing(owner, name, first_row + int(np.argmax(missing)))
            places[missing] = fill
        if unseen is not None:
            for code in column.codes[(places < 0) & ~missing].tolist():
                unseen.setdefault(name, Counter())[column.values[code]] += 1
        return places


def _missing(owner: str, name: str, row: int) -> TableError:
    return TableError(
        f"{owner}: column {name!r} misses a value in row {row + 1}. Fill it in, or train with missing values imputed."
    )


class _Summary:
    """The result of one pass: moments of numbers, counts of categories, and the places of missing values."""

    def __init__(self, source: Source, max_categories: int):
        self.name, self.is_sparse, self.columns, self._most = (
            source.name,
            source.is_sparse,
            source.columns,
            max_categories,
        )
        self.moments = ColumnMoments.of(len(self.columns.numbers))
        self.counts: list[Counter[str]] = [Counter() for _ in self.columns.categories]
        self.missing: dict[str, list[int]] = {}  # column -> how many, and the row of the first
        self.n_rows = 0

    def update(self, piece: Block) -> None:
        """Add rows."""
        self.moments.update(piece.X)
        if not np.isfinite(self.moments.mean).all():
            self._refuse_infinity(piece)
        if not sparse.issparse(piece.X) and self.moments.count.min(initial=self.n_rows + piece.n_rows) < (
            self.n_rows + piece.n_rows
        ):
            gone = np.isnan(piece.X)
            for j in np.flatnonzero(gone.any(axis=0)):
                self._count_missing(self.columns.numbers[j], gone[:, j])
        for name, counts, column in zip(self.columns.categories, self.counts, piece.categories, strict=True):
            self._count(name, counts, column)
        self.n_rows += piece.n_rows

    def _count(self, name: str, counts: Counter[str], column: Codes) -> None:
        missing = column.codes < 0
        if missing.any():
            self._count_missing(name, missing)
        numbers = np.bincount(column.codes[~missing], minlength=len(column.values))
        counts.update({value: int(n) for value, n in zip(column.values, numbers, strict=True) if n})
        if len(counts) > self._most:
            raise TableError(
                f"{self.name}: column {name!r} has more than {self._most} categories. Leave the column out if it "
                "names the rows, or allow more categories."
            )

    def _count_missing(self, name: str, missing: Array) -> None:
        entry = self.missing.setdefault(name, [0, self.n_rows + int(np.argmax(missing)) + 1])
        entry[0] += int(missing.sum())

    def _refuse_infinity(self, piece: Block) -> None:
        if isinstance(piece.X, np.ndarray):
            row, column = (int(i) for i in np.argwhere(np.isinf(piece.X))[0])
        else:
            values = piece.X.tocoo()
            at = int(np.argmin(np.isfinite(values.data)))
            row, column = int(values.row[at]), int(values.col[at])
        raise TableError(
            f"{self.name}: column {self.columns.numbers[column]!r} holds a number that is not finite in row "
            f"{self.n_rows + row + 1}. Correct it, or leave the column out."
        )

    def check(self, *, impute: bool) -> None:
        """Refuse an empty table, and missing values unless they are imputed."""
        if self.n_rows == 0:
            raise TableError(f"{self.name}: there are no rows.")
        if self.missing and not impute:
            listed = [
                f"{name!r} ({'all' if n == self.n_rows else n}, first in row {row})"
                for name, (n, row) in self.missing.items()
            ]
            more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
            raise TableError(
                f"{self.name}: values are missing in {', '.join(listed[:5])}{more}. Fill them in, leave the "
                "columns out, or have them imputed."
            )
