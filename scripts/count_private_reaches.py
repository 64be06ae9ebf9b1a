"""Count the places where code reads a private name of another object.

``x._name`` counts, where x is neither ``self``, ``cls``, ``super()`` nor another object of the class in which the code
stands. Such an object is a parameter annotated with that class or with ``Self``, or a name that a method binds to a
copy of ``self`` (``unfitted(self)``, ``copy(self)``) or to a call of the class (by name, ``cls`` or ``type(self)``).
Names with two underscores on both sides do not count, nor do names that are public by their documentation in spite of
the underscore: the methods of named tuples (``_replace``, ``_asdict``, ``_fields``, ``_make``, ``_field_defaults``) and
``os._exit``.

    python scripts/count_private_reaches.py [folder]
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_OWN = frozenset({"self", "cls"})
# Names of named tuples that the Python documentation lists as public: the underscore keeps them apart from fields.
_NAMED_TUPLE = {"_replace", "_asdict", "_fields", "_make", "_field_defaults"}
# Functions that return another object of the class of their argument.
_COPIES = {"copy", "deepcopy", "replace", "unfitted"}


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "src/mercer")
    found = [(path, name) for path in sorted(root.rglob("*.py")) for name in reaches(path.read_text())]
    for name, count in Counter(name for _, name in found).most_common():
        print(f"{count:4d}  {name}")
    for path, count in Counter(path for path, _ in found).most_common():
        print(f"{count:4d}  {path}")
    print(f"{len(found)} reaches into private names of other objects")


def reaches(source: str) -> list[str]:
    """Return the private names that a module reads from other objects."""
    return list(_reaches(ast.parse(source), "", _OWN))


def _reaches(node: ast.AST, class_name: str, own: frozenset[str]) -> Iterator[str]:
    """Yield the private names that code reads from objects not called by one of the ``own`` names."""
    if isinstance(node, ast.ClassDef):
        class_name, own = node.name, _OWN
    elif isinstance(node, ast.FunctionDef) and class_name:
        own |= _of_the_class(node, class_name)
    if isinstance(node, ast.Attribute) and _is_private(node) and not _is_own(node.value, own):
        yield node.attr
    for child in ast.iter_child_nodes(node):
        yield from _reaches(child, class_name, own)


def _of_the_class(function: ast.FunctionDef, class_name: str) -> set[str]:
    """Return the names of a method that are objects of its class: annotated parameters, and copies of ``self``."""
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = {parameter.arg for parameter in parameters if _is_class(parameter.annotation, class_name)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                names |= {name.id for name, value in _pairs(target, node.value) if _is_copy(value, class_name)}
    return names


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.Name, ast.expr]]:
    """Return the names that an assignment binds, each with its value: several for ``a, b = x, y``."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        both = zip(target.elts, value.elts, strict=False)
        return [(one, other) for one, other in both if isinstance(one, ast.Name)]
    return [(target, value)] if isinstance(target, ast.Name) else []


def _is_class(annotation: ast.expr | None, class_name: str) -> bool:
    name = annotation.value if isinstance(annotation, ast.Constant) else getattr(annotation, "id", None)
    return name in {"Self", class_name}


def _is_copy(value: ast.expr, class_name: str) -> bool:
    """Return whether an expression makes another object of the class: a copy of ``self``, or a new one."""
    if isinstance(value, ast.IfExp):
        return _is_copy(value.body, class_name) and _is_copy(value.orelse, class_name)
    if not isinstance(value, ast.Call):
        return False
    if ast.unparse(value.func) in {"cls", "type(self)", class_name}:
        return True
    name = getattr(value.func, "id", None)
    return name in _COPIES and bool(value.args) and getattr(value.args[0], "id", None) == "self"


def _is_private(node: ast.Attribute) -> bool:
    name = node.attr
    if not name.startswith("_") or (name.startswith("__") and name.endswith("__")):
        return False
    return name not in _NAMED_TUPLE and ast.unparse(node) != "os._exit"


def _is_own(value: ast.expr, own: frozenset[str]) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in own


if __name__ == "__main__":
    main()
