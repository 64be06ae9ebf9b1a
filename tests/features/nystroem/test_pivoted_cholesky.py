"""Pivoted Cholesky against textbook versions that hold the whole matrix."""

from itertools import permutations

import numpy as np
import pytest

from mercer import Gaussian, Linear
from mercer.features.nystroem import pivoted_cholesky as pivoted
from mercer.features.nystroem.pivoted_cholesky import greedily_pivoted_cholesky, randomly_pivoted_cholesky
from mercer.kernels import FunctionKernel
from mercer.parallel import one_blas_thread
from mercer.testing import assert_mean_close, rounding


def residual(K, pivots):
    """What the pivots leave of K, from its definition."""
    S = list(pivots)
    return K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]) if S else K


def uneven_rows(n_rows=4):
    """Rows with very different residuals: a cluster and strays."""
    X = np.random.RandomState(1).standard_normal((n_rows, 2))
    X[: n_rows // 2 + 1] *= 0.3
    return X


def distribution_of_pivots(K, n_pivots):
    """The textbook: each pivot with probability ~ the diagonal of the residual of those before it."""
    distribution = {}
    for pivots in permutations(range(len(K)), n_pivots):
        chance = 1.0
        for j, s in enumerate(pivots):
            left = np.maximum(np.diag(residual(K, pivots[:j])), 0.0)
            chance *= left[s] / left.sum()
        distribution[pivots] = chance
    return distribution


@pytest.fixture(params=[True, False], ids=["held", "not held"])
def held(request, monkeypatch):
    """Whether f of all rows is held: as where rows are few, or never."""
    if not request.param:
        monkeypatch.setattr(pivoted, "_HELD_RATIO", 0)
    return request.param


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("batch", "renew"), [(2, True), (2, False), (256, True)])
def test_the_law_is_the_textbooks(monkeypatch, dtype, batch, renew):
    # Batches of two, with residuals renewed after each or never; batches of 256 accept both pivots from one batch.
    monkeypatch.setattr(pivoted, "_PROPOSALS", batch)
    monkeypatch.setattr(pivoted, "_pass_pays", lambda *_: renew)
    X = uneven_rows().astype(dtype)
    kernel = Gaussian(gamma=1.0)
    distribution = distribution_of_pivots(kernel(X.astype(float)), 2)
    outcomes = {pivots: i for i, pivots in enumerate(distribution)}
    drawn = np.zeros((1500, len(distribution)))
    with one_blas_thread():
        for seed, row in enumerate(drawn):
            pivots = randomly_pivoted_cholesky(kernel, X, 2, np.random.RandomState(seed), diagonal=np.ones(4))
            row[outcomes[tuple(pivots.indices.tolist())]] = 1
    assert_mean_close(drawn, list(distribution.values()), detect=0.5)


@pytest.mark.usefixtures("held")
def test_the_residual_trace_is_that_of_the_matrix():
    X = uneven_rows(60)
    kernel = Gaussian(gamma=0.5)
    pivots = randomly_pivoted_cholesky(kernel, X, 20, np.random.RandomState(0), diagonal=np.ones(60))
    assert pivots.residual_trace_error == 0
    np.testing.assert_allclose(pivots.residual_trace, np.trace(residual(kernel(X), pivots.indices)), rtol=1e-8)


@pytest.mark.usefixtures("held")
def test_the_estimated_trace_is_unbiased_and_knows_its_error(monkeypatch):
    monkeypatch.setattr(pivoted, "_TRACE_ROWS", 50)
    monkeypatch.setattr(pivoted, "_pass_pays", lambda *_: False)  # a pass would leave nothing to estimate
    X = uneven_rows(120)
    kernel = Gaussian(gamma=0.5)
    K = kernel(X)
    gaps, claims = [], []
    for seed in range(200):
        pivots = randomly_pivoted_cholesky(kernel, X, 10, np.random.RandomState(seed), diagonal=np.ones(120))
        gaps.append(pivots.residual_trace - np.trace(residual(K, pivots.indices)))
        claims.append(pivots.residual_trace_error**2 * 50 / 49)  # the variance of a mean of 50, without bias
    assert_mean_close(gaps, 0.0)
    assert_mean_close(np.square(gaps) - claims, 0.0)
    assert np.std(gaps) > 0.01 * np.trace(K)  # there is an error to know


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_stops_when_nothing_is_left(dtype):
    X = np.random.RandomState(0).standard_normal((400, 3)).astype(dtype)
    diagonal = (X.astype(float) ** 2).sum(axis=1)
    pivots = randomly_pivoted_cholesky(Linear(), X, 50, np.random.RandomState(0), diagonal=diagonal)
    assert len(pivots.indices) == len(set(pivots.indices)) == 3
    assert pivots.residual_trace <= rounding(np.float64, 400) * diagonal.sum()


@pytest.mark.usefixtures("held")
def test_duplicates_are_taken_once():
    X = np.repeat(uneven_rows(6), 10, axis=0)
    pivots = randomly_pivoted_cholesky(Gaussian(gamma=1.0), X, 60, np.random.RandomState(0), diagonal=np.ones(60))
    assert len(pivots.indices) == len(np.unique(X[pivots.indices], axis=0)) == 6


@pytest.mark.parametrize("n_pivots", [100, 400, 700])
def test_holding_f_changes_no_pivot(monkeypatch, n_pivots):
    X = uneven_rows(700)
    kernel, pivots = Gaussian(gamma=2.0), []
    for ratio in (0, 700):
        monkeypatch.setattr(pivoted, "_HELD_RATIO", ratio)
        rng = np.random.RandomState(0)
        pivots.append(randomly_pivoted_cholesky(kernel, X, n_pivots, rng, diagonal=np.ones(700)))
    np.testing.assert_array_equal(pivots[0].indices, pivots[1].indices)
    np.testing.assert_allclose(pivots[0].residual_trace, pivots[1].residual_trace, rtol=1e-6, atol=1e-9)


class Counted:
    """A kernel that counts its calls and its values."""

    def __init__(self):
        self.n_calls = self.n_values = 0

    def __call__(self, A, B):
        self.n_calls += 1
        self.n_values += len(A) * len(B)
        return Gaussian(gamma=0.1)(A, B)


def test_kernel_values_are_asked_for_in_batches(held):
    counted, X = Counted(), np.random.RandomState(0).standard_normal((400, 8))
    kernel = FunctionKernel(counted)
    pivots = randomly_pivoted_cholesky(kernel, X, 300, np.random.RandomState(0), diagonal=np.ones(400))
    assert len(pivots.indices) == 300
    assert counted.n_calls < 60  # a few for each batch, and not one for each pivot
    if held:  # the columns of the pivots, and those of the proposals among themselves
        assert counted.n_values < 3 * 400 * 300


def test_greedy_is_the_textbooks():
    X = uneven_rows(40)
    kernel = Gaussian(gamma=0.5)
    K = kernel(X)
    pivots = greedily_pivoted_cholesky(kernel, X, 12, diagonal=np.ones(40))
    for j, s in enumerate(pivots.indices):
        left = np.diag(residual(K, pivots.indices[:j]))
        assert left[s] >= left.max() - 1e-10
    np.testing.assert_allclose(pivots.residual_trace, np.trace(residual(K, pivots.indices)), rtol=1e-8)


def test_greedy_stops_when_nothing_is_left():
    X = np.random.RandomState(0).standard_normal((40, 3))
    assert len(greedily_pivoted_cholesky(Linear(), X, 9, diagonal=(X**2).sum(axis=1)).indices) == 3
