"""Rows stacked in order."""

import numpy as np

from mercer.stats import Stacked


def test_stacked_rows_keep_their_order_however_they_are_merged():
    first, second, third = (Stacked().update(np.full(n, n)) for n in (2, 1, 3))
    left = first.zero().merge(first).merge(second).merge(third).rows()
    right = first.zero().merge(first).merge(second.zero().merge(second).merge(third)).rows()
    np.testing.assert_array_equal(left, [2, 2, 1, 3, 3, 3])
    np.testing.assert_array_equal(left, right)
