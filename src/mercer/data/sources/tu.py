"""Graphs of the text files of a TU data set."""

from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedIOBase
from itertools import islice
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from mercer._typing import Array
from mercer.data.columns import Kind, TableError
from mercer.data.sources.base import Block, Source
from mercer.data.sources.compression import opened, uncompressed_name
from mercer.structures import Graphs

# Lines of a file parsed at once.
_CHUNK_LINES = 2**14
_FILES = ("A", "graph_indicator", "graph_labels", "graph_attributes", "node_labels", "edge_labels", "node_attributes")


class TuSource(Source):
    """The graphs of a folder with the text files of a TU data set, which may be compressed (.gz, .bz2, .zst).

    ``NAME_A.txt`` lists edges as pairs of nodes, ``NAME_graph_indicator.txt`` the graph of each node, both counted from
    1. Taken where they exist: ``NAME_node_labels.txt``, ``NAME_edge_labels.txt``, ``NAME_node_attributes.txt``, and as
    targets ``NAME_graph_labels.txt`` (column ``label``, the default target) and ``NAME_graph_attributes.txt`` (columns
    ``attribute0``, ...). An edge that is listed again, or in both directions, counts once.

    All files are read in step, some graphs at a time, so that memory does not grow with their number. The nodes and the
    edges must be listed graph by graph, as those of the published sets are.

    Parameters
    ----------
    path : path of the folder
    categorical : names of columns
        No effect: all columns but the graphs are targets.

    References
    ----------
    C. Morris et al., "TUDataset: a collection of benchmark datasets for learning with graphs", 2020.
    """

    own_objects = "graph"
    object_domain = "graphs"

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        folder = Path(fspath(path))
        self.name = str(folder)
        self._files = _found_files(folder)
        self._kinds: dict[str, Kind] = {"graph": "object"}
        if "graph_labels" in self._files:
            self._kinds["label"] = "number"
            self.own_target = "label"
        if "graph_attributes" in self._files:
            with opened(self._files["graph_attributes"]) as (file, _):
                width = file.readline().count(b",") + 1
            self._kinds |= {f"attribute{j}": "number" for j in range(width)}

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return {"graph": "graphs", "label": "int64"}.get(column, "float64")

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the graphs, ``block_rows`` at a time."""
        with ExitStack() as stack:
            tables = {
                kind: _Table(path, stack.enter_context(opened(path))[0], real=kind.endswith("attributes"))
                for kind, path in self._files.items()
            }
            first_graph, first_node = 0, 0
            while True:
                y, n_labels = self._targets(tables, block_rows)
                indicator = tables["graph_indicator"].up_to(first_graph + block_rows)[:, 0]
                # the last graphs may have no nodes: labels tell their number
                left = int(indicator[-1]) - first_graph if len(indicator) else 0
                n_graphs = min(block_rows, left if n_labels is None else n_labels)
                if not n_graphs and not len(indicator):
                    break
                if left > n_graphs:
                    raise TableError(f"{self.name}: there are {first_graph + n_graphs} labels and more graphs.")
                X = self._graphs(tables, indicator, first_graph, first_node, n_graphs)
                yield Block(X, y)
                first_graph, first_node = first_graph + n_graphs, first_node + len(indicator)
        if first_graph == 0:
            raise TableError(f"{self.name}: there are no graphs.")

    def _targets(self, tables: "dict[str, _Table]", n_graphs: int) -> tuple[Array | None, int | None]:
        """Return the target of the next graphs, and their number; None where no file says it."""
        target, found = self.columns.target, {}
        for kind in ("graph_labels", "graph_attributes"):
            if kind in tables:
                found[kind] = tables[kind].take(n_graphs, exactly=False)
        number = min((len(rows) for rows in found.values()), default=None)
        if target is None:
            return None, number
        y = found["graph_labels"][:, 0] if target == "label" else found["graph_attributes"][:, int(target[9:])]
        return y, number

    def _graphs(
        self, tables: "dict[str, _Table]", indicator: Array, first_graph: int, first_node: int, n_graphs: int
    ) -> Graphs:
        n_nodes = len(indicator)
        edges = tables["A"].up_to(first_node + n_nodes) - 1
        if len(edges) and edges.min() < first_node:
            raise TableError(
                f"{self.name}: an edge of node {edges.min() + 1} comes after edges of later graphs. Sort the edges by "
                "their first node."
            )
        of_nodes = {kind: tables[kind].take(n_nodes) for kind in ("node_labels", "node_attributes") if kind in tables}
        of_edges = tables["edge_labels"].take(len(edges)) if "edge_labels" in tables else None
        try:
            return Graphs.of_tu(
                edges - first_node,
                indicator - first_graph - 1,
                _one_label(of_nodes.get("node_labels")),
                _one_label(of_edges),
                of_nodes.get("node_attributes"),
                n_graphs=n_graphs,
            ).astype(self.dtype, copy=False)
        except ValueError as error:
            raise TableError(f"{self.name}: in graphs {first_graph} to {first_graph + n_graphs - 1}: {error}") from None


def is_tu_folder(path: Path) -> bool:
    """Return whether a folder holds the edges of a TU data set."""
    return any(True for file in path.iterdir() if uncompressed_name(file.name).endswith("_A.txt"))


def _found_files(folder: Path) -> dict[str, Path]:
    """Return the files of the data set by kind."""
    edges = sorted(file for file in folder.iterdir() if uncompressed_name(file.name).endswith("_A.txt"))
    if len(edges) != 1:
        raise TableError(f"{folder}: the folder must hold one file NAME_A.txt of edges, and it holds {len(edges)}.")
    prefix = uncompressed_name(edges[0].name).removesuffix("A.txt")
    by_name = {uncompressed_name(file.name): file for file in folder.iterdir()}
    found = {kind: by_name[f"{prefix}{kind}.txt"] for kind in _FILES if f"{prefix}{kind}.txt" in by_name}
    if "graph_indicator" not in found:
        raise TableError(f"{folder}: {prefix}graph_indicator.txt is missing, which says the graph of each node.")
    return found


def _one_label(rows: Array | None) -> Array | None:
    """Return one label per row: the only column, or a hash of several."""
    if rows is None or rows.shape[1] == 1:
        return None if rows is None else rows[:, 0]
    label = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        label = label * 1_000_003 + column
    return label


class _Table:
    """The rows of numbers of a text file, taken from its beginning on."""

    def __init__(self, path: Path, file: BufferedIOBase, *, real: bool):
        self._path, self._file, self._dtype = path, file, np.float64 if real else np.int64
        self._held: Array | None = None
        self._n_read = 0

    def take(self, n_rows: int, *, exactly: bool = True) -> Array:
        """Return the next rows; too few of them are an error unless ``exactly`` is False."""
        while len(held := self._rows()) < n_rows and self._read_more():
            pass
        if exactly and len(held) < n_rows:
            raise TableError(f"{self._path}: the file ends after line {self._n_read}; there are more nodes or edges.")
        return self._taken(n_rows)

    def up_to(self, most: int) -> Array:
        """Return the next rows, up to the first whose first entry is above ``most``."""
        seen = 0
        while True:
            held = self._rows()
            beyond = np.flatnonzero(held[seen:, 0] > most) if held.size else np.empty(0)
            if len(beyond):
                return self._taken(seen + int(beyond[0]))
            seen = len(held)
            if not self._read_more():
                return self._taken(seen)

    def _rows(self) -> Array:
        if self._held is None:
            self._held = np.empty((0, 1), dtype=self._dtype)
            self._read_more()
        return self._held

    def _taken(self, n_rows: int) -> Array:
        held = self._rows()
        self._held = held[n_rows:]
        return held[:n_rows]

    def _read_more(self) -> bool:
        try:
            lines = list(islice(self._file, _CHUNK_LINES))
        except (OSError, EOFError) as error:
            raise TableError(f"{self._path}: the file is damaged: {error}.") from None
        if not lines:
            return False
        rows = self._parsed(lines)
        held = self._held
        self._held = rows if held is None or not held.size else np.concatenate([held, rows])
        self._n_read += len(lines)
        return True

    def _parsed(self, lines: list[bytes]) -> Array:
        try:
            return np.loadtxt(lines, delimiter=",", dtype=self._dtype, ndmin=2, comments=None)
        except ValueError as error:
            for number, line in enumerate(lines, start=self._n_read + 1):
                try:
                    np.loadtxt([line], delimiter=",", dtype=self._dtype, ndmin=2, comments=None)
                except ValueError:
                    raise TableError(f"{self._path} line {number}: {line[:40]!r} is no row of numbers.") from None
            raise TableError(f"{self._path} after line {self._n_read}: {error}.") from None
