"""In which unit the errors of several targets are averaged."""

import numpy as np

from mercer._typing import Array
from mercer.fitting import Classes, HeldTargets, Targets
from mercer.solvers.local.leaf_sample import variances


def error_units(held: HeldTargets[Targets]) -> Array:
    """Return what divides the squared errors of each target (k,): its variance, and for classes the mean variance.

    Columns of numbers have units of their own. Columns of classes have one: a class of few rows, whose errors are small
    and whose variance is smaller, would count as much as all others.
    """
    found = variances(held.Y, held.weight)
    return np.full_like(found, found.mean()) if isinstance(held.targets, Classes) else found


def error_of_rows(held: HeldTargets[Targets], residuals: Array, rows: Array) -> float:
    """Return the mean square of the residuals (m, k) of some rows in these units, those of all rows."""
    share = held.weight[rows] / held.weight[rows].sum()
    return float(np.mean(share @ residuals**2 / error_units(held)))
