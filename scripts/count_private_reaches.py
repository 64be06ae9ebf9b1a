"""Count the places where code reads a private name of another object.

``x._name`` counts, where x is neither ``self``, ``cls``, ``super()`` nor another object of the class in which the code
stands (a parameter annotated with that class, or ``Self``). Names with two underscores on both sides do not count.

    python scripts/count_private_reaches.py [folder]
"""

import ast
import sys
from collections import Counter
from pathlib import Path

_OWN = {"self", "cls"}


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
    return [
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_own(node.value)
    ]


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _is_own(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in _OWN


if __name__ == "__main__":
    main()
