"""Sampled rows of features: preconditioners made of them, and their problem, from which the large one starts."""

import numpy as np
import pytest
from maps import Squares

from mercer import Gaussian, KernelLogisticRegression, KernelSVC, KernelSVR, as_blocks, config_context
from mercer.features import SeededBlocks
from mercer.fitting import FeatureRows, Numbers, Passes, Sample, SampledRows, Targets, curved_gram
from mercer.learners import by_newton
from mercer.solvers import Logistic, SquaredHinge


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_gram_matrix_of_the_sample(rng, is_sparse):
    X, weight = rng.rand(60, 2), rng.rand(60)
    blocks, sample = as_blocks(X, X[:, 0], sample_weight=weight), Sample(X[:10], weight[:10])
    rows = FeatureRows(Squares(is_sparse=is_sparse), blocks, Numbers("Test"), Passes("Test"), sample)
    a = np.hstack([X, X**2, np.ones((60, 1))])[:10]
    expected = a.T @ (weight[:10, None] * a) / weight[:10].sum()
    found = SampledRows(rows).gram()
    np.testing.assert_allclose(found, np.diag(expected) if is_sparse else expected, rtol=1e-12)


def test_a_preconditioner_is_made_of_many_rows(rng):
    """32 rows per feature, a quarter of all rows if these are fewer, but 2 at least; 128 if they are a 64th of all."""
    X = rng.rand(40_000, 2)
    made = {}
    for n_rows in (40_000, 16_384, 4000, 400, 20):
        blocks = as_blocks(X[:n_rows], block_rows=100)
        wide = Sample(X[:n_rows], np.ones(n_rows))
        few = Sample(X[: min(n_rows, 6)], np.ones(min(n_rows, 6)))
        rows = FeatureRows(Squares(), blocks, Targets("Test"), Passes("Test"), few, None, wide)
        rows.n_probed = 1  # rows enough for the mean alone
        rows.feature_map.n_made = 0
        gram = SampledRows(rows).gram()
        made[n_rows] = rows.feature_map.n_made
        np.testing.assert_allclose(gram, gram.T)
    assert made == {40_000: 128 * 4, 16_384: 64 * 4, 4000: 32 * 4, 400: 100, 20: 2 * 4}


def test_the_leading_part_is_that_of_the_covariance(rng):
    X = rng.rand(4000, 2)
    rows = FeatureRows(
        Squares(), as_blocks(X), Targets("Test"), Passes("Test"), Sample(X[:400], np.ones(400)), None, None
    )
    found = SampledRows(rows).leading_part()
    covariance = np.cov(np.hstack([X, X**2])[:400].T, bias=True)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(covariance)[::-1][: len(found.values)], rtol=1e-6)


@pytest.mark.parametrize(("memory", "stored"), [("64MB", True), ("64KB", False)])
def test_eigenvectors_of_features_in_slabs_are_stored_if_they_fit(rng, memory, stored):
    """All of them are found either way: 32 of 256 features, which take 32 KB in float32."""
    X = rng.standard_normal((1000, 3)).astype(np.float32)
    wide = SeededBlocks(Gaussian(gamma=1.0), n_components=256, slab=64, random_state=0).fit(X)
    sample = Sample(X[:500], np.ones(500))
    rows = FeatureRows(wide, as_blocks(X), Numbers("Test"), Passes("Test"), sample, in_slabs=True)
    with config_context(memory=memory):
        found = SampledRows(rows).leading_part()
    assert isinstance(found.vectors, np.ndarray) == stored
    assert len(found.values) == 32


def _sampled(X, y, weight, n_sampled):
    """Return rows of 4 features, whose first ones are the sample."""
    blocks = as_blocks(X, y, sample_weight=weight, block_rows=100)
    wide = Sample(X[:n_sampled], weight[:n_sampled], None, y[:n_sampled])
    rows = FeatureRows(Squares(), blocks, Numbers("Test"), Passes("Test"), Sample(X[:6], weight[:6]), None, wide)
    rows.n_probed = 1
    return rows


def test_the_problem_of_the_sampled_rows_has_their_targets_and_weights(rng):
    X, y, weight = rng.rand(1024, 2), rng.rand(1024), rng.rand(1024)
    few = SampledRows(_sampled(X, y, weight, 128)).problem()
    Z, Y, found = few.matrix()
    np.testing.assert_allclose(Z, np.hstack([X, X**2])[:128])
    np.testing.assert_array_equal(Y.ravel(), y[:128])
    np.testing.assert_array_equal(found, weight[:128])


def test_a_sample_of_more_than_an_eighth_of_the_rows_is_no_problem_of_its_own(rng):
    X, y, weight = rng.rand(1023, 2), rng.rand(1023), np.ones(1023)
    assert SampledRows(_sampled(X, y, weight, 128)).problem() is None
    without_y = _sampled(X, y, weight, 128)
    without_y.wide_sample = Sample(X[:128], weight[:128])
    without_y.n_rows = 10_000
    assert SampledRows(without_y).problem() is None


