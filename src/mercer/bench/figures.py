"""Figures as inline SVG without style attributes: colours are classes, so that one figure suits light and dark."""

import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from mercer.bench.metrics import Sample, metric, sample, show
from mercer.bench.spec import Params, in_words
from mercer.bench.store import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

SVG = "http://www.w3.org/2000/svg"
LINK = "http://www.w3.org/1999/xlink"
N_SERIES = 14

# matplotlib draws with these; the page's classes replace them by the reader's colours.
_INK, _FAINT = "#000001", "#000002"
_SERIES = [f"#0000{16 + i:02x}" for i in range(N_SERIES)]
_CLASS_OF = {_INK: "ink", _FAINT: "faint", **{colour: f"s{i}" for i, colour in enumerate(_SERIES)}}
_MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "H"]
_KINDS: list[Any] = ["-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2))]
_DASHES: list[Any] = [*_KINDS, *_KINDS[:3], "-", *_KINDS[1:], *_KINDS[:3]]
_PROJECTED = (0, (1, 3))
_ATTRIBUTES = {
    "fill",
    "fill-opacity",
    "fill-rule",
    "font-size",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
}
_LOOK: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.grid": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
}


@dataclass(frozen=True)
class Line:
    """One series of a panel: x, and a sample of y at each."""

    label: str
    style: int
    points: tuple[tuple[float, Sample], ...]


@dataclass(frozen=True)
class Panel:
    """One drawing: its title, its SVG, the sentence a screen reader says, and the numbers behind it."""

    title: str
    svg: str
    alt: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Drawn:
    """A figure: its panels and the legend they share."""

    title: str
    caption: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, int], ...]
    x_label: str
    y_label: str


def draw(spec: Params, outcomes: Sequence[Outcome], salt: str) -> Drawn | None:
    """Draw a figure of an experiment; None if none of its cells was run.

    ``spec`` names parameters of the cells as ``x``, ``series`` and ``panel``, and a metric as ``y``; ``where`` selects
    cells; ``log`` lists the axes that are logarithmic; ``styles`` gives series the numbers of their colours, so that a
    series has one colour in all figures of a page; ``projected`` names a series that was not measured.
    """
    where = spec.get("where", {})
    chosen = [outcome for outcome in outcomes if outcome.status == "done"]
    labels = list(dict.fromkeys(_name(outcome, spec.get("series")) for outcome in chosen))
    styles = _styles(labels, spec.get("styles", {}))
    panels = []
    for i, title in enumerate(dict.fromkeys(_name(outcome, spec.get("panel")) for outcome in chosen)):
        inside = [outcome for outcome in chosen if _name(outcome, spec.get("panel")) == title]
        lines = _lines(spec, inside, where, styles)
        if lines:
            svg = themed(_plot(spec, lines), f"{salt}-{i}")
            panels.append(Panel(title, svg, _describe(spec, title, lines), lines))
    if not panels:
        return None
    used = {line.label for panel in panels for line in panel.lines}
    legend = tuple(
        (label, style) for label, style in styles.items() if label in used and label not in ("", spec.get("projected"))
    )
    return Drawn(
        spec.get("title", ""), spec.get("caption", ""), tuple(panels), legend, _x_label(spec), metric(spec["y"]).label
    )


def _styles(labels: Sequence[str], fixed: Mapping[str, int]) -> dict[str, int]:
    """Return the number of each series' colour: the fixed one, or the next that no series has."""
    taken = {fixed[label] for label in labels if label in fixed}
    free = (i for i in itertools.count() if i not in taken)
    return {label: fixed[label] if label in fixed else next(free) % N_SERIES for label in labels}


def _name(outcome: Outcome, names: str | Sequence[str] | None) -> str:
    names = [names] if isinstance(names, str) else names or []
    return ", ".join(in_words(name, outcome.cell.params.get(name, "")) for name in names)


def _lines(spec: Params, outcomes: Sequence[Outcome], where: Params, styles: Mapping[str, int]) -> tuple[Line, ...]:
    lines = []
    for label, style in styles.items():
        of_series = [outcome for outcome in outcomes if _name(outcome, spec.get("series")) == label]
        at = sorted({outcome.cell.params[spec["x"]] for outcome in of_series if spec["x"] in outcome.cell.params})
        points = [(float(x), sample(of_series, spec["y"], {**where, spec["x"]: x})) for x in at]
        known = tuple((x, y) for x, y in points if y is not None)
        if known:
            lines.append(Line(label, style, known))
    return tuple(lines)


