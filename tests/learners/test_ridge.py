"""Ridge: scikit-learn's contract and answers, streams, weights, choices of alpha, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelRidge,
    KernelRidgeClassifier,
    Laplacian,
    Linear,
    LinearFeatures,
    RandomBinning,
    as_blocks,
)
from mercer.testing import check_learner

BOTH = [KernelRidge, KernelRidgeClassifier]
ALPHAS = np.logspace(-3, 2, 6)


@parametrize_with_checks(
    [KernelRidge(), KernelRidgeClassifier(), KernelRidge(alpha="loo"), KernelRidgeClassifier(alpha="gcv")]
)
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((300, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(300)


def _labels(y, n_classes):
    return np.array(list("abc"))[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]


@pytest.mark.parametrize("n_targets", [None, 1, 3])
def test_it_is_ridge_on_the_features(rows, rng, n_targets):
    X, y = rows
    Y = y if n_targets is None else np.column_stack([y] * n_targets) + rng.standard_normal((300, n_targets))
    weight = rng.random_sample(300)
    model = KernelRidge(n_components=50, alpha=0.3, random_state=0).fit(X, Y, weight)
    Z = model.feature_map_.transform(X)
    exact = Ridge(alpha=0.3, solver="cholesky").fit(Z, Y, weight)
    assert model.coef_.shape == (50,) if n_targets is None else (n_targets, 50)
    np.testing.assert_allclose(model.coef_, exact.coef_.reshape(model.coef_.shape), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), exact.predict(Z).reshape(Y.shape), rtol=1e-8, atol=1e-10)
    assert model.solution_.details == {"solver": "cholesky", "block_rows": 4096}


@pytest.mark.parametrize("rule", ["gcv", "loo"])
def test_alpha_is_chosen_as_refitting_would(rows, rule):
    X, y = rows[0][:40], rows[1][:40]
    model = KernelRidge(n_components=20, alpha=rule, alphas=ALPHAS, random_state=0).fit(X, y)
    Z = model.feature_map_.transform(X)
    for alpha, score, coef in zip(ALPHAS, model.scores_, model.coef_path_, strict=True):
        exact = Ridge(alpha=alpha, solver="cholesky")
        np.testing.assert_allclose(coef[0], exact.fit(Z, y).coef_, rtol=1e-6, atol=1e-9)
        if rule == "loo":
            errors = [y[i] - exact.fit(np.delete(Z, i, 0), np.delete(y, i)).predict(Z[i : i + 1])[0] for i in range(40)]
            np.testing.assert_allclose(score, np.mean(np.square(errors)), rtol=1e-7)
        else:
            centred = Z - Z.mean(axis=0)
            df = 1 + np.trace(centred @ np.linalg.solve(centred.T @ centred + alpha * np.eye(Z.shape[1]), centred.T))
            residual = y - exact.fit(Z, y).predict(Z)
            np.testing.assert_allclose(score, 40 * residual @ residual / (40 - df) ** 2, rtol=1e-7)
    best = np.argmin(model.scores_)
    assert model.alpha_ == ALPHAS[best]
    np.testing.assert_array_equal(model.coef_, model.coef_path_[best, 0])


@pytest.mark.parametrize("rule", [1.0, "gcv", "loo"])
@pytest.mark.parametrize("kind", BOTH)
def test_weights_are_repetitions(rows, rng, kind, rule):
    X, y = rows
    y = _labels(y, 3) if kind is KernelRidgeClassifier else y
    weight = rng.randint(3, size=300)
    model = kind(Gaussian(gamma="scale"), n_components=30, alpha=rule, random_state=0)
    one = model.fit(X, y, weight)
    other = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-9)
    if rule != 1.0:
        np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-7)


@pytest.mark.parametrize("rule", [1.0, "loo"])
@pytest.mark.parametrize("kind", BOTH)
def test_blocks_threads_and_arrays_give_the_same_bits(rng, kind, rule):
    X = rng.standard_normal((9000, 3)).astype(np.float32)
    y = _labels(X[:, 0], 2) if kind is KernelRidgeClassifier else X[:, 0] ** 2
    weight = rng.random_sample(9000)
    model = kind(Gaussian(gamma="scale"), n_components=40, alpha=rule, random_state=0)
    one = clone(model).set_params(n_jobs=1).fit(X, y, weight)
    parts = [slice(0, 10), slice(10, 5000), slice(5000, 9000)]
    sources = [
        as_blocks(X, y, sample_weight=weight, block_rows=77),
        as_blocks(lambda: ((X[part], y[part], weight[part]) for part in parts)),
    ]
    others = [clone(model).set_params(n_jobs=2).fit(source) for source in sources]
    for other in others:
        np.testing.assert_array_equal(other.coef_, one.coef_)
        np.testing.assert_array_equal(other.intercept_, one.intercept_)
        np.testing.assert_array_equal(other.predict(as_blocks(X)), one.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_is_ridge_on_signs(rows, n_classes):
    X, y = rows[0], _labels(rows[1], n_classes)
    model = KernelRidgeClassifier(n_components=60, alpha=1.0, random_state=0).fit(X, y)
    signs = np.where(y[:, None] == (np.unique(y)[1:] if n_classes == 2 else np.unique(y)), 1.0, -1.0)
    exact = Ridge(alpha=1.0, solver="cholesky").fit(model.feature_map_.transform(X), signs)
    scores = exact.predict(model.feature_map_.transform(X)).reshape(300, -1)
    np.testing.assert_allclose(model.decision_function(X).reshape(300, -1), scores, rtol=1e-7, atol=1e-9)
    assert set(model.predict(X)) <= set(y)
    assert model.score(X, y) > 0.6


def test_ones_own_features_and_nested_parameters(rows):
    X, y = rows
    model = KernelRidge(features=FourierFeatures(Gaussian(gamma=0.2), n_components=64, random_state=1)).fit(X, y)
    assert model.coef_.shape == (64,)
    replaced = KernelRidge(Gaussian(gamma=1.0)).set_params(kernel__gamma=0.5)
    assert replaced.kernel == Gaussian(gamma=0.5)
    with pytest.raises(ValueError, match="features must be a feature map such as"):
        KernelRidge(features="rbf").fit(X, y)


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3.0, "b": 0.5}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_are_weights_of_the_rows(rows, rng, n_classes, class_weight):
    X, y = rows[0], _labels(rows[1], n_classes)
    weight = rng.randint(3, size=300)
    model = KernelRidgeClassifier(n_components=40, alpha=0.3, class_weight=class_weight, random_state=0)
    model.fit(X, y, weight)
    exact = RidgeClassifier(alpha=0.3, class_weight=class_weight, solver="cholesky")
    if class_weight == "balanced":  # scikit-learn's leaves the sample weights out
        classes = np.unique(y)
        balanced = compute_class_weight("balanced", classes=classes, y=np.repeat(y, weight))
        exact.set_params(class_weight=dict(zip(classes, balanced, strict=True)))
    Z = model.feature_map_.transform(X)
    scores = exact.fit(Z, y, weight).decision_function(Z)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-7)
    chosen = clone(model).set_params(alpha="loo").fit(X, y, weight)
    repeated = clone(chosen).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(chosen.scores_, repeated.scores_, rtol=1e-7)


@pytest.mark.parametrize("rule", [1.0, "gcv", "loo"])
@pytest.mark.parametrize("kind", BOTH)
def test_the_laws_of_learners(kind, rule):
    check_learner(kind(n_components=32, alpha=rule), sklearn_checks=False)


def test_sparse_features_stay_sparse(rows):
    X, y = rows
    binning = RandomBinning(Laplacian(gamma=0.3), n_components=None, n_grids=50, sparse_output=True, random_state=0)
    model = KernelRidge(features=binning, alpha=1.0).fit(X, y)
    Z = model.feature_map_.transform(X)
    assert sparse.issparse(Z)
    exact = Ridge(alpha=1.0, solver="cholesky").fit(Z.toarray(), y)
    np.testing.assert_allclose(model.predict(X), exact.predict(Z.toarray()), atol=1e-6)


def test_float32_columns_far_from_zero(rng):
    """Without an origin the products of entries near 1000 would lose the signal of size 1."""
    X = (1000 + rng.standard_normal((5000, 3))).astype(np.float32)
    y = X[:, 0] - 1000.0
    model = KernelRidge(features=LinearFeatures(Linear(), n_components=3), alpha=1.0).fit(X, y)
    exact = Ridge(alpha=1.0, solver="cholesky").fit(X.astype(np.float64), y)
    # features rounded to float32 about the origin: 2^-24 of 1000 at most
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=10 * 1000 * 2.0**-24)


X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3
NAN = np.where(np.arange(20) == 7, np.nan, 1.0)
BAD = [
    (lambda model: model.fit(X, Y[:9]), "X has 20 rows and y has 9: inconsistent numbers of samples"),
    (lambda model: model.fit(X), "requires y to be passed"),
    (lambda model: model.fit(as_blocks(X)), "requires y to be passed"),
    (lambda model: model.fit(as_blocks(X, Y), Y), "X is Blocks, which bring their own y"),
    (lambda model: model.fit(X, Y, -np.ones(20)), "must hold finite numbers >= 0, got -1.0 at row 0"),
    (lambda model: model.fit(X, Y, NAN), "must hold finite numbers >= 0, got nan at row 7"),
    (lambda model: model.fit(X, Y, np.zeros(20)), "sample_weight must not be all zero"),
    (lambda model: model.fit(as_blocks(X, Y, sample_weight=np.zeros(20))), "sample_weight must not be all zero"),
    (lambda model: model.fit(X, Y, np.ones(9)), r"sample_weight.shape == \(9,\), expected \(20,\)"),
    (lambda model: model.set_params(alpha=0.0).fit(X, Y), "alpha must be a finite number > 0, got 0.0"),
    (lambda model: model.set_params(alpha=-1).fit(X, Y), "alpha must be a finite number > 0, got -1"),
    (lambda model: model.set_params(alpha="aic").fit(X, Y), "alpha must be a number > 0, 'gcv' or 'loo', got 'aic'"),
    (lambda model: model.set_params(alpha="gcv", alphas=[1, 0]).fit(X, Y), "alphas must be a finite number > 0, got 0"),
    (lambda model: model.set_params(alpha="gcv", alphas=[]).fit(X, Y), "alphas must hold at least one number"),
    (lambda model: model.set_params(n_components=0).fit(X, Y), "n_components must be an integer >= 1, got 0"),
    (lambda model: model.set_params(kernel="rbf").fit(X, Y), r"got the name 'rbf'. Write Gaussian\(gamma=1.0\)"),
    (lambda model: model.fit(iter([X]), Y), "can be read once only, and KernelRidge.* needs several passes"),
]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_leaves_the_estimator_as_it_was(kind, call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(kind())
    fitted = kind(random_state=0).fit(X, Y)
    before = fitted.predict(X)
    params = fitted.get_params()
    with pytest.raises((ValueError, TypeError), match=message):
        call(fitted)
    np.testing.assert_array_equal(fitted.set_params(**params).predict(X), before)


def test_targets_that_cannot_be_learned():
    with pytest.raises(ValueError, match="y must hold at least 2 classes, got 1 class"):
        KernelRidgeClassifier().fit(X, np.ones(20))
    for y in (NAN, as_blocks(X, NAN)):
        with pytest.raises(ValueError, match="y contains NaN"):
            KernelRidge().fit(*((y,) if y is not NAN else (X, y)))
    with pytest.raises(NotFittedError):
        KernelRidge().predict(X)
    with pytest.raises(ValueError, match="X has 2 features, but KernelRidge is expecting 3 features"):
        KernelRidge().fit(X, Y).predict(as_blocks(X[:, :2]))


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(rows):
    model = KernelRidge(random_state=0).fit(*rows)
    before = model.predict(rows[0])
    passes = []

    def factory():
        passes.append(0)
        for i in range(5):
            if len(passes) > 2 and i == 3:
                raise KeyboardInterrupt
            yield rows

    with pytest.raises(KeyboardInterrupt):
        model.fit(as_blocks(factory))
    np.testing.assert_array_equal(model.predict(rows[0]), before)


@pytest.mark.parametrize("rule", ["gcv", "loo"])
@pytest.mark.parametrize("n_components", [100, 300])
def test_few_rows_keep_their_digits_at_a_small_alpha(rule, n_components):
    """By singular values of the rows; by eigenvalues of their Gram matrix 1e-8 and more would be lost."""
    rng = np.random.RandomState(0)
    X, counts = rng.standard_normal((40, 3)), rng.randint(0, 4, 40)
    y = np.sin(X[:, 0]) + X[:, 1]
    model = KernelRidge(Gaussian(gamma=0.3), n_components=n_components, alpha=rule, alphas=[1e-8], random_state=0)
    features = model.fit(X, y).feature_map_
    model.set_params(features=features)
    weighted = model.fit(X, y, sample_weight=counts).predict(X)
    assert model.solution_.details["solver"] == "svd"
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).predict(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-10)