@pytest.mark.parametrize("has_weights", [False, True])
def test_the_curved_gram_matrix_is_a_hessian_over_the_total_curvature(rng, has_weights):
    X, weight = rng.rand(500, 2), rng.rand(500) if has_weights else np.ones(500)
    y = np.where(X[:, 0] > rng.rand(500), 1.0, -1.0)
    value = rng.standard_normal((5, 1))
    blocks, sample = as_blocks(X, y, sample_weight=weight, block_rows=100), Sample(X[:10], np.ones(10))
    rows = FeatureRows(Squares(), blocks, Numbers("Test"), Passes("Test"), sample)
    a = np.hstack([X, X**2, np.ones((500, 1))])
    c = weight * Logistic().curvatures(a @ value, y[:, None]).ravel()
    expected = a.T @ (c[:, None] * a) / c.sum()
    np.testing.assert_allclose(curved_gram(rows, Logistic(), value), expected, rtol=1e-12)


@pytest.mark.parametrize(("n_curved", "is_made"), [(31, False), (32, True), (0, False)])
def test_curvatures_of_few_rows_are_not_taken(n_curved, is_made):
    """A squared hinge bends within the margin alone; 8 rows for each of 4 features are enough."""
    X = np.zeros((200, 2))
    X[:n_curved] = 1.0
    value = np.array([[-2.0], [0.0], [0.0], [0.0], [2.0]])  # scores of 0 for ones, of 2 for zeros
    blocks, sample = as_blocks(X, np.ones(200)), Sample(X[:10], np.ones(10))
    rows = FeatureRows(Squares(), blocks, Numbers("Test"), Passes("Test"), sample)
    assert (curved_gram(rows, SquaredHinge(), value) is not None) == is_made


def _labelled(n_rows):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n_rows, 4))
    score = X[:, 0] * X[:, 1] + 0.5 * np.sin(2 * X[:, 2])
    return X, score, np.where(score > 0.5 * rng.standard_normal(n_rows), "yes", "no")


STARTED = {
    "logistic": KernelLogisticRegression(Gaussian(gamma=0.1), n_components=32, tol=1e-6, random_state=0),
    "squared hinge": KernelSVC(Gaussian(gamma=0.1), n_components=32, tol=1e-6, random_state=0),
    "squared insensitive": KernelSVR(
        Gaussian(gamma=0.1), n_components=32, loss="squared_epsilon_insensitive", tol=1e-6, random_state=0
    ),
}


@pytest.mark.parametrize(("name", "memory"), [("logistic", None), *((name, "1MB") for name in STARTED)])
def test_a_fit_from_a_sample_ends_at_the_solution_in_fewer_passes(monkeypatch, name, memory):
    X, score, label = _labelled(12_000)
    model, y = STARTED[name], score if name == "squared insensitive" else label
    with config_context(memory=memory):
        started = model.fit(X, y)
        found, passes = np.ravel(started.coef_).copy(), started.solution_.details["passes"]
        monkeypatch.setattr("mercer.fitting.sampled_rows._PROBLEM_SHARE", 0.0)
        model.fit(X, y)
    np.testing.assert_allclose(found, np.ravel(model.coef_), atol=2e-3 * np.abs(model.coef_).max())
    assert passes < model.solution_.details["passes"]


def test_all_rows_start_at_the_solution_of_the_sample(monkeypatch):
    X, _, label = _labelled(12_000)
    starts, values, own = [], [], by_newton.newton_cg

    def noted(loss, reduce, start, **options):
        starts.append(start.copy())
        values.append(own(loss, reduce, start, **options))
        return values[-1]

    monkeypatch.setattr(by_newton, "newton_cg", noted)
    STARTED["logistic"].fit(X, label)
    assert not starts[0].any()
    np.testing.assert_array_equal(starts[1], values[0].value)


def test_watchers_hear_of_the_fit_of_all_rows_alone():
    X, _, label = _labelled(12_000)
    heard = []
    with config_context(callback=heard.append):
        STARTED["logistic"].fit(X, label)
    iterations = [state.iteration for state in heard if state.stage == "Newton-CG"]
    assert iterations == list(range(len(iterations)))
    assert iterations


def test_one_class_of_labels_in_the_sample_is_no_harm():
    """The solution of such a sample is far away, and the fit starts at 0."""
    X, _, _ = _labelled(40_000)
    label = np.zeros(40_000)
    label[17] = 1.0
    model = KernelLogisticRegression(Gaussian(gamma=0.1), n_components=32, tol=1e-6, random_state=0)
    assert model.fit(X, label).solution_.success
    np.testing.assert_allclose(model.predict_proba(X)[:, 1].sum(), 1.0, rtol=1e-3)
