"""The directive ``paper-verdicts``: what the stored results say of every paper's claims, as the page is built."""

from collections import Counter
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from mercer import bench

STATUSES = list(bench.Status)


def table(header: list[str], rows: list[list[str]]) -> nodes.table:
    """Return a table of text."""
    group = nodes.tgroup("", *[nodes.colspec(colwidth=1) for _ in header], cols=len(header))
    group += nodes.thead("", _row(header))
    group += nodes.tbody("", *[_row(row) for row in rows])
    return nodes.table("", group, classes=["verdicts"])


def _row(cells: list[str]) -> nodes.row:
    return nodes.row("", *[nodes.entry("", nodes.paragraph("", cell)) for cell in cells])


class PaperVerdicts(SphinxDirective):
    """Without an argument: one row per paper. With a paper's name its claims, folded away where none of them failed."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        if self.arguments:
            return self._claims(self.arguments[0])
        rows = []
        for paper in bench.papers():
            counts = Counter(judged.verdict.status for judged in bench.verdicts(paper.name))
            rows.append([f"{paper.title} ({paper.about['year']})", *[str(counts[status]) for status in STATUSES]])
        return [table(["paper", *[str(status) for status in STATUSES]], rows)]

    def _claims(self, name: str) -> list[nodes.Node]:
        judged = [one for one in bench.verdicts(name) if one.verdict.status is not bench.Status.NOT_RUN]
        if not judged:
            return [nodes.paragraph("", "The full run has no committed result yet.")]
        missed = [one for one in judged if one.verdict.status is bench.Status.NOT_REPRODUCED]
        others = [one for one in judged if one.verdict.status is not bench.Status.NOT_REPRODUCED]
        return [*_folded("Not reproduced", missed, " open"), *_folded("Reproduced, or better", others, "")]


def _folded(title: str, judged: list[Any], state: str) -> list[nodes.Node]:
    """Return claims that a click unfolds, or nothing where there are none."""
    if not judged:
        return []
    summary = f"<summary>{escape(title)}: {len(judged)} claims</summary>"
    rows = [[f"{one.claim.source}: {one.claim.says}", one.verdict.ours, str(one.verdict.status)] for one in judged]
    return [
        nodes.raw("", f'<details class="claims"{state}>{summary}', format="html"),
        table(["claim", "ours", "verdict"], rows),
        nodes.raw("", "</details>", format="html"),
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("paper-verdicts", PaperVerdicts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
