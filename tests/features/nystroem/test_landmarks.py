"""The choosers of landmarks: their distributions, streams, and what they refuse."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Linear, Matern, Nystroem, Polynomial
from mercer.data import as_blocks
from mercer.features.nystroem import landmarks
from mercer.testing import assert_mean_close, sample_rows

KERNEL = Gaussian(gamma=1.0)


def indicator(indices, n_rows):
    return np.bincount(indices, minlength=n_rows).astype(float)


def test_uniform_takes_every_row_equally_often():
    X = sample_rows(8)
    counts = [indicator(landmarks.uniform(KERNEL, X, 3, random_state=seed).indices, 8) for seed in range(2500)]
    assert max(map(np.max, counts)) == 1
    assert_mean_close(counts, 3 / 8, detect=0.15)


def test_weighted_draws_with_replacement_by_the_squared_diagonal():
    X = sample_rows(8) * np.arange(1, 9)[:, None]
    kernel = Linear()
    distribution = kernel.diag(X) ** 2 / (kernel.diag(X) ** 2).sum()
    draws = [landmarks.weighted(kernel, X, 5, random_state=seed) for seed in range(2000)]
    assert_mean_close([indicator(draw.indices, 8) for draw in draws], 5 * distribution)
    for draw in draws[:5]:
        np.testing.assert_allclose(draw.scale, 1 / np.sqrt(5 * distribution[draw.indices]))


@pytest.mark.parametrize("p", [None, np.arange(1.0, 9.0)])
def test_weighted_columns_are_an_unbiased_sketch(p):
    X = sample_rows(8)
    K = Polynomial(2, coef0=1.0)(X)
    products = []
    for seed in range(2000):
        draw = landmarks.weighted(Polynomial(2, coef0=1.0), X, 4, p=p, random_state=seed)
        C = K[:, draw.indices] * draw.scale
        products.append((C @ C.T)[np.triu_indices(8)])
    assert_mean_close(products, (K @ K)[np.triu_indices(8)], detect=0.1)


def test_the_scale_of_a_weighted_draw_shows_only_below_full_rank():
    X = sample_rows(30) * np.linspace(1.0, 2.0, 30)[:, None]
    kernel = Polynomial(2, coef0=1.0)
    weighted = {"landmarks": "weighted", "n_components": 8, "random_state": 0, "reduction": "landmarks"}
    full = Nystroem(kernel, **weighted).fit(X)
    plain = Nystroem(kernel, landmarks=full.landmark_indices_).fit(X)
    gram = [Z @ Z.T for Z in (full.transform(X), plain.transform(X))]
    np.testing.assert_allclose(*gram, atol=1e-9 * np.abs(gram[0]).max())

    reduced = Nystroem(kernel, rank=3, **weighted).fit(X)
    unscaled = Nystroem(kernel, rank=3, landmarks=full.landmark_indices_, reduction="landmarks").fit(X)
    gap = np.abs(reduced.transform(X) @ reduced.transform(X).T - unscaled.transform(X) @ unscaled.transform(X).T).max()
    assert gap > 1e-3 * np.abs(gram[0]).max()
    # The definition: C W_k^+ C^T of the scaled columns.
    distribution = kernel.diag(X) ** 2 / (kernel.diag(X) ** 2).sum()
    I = reduced.landmark_indices_  # noqa: E741
    D = np.diag(1 / np.sqrt(8 * distribution[I]))
    C, W = kernel(X)[:, I] @ D, D @ kernel(X[I]) @ D
    values, vectors = np.linalg.eigh(W)
    inverse = vectors[:, -3:] / values[-3:] @ vectors[:, -3:].T
    Z = reduced.transform(X)
    np.testing.assert_allclose(Z @ Z.T, C @ inverse @ C.T, atol=1e-9 * np.abs(gram[0]).max())


def test_kmeans_takes_centres_in_the_precision_of_the_rows():
    X = np.vstack([sample_rows(50, 2), sample_rows(50, 2) + 9]).astype(np.float32)
    chosen = landmarks.kmeans(KERNEL, X, 2, random_state=0)
    assert chosen.indices is None
    assert chosen.points.dtype == np.float32
    np.testing.assert_allclose(chosen.points, [X[:50].mean(axis=0), X[50:].mean(axis=0)], atol=1e-5)


def test_kmeans_with_fewer_distinct_rows_than_centres():
    X = np.repeat(sample_rows(3), 20, axis=0)
    fitted = Nystroem(KERNEL, n_components=10, landmarks="kmeans", random_state=0).fit(X)
    assert fitted.rank_ == 3
    np.testing.assert_allclose(fitted.transform(X) @ fitted.transform(X).T, KERNEL(X), atol=1e-9)


@pytest.mark.parametrize("name", sorted(landmarks.CHOOSERS))
def test_every_chooser_works_alone_seeded_sparse_and_from_a_stream(name):
    X = sample_rows(60)
    choose = landmarks.CHOOSERS[name]
    first, again = (choose(KERNEL, X, 7, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.points, again.points)
    assert first.points.shape == (7, 5)
    for source in (as_blocks(X, block_rows=9), iter([X[:20], X[20:]]), sparse.csr_array(X)):
        points = choose(KERNEL, source, 7, random_state=3).points
        assert points.shape == (7, 5)
        if name != "kmeans":  # the others choose rows
            dense = points.toarray() if sparse.issparse(points) else points
            assert all((np.abs(X - point).max(axis=1) < 1e-12).any() for point in dense)


@pytest.mark.parametrize(
    "kernel", [Gaussian(gamma="scale"), Polynomial(3, coef0=1.0), Matern(1.5, length_scale="median")]
)
@pytest.mark.parametrize("name", [*sorted(landmarks.CHOOSERS), "auto"])
def test_a_seed_means_the_same_landmarks_in_every_precision_and_layout(name, kernel):
    """Rows of equal values give the same rows, or the same centres to rounding, also where residuals are small."""
    single = np.random.RandomState(0).standard_normal((500, 3)).astype(np.float32)
    single[np.abs(single) < 0.3] = 0.0
    X = single.astype(np.float64)
    for n_landmarks in (12, 150):
        first = landmarks.choose(name, kernel.resolve(X), X, n_landmarks, np.random.RandomState(5))
        for rows in (single, sparse.csr_array(X), sparse.csr_array(single)):
            other = landmarks.choose(name, kernel.resolve(rows), rows, n_landmarks, np.random.RandomState(5))
            np.testing.assert_array_equal(other.indices, first.indices)
            if first.indices is None:
                np.testing.assert_allclose(other.points, first.points, atol=1e-6)


def test_auto_is_kmeans_up_to_256_and_rpcholesky_beyond():
    X = sample_rows(400)
    assert landmarks.choose("auto", KERNEL, X, 256, np.random.RandomState(0)).indices is None
    assert landmarks.choose("auto", KERNEL, X, 257, np.random.RandomState(0)).residual_trace is not None
    wide = np.zeros((400, 5000))
    wide[:, :5] = X
    assert landmarks.choose("auto", KERNEL, wide, 9, np.random.RandomState(0)).indices is not None


def test_what_is_refused():
    X = sample_rows()
    rng = np.random.RandomState(0)
    with pytest.raises(ValueError, match=r"landmarks must be 'auto', one of .*'rpcholesky'.*, got 'best'"):
        landmarks.choose("best", KERNEL, X, 3, rng)
    with pytest.raises(ValueError, match="row numbers from 0 to 5"):
        landmarks.choose([0, 6], KERNEL, X, 3, rng)
    with pytest.raises(ValueError, match="landmarks must have the 5 columns of X, got 2"):
        landmarks.choose(np.ones((3, 2)), KERNEL, X, 3, rng)
    with pytest.raises(ValueError, match="p must hold 6 numbers >= 0"):
        landmarks.weighted(KERNEL, X, 3, p=[1.0])
    with pytest.raises(ValueError, match="n_landmarks must be an integer >= 1"):
        landmarks.uniform(KERNEL, X, 0)
    with pytest.raises(ValueError, match="is zero on every row of X"):
        landmarks.rpcholesky(Linear(), np.zeros((4, 2)), 3)
    with pytest.warns(UserWarning, match="n_landmarks=9 is more than the 6 rows; all rows are taken"):
        assert len(landmarks.uniform(KERNEL, X, 9).indices) == 6
