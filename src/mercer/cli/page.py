"""The comparison as one offline HTML page, in the style of the pages of papers."""

from pathlib import Path

from mercer.bench.comparison import Result, Rows
from mercer.bench.environment import machine
from mercer.bench.page import render as render_page
from mercer.bench.spec import Cell
from mercer.bench.store import Outcome

_HERE = Path(__file__).parent / "template"
# (title, value of a result, logarithmic axes, caption)
_FIGURES = (
    ("score", "score", ["x"], "Higher is better. Models without features are level lines."),
    ("kernel error", "kernel_error", ["x", "y"], "|ZZ' - K| / |K| in the Frobenius norm, on test rows."),
    ("training time", "fit_seconds", ["x", "y"], "Map and linear model together."),
)


def render(rows: Rows, results: list[Result], metric: str) -> str:
    """Return the page as text."""
    from mercer.bench import figures  # noqa: PLC0415 - needs matplotlib

    drawn: list[figures.Drawn | None] = []
    # One figure per kernel, because a figure has at most eight series.
    for kernel in dict.fromkeys(result.kernel for result in results if result.kernel):
        for title, value, log, caption in _FIGURES:
            y = metric if value == "score" else value
            spec = _spec(metric if title == "score" else title, y, log, caption)
            drawn.append(figures.draw(spec, _outcomes(results, kernel, value, y), f"f{len(drawn)}"))
    return render_page(
        "compare.html",
        _HERE,
        rows=rows,
        results=[result for result in results if not result.reason],
        left_out=list(dict.fromkeys(f"{result.model}: {result.reason}" for result in results if result.reason)),
        metric=metric,
        figures=[figure for figure in drawn if figure is not None],
        machine=machine(),
    )


def _spec(title: str, y: str, log: list[str], caption: str) -> dict[str, object]:
    return {
        "title": f"{title[0].upper()}{title[1:]} against the number of features",
        "x": "D",
        "x_label": "number of features D",
        "series": "model",
        "panel": "kernel",
        "y": y,
        "log": log,
        "zero": False,
        "caption": caption,
    }


def _outcomes(results: list[Result], kernel: str, value: str, y: str) -> list[Outcome]:
    """Return the results of a kernel for the figures; a model without D is a horizontal line."""
    widths = sorted({result.n_components for result in results if result.n_components})
    outcomes = []
    for result in results:
        number = getattr(result, value)
        if number is None or result.kernel not in ("", kernel) or (value == "kernel_error" and number == 0):
            continue
        for width in [result.n_components] if result.n_components else widths:
            params = {"kernel": kernel, "model": result.model, "D": width}
            outcomes.append(Outcome(Cell("compare", params, {}), "done", {y: number}))
    return outcomes
