"""The columns of a table inside a graph: blocks of numbers and columns of text, in order."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
from sklearn.base import BaseEstimator

from mercer.export.graph import Graph, Tensor
from mercer.export.registry import ExportError


def width_of(model: BaseEstimator) -> int:
    """Return the number of columns of X; a pipeline takes those of its first step that is not passed through."""
    steps = [step for _, step in getattr(model, "steps", [("model", model)])]
    return int(next(step.n_features_in_ for step in steps if hasattr(step, "n_features_in_")))


class Columns:
    """Columns of rows, held as blocks (n, width) of numbers and columns (n, 1) of text.

    Parameters
    ----------
    graph : Graph
    blocks : sequence of (tensor, width)
    """

    def __init__(self, graph: Graph, blocks: "Sequence[tuple[Tensor, int]]"):
        self.graph = graph
        self.blocks = [block for block in blocks if block[1]]

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(width for _, width in self.blocks)

    def numbers(self) -> Tensor:
        """Return all columns as one block of numbers (n, width)."""
        if not self.blocks:
            raise ExportError("to_onnx: no column is left for a step of the pipeline.")
        texts = [tensor.name for tensor, _ in self.blocks if tensor.dtype == object]
        if texts:
            raise ExportError(
                f"to_onnx: the column {texts[0]!r} of the pipeline is text where numbers are needed. Encode it by "
                "OneHotEncoder or OrdinalEncoder, or leave it out in the ColumnTransformer."
            )
        return self.graph.concatenate([tensor.cast(self.graph.dtype) for tensor, _ in self.blocks])

    def column(self, j: int) -> Tensor:
        """Return one column (n, 1)."""
        return self.take([j]).blocks[0][0]

    def take(self, places: Sequence[int]) -> "Columns":
        """Return some columns, in the order of their numbers."""
        where = [(b, j) for b, (_, width) in enumerate(self.blocks) for j in range(width)]
        found = []
        for b, group in groupby([where[place] for place in places], key=lambda pair: pair[0]):
            tensor, width = self.blocks[b]
            inner = [j for _, j in group]
            found.append((tensor if inner == list(range(width)) else tensor.take(np.array(inner), axis=1), len(inner)))
        return Columns(self.graph, found)

    def then(self, others: "Sequence[Columns]") -> "Columns":
        """Return these columns, then those of others."""
        return Columns(self.graph, [block for one in (self, *others) for block in one.blocks])

    def mapped(self, write: Callable[[Tensor], Tensor], width: int | None = None) -> "Columns":
        """Return a function of all columns, numbers (n, width); as many columns as before by default."""
        return Columns(self.graph, [(write(self.numbers()), self.width if width is None else width)])


class TableInputs(Columns):
    """Columns that become inputs of the graph, one for each column that something takes.

    Parameters
    ----------
    graph : Graph
    names : sequence of str
        The inputs, in the order of the columns.
    texts : set of int
        The columns of text.
    """

    def __init__(self, graph: Graph, names: Sequence[str], texts: set[int]):
        super().__init__(graph, [])
        self._names, self._texts = names, texts
        self._made: dict[int, Tensor] = {}

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self._names)

    def numbers(self) -> Tensor:
        """Return all columns as one block of numbers."""
        return self.take(range(self.width)).numbers()

    def take(self, places: Sequence[int]) -> Columns:
        """Return some columns; those that were not taken before become inputs."""
        return Columns(self.graph, [(self._input(place), 1) for place in places])

    def then(self, others: Sequence[Columns]) -> Columns:
        """Return these columns, then those of others."""
        return self.take(range(self.width)).then(others)

    def _input(self, place: int) -> Tensor:
        if place not in self._made:
            dtype = object if place in self._texts else None
            self._made[place] = self.graph.input(self._names[place], 1, dtype)
        return self._made[place]
