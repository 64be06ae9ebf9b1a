"""Newton-CG over rows of features: the minimum of the loss, from zero or from a start."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from mercer import Gaussian, KernelLogisticRegression, KernelSVC, KernelSVR, LinearFeatures, config_context
from mercer.data import as_blocks
from mercer.features import SeededBlocks
from mercer.fitting import Classes, FeatureRows, MapPlan, Passes, Sample, WarmStart, sampled_rows
from mercer.learners.by_newton import by_newton_cg, rows_for_gram
from mercer.solvers import Logistic


def _rows(rng, start=None):
    X = rng.standard_normal((200, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(200) > 0, "b", "a")
    targets = Classes("Test", classes=np.array(["a", "b"]))
    blocks = as_blocks(X, y, block_rows=64)
    return X, y, FeatureRows(LinearFeatures().fit(X), blocks, targets, Passes("Test"), Sample(X, np.ones(200)), start)


def test_it_is_logistic_regression(rng):
    X, y, rows = _rows(rng)
    solution = by_newton_cg(rows, Logistic(), (4, 1), penalty=0.5, tol=1e-10, max_iter=50)
    exact = LogisticRegression(C=2.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(solution.value.ravel(), [*exact.coef_[0], exact.intercept_[0]], atol=1e-5)
    assert rows.holds


def test_it_begins_at_a_start_of_the_same_shape():
    def solved(start):
        rows = _rows(np.random.RandomState(0), start)[2]
        return by_newton_cg(rows, Logistic(), (4, 1), penalty=0.5, tol=1e-8, max_iter=50)

    cold = solved(None)
    warm = solved(WarmStart(cold.value))
    assert warm.iterations < cold.iterations
    assert solved(WarmStart(np.ones((3, 1)))).iterations == cold.iterations  # of another shape: not used


def test_the_survey_samples_rows_for_the_preconditioner(rng):
    def wanted(n_components, width, dtype=np.float32, is_sparse=False):
        X = sparse.csr_array((9, width), dtype=dtype) if is_sparse else np.zeros((9, width), dtype=dtype)
        plan = MapPlan.of("Test", None, n_components, None, Gaussian())
        return rows_for_gram(plan, as_blocks(X))

    assert wanted(1000, 28) == 128_000
    assert wanted(1000, 2**20) == 2**28 // 2**22  # at most 256 MiB
    assert wanted(1000, 2**20, is_sparse=True) == 128_000


def test_many_rows_in_the_preconditioner_save_passes(rng, monkeypatch):
    X = rng.standard_normal((20_000, 6))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(20_000) > 0
    model = KernelLogisticRegression(Gaussian(gamma=0.1), n_components=150, C=100.0, tol=1e-4, random_state=0)
    many = model.fit(X, y).solution_
    monkeypatch.setattr(sampled_rows, "_GRAM_ROWS_PER_FEATURE", 2)
    few = model.fit(X, y).solution_
    assert many.details["passes"] < few.details["passes"]
    np.testing.assert_allclose(many.value, few.value, atol=1e-2 * np.abs(few.value).max())


@pytest.mark.parametrize(
    "model",
    [
        KernelLogisticRegression(tol=1e-7),
        KernelSVC(tol=1e-7),
        KernelSVR(loss="squared_epsilon_insensitive", tol=1e-7),
    ],
    ids=lambda model: type(model).__name__,
)
def test_features_in_slabs_have_the_solution_of_held_ones(rng, model):
    """Beyond memory the features come in slabs, and the preconditioner is of low rank; three classes or one target."""
    X = rng.standard_normal((3000, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    model.set_params(features=SeededBlocks(Gaussian(gamma=0.1), n_components=200, slab=48, random_state=0))
    held = clone(model).fit(X, y)
    with config_context(memory="4MB"):
        slabs = clone(model).fit(X, y)
    assert slabs.solution_.details["solver"] == "newton-cg"
    np.testing.assert_allclose(_scores(slabs, X), _scores(held, X), atol=2e-3)


def _scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def test_the_low_rank_preconditioner_saves_passes(rng, monkeypatch):
    X = rng.standard_normal((8000, 6))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(8000) > 0
    slabs = SeededBlocks(Gaussian(gamma=0.1), n_components=400, slab=128, random_state=0)
    model = KernelLogisticRegression(features=slabs, C=100.0, tol=1e-3, random_state=0)
    found = model.fit(X, y).solution_
    monkeypatch.setattr(sampled_rows, "_LEADING", 1)
    plain = model.fit(X, y).solution_
    assert found.details["passes"] < plain.details["passes"] / 2


def test_no_rows_are_sampled_for_features_in_slabs():
    plan = MapPlan.of("Test", None, 500_000, None, Gaussian())
    assert plan.has_slabs
    assert plan.sample_rows == 4096
    assert rows_for_gram(plan, as_blocks(np.zeros((9, 28)))) == 0