def drawing(paint: "Callable[[Axes, list[str]], object]", salt: str, size: tuple[float, float] = (3.7, 2.7)) -> str:
    """Return the SVG of what ``paint`` draws on axes with the colours of the series, for a page."""
    return themed(_painted(lambda axes: paint(axes, _SERIES), size), salt)


def _painted(paint: "Callable[[Axes], object]", size: tuple[float, float] = (3.7, 2.7)) -> str:
    with mpl.rc_context(_LOOK):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure.add_subplot())
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return file.getvalue()


def _plot(spec: Params, lines: Sequence[Line]) -> str:
    projected = spec.get("projected")

    def paint(axes: "Axes") -> None:
        for line in lines:
            xs, ys = [x for x, _ in line.points], [y.centre for _, y in line.points]
            spread = [y.error and y.deviation for _, y in line.points]
            axes.errorbar(
                xs,
                ys,
                yerr=spread if any(spread) else None,
                color=_SERIES[line.style],
                marker="" if line.label == projected else _MARKERS[line.style],
                linestyle=_PROJECTED if line.label == projected else _DASHES[line.style],
                markersize=5,
                linewidth=1.8,
                elinewidth=1,
                capsize=2,
            )
        if "x" in spec.get("log", []):
            axes.set_xscale("log")
            plain_ticks(axes.xaxis)
        if "y" in spec.get("log", []):
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
        elif spec.get("zero", True):
            axes.set_ylim(bottom=0)
        axes.set_xlabel(_x_label(spec))
        axes.set_ylabel(_y_label(spec))

    return _painted(paint)


def plain_ticks(axis: "Axis") -> None:
    """Write 0.2 rather than a formula: formulas are not drawn, so that names may hold dollar signs."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def _x_label(spec: Params) -> str:
    return str(spec.get("x_label", spec["x"]))


def _y_label(spec: Params) -> str:
    found = metric(spec["y"])
    return found.label + (f" ({found.unit})" if found.unit else "")


def _describe(spec: Params, title: str, lines: Sequence[Line]) -> str:
    unit = metric(spec["y"]).unit
    parts = []
    for line in lines:
        (x0, y0), (x1, y1) = line.points[0], line.points[-1]
        name = line.label or metric(spec["y"]).label
        parts.append(f"{name} goes from {show(y0.centre, unit)} at {x0:g} to {show(y1.centre, unit)} at {x1:g}")
    lead = f"{metric(spec['y']).label} against {_x_label(spec)}" + (f", {title}" if title else "")
    return f"{lead}: {'; '.join(parts)}."


def themed(svg: str, salt: str) -> str:
    """Return matplotlib's SVG for a page with a strict policy: attributes and classes instead of styles, own ids."""
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", LINK)
    root = ET.fromstring(svg)  # noqa: S314  (matplotlib wrote it just now)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        _unstyle(element)
        _rename(element, salt)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("aria-hidden", "true")
    root.set("class", "plot")
    return ET.tostring(root, encoding="unicode")


def _unstyle(element: ET.Element) -> None:
    style = element.attrib.pop("style", "")
    for entry in style.split(";"):
        name, _, value = (part.strip() for part in entry.partition(":"))
        if name == "font":
            name, value = "font-size", (re.search(r"[\d.]+px", value) or ["10px"])[0]
        if name in _ATTRIBUTES:
            element.set(name, value)
    classes = []
    for name in ("fill", "stroke"):
        kind = _CLASS_OF.get(element.get(name, ""))
        if kind:
            classes.append(f"{name}-{kind}")
            del element.attrib[name]
    if element.tag == f"{{{SVG}}}text" and not any(entry.startswith("fill") for entry in classes):
        classes.append("fill-ink")
    if classes:
        element.set("class", " ".join(classes))


def _rename(element: ET.Element, salt: str) -> None:
    for name, value in list(element.attrib.items()):
        if name == "id":
            element.set(name, f"{salt}-{value}")
        elif name in (f"{{{LINK}}}href", "href") and value.startswith("#"):
            element.set(name, f"#{salt}-{value[1:]}")
        elif "url(#" in value:
            element.set(name, value.replace("url(#", f"url(#{salt}-"))


def swatch(style: int) -> str:
    """Return a small SVG of a series' line and marker, for the legend."""
    with mpl.rc_context(_LOOK):
        figure = Figure(figsize=(0.45, 0.2))
        FigureCanvasSVG(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.axis("off")
        look = {"color": _SERIES[style], "linestyle": _DASHES[style], "marker": _MARKERS[style]}
        axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], markersize=6, linewidth=2, **look)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return themed(file.getvalue(), f"swatch-{style}-{next(_count)}").replace('class="plot"', 'class="swatch"')


_count = itertools.count()
