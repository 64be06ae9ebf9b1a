"""Count ``Any`` in the annotations of src/mercer, per package: ``python scripts/count_any.py [--files]``.

Counted are the types of parameters, results, variables and attributes: "bare" where the whole type is ``Any``, "inside"
where ``Any`` is a part of it, as in ``dict[str, Any]``.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "mercer"


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):  # an alias: Table = dict[str, Any]
            yield node.value


def count(annotation: ast.expr) -> int:
    found = 0
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name) and node.id == "Any":
            found += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "Any" in node.value:
            try:
                found += count(ast.parse(node.value, mode="eval").body)
            except SyntaxError:  # a string that is not a type, as in Literal
                continue
    return found


def main() -> None:
    bare: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for path in sorted(SOURCE.rglob("*.py*")):
        if path.suffix in {".py", ".pyi"}:
            name = path.relative_to(SOURCE)
            key = str(name) if "--files" in sys.argv else name.parts[0].removesuffix(".py")
            for annotation in annotations(ast.parse(path.read_text())):
                is_bare = isinstance(annotation, ast.Name) and annotation.id == "Any"
                (bare if is_bare else inside)[key] += count(annotation)
    sys.stdout.write(" bare inside\n")
    for name, _ in (bare + inside).most_common():
        sys.stdout.write(f"{bare[name]:5} {inside[name]:6} {name}\n")
    sys.stdout.write(f"{bare.total():5} {inside.total():6} all\n")


if __name__ == "__main__":
    main()
