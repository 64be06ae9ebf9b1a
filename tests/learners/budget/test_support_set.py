"""Support sets: numbers that decide by chance, columns for new classes, and renewed matrices."""

import numpy as np
import pytest
from scipy.stats import chi2

from mercer import Gaussian
from mercer.learners import BudgetRegressor
from mercer.learners.budget import support_set
from mercer.learners.budget.support_set import uniforms


def test_numbers_by_chance_are_uniform_and_do_not_depend_on_cuts():
    found = uniforms(7, np.arange(10**5))
    np.testing.assert_array_equal(found[300:400], uniforms(7, np.arange(300, 400)))
    assert found.min() >= 0
    assert found.max() < 1
    counts = np.bincount((50 * found).astype(int), minlength=50)
    assert ((counts - 2000) ** 2 / 2000).sum() < chi2.isf(1e-6, 49)
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 5 / np.sqrt(1e5)
    assert abs(np.corrcoef(found, uniforms(8, np.arange(10**5)))[0, 1]) < 5 / np.sqrt(1e5)


@pytest.mark.parametrize(("update", "maintenance"), [("newton", None), ("gradient", "project")])
def test_matrices_stay_those_of_the_support_vectors(rng, update, maintenance, monkeypatch):
    """After thousands of changes by rows, the inverse is the inverse, and the values are the values."""
    X = rng.standard_normal((3000, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    kernel = Gaussian(gamma=1.0)
    model = BudgetRegressor(kernel, budget=25, update=update, maintenance=maintenance, tolerance=0.03).fit(X, y)
    state = model.state_
    gram = kernel(state.rows)
    known = state.born[:, np.newaxis] >= state.born  # a row holds the values of support vectors that are not younger
    np.testing.assert_allclose(state.between[known], gram[known], atol=1e-12)
    np.testing.assert_allclose(state.inverse @ gram, np.eye(25), atol=1e-5)
    monkeypatch.setattr(support_set, "_RENEWAL_ROWS", 128)
    renewed = (
        BudgetRegressor(kernel, budget=25, update=update, maintenance=maintenance, tolerance=0.03).fit(X, y).state_
    )
    drift, renewed_drift = (np.abs(s.inverse @ kernel(s.rows) - np.eye(25)).max() for s in (state, renewed))
    assert renewed_drift < drift
