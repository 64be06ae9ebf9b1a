"""Shifted systems in the products of one of them."""

import numpy as np

from mercer.solvers import shifted_conjugate_gradients


def test_shifted_systems_in_the_products_of_one(rng):
    A = rng.standard_normal((60, 20)) * np.logspace(0, -1, 20)
    gram, right = A.T @ A, np.column_stack([rng.standard_normal((20, 2)), np.zeros(20)])
    alphas = np.logspace(5, -2, 5)
    products = []
    found = shifted_conjugate_gradients(lambda v: products.append(0) or gram @ v, right, alphas, tol=1e-10)
    assert found.converged.all()
    assert found.iterations == len(products)
    for alpha, value in zip(alphas, found.values, strict=True):
        np.testing.assert_allclose(value, np.linalg.solve(gram + alpha * np.eye(20), right), atol=1e-8)
    early = shifted_conjugate_gradients(lambda v: gram @ v, right, alphas, tol=1e-10, max_iter=8)
    assert early.converged[0]
    assert not early.converged[-1]
    stopped = shifted_conjugate_gradients(
        lambda v: gram @ v, right, alphas, tol=1e-10, enough=lambda found: found.converged.sum() >= 2
    )
    assert 2 <= stopped.converged.sum() < 5
