"""Kernel k-means: scikit-learn's contract and its answers from the same start, streams, weights, empty clusters."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Gaussian,
    KernelKMeans,
    Laplacian,
    LinearFeatures,
    Nystroem,
    RandomBinning,
    as_blocks,
    config_context,
)
from mercer.solvers import Heads, NearestCentres


@parametrize_with_checks([KernelKMeans(), KernelKMeans(batch_size=20), KernelKMeans(init="random", n_init=2)])
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.fixture
def rows(rng):
    return np.vstack([rng.normal(centre, 0.8, (150, 3)) for centre in rng.uniform(-3, 3, (5, 3))])


def _peer(model, X, start, weight=None):
    """Fit scikit-learn's k-means on the model's features, from the features of the same rows."""
    transform = model.feature_map_.transform
    peer = cluster.KMeans(model.n_clusters, init=transform(start), n_init=1, tol=model.tol, max_iter=model.max_iter)
    return peer.fit(transform(X), sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_start_gives_scikit_learn_s_clusters(rows, rng, dtype, weighted):
    X, weight = rows.astype(dtype), rng.random_sample(750) if weighted else None
    model = KernelKMeans(Gaussian(gamma=0.2), n_clusters=6, init=X[:6], tol=0, random_state=0)
    model.fit(X, sample_weight=weight)
    peer = _peer(model, X, X[:6], weight)
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.inertia_, peer.inertia_, rtol=rtol)
    np.testing.assert_array_equal(model.labels_, peer.labels_)
    np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_, atol=10 * rtol)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    Z = model.feature_map_.transform(X)
    np.testing.assert_allclose(model.transform(X), peer.transform(Z), atol=1e-7 if dtype == np.float64 else 1e-3)
    assert model.transform(X).dtype == dtype
    np.testing.assert_allclose(model.score(X, sample_weight=weight), -model.inertia_, rtol=10 * rtol)


def test_exact_kernel_features_give_kernel_k_means(rows):
    """Nystroem at full rank: the inertia is that of the kernel matrix, with no features in it."""
    kernel = Gaussian(gamma=0.3)
    features = Nystroem(kernel, n_components=750, landmarks="uniform", random_state=0)
    model = KernelKMeans(features=features, n_clusters=5, init=rows[::150], tol=0).fit(rows)
    K, member = kernel(rows), model.labels_[:, None] == np.arange(5)
    inertia = np.trace(K) - sum(K[np.ix_(one, one)].sum() / one.sum() for one in member.T)
    np.testing.assert_allclose(model.inertia_, inertia, rtol=1e-8)
    np.testing.assert_allclose(model.inertia_, _peer(model, rows, rows[::150]).inertia_, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_does_not_change_the_answer(rows, dtype):
    """All kept; features made anew for rows in doubt; margins without heads; nothing kept between the passes."""
    X = rows.astype(dtype)
    model = KernelKMeans(Gaussian(gamma=0.2), n_clusters=6, n_components=100, init=X[:6], tol=0, random_state=0)
    kept = clone(model).fit(X)
    margins, heads = 4 * 750 * NearestCentres.row_bytes(), 4 * 750 * Heads.row_bytes(32)
    for memory in (margins + heads, margins + heads - 1, margins, margins - 1):
        with config_context(memory=memory):
            other = clone(model).fit(X)
        np.testing.assert_array_equal(other.labels_, kept.labels_)
        np.testing.assert_allclose(other.inertia_, kept.inertia_, rtol=1e-10 if dtype == np.float64 else 1e-5)
        n_passes = len(kept.solution_.history)  # with nothing kept one more, to see that no centre moves
        np.testing.assert_allclose(other.solution_.history[:n_passes], kept.solution_.history, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_clusters", "n_components"), [(2, 300), (20, 20), (70, 100), (130, 300)])
def test_every_pass_is_lloyd_s(rng, dtype, n_clusters, n_components):
    """The plain loop over all distances, from the same start, on rows that lie close enough to change often."""
    X = rng.standard_normal((3000, 4)).astype(dtype)
    model = KernelKMeans(
        n_clusters=n_clusters, n_components=n_components, init=X[:n_clusters], tol=0, max_iter=12, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    Z = model.feature_map_.transform(X).astype(np.float64)
    centres = Z[:n_clusters]
    for inertia in model.solution_.history:
        squares = np.square(Z).sum(axis=1)[:, None] - 2 * Z @ centres.T + np.square(centres).sum(axis=1)
        np.testing.assert_allclose(inertia, squares.min(axis=1).sum(), rtol=1e-9 if dtype == np.float64 else 1e-4)
        labels, before = squares.argmin(axis=1), centres
        centres = np.vstack([Z[labels == k].mean(axis=0) for k in range(n_clusters)])
    np.testing.assert_allclose(model.cluster_centers_, before, atol=1e-9 if dtype == np.float64 else 1e-2)
    near = squares[np.arange(3000), model.labels_] - squares.min(axis=1)
    assert (near < (1e-9 if dtype == np.float64 else 1e-3)).all()


@pytest.mark.parametrize("batch_size", [None, 500])
def test_blocks_threads_and_arrays_give_the_same_bits(rng, batch_size):
    X = rng.standard_normal((9000, 3)).astype(np.float32)
    weight = rng.random_sample(9000)
    model = KernelKMeans(n_clusters=4, batch_size=batch_size, tol=1e-2, random_state=0)
    one = clone(model).set_params(n_jobs=1).fit(X, sample_weight=weight)
    parts = [slice(0, 10), slice(10, 5000), slice(5000, 9000)]
    sources = [
        as_blocks(X, sample_weight=weight, block_rows=77),
        as_blocks(lambda: ((X[part], None, weight[part]) for part in parts)),
    ]
    for source in sources:
        other = clone(model).set_params(n_jobs=2).fit(source)
        np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_)
        np.testing.assert_array_equal(other.labels_, one.labels_)
        np.testing.assert_array_equal(other.predict(source), one.predict(X))
        np.testing.assert_allclose(other.score(source), one.score(X, sample_weight=weight))


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_weights_are_repetitions_in_any_order(rows, rng, init):
    weight = rng.randint(3, size=750)
    model = KernelKMeans(Gaussian(gamma="scale"), n_clusters=5, init=init, n_init=2, random_state=0)
    one = clone(model).fit(rows, sample_weight=weight)
    other = clone(model).fit(rng.permutation(np.repeat(rows, weight, axis=0)))
    np.testing.assert_allclose(one.inertia_, other.inertia_, rtol=1e-9)
    if init == "k-means++":  # draws without replacement are not the same for copies
        np.testing.assert_array_equal(one.predict(rows), other.predict(rows))


def test_separate_groups_are_found_from_every_seed(rng):
    X = np.vstack([rng.normal(8 * np.eye(4)[i], 0.3, (100, 4)) for i in range(4)])
    truth = np.repeat(np.arange(4), 100)
    for seed in range(10):
        for batch_size in (None, 50):
            order = rng.permutation(400)
            model = KernelKMeans(Gaussian(gamma=0.05), n_clusters=4, batch_size=batch_size, random_state=seed)
            labels = model.fit_predict(X[order])
            assert adjusted_rand_score(truth[order], labels) == 1


def test_rings_that_k_means_cannot_part(rng):
    """Two rings: a kernel parts them, straight lines do not."""
    angle, truth = rng.uniform(0, 2 * np.pi, 600), np.arange(600) % 2
    X = np.where(truth == 1, 3.0, 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    model = KernelKMeans(Gaussian(gamma=0.1), n_clusters=2, n_init=5, random_state=0)
    plain = cluster.KMeans(2, n_init=5, random_state=0)
    assert adjusted_rand_score(truth, plain.fit_predict(X)) < 0.5
    assert adjusted_rand_score(truth, model.fit_predict(np.column_stack([X, 2 * np.hypot(*X.T)]))) == 1


def test_the_inertia_never_rises(rows):
    for seed in range(5):
        model = KernelKMeans(Gaussian(gamma=1.0), n_clusters=20, tol=0, random_state=seed).fit(rows)
        history = np.array(model.solution_.history)
        assert (np.diff(history) <= 1e-9 * history[0]).all()
        assert model.n_iter_ == len(history) - 1


def test_mini_batches_come_near_lloyd(rows, rng):
    X = rng.permutation(np.vstack([rows] * 4))
    lloyd = KernelKMeans(Gaussian(gamma=0.2), n_clusters=5, init=rows[::150], random_state=0).fit(X)
    batches = clone(lloyd).set_params(batch_size=100).fit(X)
    assert batches.solution_.details["solver"] == "mini-batch"
    start = clone(lloyd).set_params(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="1 passes did not settle the centres: raise max_iter or tol"):
        start.fit(X)
    excess = batches.inertia_ / lloyd.inertia_ - 1
    assert excess < (start.solution_.history[0] / lloyd.inertia_ - 1) / 2


def test_mini_batches_are_running_means(rows, rng):
    """The plain loop: each row of a batch moves its nearest centre, as of the batch's beginning, by 1 / its weight."""
    X, weight = rng.permutation(rows), rng.random_sample(750)
    model = KernelKMeans(
        Gaussian(gamma=0.2), n_clusters=5, init=X[:5], batch_size=64, max_iter=2, tol=0, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        model.fit(X, sample_weight=weight)
    Z, centres, seen = model.feature_map_.transform(X), model.feature_map_.transform(X[:5]), np.zeros(5)
    for first in [*range(0, 750, 64)] * 2:
        batch = slice(first, first + 64)
        nearest = np.square(Z[batch, None] - centres).sum(axis=2).argmin(axis=1)
        for z, w, k in zip(Z[batch], weight[batch], nearest, strict=True):
            seen[k] += w
            centres[k] += w * (z - centres[k]) / seen[k]
    np.testing.assert_allclose(model.cluster_centers_, centres, atol=1e-12)


def test_an_empty_cluster_begins_anew_at_the_farthest_row(rng):
    X = np.vstack([rng.normal(0, 0.1, (50, 2)), rng.normal(5, 0.1, (50, 2)), [[20.0, 0.0]]])
    init = np.array([[0.0, 0.0], [5.0, 5.0], [500.0, 500.0]])
    features = LinearFeatures(n_components=2)
    model = KernelKMeans(features=features, n_clusters=3, init=init, tol=0).fit(X)
    peer = cluster.KMeans(3, init=init, n_init=1, tol=0).fit(X)
    assert sorted(np.bincount(model.labels_)) == [1, 50, 50]
    np.testing.assert_allclose(model.inertia_, peer.inertia_)
    with config_context(memory=3000):  # the same with nothing kept
        np.testing.assert_array_equal(clone(model).fit(X).labels_, model.labels_)


def test_fewer_distinct_rows_than_clusters():
    X = np.repeat(np.eye(3), 5, axis=0)
    model = KernelKMeans(n_clusters=5, random_state=0).fit(X)
    assert all(len(np.unique(X[model.labels_ == k], axis=0)) <= 1 for k in range(5))
    assert model.inertia_ < 1e-12
    assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize("make", [sparse.csr_array, np.asarray])
def test_sparse_rows_and_sparse_features(rows, make):
    X = make(np.where(rows > 0, rows, 0))
    dense = KernelKMeans(Gaussian(gamma=0.2), n_clusters=4, random_state=0).fit(np.where(rows > 0, rows, 0))
    np.testing.assert_array_equal(clone(dense).fit(X).labels_, dense.labels_)
    binning = RandomBinning(Laplacian(gamma=0.3), n_components=None, n_grids=30, sparse_output=True, random_state=0)
    model = KernelKMeans(features=binning, n_clusters=4, tol=0, random_state=0).fit(X)
    Z = model.feature_map_.transform(X)
    assert sparse.issparse(Z)
    # Counts of shared cells tie, and rounding then chooses: ask for a fixed point rather than for the peer's.
    squares = np.square(Z.toarray()[:, None] - model.cluster_centers_).sum(axis=2)
    np.testing.assert_allclose(squares[np.arange(750), model.labels_], squares.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(model.inertia_, squares.min(axis=1).sum())
    for k in range(4):
        np.testing.assert_allclose(model.cluster_centers_[k], Z.toarray()[model.labels_ == k].mean(axis=0), atol=1e-12)


def test_more_starts_are_no_worse(rows):
    one, many = (KernelKMeans(n_clusters=12, n_init=n, random_state=0).fit(rows).inertia_ for n in (1, 8))
    assert many <= one


def test_progress_and_html(rows, capfd):
    model = KernelKMeans(n_clusters=3, verbose=1, random_state=0).fit(rows)
    shown = "".join(capfd.readouterr())
    assert "KernelKMeans: assignment" in shown
    KernelKMeans(n_clusters=3, batch_size=100, verbose=1, random_state=0).fit(rows)
    assert "KernelKMeans: " in "".join(capfd.readouterr())
    assert "KernelKMeans" in model._repr_html_()


X = np.random.RandomState(0).rand(20, 3)
NAN = np.where(np.arange(60).reshape(20, 3) == 19, np.nan, X)
BAD = [
    (lambda model: model.set_params(n_clusters=21).fit(X), "n_samples=20 should be >= n_clusters=21"),
    (lambda model: model.set_params(n_clusters=21).fit(as_blocks(lambda: iter([X]))), "n_samples=20 should be >= n_cl"),
    (lambda model: model.set_params(n_clusters=0).fit(X), "n_clusters must be an integer >= 1, got 0"),
    (lambda model: model.set_params(n_components=0).fit(X), "n_components must be an integer >= 1, got 0"),
    (lambda model: model.set_params(init="far").fit(X), "init must be 'k-means\\+\\+', 'random' or an array of rows"),
    (lambda model: model.set_params(init=X[:3]).fit(X), r"init must hold 8 rows of 3 columns.* got shape \(3, 3\)"),
    (lambda model: model.set_params(init=np.full((8, 3), np.nan)).fit(X), "init contains NaN at row 0, column 0"),
    (lambda model: model.set_params(n_init="many").fit(X), "n_init must be an integer >= 1 or 'auto', got 'many'"),
    (lambda model: model.set_params(n_init=0).fit(X), "n_init must be an integer >= 1, got 0"),
    (lambda model: model.set_params(max_iter=0).fit(X), "max_iter must be an integer >= 1, got 0"),
    (lambda model: model.set_params(tol=-1).fit(X), "tol must be a finite number >= 0, got -1"),
    (lambda model: model.set_params(batch_size=0).fit(X), "batch_size must be an integer >= 1, got 0"),
    (lambda model: model.fit(X, sample_weight=np.zeros(20)), "sample_weight must not be all zero"),
    (lambda model: model.fit(as_blocks(X, sample_weight=np.zeros(20))), "sample_weight must not be all zero"),
    (lambda model: model.fit(as_blocks(X, sample_weight=-np.ones(20))), "must hold finite numbers >= 0, got -1.0"),
    (lambda model: model.fit(NAN), "X contains NaN at row 6, column 1"),
    (lambda model: model.fit(iter([X])), "can be read once only, and KernelKMeans needs several passes"),
    (lambda model: clone(model).fit(X).predict(as_blocks(X[:, :2])), "X has 2 features, but KernelKMeans is expecting"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_leaves_the_estimator_as_it_was(call, message):
    fitted = KernelKMeans(random_state=0).fit(X)
    before, params = fitted.transform(X), fitted.get_params()
    for model in (KernelKMeans(), fitted):
        with pytest.raises((ValueError, TypeError), match=message):
            call(model)
    np.testing.assert_array_equal(fitted.set_params(**params).transform(X), before)
    with pytest.raises(NotFittedError):
        KernelKMeans().predict(X)


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(rows):
    model = KernelKMeans(n_clusters=3, random_state=0).fit(rows)
    before, passes = model.predict(rows), []

    def factory():
        passes.append(0)
        for i in range(5):
            if len(passes) > 5 and i == 3:
                raise KeyboardInterrupt
            yield rows

    with config_context(memory=700_000), pytest.raises(KeyboardInterrupt):
        model.fit(as_blocks(factory))
    np.testing.assert_array_equal(model.predict(rows), before)


@pytest.mark.parametrize("seed", range(4))
def test_fewer_distinct_rows_than_clusters_have_one_label_in_fit_and_predict(seed):
    """Centres that are equal to rounding: the first of them is the label."""
    X = np.repeat(np.random.RandomState(seed).standard_normal((5, 3)), 50, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelKMeans(n_clusters=8, features=LinearFeatures(), random_state=seed).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert len(np.unique(model.labels_)) == 5
