"""Sums of kernel functions: budgets, the first phase of NOGD, and mixtures of online learners."""

import numpy as np
import pytest
from scipy import sparse

from mercer import FOGDClassifier, Gaussian, Laplacian, NOGDClassifier, NOGDRegressor
from mercer.export import ExportError
from mercer.learners import BudgetClassifier, BudgetRegressor, TrackingClassifier


@pytest.mark.parametrize("of", ["digits", "cancer"])
@pytest.mark.parametrize("maintenance", ["merge", "project"])
def test_budgets_of_classes(run, close, request, of, maintenance):
    X, y = request.getfixturevalue(of)
    model = BudgetClassifier(Gaussian(gamma=0.02), budget=30, maintenance=maintenance, random_state=0).fit(X, y)
    found = run(model, X, "float64")
    close(found["scores"], model.decision_function(X), "float64")
    np.testing.assert_array_equal(found["label"], model.predict(X))


def test_budgets_of_numbers_with_sparse_support_vectors(run, close, diabetes):
    X, y = diabetes
    rows = np.where(X > 0, X, 0)
    model = BudgetRegressor(Laplacian(gamma=0.1), budget=25, maintenance="remove", random_state=0)
    model.fit(sparse.csr_array(rows), y)
    close(run(model, rows)["prediction"], model.predict(rows))


@pytest.mark.parametrize("n_components", [40, 1000])  # features of landmarks, and rows alone
def test_both_phases_of_nogd(run, close, cancer, diabetes, n_components):
    X, y = cancer
    model = NOGDClassifier(Gaussian(gamma=0.02), n_components=n_components, random_state=0).fit(X, y)
    assert (model.feature_map_ is None) == (n_components == 1000)
    close(run(model, X, "float64")["scores"], model.decision_function(X), "float64")
    X, y = diabetes
    model = NOGDRegressor(Gaussian(gamma=0.02), n_components=n_components, random_state=0).fit(X, y)
    close(run(model, X, "float64")["prediction"], model.predict(X), "float64")


def test_mixtures_of_online_learners(run, close, digits):
    X, y = digits
    expert = FOGDClassifier(Gaussian(gamma=0.05), n_components=50, random_state=0)
    model = TrackingClassifier(expert, decays=(1.0, 0.99)).fit(X, y)
    found = run(model, X)
    close(found["scores"], model.decision_function(X))
    np.testing.assert_array_equal(found["label"], model.predict(X))


def test_a_function_of_ones_own_is_refused_in_words(run, diabetes):
    model = BudgetRegressor(lambda A, B: A @ B.T, budget=5, random_state=0).fit(*diabetes)
    with pytest.raises(ExportError, match=r"BudgetRegressor of your own function .* Take a kernel of mercer"):
        run(model, diabetes[0])
