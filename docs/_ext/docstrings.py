"""What Sphinx needs to show docstrings that are written to be read as plain text."""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

# Literals, roles and mathematics stay as they are.
_KEEP = re.compile(r"(``.*?``|:\w+:`[^`]*`|`[^`]*`)")


def escape(line: str) -> str:
    """Escape the bars of norms and the last underscore of names, which reStructuredText reads as references."""
    parts = _KEEP.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<!\\)\|", r"\\|", parts[i])
        parts[i] = re.sub(r"(?<=\w)_(?=[\s,.;:)]|$)", r"\\_", parts[i])
        parts[i] = re.sub(r"(?<!\\)(?<![*\w])\*(?=\w)", r"\\*", parts[i])
    return "".join(parts)


def prepare(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the prose of a docstring; leave examples, formulas and names of parameters."""
    in_math = False
    for i, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith(".. math::"):
            in_math = True
        elif in_math and stripped and not line.startswith(" "):
            in_math = False
        if not in_math and not stripped.startswith((">>>", "...")):
            name, colon, rest = line.rpartition(" : ")  # numpydoc escapes names of parameters itself
            lines[i] = name + colon + escape(rest)


def skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn, SciPy and Python document, and fields of tuples."""
    function = obj.fget if isinstance(obj, property) else getattr(obj, "__func__", obj)
    home = getattr(function, "__module__", None) or ""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    if type(obj).__name__ == "_tuplegetter" or (inspect.isroutine(obj) and not home.startswith("mercer")):
        return True
    return True if isinstance(obj, property) and not home.startswith("mercer") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx, before numpydoc reads the sections."""
    app.connect("autodoc-process-docstring", prepare, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
