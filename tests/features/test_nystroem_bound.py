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

    def bound(c):
        return kernel.diag(X).sum() / (c + 1) + 2 * eta * np.square(kernel.diag(X)).sum() / np.sqrt(c)

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
