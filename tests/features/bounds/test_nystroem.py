"""The theorem of Drineas and Mahoney."""

import numpy as np
import pytest

from mercer import Gaussian, Nystroem, Polynomial, components_for
from mercer.features import drineas_mahoney_components, drineas_mahoney_error
from mercer.testing import sample_rows


def test_the_constants():
    assert drineas_mahoney_components(3, 0.5) == 64 * 3 * 16
    assert drineas_mahoney_components(3, 0.5, norm="spectral") == 16
    eta = 1 + np.sqrt(8 * np.log(10))
    assert drineas_mahoney_components(3, 0.5, delta=0.1) == int(np.ceil(64 * 3 * 16 * eta**2))
    assert drineas_mahoney_components(50, 10.0) == 50  # never fewer landmarks than the rank


@pytest.mark.parametrize("norm", ["fro", "spectral"])
def test_the_two_are_inverse(norm):
    n_components = drineas_mahoney_components(4, 0.3, delta=0.05, norm=norm)
    error = drineas_mahoney_error(n_components, 4, [1.0, 2.0], delta=0.05, norm=norm)
    np.testing.assert_allclose(error, 0.3 * 5.0, rtol=1e-3)
    assert error <= 0.3 * 5.0


def test_the_bound_holds():
    X = sample_rows(40)
    kernel = Polynomial(2, coef0=1.0)
    K = kernel(X)
    best = np.sqrt(np.square(np.linalg.eigvalsh(K)[:-3]).sum())
    errors = []
    for seed in range(50):
        settings = {"n_components": 20, "landmarks": "weighted", "rank": 3, "reduction": "landmarks"}
        Z = Nystroem(kernel, random_state=seed, **settings).fit_transform(X)
        errors.append(np.linalg.norm(K - Z @ Z.T))
    added = drineas_mahoney_error(20, 3, kernel.diag(X))
    assert np.mean(errors) <= best + added
    assert np.mean(errors) > best


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("norm", ["fro", "spectral"])
def test_the_added_term_holds_on_average_and_scales_as_the_kernel(size, norm):
    X = sample_rows(40)
    kernel = size * Polynomial(2, coef0=1.0)
    K, ord_ = kernel(X), "fro" if norm == "fro" else 2
    values = np.linalg.eigvalsh(K)[:-3]
    best = np.linalg.norm(values) if norm == "fro" else values[-1]
    added = drineas_mahoney_error(30, 3, kernel.diag(X), norm=norm)
    settings = {"n_components": 30, "landmarks": "weighted", "rank": 3, "reduction": "landmarks"}
    errors = []
    for seed in range(60):
        Z = Nystroem(kernel, random_state=seed, **settings).fit_transform(X)
        errors.append(np.linalg.norm(K - Z @ Z.T, ord_))
    # Above the bound by luck with probability 1e-6 at most, were the mean at the bound.
    assert np.mean(errors) <= best + added + 5 * np.std(errors) / np.sqrt(len(errors))
    np.testing.assert_allclose(added / size, drineas_mahoney_error(30, 3, kernel.diag(X) / size, norm=norm))


def test_sampled_products_have_the_variance_of_the_derivation():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((4, 12))  # columns x_i
    diagonal = np.square(X).sum(axis=0)
    p, c, A = diagonal**2 / np.square(diagonal).sum(), 7, X @ X.T
    squares = []
    for _ in range(4000):
        drawn = rng.choice(12, size=c, p=p)
        scaled = X[:, drawn] / np.sqrt(c * p[drawn])
        squares.append(np.square(A - scaled @ scaled.T).sum())
    exact = (12 * np.square(diagonal).sum() - np.square(A).sum()) / c  # tau^2 / c, less what the mean takes off
    assert abs(np.mean(squares) - exact) < 5 * np.std(squares) / np.sqrt(len(squares))


def test_bad_input():
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        drineas_mahoney_components(3, 0.0)
    with pytest.raises(ValueError, match="delta must be a probability below 1"):
        drineas_mahoney_components(3, 0.1, delta=1.0)
    with pytest.raises(ValueError, match="norm must be 'fro' or 'spectral', got 'max'"):
        drineas_mahoney_error(3, 1, [1.0], norm="max")


def test_components_for_bounds_every_entry():
    X = 0.2 * sample_rows(60)
    kernel = Polynomial(2)
    eta = 1 + np.sqrt(8 * np.log(10))
    rho = np.square(kernel.diag(X)).sum() / kernel.diag(X).min()

    def bound(c):
        return kernel.diag(X).sum() / (c + 1) + 2 * eta * rho / np.sqrt(c)

    error = bound(10.5)
    needed = components_for(kernel, X, error=error, confidence=0.9, kind="absolute", method="nystroem")
    assert int(needed) == 11
    assert needed.inequality == "Drineas and Mahoney, spectral norm, all pairs of X"
    assert [other.inequality for other in needed.alternatives] == ["all rows as landmarks"]
    Z = Nystroem(kernel, n_components=11, landmarks="weighted", random_state=0).fit_transform(X)
    assert np.abs(Z @ Z.T - kernel(X)).max() <= error


def test_components_for_never_asks_for_more_than_all_rows():
    needed = components_for(Gaussian(gamma=1.0), sample_rows(30), error=1e-3, kind="absolute", method="nystroem")
    assert (int(needed), needed.inequality) == (30, "all rows as landmarks")
