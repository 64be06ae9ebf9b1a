"""Approximate inverse Hessians: the inverse of the shifted Gram matrix, of its diagonal, and of what has no factor."""

import numpy as np
import pytest

from mercer.solvers import LowRank
from mercer.solvers.smooth.preconditioner import gram_preconditioner, low_rank_preconditioner


@pytest.fixture
def gram(rng):
    rows = np.hstack([rng.standard_normal((40, 5)), np.ones((40, 1))])
    return rows.T @ rows / 40


@pytest.mark.parametrize("curvature", [1e-3, 1.0, 1e4])
def test_it_is_the_inverse_of_the_shifted_gram_matrix(gram, rng, curvature):
    right, ridge = rng.standard_normal((6, 3)), np.append(np.full(5, 0.7), 0.2)
    found = gram_preconditioner(gram, 0.7, 0.2)(curvature)(right)
    np.testing.assert_allclose((curvature * gram + np.diag(ridge)) @ found, right, atol=1e-9)


def test_of_a_diagonal_it_is_the_inverse_of_the_shifted_diagonal(gram, rng):
    right, diagonal = rng.standard_normal((6, 2)), np.diag(gram)
    found = gram_preconditioner(diagonal, 0.7, 0.2)(3.0)(right)
    np.testing.assert_allclose(found, right / (3.0 * diagonal + np.append(np.full(5, 0.7), 0.2))[:, None])


def test_a_matrix_without_a_factor_leaves_its_diagonal(rng):
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    right = rng.standard_normal((2, 1))
    found = gram_preconditioner(indefinite, 1e-9, 1e-9)(1.0)(right)
    np.testing.assert_allclose(found, right / (1 + 1e-9))


def test_a_curvature_of_zero_divides_by_no_zero(gram):
    found = gram_preconditioner(gram, 1.0)(0.0)(np.ones((6, 1)))  # the intercept has no penalty
    assert np.isfinite(found).all()


def test_the_gram_matrix_of_the_caller_stays(gram):
    before = gram.copy()
    gram_preconditioner(gram, 1.0)(2.0)(np.ones((6, 1)))
    np.testing.assert_array_equal(gram, before)


def test_the_low_rank_one_is_the_inverse_of_the_hessian_if_all_eigenvectors_are_known(rng):
    """Without a penalty of the intercept nothing is dropped: the inverse is exact."""
    Z = 2.0 + rng.standard_normal((40, 5))
    part = LowRank.of(Z, np.full(40, 1 / 40), 5, centre=True)
    rows = np.hstack([Z, np.ones((40, 1))])
    right, ridge = rng.standard_normal((6, 3)), np.append(np.full(5, 0.7), 0.0)
    found = low_rank_preconditioner(part, 0.7)(3.0)(right)
    np.testing.assert_allclose((3.0 * rows.T @ rows / 40 + np.diag(ridge)) @ found, right, atol=1e-9)


@pytest.mark.parametrize("curvature", [0.0, 1e-3, 1e4])
@pytest.mark.parametrize("intercept_penalty", [0.0, 0.7])
def test_the_low_rank_one_is_symmetric_and_positive_definite(rng, curvature, intercept_penalty):
    Z = rng.standard_normal((60, 12))
    part = LowRank.of(Z, np.full(60, 1 / 60), 4, centre=True)
    inverse = low_rank_preconditioner(part, 0.7, intercept_penalty)(curvature)(np.eye(13))
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max())
    assert np.linalg.eigvalsh(inverse).min() > 0
