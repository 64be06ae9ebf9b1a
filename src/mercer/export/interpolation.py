"""Piecewise linear functions."""

import numpy as np

from mercer._typing import Array
from mercer.export.graph import Tensor


def interpolated(x: Tensor, knots: Array, values: Array) -> Tensor:
    """Write ``np.interp(x, knots, values)`` of a column (n, 1); knots ascend, and two may be equal."""
    if len(knots) == 1:
        return x * 0.0 + values
    inside = x.at_least(knots[0]).at_most(knots[-1])
    reached = inside.op("GreaterOrEqual", knots[1:-1].astype(x.dtype), dtype=bool) if len(knots) > 2 else None
    widths = np.diff(knots)
    slopes = np.divide(np.diff(values), widths, out=np.zeros(len(widths)), where=widths > 0)
    if reached is None:
        return (inside - knots[0]) * slopes[0] + values[0]
    place = reached.cast(np.int64).sum(1)
    graph = x.graph
    start, slope, value = (graph.constant(part, x.dtype).take(place) for part in (knots[:-1], slopes, values[:-1]))
    return (inside - start) * slope + value
