"""The laws of a mergeable statistic."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise

import numpy as np

from mercer._typing import Rows
from mercer.stats import Statistic
from mercer.testing.samples import rounding


def check_statistic(empty: Statistic, rows: Sequence[Rows], cuts: Sequence[int], *, rtol: float | None = None) -> None:
    """Check the laws of a mergeable statistic: identity, associativity, and that the cuts of the rows are irrelevant.

    Parameters
    ----------
    empty : statistic without rows
    rows : arrays of the same length, the arguments of ``update``
    cuts : row numbers at which the rows are cut
    rtol : float, optional
        Allowed difference relative to the largest entry of a field; by default the rounding of a float64 sum.
    """
    ends = [0, *sorted(cuts), rows[0].shape[0]]
    pieces = [[part[a:b] for part in rows] for a, b in pairwise(ends)]
    parts = [empty.zero().update(*piece) for piece in pieces]
    whole = empty.zero().update(*rows)

    left = deepcopy(parts[0])
    for part in parts[1:]:
        left.merge(part)
    right = deepcopy(parts[-1])
    for part in parts[-2::-1]:
        right = deepcopy(part).merge(right)
    running = empty.zero()
    for piece in pieces:
        running.update(*piece)
    tolerance = rounding(np.float64, rows[0].shape[0]) if rtol is None else rtol
    _assert_same_statistic(left, right, rounding(np.float64, len(parts)), "merge is not associative")
    _assert_same_statistic(left, whole, tolerance, "the cuts change the merged result")
    _assert_same_statistic(running, whole, tolerance, "the cuts change the updated result")
    _assert_same_statistic(deepcopy(whole).merge(empty.zero()), whole, 0.0, "zero is not an identity on the right")
    _assert_same_statistic(empty.zero().merge(whole), whole, 0.0, "zero is not an identity on the left")


def _assert_same_statistic(one: object, other: object, rtol: float, message: str) -> None:
    for name, value in vars(one).items():
        expected = np.asarray(getattr(other, name))
        scale = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(value, expected, rtol=0, atol=rtol * scale, err_msg=f"{name}: {message}")
