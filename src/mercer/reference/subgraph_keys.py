"""Keys of the connected subgraphs of a few nodes: all of them, or some that are drawn with known probabilities."""

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import as_key, joined, mixed64, multiply


class _Graph:
    """One graph: the neighbours of its nodes, which are numbered from 0 on, their labels, and those of the edges."""

    def __init__(self, first: int, last: int, nodes: Array, neighbours: Array, labels: Array, edge_labels: Array):
        ends = nodes[first : last + 1].tolist()
        self.near = [neighbours[a:b].tolist() for a, b in pairwise(ends)]
        self.labels = labels[first:last].astype(np.uint64)
        self.edge_labels = [
            dict(zip(near, edge_labels[a : a + len(near)].tolist(), strict=True)) if len(edge_labels) else None
            for near, a in zip(self.near, ends[:-1], strict=True)
        ]

    def inside(self, nodes: list[int]) -> int:
        """Return how many ends the edges among some nodes have; that of a node with itself has one."""
        return sum(u in self.near[v] for v in nodes for u in nodes)

    def ends(self, nodes: list[int]) -> int:
        return sum(len(self.near[v]) for v in nodes)


def subgraph_keys(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    edge_labels: Array,
    size: int,
    n_draws: int,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_weights: Array,
) -> int:
    """Write a key and a weight for each connected induced subgraph of ``size`` nodes; return their number.

    A graph with more than ``n_draws`` of them, where this is not 0, has ``n_draws`` drawn ones, each of which weighs
    1 / (n_draws * its probability); others weigh 1. If ``out_keys`` is empty, nothing is written, and the result is
    the largest possible number. Returns -1 if there are more than ``most``, or more than ``out_keys`` holds.
    """
    written = len(out_keys) > 0
    room, possible, n = len(out_keys) if written else most, 0, 0
    for g in range(len(graphs) - 1):
        graph = _Graph(int(graphs[g]), int(graphs[g + 1]), nodes, neighbours, labels, edge_labels)
        limit = n_draws + 1 if n_draws else room - possible + 1
        found = list(islice(_sets(graph, size), limit))
        drawn = 0 < n_draws < len(found)
        possible += n_draws if drawn else len(found)
        if possible > room:
            return -1
        if not written:
            continue
        pairs = list(_draws(graph, size, n_draws, seed)) if drawn else [(one, 1.0) for one in found]
        for one, weight in pairs:
            out_keys[n], out_weights[n] = _key(graph, one, seed), weight
            n += 1
        out_pointers[g], out_pointers[g + 1] = (0 if g == 0 else out_pointers[g]), n
    return n if written else possible


def _sets(graph: _Graph, size: int) -> Iterator[list[int]]:
    """Yield each connected set of nodes once (S. Wernicke, "Efficient detection of network motifs", 2006)."""
    for root in range(len(graph.near)):
        seen = {root}
        extension = [u for u in graph.near[root] if u > root]
        yield from _extended(graph, [root], extension, seen | set(extension), size)


def _extended(graph: _Graph, chosen: list[int], extension: list[int], seen: set[int], size: int) -> Iterator[list[int]]:
    if len(chosen) == size:
        yield chosen
        return
    for i, v in enumerate(extension):
        new = [u for u in graph.near[v] if u > chosen[0] and u not in seen]
        yield from _extended(graph, [*chosen, v], extension[i + 1 :] + new, seen | set(new), size)


def _key(graph: _Graph, nodes: list[int], seed: int) -> int:
    """Return the key of a subgraph: refined labels tell any two graphs of at most five nodes apart."""
    start, size = np.uint64(seed), len(nodes)
    current = joined(start, graph.labels[nodes])
    for number in range(1, size + 1):
        salt = joined(~start, np.uint64(number))
        sent = mixed64(current ^ salt)
        sums = current * np.uint64(0xD6E8FEB86659FD93) + salt
        for i, v in enumerate(nodes):
            for j, u in enumerate(nodes):
                if u in graph.near[v]:
                    of_edges = graph.edge_labels[v]
                    edge = sent[j] if of_edges is None else joined(sent[j], np.uint64(of_edges[u] % 2**64))
                    sums[i : i + 1] += edge
        current = mixed64(sums)
    return int(as_key(mixed64(current.sum(keepdims=True) + np.uint64(size)))[0])


def _draws(graph: _Graph, size: int, n_draws: int, seed: int) -> Iterator[tuple[list[int], float]]:
    state = joined(np.uint64(seed), np.uint64(len(graph.near)))
    for label, near in zip(graph.labels, graph.near, strict=True):
        state = joined(state, label)
        for u in near:
            state = joined(state, np.uint64(u))
    chance = _chance(int(state))
    for _ in range(n_draws):
        nodes = _grown(graph, size, chance)
        if len(nodes) == size:
            yield nodes, 1 / (n_draws * _probability(graph, nodes))


def _chance(state: int) -> Iterator[Array]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        yield mixed64(np.uint64(state))


def _below(chance: Iterator[Array], bound: int) -> int:
    return int(multiply(next(chance), np.uint64(bound))[0])


def _grown(graph: _Graph, size: int, chance: Iterator[Array]) -> list[int]:
    """Return connected nodes, from a uniform node by uniform edges that leave them; fewer if none does."""
    nodes = [_below(chance, len(graph.near))]
    while len(nodes) < size and graph.ends(nodes) > graph.inside(nodes):
        found = nodes[0]
        while found in nodes:
            place, i = _below(chance, graph.ends(nodes)), 0
            while place >= len(graph.near[nodes[i]]):
                place -= len(graph.near[nodes[i]])
                i += 1
            found = graph.near[nodes[i]][place]
        nodes.append(found)
    return nodes


def _probability(graph: _Graph, nodes: list[int]) -> float:
    """Return the probability that ``_grown`` ends with these nodes, in any order: a sum over the last node of a set."""
    reached: dict[int, float] = {}
    for members in range(1, 2 ** len(nodes)):
        chosen = [i for i in range(len(nodes)) if members >> i & 1]
        total = 0.0
        for i in chosen:
            before = members & ~(1 << i)
            rest = [nodes[j] for j in chosen if j != i]
            joint = sum(u in graph.near[nodes[i]] for u in rest)
            if joint:
                total += reached[before] * joint / (graph.ends(rest) - graph.inside(rest))
        reached[members] = 1 / len(graph.near) if len(chosen) == 1 else total
    return reached[2 ** len(nodes) - 1]
