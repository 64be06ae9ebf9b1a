"""Rows as Newton's methods read them: sums, scores, Gram matrices and triangles, against plain products."""

import numpy as np
import pytest

from mercer import config_context
from mercer.solvers import Design


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def design(request, rng):
    """More rows than one block holds."""
    return Design(rng.standard_normal((9000, 4)).astype(request.param), 2.0)


def _full(design):
    return np.hstack([design.Z.astype(np.float64), np.full((len(design.Z), 1), design.constant)])


def _rtol(design):
    return 1e-12 if design.Z.dtype == np.float64 else 1e-4


def test_weights_scores_and_norms_are_plain_products(design, rng):
    beta, weights, full = rng.standard_normal(9000), rng.standard_normal(5), _full(design)
    np.testing.assert_allclose(design.weights(beta), beta @ full, rtol=_rtol(design), atol=1e-10)
    np.testing.assert_allclose(design.scores(weights), full @ weights, rtol=_rtol(design), atol=1e-10)
    np.testing.assert_allclose(design.norms(), np.linalg.norm(full, axis=1), rtol=1e-12)


def test_the_triangle_is_a_factor_of_the_gram_matrix(design, rng):
    roots = np.where(rng.random_sample(9000) < 0.7, rng.random_sample(9000), 0.0)
    scaled = _full(design) * roots[:, None]
    exact = np.eye(5) + scaled.T @ scaled
    np.testing.assert_allclose(design.shifted_gram(roots), exact, rtol=1e-10)
    triangle = design.shifted_triangle(roots)
    np.testing.assert_array_equal(triangle, np.triu(triangle))
    np.testing.assert_allclose(triangle.T @ triangle, exact, rtol=1e-10)


def test_products_in_another_precision(design, rng):
    roots = rng.random_sample(9000)
    np.testing.assert_allclose(design.shifted_gram(roots, np.float32), design.shifted_gram(roots), rtol=1e-3, atol=1)


def test_threads_change_no_bit(design, rng):
    roots, beta = rng.random_sample(9000), rng.standard_normal(9000)
    found = []
    for threads in (1, 3):
        with config_context(threads=threads):
            found.append((design.shifted_gram(roots), design.weights(beta)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_rows_without_a_root_are_not_read(rng):
    Z = rng.standard_normal((9000, 4))
    roots = np.where(np.arange(9000) % 3 == 0, rng.random_sample(9000), 0.0)
    Z[roots == 0] = np.nan
    A = np.hstack([Z, np.full((9000, 1), 2.0)])[roots > 0] * roots[roots > 0, None]
    np.testing.assert_allclose(Design(Z, 2.0).shifted_gram(roots), np.eye(5) + A.T @ A, rtol=1e-12)


def test_rows_within_their_span_have_the_same_products(rng):
    Z = rng.standard_normal((7, 30))
    within, back = Design(Z, 3.0).within_span()
    weights = rng.standard_normal(8)
    np.testing.assert_allclose(Design(Z, 3.0).scores(back(weights)), within.scores(weights), atol=1e-12)
    assert within.Z.shape == (7, 7)
    np.testing.assert_allclose(within.Z @ within.Z.T, Z @ Z.T, atol=1e-12)
    assert within.constant == 3.0
    tall = Design(Z.T)
    assert tall.within_span()[0] is tall
