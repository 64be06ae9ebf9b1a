"""The average gradient outer product against gradients of every row, and against differences."""

import numpy as np
import pytest

from mercer import Gaussian, OrthogonalFeatures
from mercer.solvers.local.gradients import gradient_outer_product


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((200, 4))
    features = OrthogonalFeatures(Gaussian(gamma=0.4), n_components=24, structured=False, random_state=0).fit(X)
    return X, features, rng.standard_normal((24, 3))


def test_it_is_the_mean_over_the_gradients_of_all_rows(problem):
    X, features, coef = problem
    Z, W = features.transform(X), features.frequencies_
    m = W.shape[1]
    expected = np.zeros((4, 4))
    for z in Z:
        gradients = W @ (-coef[:m] * z[m:, None] + coef[m:] * z[:m, None])
        expected += gradients @ gradients.T / len(X)
    found = gradient_outer_product(W, coef, Z.T @ Z / len(X))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert np.linalg.eigvalsh(found).min() > -1e-12


def test_gradients_are_those_of_the_function(problem):
    X, features, coef = problem
    step = 1e-5
    slopes = [
        (features.transform(X + step * e) - features.transform(X - step * e)) @ coef / (2 * step) for e in np.eye(4)
    ]
    G = np.stack(slopes)  # columns, rows, functions
    Z = features.transform(X)
    expected = np.einsum("ink,jnk->ij", G, G) / len(X)
    np.testing.assert_allclose(
        gradient_outer_product(features.frequencies_, coef, Z.T @ Z / len(X)), expected, rtol=1e-6
    )
