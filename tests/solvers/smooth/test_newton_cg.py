"""Newton-CG: its losses against differences, its solutions against scikit-learn, any cut of the rows, bad starts."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from mercer.solvers import (
    Logistic,
    Multinomial,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    gram_preconditioner,
    newton_cg,
)
from mercer.testing import check_solver

LOSSES = [Logistic(), Multinomial(), SquaredHinge(), SquaredEpsilonInsensitive(0.2)]
NAMES = [type(loss).__name__ for loss in LOSSES]


def _targets(loss, y):
    if isinstance(loss, SquaredEpsilonInsensitive):
        return np.column_stack([y, y**2, -y])
    belongs = np.digitize(y, [-0.5, 0.5])[:, None] == np.arange(3)
    return belongs.astype(float) if isinstance(loss, Multinomial) else np.where(belongs, 1.0, -1.0)


@pytest.fixture
def rows(rng):
    Z = rng.standard_normal((200, 6)) * np.logspace(0, -1, 6)
    return Z, Z @ rng.standard_normal(6) + 0.3 * rng.standard_normal(200)


def _reduce(Z, Y, weight=None, cuts=()):
    def reduce(title, work, into):
        ends = [0, *cuts, Z.shape[0]]
        for a, b in pairwise(ends):
            into.merge(work(Z[a:b], Y[a:b], None if weight is None else weight[a:b]))
        return into

    return reduce


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_derivatives_are_limits_of_differences(rng, loss):
    S, V = rng.standard_normal((2, 50, 3))
    Y = _targets(loss, rng.standard_normal(50))
    h = 1e-6
    up, down = (loss.values(S + sign * h * V, Y).sum(axis=1) for sign in (1, -1))
    np.testing.assert_allclose((up - down) / (2 * h), (loss.derivatives(S, Y) * V).sum(axis=1), atol=1e-8)
    up, down = (loss.derivatives(S + sign * h * V, Y) for sign in (1, -1))
    np.testing.assert_allclose((up - down) / (2 * h), loss.products(S, Y, V), atol=1e-8)
    for k in range(3):
        unit = np.broadcast_to(np.eye(3)[k], S.shape)
        np.testing.assert_allclose(loss.products(S, Y, unit)[:, k], loss.curvatures(S, Y)[:, k], rtol=1e-12)


def _objective(loss, Z, Y, weight, penalty, intercept_penalty):
    def objective(flat):
        value = flat.reshape(Z.shape[1] + 1, -1)
        S = Z @ value[:-1] + value[-1]
        R = weight[:, None] * loss.derivatives(S, Y)
        ridge = penalty * value
        ridge[-1] = intercept_penalty * value[-1]
        f = (weight[:, None] * loss.values(S, Y)).sum() + (ridge * value).sum() / 2
        return f, (np.vstack([Z.T @ R, R.sum(axis=0)]) + ridge).ravel()

    return objective


@pytest.mark.parametrize("intercept_penalty", [0.0, 0.3])
@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_it_finds_the_minimum(rows, rng, loss, preconditioned, intercept_penalty):
    Z, y = rows
    Y, weight = _targets(loss, y), rng.random_sample(200)
    ones = np.hstack([Z, np.ones((200, 1))])
    precondition = gram_preconditioner(ones.T @ ones / 200, 0.3, intercept_penalty) if preconditioned else None
    solution = newton_cg(
        loss,
        _reduce(Z, Y, weight, cuts=(1, 70)),
        np.zeros((7, 3)),
        penalty=0.3,
        intercept_penalty=intercept_penalty,
        precondition=precondition,
        tol=1e-11,
    )
    assert solution.success
    assert solution.history[-1] <= 1e-11
    assert solution.gap < 1e-9
    objective = _objective(loss, Z, Y, weight, 0.3, intercept_penalty)
    found, gradient = objective(solution.value.ravel())
    assert np.linalg.norm(gradient) <= 1e-10 * np.linalg.norm(objective(np.zeros(21))[1])
    other = minimize(objective, np.zeros(21), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    assert found <= other.fun * (1 + 1e-12)


def test_it_is_scikit_learn_s_logistic_regression(rows):
    Z, y = rows
    Y = _targets(Multinomial(), y)
    exact = LogisticRegression(C=2.0, tol=1e-12, solver="newton-cholesky").fit(Z, Y.argmax(axis=1))
    solution = newton_cg(Multinomial(), _reduce(Z, Y), np.zeros((7, 3)), penalty=0.5)
    np.testing.assert_allclose(solution.value[:-1].T, exact.coef_, atol=1e-7)
    np.testing.assert_allclose(solution.value[-1], exact.intercept_ - exact.intercept_.mean(), atol=1e-7)


def test_columns_of_a_separable_loss_are_problems_of_their_own(rows):
    Z, y = rows
    Y = _targets(SquaredHinge(), y)
    together = newton_cg(SquaredHinge(), _reduce(Z, Y), np.zeros((7, 3)), penalty=0.1)
    for k in range(3):
        alone = newton_cg(SquaredHinge(), _reduce(Z, Y[:, [k]]), np.zeros((7, 1)), penalty=0.1)
        np.testing.assert_allclose(together.value[:, [k]], alone.value, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_a_bad_start_is_left_by_shorter_steps(rows, rng, loss):
    Z, y = rows
    Y = _targets(loss, y)
    near, far = (
        newton_cg(loss, _reduce(Z, Y), start, penalty=1e-3)
        for start in (np.zeros((7, 3)), 100 * rng.standard_normal((7, 3)))
    )
    assert far.success
    # A constant in all intercepts changes no probability: where the start had one, it stays.
    far, near = (np.vstack([v[:-1], v[-1:] - v[-1].mean() * (not loss.separable)]) for v in (far.value, near.value))
    np.testing.assert_allclose(far, near, atol=1e-4)


def test_the_solution_is_where_a_warm_start_stays(rows):
    Z, y = rows
    Y = _targets(Logistic(), y)
    first = newton_cg(Logistic(), _reduce(Z, Y), np.zeros((7, 3)), penalty=0.5)
    again = newton_cg(Logistic(), _reduce(Z, Y), first.value, penalty=0.5)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.value, first.value)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_one_pass_compares_a_start_with_0(rows, loss):
    """At the solution nothing is left to do after it, whatever the number of columns."""
    Z, y = rows
    Y = _targets(loss, y)
    found = newton_cg(loss, _reduce(Z, Y), np.zeros((7, 3)), penalty=0.5, tol=1e-8)
    again = newton_cg(loss, _reduce(Z, Y), found.value, penalty=0.5, tol=1e-6)
    assert again.details["passes"] == 1
    np.testing.assert_array_equal(again.value, found.value)


def test_the_last_system_is_solved_no_closer_than_the_tolerance_asks(rng):
    """The gradient of a quadratic loss is the residual of the system, which ends just below its limit.

    The limit is a quarter of the tolerance, or the power 3/2 of the gradient before where that is larger. Which of both
    it is depends on how far the system before was solved, which the rounding of a machine may decide.
    """
    Z = rng.standard_normal((400, 60)) * np.logspace(0, -1.5, 60)
    Y = (Z @ rng.standard_normal((60, 1))) + 5.0
    loss = SquaredEpsilonInsensitive(0.0)
    for tol in (1e-2, 1e-4, 1e-6):
        found = newton_cg(loss, _reduce(Z, Y), np.zeros((61, 1)), penalty=1e-2, tol=tol)
        assert found.success
        limit = max(0.25 * tol, found.history[-2] ** 1.5)
        assert limit <= 0.5 * tol
        assert 0.6 * limit < found.history[-1] <= 1.0001 * limit


def test_sparse_and_single_precision_features(rows):
    Z, y = rows
    Y = _targets(SquaredHinge(), y)
    dense = newton_cg(SquaredHinge(), _reduce(Z, Y), np.zeros((7, 3)), penalty=0.1)
    csr = newton_cg(SquaredHinge(), _reduce(sparse.csr_array(Z), Y), np.zeros((7, 3)), penalty=0.1)
    np.testing.assert_allclose(csr.value, dense.value, atol=1e-8)
    eps = float(np.finfo(np.float32).eps)
    single = newton_cg(SquaredHinge(), _reduce(Z.astype("f"), Y), np.zeros((7, 3)), penalty=0.1, eps=eps)
    assert single.success, "rounding leaves nothing to gain: no failure"
    np.testing.assert_allclose(single.value, dense.value, atol=1e-4)


@pytest.mark.parametrize("gap_tol", [1e-2, 1e-4, 1e-6])
def test_the_gap_asked_for_is_the_gap_at_most(rows, gap_tol):
    """The distance of the objective from its least value is; the least strict saves a step."""
    Z, y = rows
    Y, start = _targets(SquaredHinge(), y), np.zeros((7, 3))
    exact = newton_cg(SquaredHinge(), _reduce(Z, Y), start, penalty=0.1, tol=1e-12)
    near = newton_cg(SquaredHinge(), _reduce(Z, Y), start, penalty=0.1, tol=1e-12, gap_tol=gap_tol)

    def objective(value):
        scores = Z @ value[:-1] + value[-1]
        return SquaredHinge().values(scores, Y).sum() + 0.05 * np.sum(value[:-1] ** 2)

    assert near.success
    assert objective(near.value) - objective(exact.value) <= gap_tol * objective(exact.value)
    assert near.iterations <= exact.iterations - (gap_tol == 1e-2)
    assert len(near.history) == near.iterations + 1


def test_running_out_of_iterations_is_said_with_advice(rows):
    Z, y = rows
    solution = newton_cg(Logistic(), _reduce(Z, _targets(Logistic(), y)), np.zeros((7, 3)), penalty=1e-3, max_iter=2)
    assert solution.status == "iteration limit"
    assert solution.iterations == 2
    assert "2 iterations left a gradient of" in solution.advice


def test_a_gram_matrix_without_factor_leaves_its_diagonal(rng):
    broken = np.diag([1.0, -1e-9, 1.0])
    broken[0, 1] = broken[1, 0] = 1e-3
    inverse = gram_preconditioner(broken, 1e-12)(1.0)
    assert np.isfinite(inverse(np.ones((3, 1)))).all()


def _reduce_over(Z, Y, weight):
    return lambda title, work, into: into.merge(work(Z, Y, weight))


def _weighted(n=400, D=20):
    """A row of weight 1e8: after it is fitted the others have no curvature, and Newton steps are far too long."""
    rng = np.random.RandomState(1)
    Z, w = rng.standard_normal((n, D)), rng.standard_normal(D)
    y = np.where(Z @ w + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    weight = np.ones(n)
    weight[0] = 1e8
    return Z, y[:, None], weight


def test_steps_that_are_far_too_long_are_shortened_until_they_descend():
    Z, y, weight = _weighted()
    solution = newton_cg(Logistic(), _reduce_over(Z, y, weight), np.zeros((21, 1)), penalty=1e-5)
    assert solution.success
    assert solution.history[-1] <= 1e-9
    assert np.mean(np.sign(Z @ solution.value[:-1] + solution.value[-1]) == y) == 1.0


def test_a_line_search_without_a_step_is_no_success(rng):
    """The gradient of one function, and the values of another: no step descends."""

    class Deceitful(Logistic):
        def values(self, S, Y):
            return 10.0 + np.abs(S)

    Z, y = rng.standard_normal((50, 3)), rng.choice([-1.0, 1.0], (50, 1))
    solution = newton_cg(Deceitful(), _reduce_over(Z, -y, None), np.zeros((4, 1)), penalty=1.0)
    assert solution.status == "stalled"
    assert solution.history[-1] > 1e-9
    assert "lower C" in solution.advice


def test_a_start_that_is_worse_than_0_is_left(rng):
    Z, y = rng.standard_normal((60, 3)), rng.choice([-1.0, 1.0], (60, 2))
    start = np.column_stack([np.full(4, 1e4), np.full(4, 0.01)])

    def objective(value):
        losses = np.logaddexp(0, -y * (Z @ value[:-1] + value[-1])).sum(axis=0)
        return losses + 0.5 * np.sum(value[:-1] ** 2, axis=0)

    check_solver(
        lambda: newton_cg(Logistic(), _reduce_over(Z, y, None), start, penalty=1.0, max_iter=1),
        objective=objective,
        others=(start,),
    )
    solution = check_solver(
        lambda: newton_cg(Logistic(), _reduce_over(Z, y, None), start, penalty=1.0),
        objective=objective,
        tol=1e-9,
        certificate=lambda solution: solution.history[-1],
        resume=lambda solution: newton_cg(Logistic(), _reduce_over(Z, y, None), solution.value, penalty=1.0),
    )
    assert solution.success


def test_a_small_gradient_is_no_success_while_the_gap_is_large():
    """Separable rows and a large cost: the gradient falls a million times before the objective is near its minimum."""
    Z, y, _ = _weighted()
    keep = np.abs(Z @ np.linalg.lstsq(Z, y[:, 0], rcond=None)[0]) > 0.2
    Z, y = 1e6 * Z[keep], y[keep]
    y = np.where(Z @ np.linalg.lstsq(Z, y[:, 0], rcond=None)[0] > 0, 1.0, -1.0)[:, None]
    solution = newton_cg(
        SquaredHinge(),
        _reduce_over(Z, y, None),
        np.zeros((21, 1)),
        penalty=1e-3,
        intercept_penalty=1e-3,
        tol=1e-5,
        gap_tol=1e-5,
        max_iter=30,
    )
    assert not solution.success or solution.gap <= 1e-5
