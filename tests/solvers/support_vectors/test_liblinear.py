"""LIBLINEAR behind the interface of the other solvers: the same optimum, statuses, and w = 0 if nothing is better."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import BoxProblems, coordinate_descent
from mercer.solvers.support_vectors.liblinear import liblinear
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.testing import check_solver


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def _problem(rng, loss):
    Z = rng.standard_normal((150, 4))
    scores = Z @ rng.standard_normal((4, 2)) + 0.5 * rng.standard_normal((150, 2))
    return Z, np.sign(scores) if "hinge" in loss else scores, 0.1 + rng.random_sample(150)


def _objective(problems, Z, value):
    scores = Z @ value[:, :-1].T + value[:, -1]
    return 0.5 * (value**2).sum(axis=1) + problems.losses(slice(None), scores).sum(axis=0)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_optimum_is_that_of_coordinate_descent(rng, loss, layout):
    Z, targets, cost = _problem(rng, loss)
    solution = liblinear(layout(Z), targets, cost, loss=loss, epsilon=0.1, tol=1e-9, max_iter=1_000_000)
    assert solution.success
    assert solution.gap is None
    problems = BoxProblems.of(loss, targets, cost, epsilon=0.1)
    exact = coordinate_descent(Z, problems, tol=1e-9, max_iter=10_000)
    np.testing.assert_allclose(_objective(problems, Z, solution.value), exact.details["objectives"], rtol=1e-6)


@pytest.mark.parametrize("max_iter", [1, 1000])
def test_it_keeps_the_laws_of_a_solver(rng, loss, max_iter):
    """On columns of sizes 0.01 to 100, also after one epoch."""
    Z, targets, cost = _problem(rng, loss)
    Z = Z * np.logspace(-2, 2, 4)
    problems = BoxProblems.of(loss, targets, cost, epsilon=0.1)
    solution = check_solver(
        lambda: liblinear(Z, targets, cost, loss=loss, epsilon=0.1, max_iter=max_iter),
        objective=lambda value: _objective(problems, Z, value),
    )
    assert solution.success or "epochs" in solution.advice


def test_too_few_epochs_end_with_advice(rng):
    Z, targets, cost = _problem(rng, "hinge")
    solution = liblinear(Z, targets, 100 * cost, loss="hinge", max_iter=1)
    assert solution.status == "iteration limit"
    assert "1 epochs were not enough: raise max_iter or tol" in solution.advice


def test_weights_worse_than_zero_are_not_returned(rng):
    """Huge costs and few epochs: LIBLINEAR's weights have a larger objective than w = 0."""
    Z, targets, cost = _problem(rng, "hinge")
    targets = np.sign(rng.standard_normal(targets.shape))  # nothing to learn
    solution = liblinear(100 * Z, targets, 1e6 * cost, loss="hinge", max_iter=2)
    assert not solution.success
    at_zero = 1e6 * cost.sum()
    problems = BoxProblems.of("hinge", targets, 1e6 * cost)
    assert (_objective(problems, 100 * Z, solution.value) <= at_zero * (1 + 1e-12)).all()
    assert not solution.value.all()


def test_an_unknown_loss_is_refused():
    with pytest.raises(ValueError, match="liblinear: loss must be one of"):
        liblinear(np.ones((2, 1)), np.ones((2, 1)), np.ones(2), loss="log")
