"""Plots of characters for a terminal: both axes logarithmic, one letter per series."""

from collections.abc import Sequence
from math import log10
from typing import NamedTuple


class Series(NamedTuple):
    """Points (x, y) with positive numbers, drawn as one character."""

    marker: str
    name: str
    points: Sequence[tuple[float, float]]


def text_plot(series: Sequence[Series], *, title: str, width: int = 72, height: int = 12) -> str:
    """Return the plot as lines of text; where two series meet in a cell, the later one is shown.

    >>> exact, ours = Series("e", "exact", [(1, 1), (10, 100)]), Series("m", "mercer", [(1, 10), (10, 10)])
    >>> print(text_plot([exact, ours], title="seconds", width=30, height=3))
    seconds
         100 |                   e
          10 |m                  m
           1 |e
             +--------------------
              1                 10
    e exact, m mercer
    """
    points = [point for one in series for point in one.points]
    xs, ys = _Scale([x for x, _ in points], width - 10), _Scale([y for _, y in points], height)
    cells = [[" "] * xs.n_cells for _ in range(height)]
    for one in series:
        for x, y in one.points:
            cells[ys.cell(y)][xs.cell(x)] = one.marker
    lines = [f"{ys.label(i):>8} |{''.join(cells[i])}".rstrip() for i in reversed(range(height))]
    low, high = _short(xs.low), _short(xs.high)
    axis = f"{'':10}{low}{high:>{xs.n_cells - len(low)}}"
    legend = ", ".join(f"{one.marker} {one.name}" for one in series)
    return "\n".join([title, *lines, f"{'':8} +{'-' * xs.n_cells}", axis, legend])


class _Scale:
    """A logarithmic axis of a number of cells."""

    def __init__(self, values: Sequence[float], n_cells: int):
        self.low, self.high, self.n_cells = min(values), max(values), n_cells
        self._decades = log10(self.high / self.low)

    def cell(self, value: float) -> int:
        """Return the number of the cell that a value is in."""
        if self._decades == 0:
            return 0
        return round(log10(value / self.low) / self._decades * (self.n_cells - 1))

    def label(self, cell: int) -> str:
        """Return the value of every third cell, and of the first and the last one."""
        last = max(self.n_cells - 1, 1)
        shown = last <= 3 or cell in (0, last) or (cell % 3 == 0 and cell < last - 1)
        return _short(self.low * 10 ** (self._decades * cell / last)) if shown else ""


def _short(value: float) -> str:
    """Return a number with two digits.

    >>> _short(0.01234), _short(99.9), _short(1500), _short(100000)
    ('0.012', '100', '1,500', '100,000')
    """
    if value >= 99.5:
        unit = 10 ** (len(str(int(value))) - 2)
        return f"{round(value / unit) * unit:,}"
    return f"{value:.2g}"
