"""Support vector problems in their duals: losses, conjugates, boxes, gaps, and the kinds of losses."""

import numpy as np
import pytest

from mercer.solvers import BoxProblems
from mercer.solvers.support_vectors.svm_dual import LOSSES, PLAIN_LOSSES, check_loss

COST, EPSILON = 3.0, 0.25


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def _one(loss, target):
    return BoxProblems.of(loss, np.array([[target]]), np.array([COST]), epsilon=EPSILON)


def _by_definition(loss, target, score):
    excess = 1 - target * score if "hinge" in loss else abs(target - score) - EPSILON
    return COST * max(excess, 0.0) ** (2 if "squared" in loss else 1)


@pytest.mark.parametrize("target", [1.0, -1.0])
def test_losses_are_those_of_the_definition(loss, target):
    problem = _one(loss, target)
    for score in (-2.0, -1.0, -0.3, 0.0, 0.9, 1.0, 3.0):
        found = problem.losses(slice(0, 1), np.array([[score]]))[0, 0]
        assert found == pytest.approx(_by_definition(loss, target, score))


@pytest.mark.parametrize("target", [1.0, -1.0])
def test_gaps_are_at_least_zero_and_zero_at_the_right_dual(loss, target):
    """The inequality of Fenchel and Young, on a grid of scores and of duals in the box."""
    problem = _one(loss, target)
    duals = problem.clipped(np.array([[-np.inf]])), problem.clipped(np.array([[np.inf]]))
    low, high = (float(np.clip(end[0, 0], -8 * COST, 8 * COST)) for end in duals)
    for score in np.linspace(-1.5, 1.5, 31):
        gaps = problem.gaps(slice(0, 1), np.array([[score]]), np.linspace(low, high, 4801)[None])
        assert gaps.min() >= -1e-12
        assert gaps.min() < 1e-4


def test_boxes(loss):
    problems = BoxProblems.of(loss, np.array([[1.0], [-1.0], [1.0]]), np.array([COST, COST, 0.0]), epsilon=EPSILON)
    most = np.inf if "squared" in loss else COST
    ends = [problems.clipped(np.full((3, 1), end)).ravel().tolist() for end in (-np.inf, np.inf)]
    assert ends[0] == ([0.0, -most, 0.0] if "hinge" in loss else [-most, -most, 0.0])
    assert ends[1] == ([most, 0.0, 0.0] if "hinge" in loss else [most, most, 0.0])
    assert problems.is_squared == ("squared" in loss)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in PLAIN_LOSSES])
@pytest.mark.parametrize("target", [1.0, -1.0])
def test_duals_of_scores_are_the_negative_derivatives(loss, target):
    problem, step = _one(loss, target), 1e-6
    for score in (-2.0, -0.3, 0.4, 1.7):
        ends = [problem.losses(slice(0, 1), np.array([[score + move]]))[0, 0] for move in (step, -step)]
        derivative = (ends[0] - ends[1]) / (2 * step)
        assert problem.duals_at(np.array([[score]]))[0, 0] == pytest.approx(-derivative, abs=1e-6)


def test_conjugates_of_some_problems_are_summed_over_the_blocks_of_rows(rng, loss):
    targets = rng.choice([-1.0, 1.0], (9000, 3))
    problems = BoxProblems.of(loss, targets, rng.random_sample(9000) + 0.1, epsilon=0.3)
    duals = problems.clipped(rng.standard_normal((9000, 3))).astype(np.float32)
    of_rows = problems.conjugates(slice(0, 9000), duals.astype(np.float64))
    sums = problems.conjugate_sums(targets[:, 1:].astype(np.float32), duals[:, 1:])
    np.testing.assert_allclose(sums, of_rows[:, 1:].sum(axis=0), rtol=1e-12)


def test_one_problem_of_some_rows(rng, loss):
    targets = rng.choice([-1.0, 1.0], (9, 3))
    problems, rows = BoxProblems.of(loss, targets, rng.random_sample(9)), np.array([1, 4, 5])
    one = problems.one(2, rows)
    assert one.targets.tolist() == targets[rows, 2:].tolist()
    assert one.upper.tolist() == problems.upper[rows].tolist()
    assert one.ridge.tolist() == problems.ridge[rows].tolist()


@pytest.mark.parametrize("loss", sorted(PLAIN_LOSSES))
def test_the_program_has_the_dual_s_objective(rng, loss):
    """Its variables are >= 0: one for each row of a one-sided loss, else one for each side."""
    Z = rng.standard_normal((6, 2))
    problem = BoxProblems.of(loss, rng.choice([-1.0, 1.0], (6, 1)), 0.5 + rng.random_sample(6), epsilon=0.1)
    program = problem.program(Z)
    assert program.signs.shape == ((1, 6) if "hinge" in loss else (2, 6))
    part = 0.3 * np.ones_like(program.signs)
    part[1:] = 0.0  # both sides of a row are never in use at the optimum
    duals = (program.signs * part).sum(axis=0)
    linear = (program.linear * part).sum()
    assert linear == pytest.approx(problem.conjugates(slice(None), duals[:, None]).sum())


def test_a_solver_refuses_a_loss_that_it_does_not_take():
    assert check_loss("pegasos", "hinge", PLAIN_LOSSES).one_sided
    with pytest.raises(ValueError, match="pegasos: loss must be one of 'epsilon_insensitive', 'hinge', got 'log'"):
        check_loss("pegasos", "log", PLAIN_LOSSES)
