"""Support sets: numbers that decide by chance, columns for new classes, and renewed matrices."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from mercer import Gaussian
from mercer.learners import BudgetClassifier, BudgetRegressor
from mercer.learners.budget import support_set
from mercer.learners.budget.support_set import in_panels, uniforms


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


def test_the_factor_is_made_once_where_the_support_vectors_stay(rng):
    """It is that of their Gram matrix, goes on from block to block, and is left out of model files."""
    X = rng.standard_normal((700, 3))
    y = rng.randint(2, size=700)  # nothing to learn: about half of the rows have a loss
    kernel = Gaussian(gamma=0.5)
    model = BudgetClassifier(kernel, budget=20, update="perceptron", maintenance="project_newest", tolerance=0.0)
    model.partial_fit(X[:500], y[:500], classes=[0, 1])
    factor = model.state_.settled.factor
    expected = np.linalg.inv(np.linalg.cholesky(kernel(model.support_vectors_)))
    np.testing.assert_allclose(factor[:20, :20], expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
    assert factor.shape == (24, 24)
    assert not factor[20:].any()
    assert model.partial_fit(X[500:], y[500:]).state_.settled.factor is factor


def test_a_triangle_in_panels_has_sixteen_rows_side_by_side(rng):
    factor = np.tril(rng.standard_normal((24, 24)))
    panels = in_panels(factor)
    assert panels.shape == (48, 16)
    for p, j, row in ((0, 3, 7), (1, 0, 16), (1, 23, 23)):
        assert panels[p * 24 + j, row - 16 * p] == np.float32(factor[row, j])
    assert not panels[24:, 8:].any()  # rows past the last


def test_a_gram_matrix_that_is_not_positive_definite_has_no_factor(rng):
    X, y = rng.standard_normal((300, 2)), rng.randint(2, size=300)
    model = BudgetClassifier(budget=12, update="perceptron", maintenance="project_newest", tolerance=0.0)
    model.partial_fit(X[:200], y[:200], classes=[0, 1])
    assert len(model.support_vectors_) == 12
    model.state_ = replace(model.state_, between=-np.eye(12))
    assert model.state_.settled.factor.shape == (0, 0)
    assert np.isfinite(model.partial_fit(X[200:], y[200:]).coef_).all()
