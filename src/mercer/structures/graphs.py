"""Undirected graphs with labels, packed as one adjacency of their disjoint union."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer import core
from mercer._typing import Array, is_sparse, override
from mercer.state import part, require
from mercer.structures.objects import as_list, label_number, refuse
from mercer.structures.ragged import Ragged, ends_of

_WAY_OUT = (
    "Give networkx graphs, pairs (edges, labels) with an edge array of shape (m, 2) and a label for each node, or "
    "adjacency matrices."
)


@part("Graphs")
class Graphs(Ragged):
    """Undirected graphs with labels of nodes and, where all have them, labels of edges and attributes of nodes.

    An edge may be listed in one direction or in both; a second listing of the same edge is dropped. Labels are
    integers, or text, which becomes an integer by a hash that is the same everywhere. Nodes of a graph without labels
    all have the label 0.

    Parameters
    ----------
    X : list of graphs
        Each a networkx graph, whose attributes ``label`` of nodes and edges and ``attributes`` of nodes are taken; a
        tuple (edges, labels), (edges, labels, edge_labels) or (edges, labels, edge_labels, attributes), with labels or
        the number of nodes, edge labels or None, and a row of numbers for each node; or an adjacency matrix. A graph
        may be empty.

    Examples
    --------
    >>> from mercer.structures import Graphs
    >>> path = ([(0, 1), (1, 2)], ["C", "O", "C"])
    >>> graphs = Graphs([path, ([], 2)])
    >>> graphs.sizes.tolist(), graphs.degrees.tolist()
    ([3, 2], [1, 2, 1, 0, 0])
    """

    _levels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "nodes": ("labels", "degrees", "attributes"),
        "edges": ("neighbours", "edge_labels"),
    }

    def __init__(self, X: object):
        made = self.of("Graphs", "X", X)
        self._take(made)

    @override
    def _check_arrays(self) -> None:
        wanted = {"labels": np.int64, "degrees": np.int32, "neighbours": np.int32, "edge_labels": np.int64}
        for name, dtype in wanted.items():
            values = self._arrays[name]
            sound = name == "edge_labels" if values is None else values.dtype == dtype and values.ndim == 1
            require(sound, f"{name} must be integers")
        nodes, edges, degrees = self.pointers(), self.pointers("edges"), self.degrees.astype(np.int64)
        require(bool(np.all(degrees >= 0)), "degrees must not be negative")
        ends = np.concatenate([[0], np.cumsum(degrees)])[nodes]
        require(bool(np.array_equal(ends, edges)), "degrees must count the edges of each graph")
        most = np.repeat(np.diff(nodes), np.diff(edges))
        require(
            bool(np.all((self.neighbours >= 0) & (self.neighbours < most))), "neighbours must be nodes of the graph"
        )
        given = self.attributes
        numbers = given is None or (given.ndim == 2 and given.dtype in (np.float32, np.float64))
        require(numbers and (given is None or bool(np.isfinite(given).all())), "attributes must be finite numbers")

    @classmethod
    def of(cls, owner: str, name: str, X: object) -> Self:
        """Pack graphs; errors name the graph at fault."""
        parts = [_graph(owner, name, i, graph) for i, graph in enumerate(as_list(owner, name, X, "graphs"))]
        given = {part.edge_labels is not None for part in parts if len(part.edges)}
        if len(given) > 1:
            raise ValueError(f"{owner}: some graphs of {name} have edge labels and others have none; give all or none.")
        sizes = [len(part.labels) for part in parts]
        starts = ends_of(sizes)
        edges = np.concatenate(
            [np.empty((0, 2), np.int64), *(part.edges + start for part, start in zip(parts, starts, strict=False))]
        )
        labels = np.concatenate([np.empty(0, np.int64), *(part.labels for part in parts)])
        edge_labels = np.concatenate([part.edge_labels for part in parts if len(part.edges)]) if True in given else None
        return cls._packed(owner, edges, starts, labels, edge_labels, _joined_attributes(owner, name, parts))

    @classmethod
    def of_tu(
        cls,
        edges: Array,
        graph_indicator: Array,
        node_labels: Array | None = None,
        edge_labels: Array | None = None,
        node_attributes: Array | None = None,
        *,
        n_graphs: int | None = None,
    ) -> Self:
        """Take the arrays of a TU data set: edges between nodes of all graphs, and the graph of each node.

        Numbers count from 0, and the nodes of a graph are consecutive. ``n_graphs`` says their number where the last
        ones may have no nodes. C. Morris et al., "TUDataset: a collection of
        benchmark datasets for learning with graphs", 2020.
        """
        indicator = np.asarray(graph_indicator)
        if len(indicator) and (indicator.min() < 0 or np.any(np.diff(indicator) < 0)):
            raise ValueError("Graphs: graph_indicator must count graphs from 0 and not decrease.")
        if n_graphs is not None and len(indicator) and indicator[-1] >= n_graphs:
            raise ValueError(f"Graphs: graph_indicator must be below n_graphs={n_graphs}, got {indicator[-1]}.")
        starts = ends_of(np.bincount(indicator.astype(np.int64), minlength=n_graphs or 0))
        n_nodes, pairs = len(indicator), np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        labels = np.zeros(n_nodes, np.int64) if node_labels is None else _integers("node_labels", node_labels, n_nodes)
        of_edges = None if edge_labels is None else _integers("edge_labels", edge_labels, len(pairs))
        attributes = None if node_attributes is None else _attributes(node_attributes, n_nodes)
        return cls._packed("Graphs", pairs, starts, labels, of_edges, attributes)

    @classmethod
    def _packed(
        cls,
        owner: str,
        edges: Array,
        starts: Array,
        labels: Array,
        edge_labels: Array | None,
        attributes: Array | None,
    ) -> Self:
        """Pack edges between nodes of the union, each of which is listed once or more, in any direction."""
        degrees, neighbours = _neighbours(owner, edges, starts)
        arrays = {
            "labels": labels,
            "degrees": degrees,
            "attributes": attributes,
            "neighbours": neighbours,
            "edge_labels": None if edge_labels is None else _both_labels(owner, edges, edge_labels, starts),
        }
        pointers = {"nodes": starts, "edges": ends_of(degrees)[starts]}
        return cls._with(pointers, arrays, np.float32 if attributes is None else attributes.dtype)

    @property
    def labels(self) -> Array:
        """The label of each node, int64."""
        return self._required("labels")

    @property
    def degrees(self) -> Array:
        """The number of neighbours of each node, int32."""
        return self._required("degrees")

    @property
    def neighbours(self) -> Array:
        """The neighbours of each node in turn, numbered in their graph, int32."""
        return self._required("neighbours")

    @property
    def edge_labels(self) -> Array | None:
        """The label of the edge to each entry of ``neighbours``, int64; None without edge labels."""
        return self._arrays["edge_labels"]

    @property
    def attributes(self) -> Array | None:
        """Numbers of each node, (n_nodes, n_attributes); None where there are none."""
        return self._arrays["attributes"]

    @property
    def node_pointers(self) -> Array:
        """The first entry of each node in ``neighbours``, and the end."""
        return ends_of(self.degrees)

    def _required(self, name: str) -> Array:
        array = self._arrays[name]
        assert array is not None  # noqa: S101 - all graphs have it
        return array


class _Part(NamedTuple):
    edges: Array  # (m, 2) int64
    labels: Array  # (n,) int64
    edge_labels: Array | None
    attributes: Array | None = None


def _graph(owner: str, name: str, i: int, graph: object) -> _Part:
    if hasattr(graph, "nodes") and hasattr(graph, "is_directed"):
        return _of_networkx(owner, name, i, graph)
    if is_sparse(graph) or isinstance(graph, np.ndarray):
        return _of_matrix(owner, name, i, graph)
    if isinstance(graph, tuple) and len(graph) in (2, 3, 4):
        return _of_edges(owner, name, i, *graph)
    raise refuse(owner, name, i, "must be a graph", graph, _WAY_OUT)


def _of_edges(
    owner: str, name: str, i: int, edges: object, labels: Any, edge_labels: Any = None, attributes: object = None
) -> _Part:
    pairs = np.asarray(edges)
    if not pairs.size:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        found = f"edges of shape {pairs.shape} of {pairs.dtype}"
        raise refuse(owner, name, i, "must list edges as pairs of node numbers", found, _WAY_OUT)
    numbers = [0] * int(labels) if isinstance(labels, int | np.integer) else list(labels)
    nodes = _labels(owner, name, i, "label of a node", numbers)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= len(nodes)):
        rule = f"must have edges between its {len(nodes)} nodes"
        found = f"an edge to node {pairs.max() if pairs.max() >= len(nodes) else pairs.min()}"
        raise refuse(owner, name, i, rule, found, "Count nodes from 0, and give every node a label.")
    of_edges = None if edge_labels is None else _labels(owner, name, i, "label of an edge", list(edge_labels))
    if of_edges is not None and len(of_edges) != len(pairs):
        rule = "must have one label for each edge"
        raise refuse(owner, name, i, rule, f"{len(of_edges)} labels of {len(pairs)} edges", _WAY_OUT)
    values = None if attributes is None else _attributes_of(owner, name, i, attributes, len(nodes))
    return _Part(pairs.astype(np.int64), nodes, of_edges, values)


def _of_networkx(owner: str, name: str, i: int, graph: Any) -> _Part:
    if graph.is_directed():
        way_out = "Call graph.to_undirected() first."
        raise refuse(owner, name, i, "must be an undirected graph", "a directed one", way_out)
    place = {node: number for number, node in enumerate(graph.nodes)}
    labels = [data.get("label", 0) for _, data in graph.nodes(data=True)]
    listed = list(graph.edges(data=True))
    edges = [(place[u], place[v]) for u, v, _ in listed]
    of_edges = [data["label"] for *_, data in listed if "label" in data]
    values = [data["attributes"] for _, data in graph.nodes(data=True) if "attributes" in data]
    return _of_edges(owner, name, i, edges, labels, of_edges if of_edges else None, values if values else None)


def _of_matrix(owner: str, name: str, i: int, matrix: Any) -> _Part:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise refuse(owner, name, i, "must be a square adjacency matrix", f"shape {matrix.shape}", _WAY_OUT)
    entries = sparse.coo_array(matrix)
    edges = np.column_stack([entries.row, entries.col])[entries.data != 0]
    return _of_edges(owner, name, i, edges.astype(np.int64), int(matrix.shape[0]))


def _attributes_of(owner: str, name: str, i: int, attributes: object, n_nodes: int) -> Array:
    rule = f"must have a row of finite attributes for each of its {n_nodes} nodes"
    try:
        values = np.asarray(attributes)
        finite = values.dtype.kind in "biuf" and bool(np.isfinite(values).all())
    except ValueError:
        raise refuse(owner, name, i, rule, "rows of different lengths", _WAY_OUT) from None
    if n_nodes == 0 and values.size == 0:
        return np.empty((0, values.shape[1] if values.ndim == 2 else 0))
    if values.ndim != 2 or len(values) != n_nodes or not finite:
        found = f"an array of shape {values.shape} of {values.dtype}" if finite else "values that are not"
        raise refuse(owner, name, i, rule, found, _WAY_OUT)
    return values


def _joined_attributes(owner: str, name: str, parts: Sequence[_Part]) -> Array | None:
    """Return the attributes of the nodes of all graphs, float32 where all are; refuse graphs that differ in them."""
    filled = [(i, part.attributes) for i, part in enumerate(parts) if len(part.labels)]
    given = [values for _, values in filled if values is not None]
    if not given:
        return None
    for i, values in filled:
        if values is None or values.shape[1] != given[0].shape[1]:
            found = "none" if values is None else f"{values.shape[1]}"
            rule = f"must have {given[0].shape[1]} attributes for each node, as the other graphs"
            raise refuse(owner, name, i, rule, found, "Give all graphs the same attributes, or none.")
    single = all(values.dtype == np.float32 for values in given)
    return np.ascontiguousarray(np.concatenate(given), dtype=np.float32 if single else np.float64)


def _labels(owner: str, name: str, i: int, what: str, labels: Sequence[object]) -> Array:
    numbers = np.empty(len(labels), dtype=np.int64)
    for place, label in enumerate(labels):
        number = label_number(label)
        if number is None:
            way_out = "Round numbers, or keep them as attributes of nodes."
            raise refuse(owner, name, i, f"must have integers or text for every {what}", label, way_out)
        numbers[place] = number
    return numbers


def _neighbours(owner: str, edges: Array, starts: Array) -> tuple[Array, Array]:
    """Return the degrees of nodes of the union, and their neighbours, each once, ascending, numbered in their graph."""
    n_nodes = int(starts[-1])
    degrees, neighbours = np.empty(n_nodes, dtype=np.int32), np.empty(2 * len(edges), dtype=np.int32)
    found = core.adjacency(np.ascontiguousarray(edges), starts, degrees, neighbours)
    if found < 0:
        bad = -1 - found
        ends = edges[bad].tolist()
        if min(ends) < 0 or max(ends) >= n_nodes:
            raise ValueError(f"{owner}: edges[{bad}] must join nodes from 0 to {n_nodes - 1}, got {ends}.")
        raise ValueError(f"{owner}: edges[{bad}] joins two graphs; an edge must lie in one graph.")
    return degrees, neighbours[:found]


def _both_labels(owner: str, edges: Array, labels: Array, starts: Array) -> Array:
    """Return the labels of the edges of both directions, in order and each once; refuse two labels of one edge."""
    n_nodes = int(starts[-1])
    both = np.concatenate([edges[:, 0] * n_nodes + edges[:, 1], edges[:, 1] * n_nodes + edges[:, 0]])
    order = np.argsort(both, kind="stable")
    both, of_both = both[order], np.concatenate([labels, labels])[order]
    again = both[1:] == both[:-1]
    if np.any(again & (of_both[1:] != of_both[:-1])):
        node = int(both[1:][again & (of_both[1:] != of_both[:-1])][0]) // n_nodes
        graph = int(np.searchsorted(starts, node, side="right")) - 1
        way_out = "Label it in one direction, or with the same label in both."
        raise refuse(owner, "X", graph, "must have one label for each edge", "an edge with two labels", way_out)
    first = np.concatenate([[True], ~again])[: len(both)]
    return np.asarray(of_both[first])


def _integers(name: str, values: Array, n_values: int) -> Array:
    values = np.asarray(values)
    if values.shape != (n_values,) or values.dtype.kind not in "iu":
        raise ValueError(
            f"Graphs: {name} must hold {n_values} integers, got an array of shape {values.shape} of {values.dtype}."
        )
    return values.astype(np.int64)


def _attributes(values: Array, n_nodes: int) -> Array:
    values = np.asarray(values)
    if values.ndim != 2 or len(values) != n_nodes or values.dtype.kind not in "biuf":
        raise ValueError(f"Graphs: node_attributes must be a matrix with a row for each of {n_nodes} nodes.")
    if not np.isfinite(values).all():
        raise ValueError("Graphs: node_attributes must be finite; impute or drop what is not.")
    return np.ascontiguousarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)
