"""Measured errors: right numbers, intervals that cover, bad input."""

import functools
from itertools import combinations

import numpy as np
import pytest
from scipy import linalg, stats
from sklearn.base import clone

from mercer import (
    FourierFeatures,
    Gaussian,
    Laplacian,
    Linear,
    LinearFeatures,
    Nystroem,
    Polynomial,
    RandomBinning,
    TensorSketch,
)
from mercer.gram import approximation_error
from mercer.gram.norms import centred_squared_norm, root_interval, squared_norm
from mercer.gram.stratified import RowSample


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


def unit_rows(rng, n_rows):
    X = rng.standard_normal((n_rows, 10))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


# Rows and maps whose errors differ in kind: near constant diagonals, smooth and narrow kernels, heavy tails.
CASES = {
    "sketch of unit rows": (unit_rows, TensorSketch(Polynomial(2), n_components=256)),
    "smooth": (lambda rng, n: rng.standard_normal((n, 10)), FourierFeatures(Gaussian(gamma=0.05), n_components=256)),
    "narrow": (lambda rng, n: rng.standard_normal((n, 10)), FourierFeatures(Gaussian(gamma=1.0), n_components=256)),
    "heavy tails": (lambda rng, n: rng.standard_t(4, (n, 10)), TensorSketch(Polynomial(3), n_components=256)),
}


@functools.cache
def whole(case, n_rows):
    """Return rows, a fitted map, K and the error E of a case, on all of its rows."""
    make, unfitted = CASES[case]
    X = make(np.random.RandomState(1), n_rows)
    fitted = clone(unfitted).set_params(random_state=0).fit(X)
    Z, K = fitted.transform(X), fitted.kernel_(X)
    return X, fitted, K, Z @ Z.T - K


def centring(M):
    return M - M.mean(axis=0) - M.mean(axis=1)[:, None] + M.mean()


def least_hits(n_draws, false_alarm, confidence=0.95):
    """Return the number of hits that intervals of the stated confidence miss with probability ``false_alarm``."""
    return int(stats.binom.ppf(false_alarm, n_draws, confidence))


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_the_error_of_the_whole_matrix(case):
    """Nominal 95 % from 100 of 1500 rows, 25 samples: 16 hits or more. Each count misses that with probability 1e-6."""
    X, fitted, K, E = whole(case, 1500)
    frobenius = np.linalg.norm(E) / np.linalg.norm(K)
    centred = np.linalg.norm(centring(E)) / np.linalg.norm(centring(K))
    found = [approximation_error(fitted, X, n_samples=100, random_state=seed) for seed in range(25)]
    for truth, name in ((frobenius, "frobenius"), (centred, "centred")):
        hits = sum(getattr(error, name).low <= truth <= getattr(error, name).high for error in found)
        assert hits >= least_hits(25, 1e-6), (name, hits)


@pytest.mark.parametrize("case", CASES)
def test_bounds_of_the_largest_entry_and_of_the_spectral_error_hold(case):
    """In every draw: they are certain, but for the upper limit of the Frobenius norm, which leaves them much room."""
    X, fitted, K, E = whole(case, 300)
    for seed in range(5):
        error = approximation_error(fitted, X, n_samples=100, random_state=seed)
        largest, rounding = np.abs(E).max(), 1e-12 * np.abs(K).max()
        assert error.largest.low == error.largest.value <= largest + rounding
        assert largest <= error.largest.high
        assert error.largest.value >= np.abs(np.diag(E)).max() - rounding
        regularized = K + error.regularization * np.eye(300)
        truth = np.abs(linalg.eigh(E, regularized, eigvals_only=True)[[0, -1]]).max()
        assert error.spectral.low <= truth <= error.spectral.high
        assert error.spectral.low <= error.spectral.value <= error.spectral.high


@pytest.mark.parametrize("n_samples", [200, 500])
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_norms_cover_and_are_narrow(case, n_samples):
    """The same with 60 samples of rows, false alarm 1e-6 in all: 45 hits or more. And no interval is idle."""
    _, _, K, E = whole(case, 1500)
    sizes = np.diag(K) / np.trace(K)
    norms = {
        squared_norm: np.linalg.norm(E) / np.linalg.norm(K),
        centred_squared_norm: np.linalg.norm(centring(E)) / np.linalg.norm(centring(K)),
    }
    intervals = {norm: [] for norm in norms}
    for seed in range(60):
        sample = RowSample.of(sizes, n_samples, np.random.RandomState(seed))
        some = np.ix_(sample.rows, sample.rows)
        for norm in norms:
            missed, size = norm(sample, E[some], np.diag(E)), norm(sample, K[some], np.diag(K))
            intervals[norm].append(root_interval(sample, missed, size, 0.95))
    for norm, truth in norms.items():
        _, low, high = np.array(intervals[norm]).T
        assert np.sum((low <= truth) & (truth <= high)) >= least_hits(60, 1e-6 / 16)
        assert np.median(high - low) < 0.2 * truth


