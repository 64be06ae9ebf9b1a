"""Trees from source code, XML and JSON: labels and parents of the nodes, in preorder."""

import ast
import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from mercer.structures.objects import refuse

# A node: its label, and what its children are made of.
_Children = Callable[[object], tuple[str, list[object]]]


def of_code(i: int, code: object) -> tuple[list[str], list[int]]:
    """Return the syntax tree of Python source, or of an ``ast`` node: names of node types, identifiers, constants."""
    if isinstance(code, str):
        try:
            code = ast.parse(code)
        except (SyntaxError, ValueError) as error:
            way_out = "Give source that ast.parse takes, or an ast node."
            raise refuse("Trees", "X", i, "must be Python source", f"{error}", way_out) from None
    if not isinstance(code, ast.AST):
        raise refuse("Trees", "X", i, "must be Python source or an ast node", code, "Give text.")
    return _walked(i, code, _of_syntax)


def of_xml(i: int, text: object) -> tuple[list[str], list[int]]:
    """Return the elements of an XML document, its text or an ElementTree: tags, ``@name=value``, words of text."""
    if isinstance(text, str | bytes):
        try:
            # Expat refuses entities that grow without bound, and never loads anything from outside the text.
            text = ElementTree.fromstring(text)  # noqa: S314
        except (ElementTree.ParseError, ValueError) as error:
            raise refuse("Trees", "X", i, "must be an XML document", f"{error}", "Mend or leave it out.") from None
    element = text.getroot() if isinstance(text, ElementTree.ElementTree) else text
    if not isinstance(element, ElementTree.Element):
        raise refuse("Trees", "X", i, "must be XML text or an element", text, "Give text.")
    return _walked(i, element, _of_element)


def of_json(i: int, value: object) -> tuple[list[str], list[int]]:
    """Return the tree of JSON text, or of dicts and lists: ``{}``, its sorted keys, ``[]``, and values."""
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise refuse("Trees", "X", i, "must be JSON", f"{error}", "Mend or leave it out.") from None
        except RecursionError:
            raise refuse(
                "Trees", "X", i, "must be JSON of fewer levels", "text nested too deep", "Flatten it."
            ) from None
    return _walked(i, value, lambda node: _of_value(i, node))


def reader_of(tree: object) -> Callable[[int, object], tuple[list[str], list[int]]] | None:
    """Return the function above for an object whose type says what it is; None for text and others."""
    if isinstance(tree, ast.AST):
        return of_code
    if isinstance(tree, ElementTree.Element | ElementTree.ElementTree):
        return of_xml
    return of_json if isinstance(tree, dict) else None


def _walked(i: int, root: object, children: _Children) -> tuple[list[str], list[int]]:
    """Return labels and parents in preorder, without recursion: trees may be deep. A node inside itself is refused."""
    labels: list[str] = []
    parents: list[int] = []
    depths: list[int] = []
    path: list[int] = []  # identities of the nodes from the root to here
    on_path: set[int] = set()
    waiting: list[tuple[object, int]] = [(root, -1)]
    while waiting:
        node, parent = waiting.pop()
        depth = depths[parent] + 1 if parent >= 0 else 0
        on_path.difference_update(path[depth:])
        del path[depth:]
        label, below = children(node)
        if below and id(node) in on_path:
            raise refuse("Trees", "X", i, "must be a tree", "an object that contains itself", "A cycle is no tree.")
        path.append(id(node))
        on_path.add(id(node))
        labels.append(label)
        parents.append(parent)
        depths.append(depth)
        waiting.extend((child, len(labels) - 1) for child in reversed(below))
    return labels, parents


class _Leaf(str):
    """Text that is a node without children."""


def _of_syntax(node: Any) -> tuple[str, list[object]]:
    if isinstance(node, _Leaf):
        return str(node), []
    below: list[object] = []
    for _, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                below.append(item)
            elif item is not None:
                below.append(_Leaf(repr(item) if not isinstance(item, str) else item))
    return type(node).__name__, below


def _of_element(node: Any) -> tuple[str, list[object]]:
    if isinstance(node, _Leaf):
        return str(node), []
    below: list[object] = [_Leaf(f"@{name}={value}") for name, value in sorted(node.attrib.items())]
    below += [_Leaf(word) for word in (node.text or "").split()]
    for child in node:
        below.append(child)
        below += [_Leaf(word) for word in (child.tail or "").split()]
    return str(node.tag) if isinstance(node.tag, str) else "comment", below


class _Entry:
    """A key of a JSON object, and its value below it."""

    def __init__(self, key: str, value: object):
        self.key = key
        self.value = value


def _of_value(i: int, node: object) -> tuple[str, list[object]]:
    if isinstance(node, _Entry):
        return node.key, [node.value]
    if isinstance(node, dict):
        return "{}", [_Entry(str(key), node[key]) for key in sorted(node, key=str)]
    if isinstance(node, list | tuple):
        return "[]", list(node)
    if node is None or isinstance(node, bool | int | float | str):
        return json.dumps(node), []
    raise refuse("Trees", "X", i, "must hold dicts, lists, text, numbers, true, false and null", node, "Convert it.")
