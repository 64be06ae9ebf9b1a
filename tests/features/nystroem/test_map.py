"""Nystroem features against the kernel itself."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Chi2,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    LinearFeatures,
    Matern,
    Nystroem,
    Polynomial,
    Sigmoid,
    config_context,
    feature_map,
)
from mercer.data import as_blocks
from mercer.features import Concatenate
from mercer.features.nystroem.landmarks import CHOOSERS
from mercer.gram import approximation_error
from mercer.testing import check_feature_map, rounding, sample_rows

KERNEL = Gaussian(gamma=2.0)
KERNELS = [
    KERNEL,
    Laplacian(gamma=1.0),
    Matern(1.5, length_scale=1.0),
    Polynomial(2, coef0=1.0),
    0.5 * Linear() * KERNEL + Exponential(gamma=1.0),
]


def gram(nystroem, X):
    Z = nystroem.transform(X).astype(np.float64)
    return Z @ Z.T


@pytest.mark.filterwarnings("ignore:Nystroem. n_components=100 is more")
@parametrize_with_checks([Nystroem(), Nystroem(n_components=3, landmarks="rpcholesky", rank=2)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("landmarks", sorted(set(CHOOSERS) - {"weighted"}))
def test_all_rows_as_landmarks_give_the_kernel_back(kernel, landmarks):
    X = sample_rows(20)
    nystroem = Nystroem(kernel, n_components=20, landmarks=landmarks, random_state=0).fit(X)
    K = kernel(X)
    # Dropping eigenvalues below eps lambda_max, and their rounding, costs about sqrt(eps) in the worst direction.
    np.testing.assert_allclose(gram(nystroem, X), K, atol=1e-7 * np.abs(K).max())


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky", "weighted"])
def test_it_never_exceeds_the_kernel(landmarks):
    X = sample_rows(40)
    left = KERNEL(X) - gram(Nystroem(KERNEL, n_components=10, landmarks=landmarks, random_state=0).fit(X), X)
    assert np.linalg.eigvalsh(left).min() > -1e-9
    assert np.trace(left) > 1e-3


def test_the_definition():
    X = sample_rows(30)
    nystroem = Nystroem(KERNEL, landmarks=[3, 1, 8, 20]).fit(X)
    C, W = KERNEL(X, X[[3, 1, 8, 20]]), KERNEL(X[[3, 1, 8, 20]])
    np.testing.assert_allclose(gram(nystroem, X), C @ np.linalg.solve(W, C.T), rtol=1e-9)
    np.testing.assert_allclose(nystroem.eigenvalues_, np.linalg.eigvalsh(W)[::-1])
    assert nystroem.rank_ == nystroem.transform(X).shape[1] == 4
    np.testing.assert_array_equal(nystroem.landmark_indices_, [3, 1, 8, 20])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.01), Gaussian(gamma=0.5), Laplacian(gamma=0.3)])
def test_the_rotated_features_have_the_kernel_of_the_eigenvectors(kernel, dtype):
    X = sample_rows(300).astype(dtype)
    nystroem = Nystroem(kernel, landmarks=np.arange(150)).fit(X)
    W, C = kernel(X[:150].astype(float)), kernel(X.astype(float), X[:150].astype(float))
    values, vectors = np.linalg.eigh(W)
    kept = values > np.finfo(dtype).eps * values[-1]
    Z = C @ (vectors[:, kept] / np.sqrt(values[kept]))
    m, r = nystroem.projection_.shape
    if dtype == np.float32:  # in float64 the eigenvalues at the cut are rounding errors themselves
        assert r == kept.sum()
    assert not np.tril(nystroem.projection_, r - m - 1).any()
    # Kernel values, rounded, are divided by the root of an eigenvalue as small as eps: a feature loses root eps.
    atol = rounding(dtype, 150) / np.sqrt(values[kept].min())
    np.testing.assert_allclose(gram(nystroem, X), Z @ Z.T, atol=max(atol, 1e-9))


def test_the_first_features_are_the_map_of_the_first_landmarks():
    X = sample_rows(30)
    all_, some = (Nystroem(Gaussian(gamma=2.0), landmarks=np.arange(m)).fit(X).transform(X) for m in (12, 5))
    np.testing.assert_allclose(all_[:, :5], some, atol=1e-9)


def test_eigenvalues_below_eps_are_dropped_without_a_factor_of_n():
    dtype = np.float32  # the eigenvalues of W, in float64, are then known far below the cut
    X = np.linspace(0, 1, 60, dtype=dtype).reshape(-1, 1)
    nystroem = Nystroem(Gaussian(gamma=4.0), landmarks=np.arange(60)).fit(X)
    values = np.linalg.eigvalsh(Gaussian(gamma=4.0)(X.astype(np.float64)))
    assert nystroem.rank_ == (values > np.finfo(dtype).eps * values[-1]).sum()
    assert nystroem.rank_ > (values > 60 * np.finfo(dtype).eps * values[-1]).sum()
    np.testing.assert_allclose(gram(nystroem, X), Gaussian(gamma=4.0)(X.astype(float)), atol=rounding(dtype, 60))


def test_float32_features_are_as_good_as_float64_ones():
    X = np.random.RandomState(0).standard_normal((400, 4))
    kernel = Gaussian(gamma=0.05)
    K = kernel(X)
    errors = []
    for dtype in (np.float32, np.float64):
        nystroem = Nystroem(kernel, landmarks=np.arange(200)).fit(X.astype(dtype))
        Z = nystroem.transform(X.astype(dtype))
        assert Z.dtype == dtype
        errors.append(np.linalg.norm(Z.astype(float) @ Z.astype(float).T - K) / np.linalg.norm(K))
    # Each of r features sums m rounded products: the loss is rounding, not the root of eps that clipping would cost.
    assert errors[0] < errors[1] + rounding(np.float32, 200 * nystroem.rank_)
    assert rounding(np.float32, 200 * nystroem.rank_) < np.sqrt(np.finfo(np.float32).eps)


def test_pca_gives_the_best_reduction_of_the_features():
    X = sample_rows(50)
    settings = {"n_components": 20, "landmarks": "uniform", "random_state": 0}
    full = gram(Nystroem(KERNEL, **settings).fit(X), X)
    values, vectors = np.linalg.eigh(full)
    best = vectors[:, -5:] * values[-5:] @ vectors[:, -5:].T
    pca = Nystroem(KERNEL, rank=5, **settings).fit(X)
    np.testing.assert_allclose(gram(pca, X), best, atol=1e-8)
    assert pca.rank_ == pca.transform(X).shape[1] == 5
    classical = Nystroem(KERNEL, rank=5, reduction="landmarks", **settings).fit(X)
    assert np.linalg.norm(gram(classical, X) - full) > 1.01 * np.linalg.norm(best - full)


def test_a_rank_beyond_what_is_there_changes_nothing():
    X = sample_rows(20)
    nystroem = Nystroem(Linear(), n_components=10, rank=9, random_state=0).fit(X)
    assert nystroem.rank_ == 5


def test_the_jackknife_is_that_of_fits_without_each_landmark():
    X, Y = sample_rows(8), sample_rows(5, seed=2)
    rows = sample_rows(30, seed=3)
    fitted = Nystroem(KERNEL, landmarks=rows[:7]).fit(X)
    estimates = []
    for i in range(7):
        other = Nystroem(KERNEL, landmarks=np.delete(rows[:7], i, axis=0)).fit(X)
        estimates.append(other.transform(X) @ other.transform(Y).T)
    np.testing.assert_allclose(fitted.variance(X, Y), 6 * np.var(estimates, axis=0), rtol=1e-6, atol=1e-12)


def test_the_jackknife_does_not_claim_less_than_the_variance():
    # Efron and Stein: over draws of m landmarks its mean is at least the variance with m landmarks (here among many).
    rows = np.random.RandomState(0).standard_normal((400, 2))
    X = rows[:3]
    estimates, claims = [], []
    for seed in range(300):
        nystroem = Nystroem(KERNEL, n_components=12, landmarks="uniform", random_state=seed).fit(rows)
        estimates.append(gram(nystroem, X))
        claims.append(nystroem.variance(X))
    spread = (np.array(estimates) - np.mean(estimates, axis=0)) ** 2
    gap = np.mean(np.array(claims) - spread, axis=(1, 2))
    assert gap.mean() > -5 * gap.std() / np.sqrt(len(gap))
    assert np.mean(claims) < 4 * np.mean(spread)


def test_precomputed_is_the_kernel():
    X, Y = sample_rows(40), sample_rows(6, seed=4)
    settings = {"n_components": 12, "landmarks": "rpcholesky", "rank": 8, "random_state": 0}
    ours = Nystroem(KERNEL, **settings).fit(X)
    given = Nystroem("precomputed", **settings).fit(KERNEL(X))
    np.testing.assert_array_equal(given.landmark_indices_, ours.landmark_indices_)
    features = given.transform(KERNEL(Y, X))
    np.testing.assert_allclose(features @ features.T, gram(ours, Y), atol=1e-9)
    np.testing.assert_allclose(given.variance(KERNEL(Y, X)), ours.variance(Y), atol=1e-9)
    assert given.__sklearn_tags__().input_tags.pairwise


def squared_exponential(A, B):
    return np.exp(-KERNEL.gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_a_function_of_rows_is_the_kernel():
    X = sample_rows(40)
    ours, given = (Nystroem(k, n_components=12, random_state=0).fit(X) for k in (KERNEL, squared_exponential))
    np.testing.assert_allclose(gram(given, X), gram(ours, X), atol=1e-9)


def common_letters(A, B):
    return [[len(set(a) & set(b)) for b in B] for a in A]


@pytest.mark.parametrize(
    "landmarks", ["auto", "uniform", "greedy", "leverage", "weighted", [0, 1, 2], ["tree", "leaf"]]
)
def test_any_objects(landmarks):
    words = ["tree", "graph", "kernel", "machine", "leaf", "root"] * 3
    nystroem = Nystroem(common_letters, n_components=6, landmarks=landmarks, random_state=0).fit(words)
    Z = nystroem.transform(["trees", "leafs"])
    assert Z.shape == (2, nystroem.rank_)
    left = np.array(common_letters(words, words)) - gram(nystroem, words)
    assert np.linalg.eigvalsh(left).min() > -1e-9
    assert nystroem.variance(["trees"]).shape == (1, 1)


def test_all_objects_as_landmarks_give_the_kernel_back():
    words = ["tree", "graph", "kernel", "machine", "leaf", "root"]
    nystroem = Nystroem(common_letters, n_components=6, landmarks="uniform", random_state=0).fit(words)
    np.testing.assert_allclose(gram(nystroem, words), common_letters(words, words), atol=1e-9)


@pytest.mark.parametrize("landmarks", sorted(CHOOSERS))
def test_sparse_rows(landmarks):
    X = sample_rows(40)
    X[X < 0.2] = 0
    fitted = Nystroem(KERNEL, n_components=9, landmarks=landmarks, random_state=0).fit(sparse.csr_array(X))
    assert sparse.issparse(fitted.landmarks_) == (landmarks != "kmeans")
    np.testing.assert_allclose(fitted.transform(sparse.csr_array(X)), fitted.transform(X), atol=1e-8)
    points = fitted.landmarks_.toarray() if sparse.issparse(fitted.landmarks_) else fitted.landmarks_
    np.testing.assert_allclose(gram(Nystroem(KERNEL, landmarks=points).fit(X), X), gram(fitted, X), atol=1e-8)


@pytest.mark.parametrize("landmarks", ["auto", "rpcholesky", "leverage", "weighted", "greedy", "uniform"])
def test_the_kit_of_draws(landmarks):
    """One seed, one map: in both precisions, dense and CSR."""
    nystroem = Nystroem(Gaussian(gamma=0.5), n_components=8, landmarks=landmarks)
    check_feature_map(
        nystroem, sample_rows(40, 4), sklearn_checks=False, unbiased=False, variance=False, data_dependent=True
    )


def test_blocks_are_sampled():
    X = sample_rows(50)
    settings = {"n_components": 10, "landmarks": "uniform", "random_state": 0}
    for source in (as_blocks(X, block_rows=7), iter([X[:30], X[30:]])):
        nystroem = Nystroem(KERNEL, **settings).fit(source)
        assert nystroem.transform(X).shape == (50, 10)
        assert nystroem.n_features_in_ == 5


def test_blocks_and_threads_do_not_matter():
    X = sample_rows(200)
    one = Nystroem(KERNEL, n_components=30, landmarks="rpcholesky", rank=12, random_state=0).fit(X)
    Z = one.transform(X)
    with config_context(threads=1):
        np.testing.assert_array_equal(clone(one).fit(X).transform(X), Z)
    with config_context(block_rows=7, threads=2):
        np.testing.assert_allclose(one.transform(X), Z, atol=1e-11)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).transform(X), Z)


def test_no_kernel_is_a_gaussian_on_the_scale_of_the_rows():
    X = 30 * sample_rows(40)
    for rows in (X, sparse.csr_array(X)):
        kernel = Nystroem(n_components=5, random_state=0).fit(rows).kernel_
        np.testing.assert_allclose(kernel.gamma, 1 / (5 * X.var()))
    assert Nystroem(n_components=1).fit(np.ones((3, 2))).kernel_.gamma == 1.0


def test_parameters_reach_the_kernel():
    nystroem = Nystroem(KERNEL, n_components=5, random_state=0)
    changed = clone(nystroem).set_params(kernel__gamma=7.0)
    assert changed.kernel == Gaussian(gamma=7.0)
    assert nystroem.kernel == KERNEL
    assert list(nystroem.fit(sample_rows()).get_feature_names_out()[:2]) == ["nystroem0", "nystroem1"]


def test_feature_map_takes_it_for_any_expression():
    kernel = Linear() + 0.5 * KERNEL * Laplacian(gamma=1.0)
    chosen = feature_map(kernel, 10, method="nystroem", random_state=3)
    assert isinstance(chosen, Nystroem)
    X = sample_rows(10)
    np.testing.assert_allclose(gram(chosen.set_params(landmarks="uniform").fit(X), X), kernel(X), atol=1e-7)


def test_it_composes_with_other_maps():
    X = sample_rows(30)
    both = Concatenate([LinearFeatures(), Nystroem(KERNEL, landmarks="uniform")], n_components=35, random_state=0).fit(
        X
    )
    assert both.kernel_ == Linear() + KERNEL
    np.testing.assert_allclose(gram(both, X), (Linear() + KERNEL)(X), atol=1e-6)


def test_its_error_is_measured_on_rows_that_are_not_its_landmarks():
    # Both draw from the same seed; the landmarks' own rows would show no error at all.
    X = np.random.RandomState(0).standard_normal((800, 6))
    nystroem = Nystroem(Gaussian(gamma=0.5), n_components=300, landmarks="uniform", random_state=0).fit(X)
    measured = approximation_error(nystroem, X, n_samples=300, random_state=0)
    others = np.setdiff1d(np.arange(800), nystroem.landmark_indices_)
    outside = approximation_error(nystroem, X[others], n_samples=500)
    assert measured.frobenius.value > 0.4 * outside.frobenius.value


def test_the_error_falls_as_landmarks_are_added():
    X = np.random.RandomState(0).standard_normal((300, 3))
    errors = [
        np.trace(KERNEL(X) - gram(Nystroem(KERNEL, n_components=m, random_state=0).fit(X), X)) for m in (10, 40, 160)
    ]
    assert errors[0] > 1.2 * errors[1] > 1.44 * errors[2]


class TestBadInput:
    def test_more_landmarks_than_rows(self):
        X = sample_rows(6)
        with pytest.warns(UserWarning, match="n_components=50 is more than the 6 rows of X; all rows become landmarks"):
            nystroem = Nystroem(KERNEL, n_components=50, landmarks="uniform").fit(X)
        assert len(nystroem.landmarks_) == 6
        np.testing.assert_allclose(gram(nystroem, X), KERNEL(X), atol=1e-9)

    def test_one_row(self):
        X = sample_rows(1)
        for landmarks in ("auto", *CHOOSERS):
            nystroem = Nystroem(KERNEL, n_components=1, landmarks=landmarks).fit(X)
            np.testing.assert_allclose(nystroem.transform(X) ** 2, [[1.0]])

    def test_duplicates_among_landmarks(self):
        X = sample_rows(10)
        nystroem = Nystroem(KERNEL, landmarks=[0, 1, 1, 0, 2]).fit(X)
        assert nystroem.rank_ == 3
        np.testing.assert_allclose(gram(nystroem, X), gram(Nystroem(KERNEL, landmarks=[0, 1, 2]).fit(X), X), atol=1e-7)

    def test_a_kernel_that_is_not_positive_semi_definite(self):
        X = 3 * sample_rows(20)
        lowest = np.linalg.eigvalsh(Sigmoid(coef0=-1.0)(X)).min()
        with pytest.raises(ValueError, match="is not positive semi-definite"):
            Nystroem(Sigmoid(coef0=-1.0), n_components=20, landmarks="rpcholesky").fit(X)
        with pytest.raises(ValueError, match=rf"Sigmoid\(coef0=-1.0\) is not positive .* eigenvalue {lowest:.5g}"):
            Nystroem(Sigmoid(coef0=-1.0), n_components=20, landmarks="uniform").fit(X)

    def test_a_precomputed_matrix(self):
        with pytest.raises(ValueError, match=r"fit takes the square Gram matrix .* got shape \(6, 5\)"):
            Nystroem("precomputed").fit(sample_rows())
        with pytest.raises(ValueError, match="is not symmetric: K and its transpose differ by 1"):
            Nystroem("precomputed").fit(np.triu(np.ones((4, 4))))
        fitted = Nystroem("precomputed", n_components=3).fit(KERNEL(sample_rows()))
        with pytest.raises(ValueError, match="X has 2 features, but Nystroem is expecting 6 features"):
            fitted.transform(np.ones((2, 2)))
        with pytest.raises(ValueError, match="must be a list of row numbers"):
            Nystroem("precomputed", landmarks=np.ones((2, 2))).fit(KERNEL(sample_rows()))

    def test_functions(self):
        with pytest.raises(ValueError, match=r"must return an array of shape .* got \(\)"):
            Nystroem(lambda A, B: 1.0, n_components=2).fit(sample_rows())
        with pytest.raises(ValueError, match=r"is not symmetric: k\(x, y\) and k\(y, x\) differ"):
            Nystroem(lambda A, B: A[:, :1] + 0 * B[:, 0], n_components=3, landmarks="uniform").fit(sample_rows())
        with pytest.raises(ValueError, match="X is an empty list"):
            Nystroem(common_letters).fit([])
        with pytest.raises(ValueError, match="averages rows, and these are objects"):
            Nystroem(common_letters, landmarks="kmeans", n_components=2).fit(["a", "b", "c"])

    def test_parameters(self):
        X = sample_rows()
        with pytest.raises(ValueError, match="n_components must be an integer >= 1, got 0"):
            Nystroem(KERNEL, n_components=0).fit(X)
        with pytest.raises(ValueError, match=r"rank must be an integer >= 1, got 2\.5"):
            Nystroem(KERNEL, n_components=3, rank=2.5).fit(X)
        with pytest.raises(ValueError, match="reduction must be 'pca' or 'landmarks', got 'svd'"):
            Nystroem(KERNEL, n_components=3, reduction="svd").fit(X)
        with pytest.raises(ValueError, match=r"got the name 'rbf'. Write Gaussian\(gamma=1.0\)"):
            Nystroem("rbf").fit(X)
        with pytest.raises(ValueError, match="landmarks must be 'auto'"):
            Nystroem(KERNEL, n_components=3, landmarks="random").fit(X)
        with pytest.raises(ValueError, match="overflows float64 on these rows"):
            Nystroem(Exponential(gamma=1.0), n_components=3, landmarks="uniform").fit(1e4 * X)
        with config_context(memory="500B"), pytest.raises(MemoryError, match="n_components=6 needs"):
            Nystroem(KERNEL, n_components=6, landmarks="uniform").fit(X)

    def test_a_failed_fit_leaves_the_map_as_it_was(self):
        X = sample_rows(10)
        fitted = Nystroem(KERNEL, n_components=3, random_state=0).fit(X)
        Z = fitted.transform(X)
        with pytest.raises(ValueError, match="NaN"):
            fitted.fit(np.full((3, 5), np.nan))
        np.testing.assert_array_equal(fitted.transform(X), Z)

    def test_rows_outside_the_kernels_domain(self):
        X = np.abs(sample_rows(20))
        fitted = Nystroem(Chi2(), n_components=5, random_state=0).fit(X)
        with pytest.raises(ValueError, match="row 0, column 0"):
            fitted.transform(-X)
        with pytest.raises(ValueError, match="row 0, column 0"):
            Nystroem(Chi2(), n_components=5).fit(-X)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=1.0), Matern(1.5, length_scale=1.0), Matern(7.3, length_scale=1.0)])
@pytest.mark.parametrize("far", [1e154, 1e200])
def test_rows_whose_distances_overflow_have_the_features_of_infinity(kernel, far):
    """The squared distance to every landmark is infinite, and the kernel 0, which is the limit."""
    X = np.random.RandomState(0).rand(20, 3)
    nystroem = Nystroem(kernel, n_components=5, random_state=0).fit(X)
    np.testing.assert_array_equal(nystroem.transform(far * (1 + X)), 0.0)
