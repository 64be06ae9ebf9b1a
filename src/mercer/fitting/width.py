"""How many features a learner takes where it is not told: ``n_components="auto"``.

At least 1024, because fewer cost accuracy on small tables and save little time. More where a curve says that it pays:
the leave-one-out error of ridge regression on a sample, at 256, 512 and 1024 features. A doubling is taken if it is
expected to lower the error by 2 % or more. The expected gain is the last one measured, times the ratio of the last two.
The sample is smaller than the table, and a table of more rows gains more from each feature: so the rule is careful.

Four limits end the doubling: half the number of rows, the memory that lasts, the time of a fit, and the rows that a
wider map would be fitted on. All follow from sizes alone, never from a clock or from the memory that is free at the
moment: so the same rows and seed give the same model. Fewer than 1024 are taken where a memory limit asks for it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer import limits
from mercer.config import get_config, lasting_limit

# The number of features to begin with, the least that a memory limit may lower it to, and the most.
USUAL_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 1024, 64, 8192
# Rows of the sample that the curve is measured on; rows that a map is fitted on, per feature.
CURVE_ROWS, ROWS_PER_FEATURE = 4096, 4
# A doubling takes four to eight times the time: it must lower the error by this part.
_GAIN = 0.02
# The part of a gain that the next doubling keeps: features of twice the number have half the variance, if nothing else
# is known. A measured ratio is kept within these limits.
_LEAST_RATE, _MOST_RATE = 0.25, 1.0
# Multiplications of a fit that nobody asked to be longer: about ten seconds on a core.
_MOST_WORK = 2.0**39
# Passes over the features that solvers take whose time is linear in D.
_PASSES = 100
# Parts of the memory that lasts: for the matrices of a solver, and for the features of all rows.
_SHARE = 0.25
# Rows whose features are held at once, at least.
_FEW_ROWS = 512
# Bytes of the rows that a map is fitted on.
_SAMPLE_BYTES = 2.0**28
_LIMITED = "more features would need more rows, or take too much memory or time"


@dataclass(frozen=True)
class Solver:
    """What a solver takes, as far as it limits the number of features.

    Parameters
    ----------
    n_squares : int
        Matrices of D x D in float64 that it holds; 0 for solvers whose time and memory are linear in D.
    is_dense : bool
        Whether it makes sparse features dense.
    width : int
        The number of features to begin with.
    """

    n_squares: int = 0
    is_dense: bool = False
    width: int = USUAL_WIDTH

    @property
    def usual_width(self) -> int:
        """``width``, or the largest power of 2 for which a block and the matrices fit half of a memory limit."""
        limit = lasting_limit()
        if limit is None:
            return self.width
        most = limit / (2 * 8 * _FEW_ROWS)
        if self.n_squares:
            most = min(most, (limit / (2 * 8 * self.n_squares)) ** 0.5)
        return int(np.clip(2 ** int(np.log2(max(most, 1.0))), min(_LEAST_WIDTH, self.width), self.width))

    def widest(self, n_rows: int | None, n_columns: int, itemsize: int) -> int:
        """Return the largest number of features, 1024 times a power of 2, that rows, memory and time allow.

        The number of rows may be unknown, before the first pass over a stream: then it sets no limit.
        """
        width = self.usual_width
        while USUAL_WIDTH <= width < _MOST_WIDTH and self._allows(2 * width, n_rows, n_columns, itemsize):
            width *= 2
        return width

    def _allows(self, width: int, n_rows: int | None, n_columns: int, itemsize: int) -> bool:
        memory = min(limits.capacity().n_bytes, get_config().memory or limits.UNKNOWN)
        n = 2 * width if n_rows is None else n_rows
        held = 8 * self.n_squares * width**2 if self.n_squares else n * width * itemsize
        work = 2 * n * width**2 + 9 * width**3 if self.n_squares else _PASSES * n * width
        sampled = ROWS_PER_FEATURE * width * n_columns * itemsize
        return 2 * width <= n and held <= _SHARE * memory and work <= _MOST_WORK and sampled <= _SAMPLE_BYTES


@dataclass(frozen=True)
class WidthChoice:
    """A number of features, and why.

    Attributes
    ----------
    n_features : int
    widths, errors : tuple
        The numbers of features tried, and the leave-one-out error of each.
    reason : str
    """

    n_features: int
    widths: tuple[int, ...] = ()
    errors: tuple[float, ...] = ()
    reason: str = ""

    def details(self) -> dict[str, object]:
        """Return the choice as ``solution_.details`` holds it."""
        curve = {"widths": np.array(self.widths), "width_errors": np.array(self.errors)} if self.widths else {}
        return {"width": self.n_features, "width_reason": self.reason, **curve}


def choose_width(error_of: Callable[[int], float], usual: int, widest: int) -> WidthChoice:
    """Return the number of features: ``usual``, or more where the curve of ``error_of`` says that it pays.

    >>> choose_width(lambda width: 1.0 + 16.0 / width, 1024, 8192).n_features
    1024
    >>> choose_width(lambda width: 0.01 + 64.0 / width, 1024, 8192).n_features
    8192
    """
    if widest <= usual:
        return WidthChoice(usual, reason=_LIMITED)
    widths, errors, gains = [usual // 4], [error_of(usual // 4)], list[float]()
    while widths[-1] < usual:
        widths.append(2 * widths[-1])
        errors.append(error_of(widths[-1]))
        gains.append(_gain(*errors[-2:]))
        if gains[-1] < _GAIN:
            return WidthChoice(usual, tuple(widths), tuple(errors), "the error hardly falls with more features")
    rate = float(np.clip(gains[-1] / gains[-2], _LEAST_RATE, _MOST_RATE))
    width, gain = usual, gains[-1] * rate
    while gain >= _GAIN and width < widest:
        width, gain = 2 * width, gain * rate
    small = f"the next doubling is expected to lower the error by less than {_GAIN:.0%}"
    return WidthChoice(width, tuple(widths), tuple(errors), _LIMITED if gain >= _GAIN else small)


def _gain(before: float, after: float) -> float:
    """Return by which part an error falls."""
    return (before - after) / before if np.isfinite(before) and before > 0 else 0.0
