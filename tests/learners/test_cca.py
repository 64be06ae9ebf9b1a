"""Kernel CCA: scikit-learn's contract and linear CCA, planted correlations, streams, penalties, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import Gaussian, KernelCCA, Laplacian, Linear, LinearFeatures, Nystroem, RandomBinning, as_blocks


@parametrize_with_checks([KernelCCA(), KernelCCA(Linear(), Gaussian(gamma="median"), n_components=1)])
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.fixture
def views(rng):
    common = rng.standard_normal((400, 2))
    X = np.column_stack([common + 0.5 * rng.standard_normal((400, 2)), rng.standard_normal((400, 3))])
    Y = np.column_stack([common[:, 0], rng.standard_normal(400), -common[:, 1]]) + 0.4 * rng.standard_normal((400, 3))
    return X @ rng.standard_normal((5, 5)) + 3, Y @ rng.standard_normal((3, 3))


def test_linear_kernels_give_scikit_learn_s_cca(views):
    X, Y = views
    model = KernelCCA(Linear(), n_components=3, alpha=0.0).fit(X, Y)
    exact = CCA(3, max_iter=10_000, tol=1e-14).fit(X, Y)
    theirs, ours = exact.transform(X, Y), model.transform(X, Y)
    expected = [np.corrcoef(theirs[0][:, k], theirs[1][:, k])[0, 1] for k in range(3)]
    np.testing.assert_allclose(model.correlations_, expected, atol=1e-6)
    for one, other in zip(ours, theirs, strict=True):  # the peer's directions are right to its iterations' tolerance
        for k in range(3):
            assert abs(np.corrcoef(one[:, k], other[:, k])[0, 1]) > 1 - 1e-6
    np.testing.assert_allclose(np.cov(ours[0].T, bias=True), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(ours[0].T @ ours[1] / 400, np.diag(model.correlations_), atol=1e-9)


def test_planted_linear_correlations_come_back(rng):
    """Views of 20 000 rows, correlations 0.9, 0.5 and 0: each found within 6 standard errors (1 - r^2) / sqrt(n)."""
    n, planted = 20_000, np.array([0.9, 0.5, 0.0])
    A, noise = rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
    B = planted * A + np.sqrt(1 - planted**2) * noise
    X, Y = A @ rng.standard_normal((3, 3)), B @ rng.standard_normal((3, 3))
    found = KernelCCA(Linear(), n_components=3, alpha=0.0).fit(X, Y).correlations_
    np.testing.assert_array_less(np.abs(found - planted)[:2], 6 * (1 - planted[:2] ** 2) / np.sqrt(n))
    assert found[2] < 6 / np.sqrt(n)


def test_planted_nonlinear_correlation_is_seen_by_kernels_alone(rng):
    common = rng.uniform(-1, 1, 3000)
    X = np.column_stack([common, rng.standard_normal(3000)])
    Y = np.column_stack([common**2 + 0.05 * rng.standard_normal(3000), rng.standard_normal(3000)])
    train, test = slice(0, 2000), slice(2000, 3000)
    kernel = KernelCCA(Gaussian(gamma=0.5), n_components=1, alpha=1e-2, random_state=0).fit(X[train], Y[train])
    linear = KernelCCA(Linear(), n_components=1).fit(X[train], Y[train])
    # x^2 of uniform x has variance 4/45: noise of 0.05 leaves a correlation of 1 / sqrt(1 + 0.0025 / (4/45)) = 0.986
    assert kernel.score(X[test], Y[test]) > 0.93
    assert linear.score(X[test], Y[test]) < 0.3


def test_full_rank_nystroem_is_kernel_cca_of_the_gram_matrices(rng):
    """The dual: correlations are the singular values of (K + n k I)^-1/2 K^1/2 L^1/2 (L + n k I)^-1/2."""
    common = rng.standard_normal((80, 1))
    X, Y = common + 0.5 * rng.standard_normal((80, 2)), np.sin(common) + 0.5 * rng.standard_normal((80, 2))
    maps = [Nystroem(Gaussian(gamma=0.5), n_components=80, landmarks="uniform", random_state=0) for _ in range(2)]
    model = KernelCCA(features=maps[0], y_features=maps[1], n_components=3, alpha=0.1).fit(X, Y)
    centre = np.eye(80) - 1 / 80
    halves = []
    for view, width in ((X, model.x_weights_.shape[0]), (Y, model.y_weights_.shape[0])):
        values, vectors = np.linalg.eigh(centre @ Gaussian(gamma=0.5)(view) @ centre)
        values = np.maximum(values, 0)
        halves.append((vectors * np.sqrt(values / (values + 0.1 * values.sum() / width))) @ vectors.T)
    expected = np.linalg.svd(halves[0] @ halves[1], compute_uv=False)[:3]
    regularised = [
        float(model.x_weights_[:, k] @ _cross(model, X, Y) @ model.y_weights_[:, k]) for k in range(3)
    ]  # fmt: skip
    np.testing.assert_allclose(regularised, expected, rtol=1e-6)


def _cross(model, X, Y):
    A, B = model.feature_map_.transform(X) - model.x_mean_, model.y_feature_map_.transform(Y) - model.y_mean_
    return A.T @ B / len(X)


def test_a_penalty_helps_rows_left_out(rng):
    X, Y = rng.standard_normal((300, 5)), rng.standard_normal((300, 5))
    Y[:, 0] += 2 * np.sign(X[:, 0])
    scores = []
    for alpha in (1e-8, 1.0):
        model = KernelCCA(Gaussian(gamma=0.1), n_components=1, alpha=alpha, random_state=0).fit(X[:200], Y[:200])
        scores.append(model.score(X[200:], Y[200:]))
        assert model.correlations_[0] > scores[-1]
    assert scores[1] > scores[0]


def test_weights_are_repetitions(views, rng):
    X, Y = views
    weight = rng.randint(3, size=400)
    model = KernelCCA(Gaussian(gamma="scale"), alpha=0.01, random_state=0)
    one = clone(model).fit(X, Y, weight)
    other = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(one.correlations_, other.correlations_, rtol=1e-8)
    np.testing.assert_allclose(one.score(X, Y, weight), one.correlations_.mean(), rtol=1e-9)


def test_blocks_threads_arrays_frames_and_sparse_views(rng):
    X = rng.standard_normal((9000, 3)).astype(np.float32)
    Y = (X[:, :2] + rng.standard_normal((9000, 2))).astype(np.float32)
    model = KernelCCA(Gaussian(gamma=0.3), random_state=0)
    one = clone(model).set_params(n_jobs=1).fit(X, Y)
    parts = [slice(0, 10), slice(10, 5000), slice(5000, 9000)]
    sources = [
        as_blocks(X, Y, block_rows=77),
        as_blocks(lambda: ((X[part], Y[part]) for part in parts)),
        as_blocks(lambda: ((X[part], sparse.csr_array(Y[part])) for part in parts)),
    ]
    for number, source in enumerate(sources):
        other = clone(model).set_params(n_jobs=2).fit(source)
        compare = np.testing.assert_array_equal if number < 2 else _nearly
        compare(other.x_weights_, one.x_weights_)
        np.testing.assert_allclose(other.score(source), one.score(X, Y), rtol=1e-4)
    scores = clone(model).fit(pd.DataFrame(X), pd.DataFrame(Y)).transform(X, pd.DataFrame(Y))
    for ours, theirs in zip(scores, one.transform(X, Y), strict=True):
        assert ours.dtype == np.float32
        _nearly(ours, theirs)
    _nearly(clone(model).fit(X, sparse.csr_array(Y)).y_weights_, one.y_weights_)


def _nearly(one, other):
    """As near as float32 products of other layouts, over the gap between the two correlations, leave them."""
    np.testing.assert_allclose(one, other, atol=2e-2 * np.abs(other).max())


def test_sparse_features(views):
    X, Y = views
    binning = RandomBinning(Laplacian(gamma=0.2), n_components=None, n_grids=5, sparse_output=True, random_state=0)
    model = KernelCCA(Linear(), features=binning, alpha=0.1).fit(X, Y)
    assert sparse.issparse(model.feature_map_.transform(X))
    x_scores, y_scores = model.transform(X, Y)
    found = [np.corrcoef(x_scores[:, k], y_scores[:, k])[0, 1] for k in range(2)]
    np.testing.assert_allclose(found, model.correlations_, rtol=1e-9)


def test_one_column_a_pipeline_s_scores_progress_and_html(views, capfd):
    X, Y = views
    model = KernelCCA(Linear(), n_components=1, alpha=0.0, verbose=1)
    scores = model.fit_transform(X, Y[:, 0])
    assert "KernelCCA: moments" in "".join(capfd.readouterr())
    assert "KernelCCA" in model._repr_html_()
    # with one target the canonical correlation is the multiple correlation of least squares
    fitted = np.column_stack([X, np.ones(400)]) @ np.linalg.lstsq(np.column_stack([X, np.ones(400)]), Y[:, 0])[0]
    np.testing.assert_allclose(model.correlations_[0], np.corrcoef(fitted, Y[:, 0])[0, 1], rtol=1e-9)
    np.testing.assert_allclose(abs(np.corrcoef(scores[:, 0], fitted)[0, 1]), 1)


X = np.random.RandomState(0).rand(20, 3)
Y = np.random.RandomState(1).rand(20, 4)
NAN = np.where(np.arange(80).reshape(20, 4) == 29, np.nan, Y)
BAD = [
    (lambda model: model.fit(X, Y[:9]), "X has 20 rows and y has 9: inconsistent numbers of samples"),
    (lambda model: model.fit(X, sparse.csr_array(Y[:9])), "X has 20 rows and y has 9: inconsistent numbers of samples"),
    (lambda model: clone(model).fit(X, Y).transform(X, Y[:9]), "X has 20 rows and y has 9: inconsistent numbers"),
    (lambda model: clone(model).fit(X, Y).transform(X, Y[:, :2]), "y has 2 columns, and had 4 in fit"),
    (lambda model: model.fit(X), "requires y to be passed"),
    (lambda model: model.fit(as_blocks(X)), "requires y to be passed"),
    (lambda model: model.fit(as_blocks(X), as_blocks(Y)), r"give the two views as one, as_blocks\(X, Y\)"),
    (lambda model: model.fit(X, NAN), "y contains NaN at row 7, column 1"),
    (lambda model: model.fit(as_blocks(X, NAN)), "y contains NaN at row 7, column 1"),
    (lambda model: model.fit(X[:1], Y[:1]), "n_samples=1 must be at least n_components=2 and 2"),
    (lambda model: model.set_params(n_components=21).fit(X, Y), "n_samples=20 must be at least n_components=21"),
    (lambda model: model.set_params(n_components=21).fit(as_blocks(lambda: iter([(X, Y)]))), "n_samples=20 must be at"),
    (lambda model: model.set_params(n_components=4, kernel=Linear()).fit(X, Y), "must not exceed the 3 features of X"),
    (lambda model: model.set_params(n_components=0).fit(X, Y), "n_components must be an integer >= 1, got 0"),
    (lambda model: model.set_params(map_components=0).fit(X, Y), "map_components must be an integer >= 1, got 0"),
    (lambda model: model.set_params(alpha=-1.0).fit(X, Y), "alpha must be a finite number >= 0, got -1.0"),
    (lambda model: model.set_params(alpha=0.0).fit(X, Y), "alpha=0 is too small: the features' covariance is singular"),
    (lambda model: model.fit(np.ones((20, 3)), Y), "the features of X have no variance: all its rows are alike"),
    (lambda model: model.fit(X, np.ones(20)), "the features of y have no variance: all its rows are alike"),
    (lambda model: model.fit(X, Y, np.zeros(20)), "sample_weight must not be all zero"),
    (lambda model: model.fit(as_blocks(X, Y, sample_weight=np.zeros(20))), "sample_weight must not be all zero"),
    (lambda model: model.set_params(y_kernel="rbf").fit(X, Y), r"got the name 'rbf'. Write Gaussian\(gamma=1.0\)"),
    (lambda model: model.set_params(y_features="rbf").fit(X, Y), "y_features must be a feature map such as"),
    (
        lambda model: model.set_params(features=LinearFeatures()).fit(1e30 * X.astype(np.float32), Y),
        "products of the features overflow",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_leaves_the_estimator_as_it_was(call, message):
    fitted = KernelCCA(random_state=0).fit(X, Y)
    before, params = fitted.transform(X, Y), fitted.get_params()
    for model in (KernelCCA(), fitted):
        with pytest.raises((ValueError, TypeError), match=message):
            call(model)
    after = fitted.set_params(**params).transform(X, Y)
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(after[1], before[1])
    with pytest.raises(NotFittedError):
        KernelCCA().transform(X)


@pytest.mark.parametrize("last", [2, 4], ids=["survey", "moments"])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(last):
    model = KernelCCA(random_state=0).fit(X, Y)
    before, passes = model.transform(X, Y), []

    def factory():
        passes.append(0)
        for i in range(5):
            if len(passes) == last and i == 3:
                raise KeyboardInterrupt
            yield X, Y

    with pytest.raises(KeyboardInterrupt):
        model.fit(as_blocks(factory))
    assert len(passes) == last
    for got, expected in zip(model.transform(X, Y), before, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_both_views_are_needed_and_come_together(views):
    X, Y = views
    model = KernelCCA(Linear(), n_components=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"KernelCCA: score needs both views: score\(X, y\)"):
        model.score(X)
    with pytest.raises(ValueError, match=r"KernelCCA: give the two views as one, as_blocks\(X, Y\)"):
        model.fit(X, as_blocks(Y))
