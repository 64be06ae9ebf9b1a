"""Local kernel ridge: the contract of learners, the solver it stands on, and weights."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import (
    Columns,
    Gaussian,
    LocalKernelRidge,
    LocalKernelRidgeClassifier,
    Matern,
    ScaledColumns,
)
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.testing import check_learner

SMALL = {"leaf_rows": 300, "n_landmarks": 40}
LEARNERS = [LocalKernelRidge(**SMALL), LocalKernelRidgeClassifier(**SMALL)]


@parametrize_with_checks([LocalKernelRidge(), LocalKernelRidgeClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_the_laws_of_learners(learner):
    # float32 factors with the least alpha of the grid, 1e-4, keep three digits
    check_learner(learner, rtol=2e-3, sklearn_checks=False, others={"alpha": [0.5, 2.0]})


@pytest.fixture
def table(rng):
    X = rng.standard_normal((400, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(400)


def test_predictions_are_the_mean_of_the_trees(table):
    """Against the dense kernel of each tree: k in the leaf of the row, Nystroem elsewhere."""
    X, y = table
    kernel = Matern(1.5, length_scale=2.0)
    model = LocalKernelRidge(kernel, alpha=0.1, leaf_rows=90, n_landmarks=30, random_state=0).fit(X[:300], y[:300])
    rows, new = X[:300], X[300:]
    W = kernel(model._landmarks)
    W[np.diag_indices_from(W)] += 1e-10
    expected = np.zeros(100)
    for tree in model.trees_:
        low_rank = [kernel(some, model._landmarks) for some in (rows, new)]
        K, k = (some @ np.linalg.solve(W, low_rank[0].T) for some in low_rank)
        exact, exact_new = kernel(rows), kernel(new, rows)
        leaf, leaf_new = tree.leaf_of(rows), tree.leaf_of(new)
        K, k = np.where(leaf[:, None] == leaf, exact, K), np.where(leaf_new[:, None] == leaf, exact_new, k)
        mean = y[:300].mean()
        expected += (mean + k @ np.linalg.solve(K + 0.1 * np.eye(300), y[:300] - mean)) / 3
    np.testing.assert_allclose(model.predict(new), expected, atol=1e-5)


def test_few_rows_are_exact_kernel_ridge(table):
    X, y = table
    kernel = Gaussian(gamma=0.3)
    model = LocalKernelRidge(kernel, alpha=0.1).fit(X[:300], y[:300])
    dual = np.linalg.solve(kernel(X[:300]) + 0.1 * np.eye(300), y[:300] - y[:300].mean())
    np.testing.assert_allclose(model.predict(X[300:]), y[:300].mean() + kernel(X[300:], X[:300]) @ dual)
    assert len(model.trees_) == 1


def test_residuals_are_those_of_refits_on_the_same_trees(table):
    X, y = table
    model = LocalKernelRidge(Gaussian(gamma=0.3), alpha=0.2, leaf_rows=90, n_landmarks=30, random_state=0).fit(X, y)
    for i in (0, 17, 399):
        kept = np.delete(np.arange(400), i)
        errors = []
        for tree in model.trees_:
            place = {row: new for new, row in enumerate(kept)}
            leaves = [np.array([place[row] for row in leaf if row != i]) for leaf in tree.leaves]
            solution = LeafSystem(Gaussian(gamma=0.3), X[kept], leaves, model._landmarks).solve(y[kept][:, None], 0.2)
            b = tree.leaf_of(X[i : i + 1])[0]
            within = Gaussian(gamma=0.3)(X[i : i + 1], X[kept][leaves[b]]) @ solution.dual[leaves[b]]
            between = Gaussian(gamma=0.3)(X[i : i + 1], model._landmarks) @ solution.landmark_coef[b]
            errors.append(y[i] - (solution.intercept + within + between)[0, 0])
        assert model.loo_residuals_[i] == pytest.approx(np.mean(errors), rel=1e-4)


def test_alpha_is_the_one_of_the_least_error(table):
    X, y = table
    model = LocalKernelRidge(alphas=[1e-3, 0.1, 30.0], leaf_rows=200, random_state=0).fit(X, y)
    assert model.alpha_ == [1e-3, 0.1, 30.0][np.argmin(model.alpha_errors_)]
    errors = []
    for alpha in (1e-3, 0.1, 30.0):
        fixed = LocalKernelRidge(alpha=alpha, leaf_rows=200, n_trees=1, random_state=0).fit(X, y)
        errors.append(np.mean(fixed.loo_residuals_**2) / np.var(y))
    # All leaves are few: they are the sample, but 256 landmarks are fewer than 400.
    np.testing.assert_allclose(model.alpha_errors_, errors, rtol=0.05)


def test_alphas_are_relative_to_the_size_of_the_kernel(table):
    X, y = table
    one, large = (LocalKernelRidge(scale * Gaussian(gamma=0.3)).fit(X, y) for scale in (1.0, 1e6))
    assert large.alpha_ == pytest.approx(1e6 * one.alpha_)
    np.testing.assert_allclose(large.predict(X), one.predict(X), rtol=1e-5, atol=1e-7)


def test_trees_are_cut_where_the_kernel_sees_the_rows(table):
    X, y = table
    wide = np.column_stack([X, 1e6 * np.random.RandomState(1).standard_normal(400)])
    weights = [1.0, 1.0, 1.0, 0.0]
    fitted = [
        LocalKernelRidge(kernel, alpha=0.1, leaf_rows=90, random_state=0).fit(rows, y)
        for kernel, rows in [
            (ScaledColumns(Gaussian(gamma=0.3), weights), wide),
            (Columns(Gaussian(gamma=0.3), [0, 1, 2]), wide),
            (Gaussian(gamma=0.3), X),
        ]
    ]
    for model, rows in zip(fitted, (wide, wide, X), strict=True):
        np.testing.assert_allclose(model.predict(rows), fitted[-1].predict(X), rtol=1e-6)
    assert fitted[1]._rows.shape == (400, 3)


def test_rows_without_weight_do_not_count_and_have_residuals(table):
    X, y = table
    weight = np.ones(400)
    weight[350:] = 0
    model = LocalKernelRidge(alpha=0.1, leaf_rows=90, random_state=0)
    left_out = mercer.LocalKernelRidge(alpha=0.1, leaf_rows=90, random_state=0).fit(X[:350], y[:350])
    model.fit(X, np.where(weight > 0, y, y + 100), sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X), left_out.predict(X))
    np.testing.assert_allclose(model.loo_residuals_[350:], y[350:] + 100 - left_out.predict(X[350:]))


def test_targets_of_any_size_in_float32(table):
    X, y = table
    expected = LocalKernelRidge(alpha=0.1).fit(X.astype(np.float32), y)
    model = LocalKernelRidge(alpha=0.1).fit(X.astype(np.float32), np.column_stack([1e-60 * y, 1e60 * y]))
    np.testing.assert_allclose(model.loo_residuals_[:, 1], 1e60 * expected.loo_residuals_, rtol=1e-3, atol=1e56)
    np.testing.assert_allclose(model.loo_residuals_[:, 0], 1e-60 * expected.loo_residuals_, rtol=1e-3, atol=1e-64)


def test_constant_targets_are_predicted_as_they_are(table):
    X, _ = table
    np.testing.assert_allclose(LocalKernelRidge().fit(X, np.full(400, 3.0)).predict(X), 3.0)


def test_a_table_resolves_finer_detail_than_a_map_of_its_cost(rng):
    X = rng.random_sample((3000, 2))
    y = np.sin(40 * X[:, 0]) * np.sin(40 * X[:, 1])
    local = LocalKernelRidge(Matern(1.5, length_scale=0.1), leaf_rows=500, random_state=0).fit(X[:2500], y[:2500])
    ridge = mercer.KernelRidge(Matern(1.5, length_scale=0.1), n_components=512, alpha="loo", random_state=0)
    assert local.score(X[2500:], y[2500:]) > 0.97 > ridge.fit(X[:2500], y[:2500]).score(X[2500:], y[2500:])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_have_a_small_log_loss_and_the_classes_of_the_scores(rng, n_classes):
    X = rng.standard_normal((3000, 2))
    logits = np.column_stack([np.sin(2 * X[:, 0] + c) + X[:, 1] * c for c in range(n_classes)])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random_sample((3000, 1))).sum(axis=1)
    model = LocalKernelRidgeClassifier(leaf_rows=500, random_state=0).fit(X[:2000], y[:2000])
    found = model.predict_proba(X[2000:])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() > 0
    # The loss of the true probabilities is the least that can be reached; 5 % above it is close.
    assert log_loss(y[2000:], found) < 1.05 * log_loss(y[2000:], p[2000:])
    if n_classes > 2:
        np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X[2000:]))


def test_class_weights_are_weights_of_rows(table):
    X, y = table
    labels = np.where(y > 1, "high", "low")
    weight = np.where(labels == "high", 3.0, 1.0)
    one = LocalKernelRidgeClassifier(class_weight={"high": 3.0}, alpha=0.1).fit(X, labels)
    other = LocalKernelRidgeClassifier(alpha=0.1).fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X))
    # A row is left out whole, not one of the three rows that a weight of 3 would stand for.
    assert np.all(np.abs(one.loo_residuals_) >= np.abs(other.loo_residuals_) - 1e-12)
    assert np.abs(one.loo_residuals_).sum() > 1.1 * np.abs(other.loo_residuals_).sum()
    balanced = LocalKernelRidgeClassifier(class_weight="balanced", alpha=1.0).fit(X, labels)
    plain = LocalKernelRidgeClassifier(alpha=1.0).fit(X, labels)
    assert (balanced.predict(X) == "high").sum() > (plain.predict(X) == "high").sum()
