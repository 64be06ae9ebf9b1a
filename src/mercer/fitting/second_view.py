"""A second view of the rows in place of y: its features are what a solver reads as targets."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows, RowsLike
from mercer.data import Block
from mercer.features import FeatureMap
from mercer.fitting.survey import Sample
from mercer.fitting.targets import Targets
from mercer.stats import RowSample, Statistic
from mercer.structures import Ragged, as_rows
from mercer.structures.domains import Domain
from mercer.validation import check_matrix


@dataclass(frozen=True)
class SecondView(Targets):
    """The second view for y: its rows are sampled by the survey, and encoded by their features.

    Parameters
    ----------
    draw : function from a sample to a fitted map
    size, seed : int
        Of the sample.
    drawn : FeatureMap
        From the survey.
    domain : what the second view is of: rows of numbers, or objects
    """

    draw: Callable[[Sample], FeatureMap] = field(kw_only=True)
    size: int = field(kw_only=True)
    seed: int = field(kw_only=True)
    drawn: FeatureMap | None = None
    domain: Domain = "rows"

    required = True

    @property
    def feature_map(self) -> FeatureMap:
        """The map of the second view, once a survey has drawn it."""
        assert self.drawn is not None  # noqa: S101
        return self.drawn

    def check(self, y: RowsLike) -> Rows:
        """Return the second view as a matrix or as packed objects; one dimension of numbers is one column."""
        return as_view(self.owner, y, self.domain)

    def found_in(self, block: Block, weight: Array) -> RowSample:
        """Return a sample of the second view's rows of a block."""
        return RowSample(self.size, self.seed).update(self._rows(block), block.first_row, weight)

    def known(self, found: Statistic | None) -> Self:
        """Return the targets with the map of the second view, drawn on the sample."""
        assert isinstance(found, RowSample)  # noqa: S101 - that of ``found_in``
        return replace(self, drawn=self.draw(Sample(found.rows, found.values, found.keys)))

    def encode(self, block: Block) -> Rows:
        """Return the features of the second view."""
        return self.feature_map.transform(self._rows(block))

    def _rows(self, block: Block) -> Rows:
        assert block.y is not None  # noqa: S101 - the second view is required
        return block.y if self.checked else self.check(block.y)


def as_view(owner: str, y: RowsLike, domain: Domain = "rows") -> Rows:
    """Return a second view: objects packed, or a matrix, array or CSR, of which one dimension is one column.

    >>> as_view("KernelCCA", [1.0, 2.0]).tolist()
    [[1.0], [2.0]]
    """
    if domain != "rows" or isinstance(y, Ragged):
        packed: Rows = as_rows(owner, domain, y, "y")
        return packed
    if sparse.issparse(y) or hasattr(y, "columns"):
        return check_matrix(owner, "y", y)
    values = np.asarray(y)
    return check_matrix(owner, "y", values[:, None] if values.ndim == 1 else values)
