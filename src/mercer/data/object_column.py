"""A column of objects, which a kernel takes as they are."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from mercer._typing import Rows
from mercer.data.columns import Columns, TableError, nearest
from mercer.data.sources.base import PIECE_ROWS, Block, Source
from mercer.fresh_fit import adopt, unfitted
from mercer.state import Count, OneOf, Sizes, Stored, Text
from mercer.structures.domains import Domain


class ObjectColumn(BaseEstimator):
    r"""In place of ``TablePreparation`` where X is one column of strings or graphs: it says which column that is.

    Attributes
    ----------
    column_ : str
        The name of the column.
    domain_ : str
        What it holds: ``"strings"`` or ``"graphs"``.
    n_features_out_ : int
        1.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import Choice, open_source
    >>> from mercer.data.object_column import ObjectColumn
    >>> path = os.path.join(tempfile.mkdtemp(), "reads.fasta")
    >>> _ = open(path, "w").write(">a\nACGT\n>b\nGG\n")
    >>> ObjectColumn().fit(open_source(path)).column_
    'sequence'
    """

    _stored = Stored(column_=Text(), domain_=OneOf(("strings", "graphs")), n_features_out_=Count(least=1, most=1))

    column_: str
    domain_: Domain
    n_features_out_: int

    # As those of TablePreparation: there are no numbers and no categories.
    is_sparse_: ClassVar[bool] = False
    number_names_: ClassVar[tuple[str, ...]] = ()
    category_names_: ClassVar[tuple[str, ...]] = ()
    categories_: ClassVar[tuple[str, ...]] = ()

    def fit(self, source: Source, *, watch: Callable[[Block], None] | None = None) -> Self:
        """Remember the column of objects of a source; the pass over its rows is for ``watch`` alone."""
        source = source if source.is_ready else source.choose(source.columns)
        column = source.columns.objects
        if column is None:
            raise TableError(f"{source.name}: no column of objects is chosen.")
        for piece in source.pieces(PIECE_ROWS):
            if watch is not None:
                watch(piece)
        fitted = unfitted(self)
        fitted.column_, fitted.domain_, fitted.n_features_out_ = column, source.domain, 1
        adopt(self, fitted)
        return self

    def _check_stored(self, sizes: Sizes) -> None:
        """Accept every column: nothing else is learned."""

    def match(self, source: Source, target: str | None = None) -> Source:
        """Return a source with its column of objects chosen: by name, or the only one that it has."""
        column = source.own_objects or self.column_
        if column not in source.kinds:
            raise TableError(
                f"{source.name}: the model needs the column {column!r}.{nearest(column, list(source.kinds))}"
            )
        if source.object_domain != self.domain_:
            raise TableError(f"{source.name}: it holds {source.object_domain}, and the model takes {self.domain_}.")
        if source.kinds[column] not in ("category", "object"):
            declare = getattr(source, "declare", None)
            if declare is None:
                raise TableError(f"{source.name}: column {column!r} must hold text as in training.")
            declare({column: "category"})  # text that looks like numbers in the first lines
        return source.choose(Columns((), objects=column))

    def transform(self, piece: Block, columns: Columns, **options: Any) -> Rows:
        """Return the objects of a piece as they are."""
        return piece.X
