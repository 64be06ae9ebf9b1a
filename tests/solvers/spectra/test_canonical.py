"""Canonical pairs: planted correlations, the generalised eigenproblem, wide matrices, singular ones."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError, eigh

from mercer.solvers import canonical_pairs
from mercer.solvers.spectra import canonical


def _moments(rng, n_a, n_b, n=400):
    A, B = rng.standard_normal((n, n_a)), rng.standard_normal((n, n_b))
    B[:, :2] += A[:, :2]
    A, B = A @ rng.standard_normal((n_a, n_a)), B @ rng.standard_normal((n_b, n_b))
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    return A.T @ A / n, B.T @ B / n, A.T @ B / n


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_pairs_solve_the_generalised_eigenproblem(rng, monkeypatch, direct, penalty):
    monkeypatch.setattr(canonical, "_DIRECT_WIDTH", 500 if direct else 2)
    aa, bb, ab = _moments(rng, 6, 5)
    pairs = canonical_pairs(aa, bb, ab, penalty, 2 * penalty, 3)
    left, right = aa + penalty * np.eye(6), bb + 2 * penalty * np.eye(5)
    both = np.block([[np.zeros((6, 6)), ab], [ab.T, np.zeros((5, 5))]])
    values = eigh(both, np.block([[left, np.zeros((6, 5))], [np.zeros((5, 6)), right]]), eigvals_only=True)[::-1]
    together = np.diag(pairs.a.T @ ab @ pairs.b)
    np.testing.assert_allclose(np.sort(together)[::-1], values[:3], atol=1e-9)
    np.testing.assert_allclose(pairs.a.T @ left @ pairs.a, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(pairs.b.T @ right @ pairs.b, np.eye(3), atol=1e-8)
    apart = np.diag(pairs.a.T @ aa @ pairs.a) * np.diag(pairs.b.T @ bb @ pairs.b)
    np.testing.assert_allclose(pairs.correlations, together / np.sqrt(apart), rtol=1e-8)
    assert np.all(np.diff(pairs.correlations) <= 0)


def test_planted_correlations_come_back():
    correlations = canonical_pairs(np.eye(3), 4 * np.eye(3), np.diag([1.8, 1.0, 0.0]), 0.0, 0.0, 3).correlations
    np.testing.assert_allclose(correlations, [0.9, 0.5, 0.0], atol=1e-12)


def test_the_largest_correlation_is_first_even_if_the_penalty_prefers_another():
    """A direction of little variance correlates best, and the penalty all but hides it."""
    gram, cross = np.diag([1.0, 1e-3]), np.diag([0.5, 0.9e-3])
    pairs = canonical_pairs(gram, gram, cross, 1e-2, 1e-2, 2)
    np.testing.assert_allclose(pairs.correlations, [0.9, 0.5], rtol=1e-12)
    assert np.abs(pairs.a).argmax(axis=0).tolist() == [1, 0]
    assert np.abs(pairs.b).argmax(axis=0).tolist() == [1, 0]


def test_a_singular_view_needs_a_penalty():
    gram = np.ones((2, 2))
    with pytest.raises(LinAlgError):
        canonical_pairs(gram, np.eye(2), np.zeros((2, 2)), 0.0, 0.0, 1)
    assert np.isfinite(canonical_pairs(gram, np.eye(2), np.zeros((2, 2)), 1e-3, 0.0, 1).a).all()
