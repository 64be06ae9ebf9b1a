"""All columns of a table as columns of numbers, not scaled."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mercer._typing import Array
from mercer.data.raw_table import RawTable
from mercer.learners.local.boosted_trees import BoostedTrees
from mercer.learners.local.table_columns import TableColumn
from mercer.learners.local.target_statistics import TargetStatistics
from mercer.state import Integers, Many, Member, Sizes, Stored, Text, part, require


@part("TableEncoding")
@dataclass(frozen=True)
class TableEncoding:
    """How the columns of a table become columns of numbers; those of one value are left out.

    Attributes
    ----------
    columns : list of TableColumn
        How each column of the table becomes columns of numbers.
    kept : ndarray of int
        Which of these columns of numbers are kept.
    sources : ndarray of int
        The column of the table that each kept column comes from.
    names : list of str
        The names of the kept columns, of the statistics, and of the predictions of trees.
    statistics : list of TargetStatistics
        Columns of numbers that follow the kept columns.
    trees : BoostedTrees or None
        Trees of all these columns, whose predictions are the last columns.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data.raw_table import RawTable
    >>> table = RawTable([np.array([1.0, np.nan, 3.0]), np.array([7.0, 7.0, 7.0])], ["number", "number"])
    >>> encoding = TableEncoding.of(table, ["a", "b"])
    >>> encoding.names, encoding.numbers(table).tolist()
    (['a', 'a is missing'], [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    """

    _stored = Stored(
        columns=Many(Member(TableColumn), "d"),
        kept=Integers(("out",), (np.int64,), least=0),
        sources=Integers(("width",), (np.int64,), least=0, below="d"),
        names=Many(Text()),
        statistics=Many(Member(TargetStatistics)),
        trees=Member(BoostedTrees, nullable=True),
    )

    columns: list[TableColumn]
    kept: Array
    sources: Array
    names: list[str]
    statistics: list[TargetStatistics] = field(default_factory=list)
    trees: BoostedTrees | None = None

    @classmethod
    def of(
        cls,
        table: RawTable,
        names: Sequence[str],
        max_categories: int = 32,
        sample_weight: Array | None = None,
        frequent: float = np.inf,
    ) -> "TableEncoding":
        """Learn from a table, whose columns have these names; a row of weight 2 counts as two.

        The most frequent categories, and those of a weight of at least ``frequent``, have columns of their own.
        """
        weight = np.ones(table.n_rows) if sample_weight is None else sample_weight
        parts = zip(table.values, table.kinds, strict=True)
        columns = [TableColumn.of(values, kind, max_categories, weight, frequent) for values, kind in parts]
        expanded = _expanded(columns, table)
        kept = np.flatnonzero(np.ptp(expanded, axis=0) > 0)
        if not len(kept):  # all columns are constant: the first stands for them
            kept = np.zeros(1, dtype=np.int64)
        of_column = [column.names(name) for column, name in zip(columns, names, strict=True)]
        sources = np.repeat(np.arange(len(of_column)), [len(some) for some in of_column])
        flat = [one for some in of_column for one in some]
        return cls(columns, kept, sources[kept].astype(np.int64), [flat[j] for j in kept])

    @property
    def n_columns(self) -> int:
        """Number of columns of numbers."""
        return len(self.names)

    @property
    def n_sources(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    def with_statistics(
        self, table: RawTable, columns: Sequence[int], Y: Array, weight: Array, names: Sequence[str], *, instead: bool
    ) -> "TableEncoding":
        """Add the mean targets (n, k) of the levels of some columns; for text, ``instead`` of columns of 0 and 1."""
        found = [TargetStatistics.of(j, table.values[j], Y, weight) for j in columns]
        dropped = [j for j in columns if instead and table.kinds[j] == "categories"]
        stays = ~np.isin(self.sources, dropped)
        n_targets = Y.shape[1]
        added = [f"{names[j]} mean of y{k if n_targets > 1 else ''}" for j in columns for k in range(n_targets)]
        return TableEncoding(
            self.columns,
            self.kept[stays],
            np.concatenate([self.sources[stays], np.repeat(columns, n_targets)]).astype(np.int64),
            [*(name for name, stay in zip(self.names, stays, strict=True) if stay), *added],
            found,
        )

    def with_trees(self, trees: BoostedTrees) -> "TableEncoding":
        """Add the predictions of trees of the columns so far."""
        several = trees.n_targets > 1
        names = [f"prediction of trees{f' of y{k}' if several else ''}" for k in range(trees.n_targets)]
        return replace(self, names=[*self.names, *names], trees=trees)

    def training_numbers(self, table: RawTable, Y: Array, weight: Array, seed: int) -> Array:
        """Return the numbers of the training rows, without predictions of trees, with statistics of training rows."""
        values = table.values
        parts = [one.training_means(values[one.column], Y, weight, seed) for one in self.statistics]
        return np.column_stack([_expanded(self.columns, table)[:, self.kept], *parts])

    def numbers(self, table: RawTable, owner: str = "ColumnPreparation") -> Array:
        """Return the kept columns of numbers of a table, float64."""
        table = table.as_kinds(owner, [column.kind for column in self.columns])
        parts = [one.means(table.values[one.column]) for one in self.statistics]
        numbers = np.column_stack([_expanded(self.columns, table)[:, self.kept], *parts])
        return numbers if self.trees is None else np.hstack([numbers, self.trees.scores(numbers)])

    def importances(self, of_numbers: Array) -> Array:
        """Return the sum of the importances of the columns of numbers that come from each column of the table."""
        own, of_trees = of_numbers[: len(self.sources)], of_numbers[len(self.sources) :]
        if self.trees is not None:
            own = own + of_trees.sum() * self.trees.importances
        return np.bincount(self.sources, weights=own, minlength=self.n_sources)

    def _check_stored(self, sizes: Sizes) -> None:
        width = sum(len(column.names("")) for column in self.columns)
        require(not len(self.kept) or self.kept.max() < width, "kept must be numbers of columns")
        n_statistics = sum(one.n_targets for one in self.statistics)
        require(sizes["width"] == sizes["out"] + n_statistics >= 1, "sources must be those of all columns of numbers")
        n_trees = 0 if self.trees is None else self.trees.n_targets
        require(len(self.names) == sizes["width"] + n_trees, "names must be those of all columns")
        require(self.trees is None or self.trees.n_columns == sizes["width"], "trees must be of all columns before")
        for one in self.statistics:
            require(one.column < sizes["d"], "statistics must be of columns of the table")
            is_text = self.columns[one.column].kind == "categories"
            require(is_text == bool(one.texts), "statistics must be of the kind of their column")


def _expanded(columns: list[TableColumn], table: RawTable) -> Array:
    return np.column_stack([column.numbers(x) for column, x in zip(columns, table.values, strict=True)])
