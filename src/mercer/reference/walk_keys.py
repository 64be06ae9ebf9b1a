"""Keys of the labels along all walks of a few steps, with the number of walks of each."""

from collections import Counter

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import as_key, joined


def walk_keys(
    graphs: Array,
    nodes: Array,
    neighbours: Array,
    labels: Array,
    edge_labels: Array,
    length: int,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_counts: Array,
    out_steps: Array,
) -> int:
    """Write the labels of the walks of 0 to ``length`` steps that end in each node, their counts and their steps.

    Returns the number of entries, -1 if they exceed ``most``, or what ``out_keys`` holds; if ``out_keys`` is empty,
    nothing is written.
    """
    written = len(out_keys) > 0
    room, n = len(out_keys) if written else most, 0
    for g in range(len(graphs) - 1):
        first, last = int(graphs[g]), int(graphs[g + 1])
        at: list[Counter[int]] = [
            Counter({int(joined(np.uint64(seed), label)): 1}) for label in labels[first:last].astype(np.uint64)
        ]
        for step in range(length + 1):
            before, at = at, []
            for v in range(first, last):
                ended = before[v - first]
                if step:
                    ended = _arrived(v, first, nodes, neighbours, labels, edge_labels, before)
                if n + len(ended) > room:
                    return -1
                at.append(ended)
                for place, (hashed, count) in enumerate(sorted(ended.items()) if written else [], n):
                    out_keys[place], out_counts[place], out_steps[place] = as_key(np.uint64(hashed)), count, step
                n += len(ended)
        if written:
            out_pointers[0], out_pointers[g + 1] = 0, n
    return n


def _arrived(
    v: int, first: int, nodes: Array, neighbours: Array, labels: Array, edge_labels: Array, at: list[Counter[int]]
) -> Counter[int]:
    """Return the walks that end in v: those that end in a neighbour, with the label of v added."""
    found: Counter[int] = Counter()
    for e in range(int(nodes[v]), int(nodes[v + 1])):
        before = at[int(neighbours[e])]
        hashes = np.array(list(before), dtype=np.uint64)
        if len(edge_labels):
            hashes = joined(hashes, edge_labels[e].astype(np.uint64))
        for hashed, count in zip(joined(hashes, labels[v].astype(np.uint64)).tolist(), before.values(), strict=True):
            found[hashed] += count
    return found
