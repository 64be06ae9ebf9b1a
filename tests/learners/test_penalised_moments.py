"""One factor of G + alpha I for leverages, deviations and the check of generalised cross-validation."""

import numpy as np

from mercer.learners.penalised_moments import SIGNS, PenalisedMoments
from mercer.stats import Moments

rng = np.random.RandomState(0)
Z = rng.standard_normal((200, 30)) + 1.0
Y = Z @ rng.standard_normal((30, 2)) + rng.standard_normal((200, 2))
SYSTEM = PenalisedMoments.of(Moments.of(30, 2).update(Z, Y), alpha=0.7)
CENTRED = Z - Z.mean(axis=0)
INVERSE = np.linalg.inv(CENTRED.T @ CENTRED + 0.7 * np.eye(30))


def test_the_leverages_are_exact():
    np.testing.assert_allclose(SYSTEM.leverages(CENTRED), np.einsum("ij,jk,ik->i", CENTRED, INVERSE, CENTRED))


def test_the_residual_is_that_of_the_rows():
    coef = rng.standard_normal((30, 2))
    found = np.square(Y - Y.mean(axis=0) - CENTRED @ coef).sum(axis=0)
    np.testing.assert_allclose(SYSTEM.residual(coef), found)


def test_the_sketch_is_of_random_signs():
    # L^T times the sketch is the matrix of signs: each estimate has the expectation of the exact leverage.
    signs = SYSTEM.factor.T @ SYSTEM.sketch * SIGNS**0.5
    np.testing.assert_allclose(np.abs(signs), 1.0)
    other = SYSTEM.factor.T @ SYSTEM.sketch_of(16, seed=1) * 4.0
    np.testing.assert_allclose(np.abs(other), 1.0)
    # 24 columns of 30 independent signs: that two are equal or opposite has a probability of 276 * 2**-29 < 1e-6.
    both = np.hstack([signs, other])
    assert np.abs(both.T @ both - 30 * np.eye(24)).max() < 29


def test_without_a_factor_there_is_no_sketch():
    moments = Moments.of(2, 1)
    system = PenalisedMoments(moments, np.diag([1.0, -1.0]), np.zeros((2, 1)), np.zeros(1), 0.5)
    assert system.factor is None
    assert system.sketch is None
