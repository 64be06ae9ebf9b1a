"""Support vector machines: scikit-learn's contract and answers, streams, weights, starts, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Gaussian,
    KernelSVC,
    KernelSVR,
    Laplacian,
    Polynomial,
    RandomBinning,
    TensorSketch,
    as_blocks,
    config_context,
)
from mercer.testing import check_learner

SUPERVISED = [
    KernelSVC(),
    KernelSVC(loss="hinge"),
    KernelSVR(),
    KernelSVR(loss="squared_epsilon_insensitive"),
]
IDS = ["svc", "svc-hinge", "svr", "svr-squared"]


@parametrize_with_checks(SUPERVISED)
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", SUPERVISED, ids=IDS)
def test_our_own_contract(model):
    # Plain losses are solved to 1e-4 of the objective, which leaves the scores a hundredth.
    check_learner(clone(model).set_params(n_components=32), rtol=2e-2, sklearn_checks=False)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((700, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(700)


def _labels(y, n_classes):
    return np.array(list("abc"))[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]


def _target(model, y):
    return _labels(y, 3) if isinstance(model, KernelSVC) else y


@pytest.mark.parametrize("model", SUPERVISED, ids=IDS)
def test_it_is_the_linear_machine_on_the_features(rows, rng, model):
    X, y = rows[0][:300], _target(model, rows[1])[:300]
    weight = rng.random_sample(300)
    model = clone(model).set_params(n_components=30, C=0.7, random_state=0).fit(X, y, weight)
    Z = model.feature_map_.transform(X)
    options = {"loss": model.loss, "C": 0.7, "dual": True, "tol": 1e-10, "max_iter": 1_000_000}
    peer = LinearSVC(**options) if isinstance(model, KernelSVC) else LinearSVR(epsilon=0.1, **options)
    peer.fit(Z, y, weight)
    ours, theirs = (one.coef_ for one in (model, peer))
    assert ours.shape == ((3, 30) if isinstance(model, KernelSVC) else (30,))
    np.testing.assert_allclose(ours, theirs, atol=2e-3 * np.abs(theirs).max())
    assert model.solution_.gap < 1e-12
    assert np.mean(model.predict(X) == peer.predict(Z)) > 0.99 or isinstance(model, KernelSVR)


@pytest.mark.parametrize("model", SUPERVISED, ids=IDS)
def test_blocks_threads_and_arrays_give_the_same_bits(rng, model):
    X = rng.standard_normal((5000, 3)).astype(np.float32)
    y, weight = _target(model, X[:, 0] ** 2), rng.random_sample(5000)
    model = clone(model).set_params(kernel=Gaussian(gamma="scale"), n_components=40, random_state=0, tol=1e-2)
    one = clone(model).set_params(n_jobs=1).fit(X, y, weight)
    parts = [slice(0, 10), slice(10, 3000), slice(3000, 5000)]
    sources = [
        as_blocks(X, y, sample_weight=weight, block_rows=77),
        as_blocks(lambda: ((X[part], y[part], weight[part]) for part in parts)),
    ]
    for other in [clone(model).set_params(n_jobs=2).fit(source) for source in sources]:
        np.testing.assert_array_equal(other.coef_, one.coef_)
        np.testing.assert_array_equal(other.intercept_, one.intercept_)
        np.testing.assert_array_equal(other.predict(as_blocks(X)), one.predict(X))


@pytest.mark.parametrize("model", SUPERVISED, ids=IDS)
def test_without_the_compiled_core_liblinear_solves_the_same_problem(rows, rng, model, monkeypatch):
    X, y, weight = rows[0], _target(model, rows[1]), rng.random_sample(700)
    model = clone(model).set_params(n_components=20, C=0.1, random_state=0, max_iter=100_000)
    compiled = clone(model).set_params(tol=1e-6).fit(X, y, weight)
    monkeypatch.setattr("mercer.core.COMPILED", False)
    monkeypatch.setattr("mercer.learners.svm._NUMPY_ENTRIES", 100)
    other = clone(model).set_params(tol=1e-6).fit(X, y, weight)
    assert other.solution_.details["solver"] == "liblinear"
    np.testing.assert_allclose(other.coef_, compiled.coef_, atol=5e-3 * np.abs(compiled.coef_).max())


def test_columns_of_y_are_problems_of_their_own(rows, rng):
    X, y = rows
    Y = np.column_stack([y, -y, rng.standard_normal(700)])
    model = KernelSVR(n_components=20, random_state=0).fit(X, Y)
    assert model.coef_.shape == (3, 20)
    assert model.predict(X).shape == (700, 3)
    for k in range(3):
        alone = clone(model).fit(X, Y[:, k])
        # The check of a gap sums all columns in one product, hence not bit by bit.
        np.testing.assert_allclose(model.coef_[k], alone.coef_, rtol=1e-9, atol=1e-12)
    assert clone(model).fit(X, y[:, None]).predict(X).shape == (700, 1)


def test_class_weights_are_weights_of_rows(rows):
    X, y = rows[0], _labels(rows[1], 2)
    model = KernelSVC(Gaussian(gamma=0.2), n_components=20, random_state=0)
    given = clone(model).set_params(class_weight={"a": 3.0}).fit(X, y)
    np.testing.assert_array_equal(given.coef_, clone(model).fit(X, y, np.where(y == "a", 3.0, 1.0)).coef_)
    balanced = clone(model).set_params(class_weight="balanced").fit(X[:500], y[:500])
    count = np.mean(y[:500] == "a")
    weight = np.where(y[:500] == "a", 0.5 / count, 0.5 / (1 - count))
    np.testing.assert_allclose(balanced.coef_, clone(model).fit(X[:500], y[:500], weight).coef_, rtol=1e-6)


def test_sparse_features_stay_sparse(rows):
    X, y = rows[0], _labels(rows[1], 3)
    binning = RandomBinning(Laplacian(gamma=0.3), n_components=None, n_grids=50, sparse_output=True, random_state=0)
    model = KernelSVC(features=binning).fit(X, y)
    Z = model.feature_map_.transform(X)
    assert sparse.issparse(Z)
    exact = LinearSVC(dual=True, tol=1e-8, max_iter=100_000).fit(Z, y)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(Z), atol=0.02)


def _assert_as_close_as_their_gaps(one, held):
    """By strong convexity ||w - w*||^2 <= 2 (P(w) - P*) <= 2 gap P(w), of each of two solutions and problems."""
    objectives = held.solution_.details["objectives"]
    bound = sum(np.sqrt(2 * gap / (1 - gap) * objectives) for gap in (one.solution_.gap, held.solution_.gap))
    difference = np.atleast_2d(one.coef_ - held.coef_)
    assert np.all(np.linalg.norm(difference, axis=1) <= bound)


BEYOND = [
    (True, 0.125, "smoothed Newton-CG", 1e-4),
    (False, 0.125, "block descent", 1e-4),
    (False, 0, "averaged pegasos", 5e-2),
]


@pytest.mark.parametrize(("has_gram", "share", "solver", "gap"), BEYOND)
@pytest.mark.parametrize("model", [KernelSVC(loss="hinge"), KernelSVR()], ids=["svc", "svr"])
def test_plain_losses_beyond_the_budget(rows, model, has_gram, share, solver, gap, monkeypatch):
    monkeypatch.setattr("mercer.learners.svm._DUAL_SHARE", share)
    monkeypatch.setattr("mercer.fitting.FeatureRows.has_gram", has_gram)
    X, y = rows[0], _target(model, rows[1])
    model = clone(model).set_params(n_components=40, C=0.02, random_state=0)
    held = clone(model).fit(X, y)
    with config_context(memory=300_000):
        streamed = clone(model).fit(X, y)
    assert streamed.solution_.details["solver"] == solver
    assert streamed.solution_.gap <= gap
    _assert_as_close_as_their_gaps(streamed, held)
    with config_context(memory=300_000), pytest.warns(ConvergenceWarning, match="passes left a duality gap"):
        clone(model).set_params(max_iter=1, C=10.0).fit(X, y)


@pytest.mark.parametrize("model", [KernelSVC(), KernelSVR(loss="squared_epsilon_insensitive")], ids=["svc", "svr"])
def test_squared_losses_beyond_the_budget(rows, rng, model):
    X, y, weight = rows[0], _target(model, rows[1]), rng.random_sample(700)
    model = clone(model).set_params(n_components=40, random_state=0, tol=1e-6)
    held = clone(model).fit(X, y, weight)
    with config_context(memory=300_000):
        streamed = clone(model).fit(X, y, weight)
    assert streamed.solution_.details["solver"] == "newton-cg"
    assert streamed.solution_.gap < 1e-6
    _assert_as_close_as_their_gaps(streamed, held)


def test_they_show_as_html():
    for model in SUPERVISED:
        assert type(model).__name__ in model._repr_html_()


X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3
NAN = np.where(np.arange(20) == 7, np.nan, 1.0)
BAD = [
    (lambda model: model.fit(X, Y[:9]), "X has 20 rows and y has 9: inconsistent numbers of samples"),
    (lambda model: model.fit(X), "requires y to be passed"),
    (lambda model: model.fit(X, NAN), "Input y contains NaN. The first is in row 7"),
    (lambda model: model.fit(as_blocks(X, NAN, block_rows=5)), "Input y contains NaN. The first is in row 7"),
    (lambda model: model.fit(X, np.where(NAN == 1, 1.0, np.inf)), "y contains infinity.* The first is in row 7"),
    (lambda model: model.fit(X, Y, -np.ones(20)), "must hold finite numbers >= 0, got -1.0 at row 0"),
    (lambda model: model.fit(X, Y, NAN), "must hold finite numbers >= 0, got nan at row 7"),
    (lambda model: model.fit(X, Y, np.zeros(20)), "sample_weight must not be all zero"),
    (lambda model: model.set_params(C=0.0).fit(X, Y), "C must be a finite number > 0, got 0.0"),
    (lambda model: model.set_params(C=-1).fit(X, Y), "C must be a finite number > 0, got -1"),
    (lambda model: model.set_params(tol=0).fit(X, Y), "tol must be a finite number > 0, got 0"),
    (lambda model: model.set_params(max_iter=0).fit(X, Y), "max_iter must be an integer >= 1, got 0"),
    (lambda model: model.set_params(loss="log").fit(X, Y), "loss must be '.*' or '.*', got 'log'"),
    (lambda model: model.set_params(n_components=0).fit(X, Y), "n_components must be an integer >= 1, got 0"),
    (lambda model: model.fit(iter([X]), Y), "can be read once only"),
    (lambda model: model.fit(as_blocks(_changing(X[:, :2], Y))), "has columns 2, and the source began with 3"),
    (lambda model: model.fit(as_blocks(_changing(X.astype("f"), Y))), "has type float32, and the source began with"),
    (lambda model: model.fit(as_blocks(_changing(X[:9], Y[:9]))), "gave 20 rows before and 9 now"),
]


def _changing(X_later, Y_later):
    """Return a source that gives other rows from its second pass on."""
    passes = []

    def source():
        passes.append(0)
        yield (X, Y) if len(passes) <= 2 else (X_later, Y_later)

    return source


@pytest.mark.parametrize("kind", [KernelSVC, KernelSVR])
@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_leaves_the_estimator_as_it_was(kind, call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(kind())
    fitted = kind(random_state=0).fit(X, Y)
    before, params = fitted.predict(X), fitted.get_params()
    with pytest.raises((ValueError, TypeError), match=message):
        call(fitted)
    np.testing.assert_array_equal(fitted.set_params(**params).predict(X), before)


def test_what_only_some_refuse():
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got 1 class"):
        KernelSVC().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="epsilon must be a finite number >= 0, got -1"):
        KernelSVR(epsilon=-1).fit(X, Y)
    huge = X.copy()
    huge[7] = 1e60
    with pytest.raises(ValueError, match="features of row 7 of X overflow"):
        KernelSVC(features=TensorSketch(Polynomial(8, coef0=1.0))).fit(huge, Y)
