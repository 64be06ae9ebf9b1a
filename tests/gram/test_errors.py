"""Measured errors: right numbers, intervals that cover, bad input."""

import numpy as np
import pytest

from mercer import Laplacian, Linear, LinearFeatures, Nystroem, Polynomial, RandomBinning, TensorSketch
from mercer.gram import approximation_error


@pytest.fixture
def rows(rng):
    return rng.standard_normal((60, 4)) + 1.0


def test_every_number_by_its_definition(rows):
    sketch = TensorSketch(Polynomial(2), n_components=50, random_state=0).fit(rows)
    error = approximation_error(sketch, rows, regularization=0.01)
    Z, K = sketch.transform(rows), Polynomial(2)(rows)
    Khat, H = Z @ Z.T, np.eye(60) - 1 / 60
    assert error.n_samples == 60
    assert error.frobenius.value == pytest.approx(np.linalg.norm(Khat - K) / np.linalg.norm(K))
    centred = np.linalg.norm(H @ (Khat - K) @ H) / np.linalg.norm(H @ K @ H)
    assert error.centred.value == pytest.approx(centred)
    assert error.largest.value == pytest.approx(np.abs(Khat - K).max())
    lam = 0.01 * np.linalg.eigvalsh(K)[-1]
    values, vectors = np.linalg.eigh(K + lam * np.eye(60))
    root = vectors / np.sqrt(values) @ vectors.T
    assert error.regularization == pytest.approx(lam)
    assert error.spectral.value == pytest.approx(np.linalg.norm(root @ (Khat - K) @ root, 2), rel=1e-6)


def test_an_exact_map_has_no_error(rows):
    error = approximation_error(LinearFeatures(), rows)
    assert max(error.frobenius.high, error.centred.high, error.spectral.high) < 1e-9


def test_intervals_cover_the_error_of_such_samples(rng):
    """Intervals of 90 % from 80 of 2000 rows cover the mean error of such samples in at least 70 of 100 draws.

    At a true coverage of 85 % (the percentile bootstrap is a little narrow) fewer than 70 come with probability 1e-4;
    intervals half as wide would cover about 60.
    """
    X = rng.standard_normal((2000, 5)) + 0.5
    sketch = TensorSketch(Polynomial(2), n_components=64, random_state=0).fit(X)
    found = [
        approximation_error(sketch, X, n_samples=80, n_bootstrap=40, confidence=0.9, random_state=seed).frobenius
        for seed in range(100)
    ]
    truth = np.mean([estimate.value for estimate in found])
    assert sum(estimate.low <= truth <= estimate.high for estimate in found) >= 70


def test_a_map_is_used_as_fitted_and_fitted_if_not(rows):
    unfitted = TensorSketch(n_components=20, random_state=0)
    first = approximation_error(unfitted, rows)
    assert not hasattr(unfitted, "kernel_")
    assert approximation_error(unfitted.fit(rows), rows) == first


def test_the_text_shows_every_number(rows):
    text = repr(approximation_error(TensorSketch(random_state=0), rows))
    for words in ("60 rows", "95 % intervals", "relative Frobenius", "centred", "largest entry", "spectral, lambda = "):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 1}, "n_samples must be an integer >= 2, got 1"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1, got 1.0"),
        ({"regularization": 0.0}, "regularization must be a finite number > 0"),
        ({"approximation": Linear()}, r"approximation must be a feature map or a Gram operator, got Linear\(\)"),
    ],
)
def test_bad_input(rows, arguments, message):
    with pytest.raises(ValueError, match=message):
        approximation_error(**({"approximation": TensorSketch(), "X": rows} | arguments))


def test_sparse_features_are_measured_as_dense_ones(rows):
    binning = RandomBinning(
        Laplacian(gamma=0.2), n_components=None, n_grids=64, sparse_output=True, random_state=0
    ).fit(rows)
    Z = binning.transform(rows).toarray()
    K = binning.kernel_(rows)
    expected = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
    assert approximation_error(binning, rows).frobenius.value == pytest.approx(expected)


def common_letters(A, B):
    return [[len(set(a) & set(b)) for b in B] for a in A]


@pytest.mark.parametrize("fitted", [True, False])
def test_lists_of_objects(fitted):
    words = ["tree", "graph", "kernel", "machine", "leaf", "root"]
    nystroem = Nystroem(common_letters, n_components=2, landmarks="uniform", random_state=0)
    nystroem = nystroem.fit(words) if fitted else nystroem
    error = approximation_error(nystroem, words)
    Z = nystroem.fit(words).transform(words)
    K = np.array(common_letters(words, words), dtype=float)
    assert error.frobenius.value == pytest.approx(np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K))
    exact = approximation_error(Nystroem(common_letters, n_components=6, landmarks="uniform"), words)
    assert exact.frobenius.value < 1e-9
