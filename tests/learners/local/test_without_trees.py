"""Boosted trees are compared with a model without them on rows that both have judged."""

import numpy as np
import pytest

from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.without_trees import WithoutTrees


@pytest.fixture
def hard_rows(rng):
    """Targets whose second half has a hundred times the variance, and residuals of a model on the easy half."""
    sizes = np.repeat([1.0, 10.0], 1000)[:, None]
    Y = sizes * rng.standard_normal((2000, 1))
    held = HeldTargets(Numbers("test", mean=Y.mean(axis=0), n_dims=2), Y, None, np.ones(2000), [])
    return held, sizes, WithoutTrees(held, np.arange(1000), 0.3 * rng.standard_normal((1000, 1)))


def test_rows_that_are_harder_do_not_count(hard_rows, rng):
    held, sizes, model = hard_rows
    rows = rng.permutation(2000)[:800]
    predicted = held.Y[rows] - 0.3 * sizes[rows] * rng.standard_normal((800, 1))
    # Mean squares of some 400 and 1,000 normal numbers: five standard errors of their ratio.
    assert model.multiple(rows, predicted) == pytest.approx(1.0, abs=5 * (2 / 1000 + 2 / 350) ** 0.5)
    assert model.gains(rows, predicted)


def test_errors_are_those_of_common_rows_in_any_order(hard_rows):
    held, _, model = hard_rows
    rows = np.array([1999, 5, 1500, 3])
    predicted = held.Y[rows] - np.array([[100.0], [2.0], [100.0], [1.0]])
    assert model.multiple(rows, predicted) == pytest.approx(5.0 / np.sum(model.residuals[[5, 3]] ** 2))


def test_trees_behind_with_the_same_errors_gain_nothing(hard_rows):
    held, _, model = hard_rows
    rows = np.arange(500)
    assert not model.gains(rows, held.Y[rows] - 1.3 * model.residuals[rows])
    assert model.gains(rows, held.Y[rows] + 1.3 * model.residuals[rows])


def test_few_rows_say_nothing_of_a_gain(hard_rows):
    held, _, model = hard_rows
    rows = np.arange(50)
    assert model.gains(rows, held.Y[rows] - 1.3 * model.residuals[rows])
