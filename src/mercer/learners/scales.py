"""Columns of very different scales, of which a kernel with one scale sees only the widest."""

from typing import Protocol
from warnings import warn

import numpy as np

from mercer._typing import Array
from mercer.fitting import Survey
from mercer.kernels import DotProductKernel, Kernel, Linear, StationaryKernel
from mercer.learners.callers import caller_level

# A column is lost where its whole range is below this part of the standard deviation of another column.
_LOST = 1e-3
# Columns named in a warning.
_NAMED = 5


class HasColumns(Protocol):
    """An estimator that may know the names of its columns."""

    feature_names_in_: Array


def warn_if_unscaled(estimator: HasColumns, kernel: Kernel, survey: Survey) -> None:
    """Warn, once per fit, of columns that the kernel cannot see next to another column.

    Distances and inner products of rows add up the columns. If all values of a column lie within a thousandth of the
    standard deviation of another column, that column changes no kernel value noticeably. Columns of one value are not
    meant, nor CSR rows, nor kernels that have a scale for each column (``ScaledColumns``, ``Metric``).
    """
    measures_rows = isinstance(kernel, StationaryKernel | DotProductKernel) and not isinstance(kernel, Linear)
    rows = survey.sample.counted
    if not measures_rows or not isinstance(rows, np.ndarray) or len(rows) < 2:
        return
    width = survey.ranges.high - survey.ranges.low
    deviation = rows.std(axis=0, dtype=np.float64)
    widest = int(np.argmax(deviation))
    if not np.isfinite(deviation[widest]):  # squares overflow: nothing can be said
        return
    lost = np.flatnonzero((width > 0) & (width < _LOST * deviation[widest]))
    if not len(lost):
        return
    names = getattr(estimator, "feature_names_in_", np.arange(len(width))).tolist()
    listed = ", ".join(repr(names[j]) for j in lost[:_NAMED]) + (" and others" if len(lost) > _NAMED else "")
    one = len(lost) == 1
    owner = type(estimator).__name__
    warn(
        f"{owner}: {'column' if one else 'columns'} {listed} {'varies' if one else 'vary'} by less than a thousandth "
        f"of column {names[widest]!r} (standard deviation {deviation[widest]:.2g}), so that the kernel does not see "
        f"{'it' if one else 'them'}. Scale the columns first: make_pipeline(StandardScaler(), {owner}(...)) of "
        "scikit-learn; or give each column a scale: mercer.ScaledColumns. TunedClassifier and TunedRegressor do so "
        "themselves.",
        UserWarning,
        stacklevel=caller_level(),
    )
