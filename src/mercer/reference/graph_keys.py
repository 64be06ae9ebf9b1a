"""Keys of the nodes and paths of graphs, given by the neighbours of each node; nodes are numbered per graph."""

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import as_key, joined, mixed64
from mercer.reference.key_counts import count_keys


def adjacency(edges: Array, graphs: Array, out_degrees: Array, out_neighbours: Array) -> int:
    """Write the degree of each node and its neighbours, ascending, each once and numbered in its graph.

    ``edges`` (m, 2) join nodes of the union of all graphs, listed once or more, in any direction. Returns the number of
    neighbours; -1 - e if edge e does not lie in one graph.
    """
    n_nodes = int(graphs[-1])
    graph_of_node = np.repeat(np.arange(len(graphs) - 1), np.diff(graphs))
    inside: Array = np.asarray(((edges >= 0) & (edges < n_nodes)).all(axis=1))
    inside[inside] = graph_of_node[edges[inside, 0]] == graph_of_node[edges[inside, 1]]
    if not inside.all():
        return -1 - int(np.flatnonzero(~inside)[0])
    both = np.unique(np.concatenate([edges @ [n_nodes, 1], edges @ [1, n_nodes]]))
    source, target = np.divmod(both, max(n_nodes, 1))
    out_degrees[...] = np.bincount(source, minlength=n_nodes)
    out_neighbours[: len(both)] = target - graphs[graph_of_node[source]]
    return len(both)


def refine(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    edge_labels: Array,
    depth: int,
    seed: int,
    out_keys: Array,
) -> None:
    """Write the Weisfeiler-Lehman labels of rounds 0 to ``depth`` as keys, graph by graph and round by round.

    Graph g has its nodes from graphs[g] on, and node v its neighbours from nodes[v] on. A sum of mixed labels replaces
    the sorted multiset of the neighbours' labels. If ``edge_labels`` is empty, edges have no labels.
    """
    start = np.uint64(seed)
    sizes = np.diff(graphs)
    graph_of_node = np.repeat(np.arange(len(sizes)), sizes)
    n_nodes = int(graphs[-1])
    source = np.repeat(np.arange(n_nodes), np.diff(nodes[: n_nodes + 1]))
    target = neighbours[: len(source)] + graphs[graph_of_node[source]]
    place = (depth + 1) * graphs[graph_of_node] + np.arange(n_nodes) - graphs[graph_of_node]
    current = joined(start, labels[:n_nodes].astype(np.uint64))
    out_keys[place] = as_key(current)
    for round_number in range(1, depth + 1):
        salt = joined(~start, np.uint64(round_number))  # differs from every label of round 0
        sent = mixed64(current ^ salt)[target]
        if len(edge_labels):
            sent = joined(sent, edge_labels[: len(source)].astype(np.uint64))
        sums = current * np.uint64(0xD6E8FEB86659FD93) + salt
        np.add.at(sums, source, sent)
        current = mixed64(sums)
        out_keys[place + round_number * sizes[graph_of_node]] = as_key(current)


def path_keys(
    graphs: Array, nodes: Array, neighbours: Array, labels: Array, seed: int, out_pointers: Array, out_keys: Array
) -> int:
    """Write keys (label of u, label of v, distance) of all ordered pairs of nodes that a path joins.

    Returns the number of pairs. Pairs are sorted by the first node, then in the order of a breadth-first search.
    """
    n = 0
    out_pointers[0] = 0
    for g in range(len(graphs) - 1):
        first, last = int(graphs[g]), int(graphs[g + 1])
        of_node = [neighbours[nodes[v] : nodes[v + 1]].tolist() for v in range(first, last)]
        for u in range(last - first):
            order, away = _searched(of_node, u)
            start = joined(np.uint64(seed), labels[first + u].astype(np.uint64))
            pair = joined(start, labels[first + np.array(order, dtype=np.int64)].astype(np.uint64))
            keys = as_key(joined(pair, np.array(away, dtype=np.uint64)))[1:]
            out_keys[n : n + len(keys)] = keys
            n += len(keys)
        out_pointers[g + 1] = n
    return n


def count_paths(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    seed: int,
    presence: bool,
    out_pointers: Array,
    out_keys: Array,
    out_values: Array,
    out_squares: Array,
) -> None:
    """Write the distinct keys of ``path_keys`` with their counts, or 1 with ``presence``, and the sums of squares."""
    sizes = np.diff(graphs)
    pointers, keys = np.empty(len(graphs), np.int64), np.empty(int((sizes * (sizes - 1)).sum()), np.uint64)
    n = path_keys(graphs, nodes, neighbours, labels, seed, pointers, keys)
    count_keys(pointers, keys[:n], np.empty(0), int(presence), out_pointers, out_keys, out_values, out_squares)


def _searched(of_node: list[list[int]], source: int) -> tuple[list[int], list[int]]:
    """Return the nodes that a path connects to a source, nearest first, and their distances."""
    distance = {source: 0}
    order = [source]
    for v in order:  # the list grows during the loop, on purpose
        for u in of_node[v]:
            if u not in distance:
                distance[u] = distance[v] + 1
                order.append(u)
    return order, [distance[v] for v in order]
