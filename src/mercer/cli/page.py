"""The comparison as one offline HTML page, in the style of the pages of papers."""

from collections.abc import Sequence
from pathlib import Path

from mercer.bench import growth
from mercer.bench.comparison import Result, Rows
from mercer.bench.environment import machine
from mercer.bench.growth import Step
from mercer.bench.page import render as render_page
from mercer.bench.spec import Cell
from mercer.bench.store import Outcome
from mercer.cli.comparison_text import metric_name

_HERE = Path(__file__).parent / "template"
# Of the growth: (value of a step, title, logarithmic axes).
_GROWN = (
    ("fit_seconds", "Training time", ["x", "y"]),
    ("predict_seconds", "Prediction time", ["x", "y"]),
    ("megabytes", "Memory", ["x", "y"]),
    ("score", "Score", ["x"]),
)
_UNITS = {"megabytes": "Gram matrix or features, MB", "fit_seconds": "training, s", "predict_seconds": "prediction, s"}
# One colour per model in all figures of the page. The machine that grows is on the features of the Gaussian's default
# map, and has its colour.
_STYLES = {
    "exact SVM": 0,
    "exact kernel ridge": 0,
    growth.MERCER: 1,
    "orthogonal": 1,
    "tensor sketch": 2,
    "split sketch": 3,
    "maclaurin": 4,
    "maclaurin H0/1": 5,
    growth.TUNED: 6,
    "linear model": 7,
    "fourier": 8,
    "nystroem": 9,
    "quasi random": 10,
    "fastfood": 11,
    "binning": 12,
    growth.TREES: 13,
}


def render(growths: Sequence[growth.Growth], rows: Rows, results: Sequence[Result]) -> str:
    """Return the page as text. The first growth begins it."""
    from mercer.bench import figures  # noqa: PLC0415 - needs matplotlib

    drawn = [
        [figures.draw(spec, outcomes, f"g{k}-{i}") for i, (spec, outcomes) in enumerate(_growth(one.rows, one.steps))]
        for k, one in enumerate(growths)
    ]
    maps: list[figures.Drawn | None] = []
    for kernel in dict.fromkeys(result.kernel for result in results if result.kernel):  # at most eight series each
        for spec, outcomes in _of_maps(rows, results, kernel):
            maps.append(figures.draw(spec, outcomes, f"f{len(maps)}"))
    return render_page(
        "compare.html",
        _HERE,
        growths=growths,
        growing=growths[0].rows,
        sentences=growths[0].sentences,
        rows=rows,
        results=[result for result in results if not result.reason],
        left_out=list(dict.fromkeys(f"{result.model}: {result.reason}" for result in results if result.reason)),
        metric=metric_name(rows.task),
        first=drawn[0][0],
        growth=[figure for figure in drawn[0][1:] if figure is not None],
        others=[
            (one, [figure for figure in found if figure is not None])
            for one, found in zip(growths[1:], drawn[1:], strict=True)
        ],
        figures=[figure for figure in maps if figure is not None],
        machine=machine(),
    )


Figure = tuple[dict[str, object], list[Outcome]]


def _growth(rows: Rows, steps: Sequence[Step]) -> list[Figure]:
    """Return the four figures of the growth; the training time of the exact machine is drawn on where it stops."""
    exact = growth.exact_name(rows.task)
    projected = f"{exact}, projected"
    styles = {**_STYLES, projected: 0}
    found = []
    for value, title, log in _GROWN:
        y = _UNITS.get(value, metric_name(rows.task))
        pairs = [(step.model, step.n_rows, getattr(step, value)) for step in steps]
        beyond = _projections(steps, exact, projected) if value == "fit_seconds" else []
        pairs += beyond
        outcomes = [_outcome({"model": model, "n": n}, y, number) for model, n, number in pairs if number is not None]
        rule = "the measured growth, drawn on" if len(growth.of(steps, exact)) > 1 else "the square of the rows"
        drawn_on = f"Dotted: {rule}." if beyond else ""
        more = {"styles": styles, "projected": projected, "caption": drawn_on}
        spec = _spec(f"{title} against rows", "n", "training rows n", y, log, **more)
        found.append((spec, outcomes))
    return found


def _projections(steps: Sequence[Step], exact: str, name: str) -> list[tuple[str, int, float]]:
    """Return the projected times from the last measured one on."""
    measured, most = growth.of(steps, exact), growth.of(steps, growth.MERCER)[-1].n_rows
    sizes = [measured[-1].n_rows, *(step.n_rows for step in growth.of(steps, growth.MERCER))]
    beyond = sorted({n for n in sizes if measured[-1].n_rows <= n <= most})
    return [(name, n, growth.projected(measured, n)) for n in beyond] if len(beyond) > 1 else []


def _of_maps(rows: Rows, results: Sequence[Result], kernel: str) -> list[Figure]:
    """Return score against D, and kernel error against training time, of the maps of one kernel."""
    metric = metric_name(rows.task)
    widths = sorted({result.n_components for result in results if result.n_components})
    scores: list[Outcome] = []
    errors: list[Outcome] = []
    for result in results:
        if result.kernel not in ("", kernel) or result.score is None:
            continue
        place = {"kernel": kernel, "model": result.model}
        at = [result.n_components] if result.n_components else widths
        scores += [_outcome({**place, "D": width}, metric, result.score) for width in at]
        if result.kernel_error and result.n_components and result.fit_seconds:
            seconds = round(result.fit_seconds, 4)
            errors.append(_outcome({**place, "s": seconds}, "kernel error", result.kernel_error))
    title = f"{metric[0].upper()}{metric[1:]} against the number of features"
    level = "Higher is better. Models without features are level lines."
    norm = "|ZZ' - K| / |K| in the Frobenius norm, on test rows. Lower and further left is better."
    return [
        (_spec(title, "D", "number of features D", metric, ["x"], caption=level, panel="kernel"), scores),
        (
            _spec(
                "Kernel error against time",
                "s",
                "training, s",
                "kernel error",
                ["x", "y"],
                caption=norm,
                panel="kernel",
            ),
            errors,
        ),
    ]


def _spec(title: str, x: str, x_label: str, y: str, log: list[str], **more: object) -> dict[str, object]:
    common = {"title": title, "x": x, "x_label": x_label, "series": "model", "y": y, "log": log, "zero": False}
    return {**common, "styles": _STYLES, **more}


def _outcome(params: dict[str, object], y: str, value: float) -> Outcome:
    return Outcome(Cell("compare", params, {}), "done", {y: value})
