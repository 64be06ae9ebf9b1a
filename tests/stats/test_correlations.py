"""Correlations of pairs of columns: the laws of a statistic, and the numbers of NumPy."""

import numpy as np
import pytest

from mercer.stats import Correlations
from mercer.testing import check_statistic


@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_those_of_numpy_whatever_the_cuts(rng, weighted):
    A = 3.0 + rng.standard_normal((200, 3))
    B, weight = A * [1, -2, 0.1] + rng.standard_normal((200, 3)), rng.randint(0, 4, 200).astype(float)
    rows = [A, B, weight] if weighted else [A, B]
    check_statistic(Correlations.of(3), rows, [1, 50, 51, 130])
    counts = weight.astype(int) if weighted else np.ones(200, dtype=int)
    expected = [np.corrcoef(np.repeat(a, counts), np.repeat(b, counts))[0, 1] for a, b in zip(A.T, B.T, strict=True)]
    np.testing.assert_allclose(Correlations.of(3).update(*rows).values(), expected, rtol=1e-12)
    far = Correlations.of(3).update(A[:90] + 1e6, B[:90] - 1e6, *[part[:90] for part in rows[2:]])
    far.update(A[90:] + 1e6, B[90:] - 1e6, *[part[90:] for part in rows[2:]])
    np.testing.assert_allclose(far.values(), expected, rtol=1e-7)  # a mean of 1e6 takes 6 of 16 digits


def test_a_constant_column_and_rows_without_weight():
    A, B = np.ones((4, 1)), np.arange(4.0)[:, None]
    assert Correlations.of(1).update(A, B).values().tolist() == [0.0]
    assert Correlations.of(1).update(A, B, np.zeros(4)).weight == 0
