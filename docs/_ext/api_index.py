"""The directive ``api-index``: every public name of the pages in ``api``, from A to Z, with its first sentence."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def names(folder: Path) -> list[str]:
    """Return the full names that the pages of a folder list, in the order of their last parts."""
    found = set()
    for path in folder.glob("*.rst"):
        module = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.removeprefix(".. currentmodule:: ")
            elif module and re.fullmatch(r" {3}\w+", line):
                found.add(f"{module}.{line.strip()}")
    return sorted(found, key=lambda name: (_last(name).lower(), name))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


class ApiIndex(SphinxDirective):
    """One list of names for each first letter."""

    def run(self) -> list[nodes.Node]:
        """Return the lists."""
        lines = []
        for letter, group in groupby(names(Path(self.env.srcdir) / "api"), key=lambda name: _last(name)[0].upper()):
            lines += [f".. rubric:: {letter}", "", ".. autosummary::", "   :nosignatures:", ""]
            lines += [*(f"   {name}" for name in group), ""]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("api-index", ApiIndex)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
