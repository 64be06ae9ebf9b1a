"""Keys of the complete subtrees and of the fragments of ordered trees."""

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import Words, as_key, joined


def subtree_keys(trees: Array, labels: Array, parents: Array, seed: int, out_keys: Array, out_sizes: Array) -> None:
    """Write the key and the number of nodes of the complete subtree at each node; parents come before children."""
    numbers = labels.astype(np.uint64)
    for first, last in zip(trees[:-1].tolist(), trees[1:].tolist(), strict=True):
        children: list[Words] = [np.uint64(seed)] * (last - first)
        out_sizes[first:last] = 1
        for v in range(last - first - 1, -1, -1):
            hashed = joined(children[v], numbers[first + v])
            out_keys[first + v] = as_key(hashed)
            parent = int(parents[first + v])
            if parent >= 0:
                children[parent] = joined(children[parent], hashed)
                out_sizes[first + parent] += out_sizes[first + v]


def fragment_keys(
    trees: Array,
    labels: Array,
    parents: Array,
    max_size: int,
    leaves: bool,
    seed: int,
    most: int,
    out_pointers: Array,
    out_keys: Array,
    out_sizes: Array,
) -> int:
    """Write a key and a size for each fragment of at most ``max_size`` productions; return their number.

    A production is a node with all its children. With ``leaves``, each leaf is also a fragment, of size 1. If
    ``out_keys`` is empty, fragments are only counted. Returns -1 if there are more than ``most`` fragments, or more
    than ``out_keys`` holds.
    """
    listed = [
        (labels[first:last].astype(np.uint64), parents[first:last].tolist())
        for first, last in zip(trees[:-1].tolist(), trees[1:].tolist(), strict=True)
    ]
    number = sum(_number(of_tree, max_size, leaves) for _, of_tree in listed)
    counted = len(out_keys) > 0
    if number > (len(out_keys) if counted else most):
        return -1
    if not counted:
        return number
    n = 0
    out_pointers[0] = 0
    for t, (of_labels, of_parents) in enumerate(listed):
        for found in _fragments(of_labels, of_parents, max_size, leaves, seed):
            for size, hashes in enumerate(found):
                stop = n + len(hashes)
                out_keys[n:stop], out_sizes[n:stop] = as_key(np.array(hashes, dtype=np.uint64)), size
                n = stop
        out_pointers[t + 1] = n
    return n


def _number(parents: list[int], max_size: int, leaves: bool) -> int:
    """Return the number of fragments of a tree, from counts by size that are added up from children to parents."""
    counts = [[0, 1] + [0] * (max_size - 1) for _ in parents]
    number = 0
    for v in range(len(parents) - 1, -1, -1):
        is_leaf = v not in parents
        if not is_leaf or leaves:
            number += sum(counts[v])
        if v and not is_leaf:
            above = counts[parents[v]]
            counts[parents[v]] = [
                above[s] + sum(above[s - c] * counts[v][c] for c in range(1, s)) for s in range(max_size + 1)
            ]
    return number


def _fragments(labels: Array, parents: list[int], max_size: int, leaves: bool, seed: int) -> list[list[list[Array]]]:
    """Return the hashes of the fragments at each node, from the last node to the first, grouped by size."""
    children: list[list[int]] = [[] for _ in labels]
    for v in range(1, len(labels)):
        children[parents[v]].append(v)
    of_nodes: dict[int, list[list[Array]]] = {}
    for v in range(len(labels) - 1, -1, -1):
        found: list[list[Array]] = [[] for _ in range(max_size + 1)]
        if children[v] or leaves:
            production = joined(np.uint64(seed), labels[v])
            for c in children[v]:
                production = joined(production, labels[c])
            found[1].append(joined(production, np.uint64(len(children[v]))))
        for c in children[v]:
            # the production of the parent contains its leaves, so leaves cannot be expanded
            found = _with_child(found, of_nodes[c] if children[c] else [[]] * (max_size + 1), max_size)
        of_nodes[v] = found
    return list(of_nodes.values())


def _with_child(partial: list[list[Array]], child: list[list[Array]], max_size: int) -> list[list[Array]]:
    """Return partial fragments with one more child: unexpanded, or expanded to one of the child's fragments."""
    result: list[list[Array]] = [[] for _ in range(max_size + 1)]
    for s in range(1, max_size + 1):
        for hashed in partial[s]:
            result[s].append(joined(hashed, np.uint64(1)))
            for c in range(1, max_size + 1 - s):
                result[s + c] += [joined(hashed, fragment) for fragment in child[c]]
    return result
