"""The directive ``paper-verdicts``: what the stored results say of every paper's claims, as the page is built."""

from collections import Counter
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
    """Without an argument a row a paper; with a paper's name a row a claim that has a verdict."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        if self.arguments:
            return [self._claims(self.arguments[0])]
        rows = []
        for paper in bench.papers():
            counts = Counter(judged.verdict.status for judged in bench.verdicts(paper.name))
            rows.append([f"{paper.title} ({paper.about['year']})", *[str(counts[status]) for status in STATUSES]])
        return [table(["paper", *[str(status) for status in STATUSES]], rows)]

    def _claims(self, name: str) -> nodes.Node:
        judged = [one for one in bench.verdicts(name) if one.verdict.status is not bench.Status.NOT_RUN]
        if not judged:
            return nodes.paragraph("", "The full run has no committed result yet.")
        rows = [[one.claim.says, one.claim.source, one.verdict.ours, str(one.verdict.status)] for one in judged]
        return table(["claim", "where", "ours", "verdict"], rows)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("paper-verdicts", PaperVerdicts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
