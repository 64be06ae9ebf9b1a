"""Pages as Jupyter notebooks: text becomes cells of Markdown, ``python`` blocks cells of code, commands ``!`` lines.

``notebook_pages`` of ``conf.py`` names the pages. The build runs the blocks of a page, so it has run this code.
Notebooks are written to the folder ``notebooks`` next to the pages.
"""

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def notebook(text: str) -> dict[str, Any]:
    """Return a page of MyST Markdown as a notebook of format 4."""
    cells, end = [], 0
    for block in _BLOCK.finditer(text):
        cells.append(_cell("markdown", text[end : block.start()]))
        code = block[2] if block[1] == "python" else re.sub(r"^\$ ", "!", block[2], flags=re.MULTILINE)
        cells.append(_cell("code", code))
        end = block.end()
    cells.append(_cell("markdown", text[end:]))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    kept = [cell for cell in cells if cell["source"]]
    return {"cells": kept, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def _cell(kind: str, text: str) -> dict[str, Any]:
    source = text.strip("\n").splitlines(keepends=True)
    outputs = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **outputs}


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks after a build without errors."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "notebooks"
    folder.mkdir(exist_ok=True)
    for page in app.config.notebook_pages:
        text = (Path(app.srcdir) / f"{page}.md").read_text(encoding="utf-8")
        (folder / f"{page}.ipynb").write_text(json.dumps(notebook(text), indent=1, ensure_ascii=False), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the end of the build."""
    app.add_config_value("notebook_pages", [], "html")
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
