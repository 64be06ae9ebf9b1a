"""Partial trees (A. Moschitti 2006): fragments whose nodes keep any of their children, in order."""

import itertools
from typing import NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import Words, as_key, joined


class _Fragment(NamedTuple):
    """A fragment, or a sequence of fragments of children of which the one at place ``last`` is the last."""

    hashed: Words
    gaps: int  # children left out between two that are kept, and nodes without children
    leaves: int  # leaves of the tree
    last: int = 0


def partial_tree_keys(
    trees: Array,
    labels: Array,
    parents: Array,
    max_size: int,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_shapes: Array,
) -> int:
    """Write a key, and numbers of nodes, gaps and leaves, of each partial tree of at most ``max_size`` nodes.

    Returns their number; -1 if it exceeds ``most``, or what ``out_keys`` holds. Writes nothing if that is empty.
    """
    listed = [slice(a, b) for a, b in zip(trees[:-1].tolist(), trees[1:].tolist(), strict=True)]
    number = sum(_number(parents[rows].tolist(), max_size) for rows in listed)
    written = len(out_keys) > 0
    if number > (len(out_keys) if written else most):
        return -1
    n = 0
    for t, rows in enumerate(listed if written else []):
        for found in _fragments(labels[rows].astype(np.uint64), parents[rows].tolist(), max_size, seed):
            for size, fragments in enumerate(found):
                for own in fragments:
                    out_keys[n], out_shapes[n] = as_key(own.hashed), (size, own.gaps, own.leaves)
                    n += 1
        out_pointers[0], out_pointers[t + 1] = 0, n
    return number


def _number(parents: list[int], max_size: int) -> int:
    """Return the number of partial trees, from counts of sequences of children by their numbers of nodes."""
    counts = [[1] + [0] * max_size for _ in parents]
    number = 0
    for v in range(len(parents) - 1, -1, -1):
        own = counts[v]
        number += sum(own[:max_size])
        if v:
            above = counts[parents[v]]
            counts[parents[v]] = [
                above[s] + sum(above[s - c] * own[c - 1] for c in range(1, s + 1)) for s in range(max_size + 1)
            ]
    return number


def _children(parents: list[int]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for v in range(1, len(parents)):
        children[parents[v]].append(v)
    return children


def _fragments(labels: Array, parents: list[int], max_size: int, seed: int) -> list[list[list[_Fragment]]]:
    """Return the fragments at each node, from the last node to the first, grouped by size."""
    children = _children(parents)
    of_nodes: dict[int, list[list[_Fragment]]] = {}
    for v in range(len(labels) - 1, -1, -1):
        root = joined(np.uint64(seed), labels[v])
        sequences: list[list[_Fragment]] = [[] for _ in range(max_size)]
        for place, c in enumerate(children[v]):
            _add_child(sequences, of_nodes[c], place, ~np.uint64(seed))
        bare = _Fragment(joined(root, np.uint64(0)), 1, int(not children[v]))
        grown = [[one._replace(hashed=joined(root, one.hashed)) for one in some] for some in sequences[1:]]
        of_nodes[v] = [[], [bare], *grown]
    return list(of_nodes.values())


def _add_child(sequences: list[list[_Fragment]], child: list[list[_Fragment]], place: int, start: Words) -> None:
    fresh: list[list[_Fragment]] = [[] for _ in sequences]
    for c, fragments in enumerate(child):
        for own in fragments:
            if c < len(fresh):
                fresh[c].append(_Fragment(joined(start, own.hashed), own.gaps, own.leaves, place))
            for s in range(1, len(fresh) - c):
                for before in sequences[s]:
                    gaps = before.gaps + own.gaps + place - before.last - 1
                    both = joined(before.hashed, own.hashed)
                    fresh[s + c].append(_Fragment(both, gaps, before.leaves + own.leaves, place))
    for some, new in zip(sequences, fresh, strict=True):
        some.extend(new)


def partial_tree_values(
    trees: Array,
    labels: Array,
    parents: Array,
    other_trees: Array,
    other_labels: Array,
    other_parents: Array,
    decay: float,
    gap_decay: float,
    terminal: float,
    paired: bool,
    out: Array,
) -> None:
    """Write the kernel of partial trees of any size: of all pairs (n, m), or ``paired``, of trees i and i, (n, 1)."""
    left = _listed(trees, labels, parents)
    right = _listed(other_trees, other_labels, other_parents)
    for i, x in enumerate(left):
        for j, y in enumerate([right[i]] if paired else right):
            out[i, j] = _value(x, y, decay, gap_decay, terminal)


def _listed(trees: Array, labels: Array, parents: Array) -> list[tuple[list[int], list[list[int]]]]:
    ends = trees.tolist()
    return [(labels[a:b].tolist(), _children(parents[a:b].tolist())) for a, b in itertools.pairwise(ends)]


def _value(
    x: tuple[list[int], list[list[int]]],
    y: tuple[list[int], list[list[int]]],
    decay: float,
    gap_decay: float,
    terminal: float,
) -> float:
    """Return the kernel of two trees, by recursion over pairs of nodes with equal labels."""
    (labels, below), (other_labels, other_below) = x, y
    values = np.zeros((len(labels), len(other_labels)))
    for u in range(len(labels) - 1, -1, -1):
        for v in range(len(other_labels) - 1, -1, -1):
            if labels[u] != other_labels[v]:
                continue
            n_leaves = (not below[u]) + (not other_below[v])
            values[u, v] = decay * gap_decay**2 * terminal ** (n_leaves / 2)
            if not n_leaves:
                values[u, v] += decay * _subsequences(values[np.ix_(below[u], other_below[v])], gap_decay)
    return float(values.sum())


def _subsequences(common: Array, gap_decay: float) -> float:
    """Return the sum over common subsequences of children of their products, with a factor for each child between."""
    n, m = common.shape
    powers = [gap_decay ** np.maximum(np.subtract.outer(np.arange(s), np.arange(s)), 0) for s in (n, m)]
    rows, columns = (np.tril(power) for power in powers)
    ending, total = common, float(common.sum())
    for _ in range(1, min(n, m)):
        sums = rows @ ending @ columns.T
        ending = np.zeros_like(common)
        ending[1:, 1:] = common[1:, 1:] * sums[:-1, :-1]
        total += float(ending.sum())
    return total
