"""When descent switches to inner steps: projected epochs, limits, and the solver that each loss gets."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import BoxProblems
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.solvers.support_vectors.when_descent_stalls import Patience, inner_steps


def _problems(loss, n, k=1):
    return BoxProblems.of(loss, np.ones((n, k)), np.ones(n))


def test_there_is_no_switch_where_no_inner_steps_exist():
    Z = np.zeros((200, 50))
    assert Patience.of(sparse.csr_array(Z), _problems("hinge", 200), 1000) == Patience(1000)
    wide = np.broadcast_to(0.0, (5000, 5000))
    assert Patience.of(wide, _problems("hinge", 5000), 1000) == Patience(1000)
    assert Patience.of(np.zeros((20, 50)), _problems("squared_hinge", 20), 1000) == Patience(1000)
    assert Patience.of(Z, _problems("hinge", 200), 50) == Patience(50)  # fewer epochs than any switch needs


def test_inner_steps_are_worth_epochs_per_feature():
    Z = np.zeros((4000, 800))
    plain = Patience.of(Z, _problems("hinge", 4000), 10_000)
    assert plain == (1600, 1600.0)  # 2 epochs per feature
    squared = Patience.of(Z, _problems("squared_hinge", 4000), 10_000)
    assert squared == (100, 100.0)  # 1/8
    assert Patience.of(Z, _problems("squared_hinge", 4000, k=5), 10_000).worth == 200.0  # 1/32 for each further one


def test_cheap_steps_start_after_half_of_the_epochs():
    assert Patience.of(np.zeros((400, 300)), _problems("hinge", 400), 1000).epochs == 500
    assert Patience.of(np.zeros((60_000, 300)), _problems("hinge", 60_000), 1000).epochs == 600


def test_a_gap_that_halves_every_ten_epochs_has_ten_epochs_left_per_halving():
    history = [2.0 ** (-i / 10) for i in range(101)]  # 2^-10 at the end
    tol = 2.0**-20
    assert Patience(1000, 99.0).is_over(history, tol)
    assert not Patience(1000, 101.0).is_over(history, tol)


@pytest.mark.parametrize(
    ("history", "is_over"),
    [
        ([1.0] * 15, False),  # too early to tell
        ([1.0] * 16, True),  # no progress: infinitely many epochs are left
        ([1.0] * 15 + [1e-9], False),  # within the tolerance
        ([1.0] * 100, True),
    ],
)
def test_ends_of_patience(history, is_over):
    assert Patience(100, 50.0).is_over(history, 1e-6) == is_over


def test_all_epochs_used_end_the_patience_at_any_rate():
    assert Patience(20).is_over([2.0**-i for i in range(20)], 1e-30)


@pytest.mark.parametrize("loss", LOSSES)
def test_inner_steps_solve_every_loss(rng, loss):
    Z = rng.standard_normal((80, 5))
    target = np.sign(Z[:, :1]) if "hinge" in loss else Z[:, :1]
    problem = BoxProblems.of(loss, target, np.ones(80), epsilon=0.1)
    solution = inner_steps(Z, problem, np.zeros(80), 1e-8)
    assert solution.success
    assert solution.details["duals"].shape == solution.details["guess"].shape == (80,)
    assert solution.details["solver"] == ("finite Newton" if "squared" in loss else "interior point")
