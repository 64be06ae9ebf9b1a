"""Smooth losses: their values by definition, and derivatives and curvatures against differences."""

import numpy as np
import pytest

from mercer.solvers.smooth.losses import Logistic, Multinomial, SquaredEpsilonInsensitive, SquaredHinge

STEP = 1e-5


@pytest.fixture(params=[Logistic(), Multinomial(), SquaredHinge(), SquaredEpsilonInsensitive(0.3)], ids=repr)
def loss(request):
    return request.param


@pytest.fixture
def problem(loss, rng):
    """Scores and targets of 20 rows and 3 columns."""
    S = rng.standard_normal((20, 3))
    Y = np.eye(3)[np.arange(20) % 3] if isinstance(loss, Multinomial) else rng.choice([-1.0, 1.0], (20, 3))
    return S, Y


def _differences(function, S, column):
    """Return central differences of a function of the scores in one column."""
    move = np.zeros_like(S)
    move[:, column] = STEP
    return (function(S + move) - function(S - move)) / (2 * STEP)


def test_values_are_those_of_the_definitions():
    S, Y = np.array([[0.5, -2.0]]), np.array([[1.0, -1.0]])
    np.testing.assert_allclose(Logistic().values(S, Y), np.log1p(np.exp(-Y * S)))
    np.testing.assert_allclose(SquaredHinge().values(S, Y), [[0.25, 0.0]])
    np.testing.assert_allclose(SquaredEpsilonInsensitive(0.25).values(S, Y), [[0.0625, 0.5625]])
    of_first_class = np.log(np.exp(0.5) + np.exp(-2.0)) - 0.5
    np.testing.assert_allclose(Multinomial().values(S, np.array([[1.0, 0.0]])), [[of_first_class]])


def test_shapes(loss, problem):
    S, Y = problem
    assert loss.values(S, Y).shape == ((20, 3) if loss.separable else (20, 1))
    assert loss.derivatives(S, Y).shape == loss.curvatures(S, Y).shape == loss.products(S, Y, S).shape == (20, 3)


def test_derivatives_are_differences_of_values(loss, problem):
    S, Y = problem
    for column in range(3):
        found = _differences(lambda moved: loss.values(moved, Y).sum(axis=1), S, column)
        np.testing.assert_allclose(loss.derivatives(S, Y)[:, column], found, atol=1e-6)


def test_curvatures_and_products_are_differences_of_derivatives(loss, problem, rng):
    S, Y = problem
    V = rng.standard_normal(S.shape)
    hessian = np.stack(
        [_differences(lambda moved: loss.derivatives(moved, Y), S, column) for column in range(3)], axis=2
    )
    np.testing.assert_allclose(loss.curvatures(S, Y), np.diagonal(hessian, axis1=1, axis2=2), atol=1e-6)
    np.testing.assert_allclose(loss.products(S, Y, V), np.einsum("nij,nj->ni", hessian, V), atol=1e-5)


def test_far_scores_overflow_nowhere(loss):
    S = np.array([[800.0, -800.0, 0.0]])
    Y = np.array([[1.0, 0.0, 0.0]]) if isinstance(loss, Multinomial) else np.array([[-1.0, 1.0, 1.0]])
    with np.errstate(over="raise", invalid="raise"):
        found = [loss.values(S, Y), loss.derivatives(S, Y), loss.curvatures(S, Y)]
    assert all(np.isfinite(part).all() for part in found)