def test_totals_over_pairs_are_unbiased():
    """Over all samples of 4 of 6 rows, the mean of the estimates is the total: exactly, since all are tried."""
    rng = np.random.RandomState(0)
    M = rng.standard_normal((7, 7))
    M = M + M.T
    diagonal = np.diag(M)
    found = []
    for some in combinations(range(6), 4):  # row 6 is a stratum of its own
        sample = RowSample(np.array([6, *some]), np.array([0, 1, 1, 1, 1]), np.array([1.0, 4.0]), np.array([1.0, 6.0]))
        part = M[np.ix_(sample.rows, sample.rows)]
        norm = squared_norm(sample, part, diagonal).value
        sums = sample.squared_row_sums(part, diagonal[sample.rows]).value
        found.append([norm, sums, sample.pairs(part).value])
    expected = [(M**2).sum(), (M.sum(axis=1) ** 2).sum(), M.sum() - diagonal.sum()]
    np.testing.assert_allclose(np.mean(found, axis=0), expected)


def test_replicates_leave_out_a_row():
    """The jackknife's closed forms against samples without each row."""
    rng = np.random.RandomState(0)
    M = rng.standard_normal((9, 9))
    M, diagonal = M + M.T, rng.standard_normal(9)
    stratum, held = np.repeat([0, 1, 2], 3), np.array([3.0, 10.0, 20.0])
    sample = RowSample(np.arange(9), stratum, np.full(3, 3.0), held)
    pairs, sums = sample.pairs(M), sample.squared_row_sums(M, diagonal)

    def plain(sample, M, diagonal):
        off = (1 - np.eye(len(M))) * M
        within = sample.stratum[:, None] == sample.stratum
        weights = np.where(within, ((held - 1) / (sample.drawn - 1))[sample.stratum], sample.weights)
        return sample.weights @ (diagonal + (weights * off).sum(axis=1)) ** 2

    for k in range(3, 9):
        kept = np.delete(np.arange(9), k)
        other = RowSample(kept, stratum[kept], np.bincount(stratum[kept]).astype(float), held)
        part = M[np.ix_(kept, kept)]
        assert pairs.replicates[k] == pytest.approx(other.pairs(part).value)
        gained = plain(other, part, diagonal[kept]) - plain(sample, M, diagonal)
        unbiased = sums.replicates[k] - sums.replicates[0]  # row 0 is certain: its replicate is the estimate itself
        assert unbiased == pytest.approx(gained)


def test_sizes_decide_who_is_drawn():
    """Equal sizes are one stratum; a few large rows are drawn with certainty, and the others still are."""
    rng = np.random.RandomState(0)
    equal = RowSample.of(np.ones(1000), 100, rng)
    assert equal.drawn.tolist() == [100]
    assert equal.held.tolist() == [1000]
    sizes = np.ones(1000)
    sizes[[5, 700]] = 1e6
    tailed = RowSample.of(sizes, 100, rng)
    assert {5, 700} <= set(tailed.rows.tolist())
    assert tailed.weights[tailed.rows == 5] == 1
    assert len(set(tailed.rows.tolist())) == 100
    assert tailed.weights.sum() == pytest.approx(1000)
    assert RowSample.of(np.zeros(50), 20, rng).weights.sum() == pytest.approx(50)
    assert RowSample.of(rng.pareto(0.3, 300), 10, rng).weights.sum() == pytest.approx(300)
    assert RowSample.of(sizes, 1000, rng).is_whole


def test_a_large_constant_does_not_drown_the_centred_error():
    """k + 1e6 has the same centred error as k."""
    rng = np.random.RandomState(0)
    M = rng.standard_normal((300, 300))
    M = M + M.T
    sample = RowSample.of(np.ones(300), 100, rng)
    some = np.ix_(sample.rows, sample.rows)
    first, other = (centred_squared_norm(sample, M[some] + c, np.diag(M) + c).value for c in (0.0, 1e6))
    assert first == pytest.approx(other, rel=1e-8)


def test_estimands_are_named():
    X, fitted, _, _ = whole("smooth", 800)
    error = approximation_error(fitted, X, n_samples=50)
    for name in ("frobenius", "centred", "largest", "spectral"):
        assert "of all 800 rows" in getattr(error, name).estimand
    assert "error on 800 rows, from 50 of them" in str(error)


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
        ({"n_samples": 1}, "n_samples must be an integer >= 10, got 1"),
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
