"""Epochs of dual coordinate descent: they stay in the box, lower the dual objective, pause and resume."""

import numpy as np
import pytest
from scipy import sparse

from mercer import config_context
from mercer.solvers import BoxProblems
from mercer.solvers.support_vectors.epochs import Epochs
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.solvers.support_vectors.when_descent_stalls import Patience

ENDLESS = Patience(10_000)


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def _problem(rng, loss, n=120, d=4, k=3):
    Z = rng.standard_normal((n, d))
    scores = Z @ rng.standard_normal((d, k)) + 0.5 * rng.standard_normal((n, k))
    targets = np.sign(scores) if "hinge" in loss else scores
    return Z, BoxProblems.of(loss, targets, 0.1 + rng.random_sample(n), epsilon=0.2, constant=0.7)


def _dual(Z, problems, duals):
    weights = duals.T @ np.hstack([Z, np.full((len(Z), 1), problems.constant)])
    return 0.5 * (weights**2).sum(axis=1) + problems.conjugates(slice(None), duals).sum(axis=0)


def _start(Z, k):
    return np.zeros((len(Z), k)), np.zeros((k, Z.shape[1] + 1))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_epochs_lower_the_dual_objective_within_the_box(rng, loss, layout):
    Z, problems = _problem(rng, loss)
    duals, weights = _start(Z, 3)
    epochs = Epochs(layout(Z), problems, seed=0)
    moved = epochs.descend(np.ones(3, dtype=bool), duals, weights, 1e-3, ENDLESS)
    np.testing.assert_array_equal(moved, problems.clipped(moved))
    assert (_dual(Z, problems, moved) < _dual(Z, problems, duals)).all()
    assert not duals.any()  # the duals of the caller stay


def test_each_problem_pauses_within_its_tolerance(rng, loss):
    Z, problems = _problem(rng, loss)
    epochs = Epochs(Z, problems, seed=0)
    epochs.descend(np.ones(3, dtype=bool), *_start(Z, 3), 1e-3, ENDLESS)
    for history in epochs.histories:
        assert history[-1] <= 1e-3 < min([*history[:-1], np.inf])
    assert not epochs.stalled.any()


def test_a_problem_out_of_patience_stalls(rng):
    Z, problems = _problem(rng, "hinge")
    epochs = Epochs(Z, problems, seed=0)
    epochs.descend(np.ones(3, dtype=bool), *_start(Z, 3), 0.0, Patience(5))
    assert epochs.stalled.all()
    assert [len(history) for history in epochs.histories] == [5, 5, 5]


def test_inactive_problems_are_left_alone(rng, loss):
    Z, problems = _problem(rng, loss)
    duals, weights = _start(Z, 3)
    epochs = Epochs(Z, problems, seed=0)
    moved = epochs.descend(np.array([False, True, False]), duals, weights, 1e-2, ENDLESS)
    assert moved[:, 1].any()
    assert not moved[:, [0, 2]].any()
    assert [bool(history) for history in epochs.histories] == [False, True, False]


def test_a_second_descent_goes_on(rng, loss):
    """From the duals of the first, with their weights: what is left takes fewer epochs than a start at 0."""
    Z, problems = _problem(rng, loss)
    duals, weights = _start(Z, 3)
    active, epochs = np.ones(3, dtype=bool), Epochs(Z, problems, seed=0)
    first = epochs.descend(active, duals, weights, 1e-2, ENDLESS)
    weights = first.T @ np.hstack([Z, np.full((len(Z), 1), problems.constant)])
    second = epochs.descend(active, first, weights, 1e-4, ENDLESS)
    assert (_dual(Z, problems, second) <= _dual(Z, problems, first)).all()
    assert max(history[-1] for history in epochs.histories) <= 1e-4


def test_bits_depend_on_the_seed_and_not_on_the_threads(rng):
    Z, problems = _problem(rng, "hinge")

    def found(threads, seed):
        with config_context(threads=threads):
            epochs = Epochs(Z, problems, seed=seed)
            return epochs.descend(np.ones(3, dtype=bool), *_start(Z, 3), 1e-2, ENDLESS)

    np.testing.assert_array_equal(found(1, 0), found(3, 0))
    assert (found(1, 0) != found(1, 1)).any()


def test_orders_are_permutations_and_come_again_after_sixteen(rng):
    Z, problems = _problem(rng, "hinge")
    epochs = Epochs(Z, problems, seed=4)
    orders = [epochs._order(number) for number in range(17)]
    assert all((np.sort(order) == np.arange(120)).all() for order in orders)
    assert orders[16] is orders[0]
    assert len({order.tobytes() for order in orders}) == 16
