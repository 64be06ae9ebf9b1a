"""The directive ``benchmark-figure NAME``: a figure that a benchmark drew into ``docs/figures``, where it is there.

Such figures are measured on a quiet machine and committed; a page must build before they are.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class BenchmarkFigure(SphinxDirective):
    """Shows ``docs/figures/NAME.svg`` with the directive's text as its caption, or the command that draws it."""

    required_arguments = 1
    has_content = True
    option_spec = {"command": directives.unchanged_required, "alt": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Return a figure, or a paragraph in its place."""
        path = f"figures/{self.arguments[0]}.svg"
        if not (Path(self.env.srcdir) / path).exists():
            command = nodes.literal("", self.options["command"])
            return [nodes.paragraph("", "", command, nodes.Text(" draws the figure on your machine."))]
        caption = nodes.Element()
        self.state.nested_parse(StringList(self.content), self.content_offset, caption)
        figure = nodes.figure("", nodes.image(uri="/" + path, alt=self.options["alt"]))
        if caption.children:
            figure += nodes.caption("", "", *caption.children[0].children)
        return [figure]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("benchmark-figure", BenchmarkFigure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
