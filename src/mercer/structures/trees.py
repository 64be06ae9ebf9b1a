"""Ordered, labelled trees."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from mercer._typing import Array, override
from mercer.state import part, require
from mercer.structures import tree_sources
from mercer.structures.objects import as_list, label_number, refuse
from mercer.structures.ragged import Ragged, ends_of

_WAY_OUT = (
    'Write "(S (NP dogs) (VP bark))", nested tuples ("S", ("NP", "dogs"), ...), or (labels, parents); Trees.of_code, '
    "Trees.of_xml and Trees.of_json read text."
)


@part("Trees")
class Trees(Ragged):
    """Ordered trees with a label for each node; a parent comes before its children.

    Parameters
    ----------
    X : list of trees
        Each bracketed text such as ``"(S (NP dogs) (VP bark))"``; nested tuples ``(label, child, ...)``, in which a
        leaf may be its label alone; a pair of lists (labels, parents), with -1 for the parent of the root; or a node of
        ``ast``, an element of XML or a dict.

    Examples
    --------
    >>> from mercer.structures import Trees
    >>> trees = Trees(["(S (NP dogs) (VP bark))", ("S", "a", ("B", "c"))])
    >>> trees.sizes.tolist(), trees.parents.tolist()
    ([5, 4], [-1, 0, 1, 0, 3, -1, 0, 0, 2])
    """

    _levels: ClassVar[Mapping[str, tuple[str, ...]]] = {"nodes": ("labels", "parents")}

    def __init__(self, X: object):
        made = self.of("Trees", "X", X)
        self._take(made)

    @override
    def _check_arrays(self) -> None:
        labels, parents = self._arrays["labels"], self._arrays["parents"]
        sound = labels is not None and parents is not None and labels.ndim == parents.ndim == 1
        require(sound and self.labels.dtype == np.int64 and self.parents.dtype == np.int32, "labels must be integers")
        type(self).of_arrays(self.labels, self.parents, self.pointers())  # refuses what is no tree

    @classmethod
    def of(cls, owner: str, name: str, X: object) -> Self:
        """Pack trees; errors name the tree at fault."""
        parts = [_tree(owner, name, i, tree) for i, tree in enumerate(as_list(owner, name, X, "trees"))]
        labels = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
        parents = np.concatenate([np.empty(0, np.int32), *(part[1] for part in parts)])
        pointers = ends_of([len(part[0]) for part in parts])
        return cls._with({"nodes": pointers}, {"labels": labels, "parents": parents}, np.float32)

    @classmethod
    def of_code(cls, X: object) -> Self:
        """Parse Python source (or take ``ast`` nodes): types of nodes, and identifiers and constants as leaves.

        >>> from mercer.structures import Trees
        >>> Trees.of_code(["x = 1"]).sizes.tolist()
        [7]
        """
        return cls._of_sources(tree_sources.of_code, X)

    @classmethod
    def of_xml(cls, X: object) -> Self:
        """Parse XML (or take elements): tags, attributes as leaves ``@name=value``, and words of text as leaves.

        >>> from mercer.structures import Trees
        >>> Trees.of_xml(["<a b='1'>two words<c/></a>"]).parents.tolist()
        [-1, 0, 0, 0, 0]
        """
        return cls._of_sources(tree_sources.of_xml, X)

    @classmethod
    def of_json(cls, X: object) -> Self:
        """Parse JSON (or take dicts and lists): ``{}`` with its keys in order, ``[]``, and values as leaves.

        >>> from mercer.structures import Trees
        >>> Trees.of_json(['{"a": [1, 2]}', {"a": None}]).sizes.tolist()
        [5, 3]
        """
        return cls._of_sources(tree_sources.of_json, X)

    @classmethod
    def _of_sources(cls, read: Callable[[int, Any], tuple[list[str], list[int]]], X: object) -> Self:
        return cls.of("Trees", "X", [read(i, item) for i, item in enumerate(as_list("Trees", "X", X, "trees"))])

    @classmethod
    def of_arrays(cls, labels: Array, parents: Array, pointers: Array) -> Self:
        """Take the labels and parents of all nodes, numbered in their tree, and the first node of each tree."""
        pointers = np.ascontiguousarray(pointers, dtype=np.int64)
        labels, parents = np.asarray(labels), np.asarray(parents)
        ascend = len(pointers) and pointers[0] == 0 and pointers[-1] == len(labels) and np.all(np.diff(pointers) >= 0)
        if not ascend or len(parents) != len(labels) or labels.dtype.kind not in "iu" or parents.dtype.kind not in "iu":
            raise ValueError("Trees: labels and parents must be integers, with pointers from 0 to their number.")
        sizes = np.diff(pointers)
        place = np.arange(len(labels)) - np.repeat(pointers[:-1], sizes)
        wrong = np.flatnonzero((parents >= place) | (parents < -1) | ((parents == -1) != (place == 0)))
        if len(wrong):
            tree = int(np.searchsorted(pointers, wrong[0], side="right")) - 1
            raise _no_tree("Trees", "X", tree, int(place[wrong[0]]), int(parents[wrong[0]]))
        arrays: dict[str, Array | None] = {"labels": labels.astype(np.int64), "parents": parents.astype(np.int32)}
        return cls._with({"nodes": pointers}, arrays, np.float32)

    @property
    def labels(self) -> Array:
        """The label of each node, int64."""
        labels = self._arrays["labels"]
        assert labels is not None  # noqa: S101 - trees always have them
        return labels

    @property
    def parents(self) -> Array:
        """The parent of each node, numbered in its tree, int32; -1 for a root."""
        parents = self._arrays["parents"]
        assert parents is not None  # noqa: S101 - trees always have them
        return parents


def _no_tree(owner: str, name: str, i: int, node: int, parent: int) -> ValueError:
    rule = "must be a tree: node 0 is the root, with parent -1, and every other node follows its parent"
    found = f"parent {parent} of node {node}"
    return refuse(owner, name, i, rule, found, "A cycle is no tree; number nodes from the root down.")


def _tree(owner: str, name: str, i: int, tree: object) -> tuple[Array, Array]:
    """Return the labels and parents of a tree."""
    if isinstance(tree, str):
        labels, parents = _parsed(owner, name, i, tree)
    elif isinstance(tree, tuple) and len(tree) == 2 and all(isinstance(part, list | np.ndarray) for part in tree):
        labels, parents = list(tree[0]), [int(parent) for parent in tree[1]]
    elif isinstance(tree, tuple) and tree:
        labels, parents = _flattened(tree)
    elif (read := tree_sources.reader_of(tree)) is not None:
        found, parents = read(i, tree)
        labels = list(found)
    else:
        raise refuse(owner, name, i, "must be a tree", tree, _WAY_OUT)
    numbers = np.empty(len(labels), dtype=np.int64)
    if len(parents) != len(labels):
        raise refuse(owner, name, i, "must have a parent for each label", f"{len(parents)} parents", _WAY_OUT)
    for node, (label, parent) in enumerate(zip(labels, parents, strict=True)):
        number = label_number(label)
        if number is None:
            raise refuse(owner, name, i, "must have labels that are integers or text", label, _WAY_OUT)
        if not -1 <= parent < node or (parent == -1) != (node == 0):
            raise _no_tree(owner, name, i, node, parent)
        numbers[node] = number
    return numbers, np.array(parents, dtype=np.int32)


def _flattened(tree: object) -> tuple[list[object], list[int]]:
    """Return the labels and parents of nested tuples, in preorder, without recursion: trees may be deep."""
    labels: list[object] = []
    parents: list[int] = []
    waiting = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        label, *children = node if isinstance(node, tuple) and node else (node,)
        labels.append(label)
        parents.append(parent)
        waiting.extend((child, len(labels) - 1) for child in reversed(children))
    return labels, parents


def _parsed(owner: str, name: str, i: int, text: str) -> tuple[list[object], list[int]]:
    """Return the labels and parents of bracketed text; a label follows each opening bracket."""
    labels: list[object] = []
    parents: list[int] = []
    open_nodes: list[int] = []
    is_named = True  # whether the innermost bracket has its label
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            if not is_named or (labels and not open_nodes):
                break
            is_named = False
        elif word == ")":
            if not is_named or not open_nodes:
                break
            open_nodes.pop()
        else:
            if labels and not open_nodes and is_named:
                break
            labels.append(word)
            parents.append(open_nodes[-1] if open_nodes else -1)
            if not is_named:
                open_nodes.append(len(labels) - 1)
                is_named = True
    else:
        if labels and not open_nodes and is_named:
            return labels, parents
    found = repr(text if len(text) <= 60 else text[:57] + "...")
    raise refuse(owner, name, i, "must be one tree with matching brackets", found, _WAY_OUT)
