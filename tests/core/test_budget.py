"""Budgets of support vectors: compiled loops against reference ones, and both against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from oracle import strided
from scipy.optimize import minimize_scalar

from mercer import _core, core, reference
from mercer.core import BUDGET_MAINTENANCE, BUDGET_UPDATES, LOSSES, BudgetRows, BudgetRule, BudgetState
from mercer.learners.budget.merge_table import merge_places
from mercer.learners.budget.plan import LOSSES_OF_CLASSES, MAINTENANCE
from mercer.learners.budget.support_set import in_panels
from mercer.reference.budget import compiled_order as compiled_order_of_sums
from mercer.reference.budget import merging, projection, removal
from mercer.reference.budget.compiled_order import compiled_order

CASES = [
    (update, maintenance, loss)
    for update, kinds in MAINTENANCE.items()
    for maintenance in kinds
    for loss in LOSSES_OF_CLASSES[update]
    if not (maintenance.startswith("stochastic") and loss.startswith("squared"))
]
REGRESSIONS = [("gradient", "merge"), ("gradient", "remove"), ("passive_aggressive", "absorb")]


@pytest.fixture
def bitwise_level():
    """The level whose arithmetic NumPy can follow: others fuse multiplications with additions."""
    if compiled_order_of_sums.LEVEL not in _core.simd_levels():
        pytest.skip(f"no {compiled_order_of_sums.LEVEL} here")
    before = _core.simd_level()
    _core.use_simd(compiled_order_of_sums.LEVEL)
    yield
    _core.use_simd(before)


def problem(update, maintenance, loss, k, budget, n, d=3, seed=0, exponents=True, decay=0.99):
    """Return a rule, rows, an empty state and a function that makes the next block."""
    rng = np.random.default_rng([seed, k, budget, n])
    X = rng.standard_normal((n, d))
    if k > 1:
        y = rng.integers(k, size=n).astype(float)
    else:
        y = np.where(np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    rule = BudgetRule(update, maintenance, LOSSES.index(loss), budget, 0.1, 0.3, 0.05)
    slots = budget + 1
    slots += -slots % 8
    square, columns = np.zeros((slots, slots)), np.zeros((slots, k))
    newton = update == "newton"
    projects = newton or maintenance in ("project", "project_newest")
    compares = projects or maintenance in ("shrink", "absorb_nearest")
    state = BudgetState(
        columns.copy(),
        np.zeros(slots),
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros((slots, d)),
        square.copy() if compares else np.zeros((0, 0)),
        square.copy() if projects else np.zeros((0, 0)),
        square.copy() if newton else np.zeros((0, 0)),
        np.zeros(2),
        np.zeros(1, dtype=np.int64),
    )

    def block(state, start, stop):
        rows, slots_used = X[start:stop], int(state.counts[0])
        state.column[:slots_used] = np.arange(slots_used)
        pool = np.vstack([state.rows[:slots_used], rows])
        cross = 0.7 * ((rows[:, None] - pool[None]) ** 2).sum(axis=2)
        m = stop - start
        cross = cross[:, :0] if maintenance == "merge" else cross
        return BudgetRows(
            cross if exponents else np.exp(-cross),
            0.7 if exponents else 0.0,
            np.ones(m),
            rows,
            np.arange(start, stop),
            y[start:stop],
            np.full(m, 0.5),
            np.full(m, decay),
            np.random.default_rng(start).random(m),
            np.zeros((m, k)),
        )

    return rule, state, block


def run(learn, rule, state, block, n, size):
    scores = []
    for start in range(0, n, size):
        rows = block(state, start, min(start + size, n))
        learn(rule, rows, state, merge_places())
        scores.append(rows.scores)
    return np.vstack(scores), state


def assert_same_states(one, other, atol=1e-7):
    (scores, state), (expected_scores, expected) = one, other
    assert state.counts[0] == expected.counts[0] > 0
    n = int(state.counts[0])
    np.testing.assert_array_equal(state.born[:n], expected.born[:n])
    # Rounding of one row reaches all later ones; the inverse multiplies it by the condition of the Gram matrix.
    np.testing.assert_allclose(scores, expected_scores, atol=atol)
    for name in ("coef", "norms", "rows", "between", "inverse", "reduction"):
        got, wanted = getattr(state, name), getattr(expected, name)
        if len(wanted):
            got, wanted = (a[:n, :n] if name in ("between", "inverse", "reduction") else a[:n] for a in (got, wanted))
            if name == "between":  # a row holds the values of slots that are not younger
                known = state.born[:n, np.newaxis] >= state.born[:n]
                got, wanted = got[known], wanted[known]
            np.testing.assert_allclose(got, wanted, atol=atol * max(1, np.abs(wanted).max()), err_msg=name)
    np.testing.assert_allclose(state.totals, expected.totals, atol=1e-9)


@pytest.mark.parametrize(("update", "maintenance", "loss"), CASES)
@pytest.mark.parametrize("k", [1, 3])
def test_compiled_is_reference(budget_level, update, maintenance, loss, k):
    for budget, n in ((1, 8), (9, 45), (21, 140)):
        results = []
        for learn in (core.budget_learn, reference.budget_learn):
            rule, state, block = problem(update, maintenance, loss, k, budget, n)
            results.append(run(learn, rule, state, block, n, 29))
        assert_same_states(*results)


def one_by_one(update, maintenance):
    """Return whether changes of matrices wait: the bits are the oracle's in blocks of one row."""
    return update == "newton" or maintenance in ("project", "project_newest")


# The softmax takes the exponential of the C library, and the oracle's that of NumPy.
@pytest.mark.parametrize(
    ("update", "maintenance", "loss", "k"),
    [(*case, k) for case in CASES for k in (1, 3) if (case[2], k) != ("logistic", 3)],
)
def test_compiled_is_reference_bit_for_bit(bitwise_level, update, maintenance, loss, k):
    """Without fused multiplications, and with the sums of the oracle in the same order."""
    for budget, n in ((1, 8), (9, 45), (21, 140)):
        size, decay = (1, 1.0) if one_by_one(update, maintenance) else (29, 0.99)
        rule, state, block = problem(update, maintenance, loss, k, budget, n, decay=decay)
        scores, state = run(core.budget_learn, rule, state, block, n, size)
        with compiled_order():
            rule, expected, block = problem(update, maintenance, loss, k, budget, n, decay=decay)
            expected_scores, expected = run(reference.budget_learn, rule, expected, block, n, size)
        assert state.counts[0] == expected.counts[0]
        np.testing.assert_array_equal(scores, expected_scores)
        used = slice(int(state.counts[0]))
        for name in ("coef", "norms", "born", "rows"):
            np.testing.assert_array_equal(getattr(state, name)[used], getattr(expected, name)[used], err_msg=name)
        for name in ("inverse", "reduction"):
            got, wanted = (getattr(a, name)[used, used] for a in (state, expected))
            np.testing.assert_array_equal(got, wanted, err_msg=name)
        np.testing.assert_array_equal(state.totals, expected.totals)


@pytest.mark.parametrize("far", [0.0, 3.0, 1e3])
def test_exponents_bit_for_bit(bitwise_level, far):
    rng = np.random.default_rng(1)
    X, Y = far + rng.standard_normal((7, 22)), far * (rng.random((33, 1)) < 0.7) + rng.standard_normal((33, 22))
    got, expected = np.full((7, 33), np.nan), np.zeros((7, 33))
    _core.gaussian_exponents(X, Y, 0.3, got, False)
    with compiled_order():
        reference.gaussian_exponents(X, Y, 0.3, expected)
    np.testing.assert_array_equal(got, expected)


def test_the_compiled_order_is_another_order():
    """Else the comparisons bit for bit would compare what is equal anyway."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 5001))
    assert compiled_order_of_sums.inner(a, b) != a @ b
    np.testing.assert_allclose(compiled_order_of_sums.inner(a, b), a @ b, rtol=1e-12)
    x = -rng.exponential(30.0, 5000)
    found = compiled_order_of_sums.exponential(x)
    assert (found != np.exp(x)).any()
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-15)
    np.testing.assert_array_equal(compiled_order_of_sums.exponential(np.array([0.0, -709.0])), [1.0, 0.0])


@pytest.mark.parametrize(("update", "maintenance"), REGRESSIONS)
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_compiled_is_reference_in_regression(budget_level, update, maintenance, loss):
    results = []
    for learn in (core.budget_learn, reference.budget_learn):
        rule, state, block = problem(update, maintenance, loss, 1, 9, 60)
        results.append(run(learn, rule, state, block, 60, 60))
    assert_same_states(*results)


@pytest.mark.parametrize("maintenance", ["project", "absorb_nearest", "shrink", "random"])
def test_values_are_exponentials_of_exponents(budget_level, maintenance):
    update = "perceptron"
    results = []
    for exponents in (True, False):
        rule, state, block = problem(update, maintenance, "hinge", 1, 11, 80, exponents=exponents)
        results.append(run(core.budget_learn, rule, state, block, 80, 33))
    assert_same_states(*results)


@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (5, 16, 3), (7, 33, 22), (3, 0, 2), (2, 9, 54)])
@pytest.mark.parametrize("far", [0.0, 3.0, 1e3, 1e170])
def test_exponents(budget_level, n, m, d, far):
    """Rows near 0 by products, rows far from 0 by differences, and rows between by either: 3.0 is about the limit."""
    rng = np.random.default_rng(0)
    X, Y = far + rng.standard_normal((n, d)), far * (rng.random((m, 1)) < 0.7) + rng.standard_normal((m, d))
    got, expected = np.full((n, m), np.nan), np.zeros((n, m))
    _core.gaussian_exponents(strided(X), strided(Y), 0.3, got, False)
    with np.errstate(over="ignore"):
        reference.gaussian_exponents(X, Y, 0.3, expected)
    # The sums of squares are at most 32 / 0.3 where products are taken: d roundings of them.
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=32 * d * 2.0**-52)
    for i in range(m):  # the bits of a pair do not depend on its neighbours
        alone = np.zeros((n, 1))
        _core.gaussian_exponents(X, Y[i : i + 1], 0.3, alone, False)
        np.testing.assert_array_equal(alone[:, 0], got[:, i])


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_a_row_is_at_a_distance_of_0_from_itself(budget_level, far):
    X = far + np.random.default_rng(0).standard_normal((21, 13))
    found = np.full((21, 21), np.nan)
    _core.gaussian_exponents(X, X, 0.1, found, False)
    np.testing.assert_array_equal(np.diagonal(found), 0.0)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("n", [1, 3, 12, 13, 50])
def test_the_lower_triangle_of_exponents(budget_level, n):
    X = np.random.default_rng(0).standard_normal((n, 5))
    whole, expected = np.full((n, n), np.nan), np.full((n, n), np.nan)
    _core.gaussian_exponents(X, X, 0.1, whole, False)
    reference.gaussian_exponents(X, X, 0.1, expected, lower=True)
    assert np.isnan(expected[np.triu_indices(n, 1)]).all()
    lower = np.full((n, n), np.nan)
    _core.gaussian_exponents(X, X, 0.1, lower, True)
    inside = np.tril_indices(n)
    np.testing.assert_array_equal(lower[inside], whole[inside])
    np.testing.assert_allclose(expected[inside], whole[inside], atol=32 * 5 * 2.0**-52)
    with pytest.raises(ValueError, match=r"Y.shape\[0\] must be X.shape\[0\], for the lower triangle, = "):
        _core.gaussian_exponents(X, X[1:], 0.1, lower[:, 1:], True)


def with_triangle(state):
    """Return the state with the inverse of the Cholesky factor of the Gram matrix of its slots."""
    n = int(state.counts[0])
    lower, triangle = np.tril(state.between[:n, :n]), np.zeros_like(state.inverse)
    triangle[:n, :n] = np.linalg.inv(np.linalg.cholesky(lower + np.tril(lower, -1).T))
    return state._replace(factor=triangle)


def with_panels(state):
    """Return the state with that triangle in float64 and in float32."""
    state = with_triangle(state)
    return state._replace(rounded=in_panels(state.factor), sums=state.factor.sum(axis=1))


def settled(learn, update, k, tolerance, size, prepared=lambda state: state):
    """Return scores and the state after rows that meet a full budget whose slots stay, in blocks of `size` rows."""
    rule, state, block = problem(update, "project_newest", "hinge", k, 21, 600)
    scores, _ = run(learn, rule, state, block, 200, 200)
    assert state.counts[0] == 21  # the budget is full
    state = prepared(state)
    for start in range(200, 600, size):
        rows = block(state, start, min(start + size, 600))
        learn(rule._replace(tolerance=tolerance), rows, state, merge_places())
        scores = np.vstack([scores, rows.scores])
    return scores, state


UPDATES_OF_ROWS = ["perceptron", "margin_perceptron", "gradient", "passive_aggressive"]


@pytest.mark.parametrize("update", UPDATES_OF_ROWS)
@pytest.mark.parametrize(("k", "tolerance"), [(1, 0.05), (1, 0.9), (3, 0.9)])
def test_rows_of_a_full_budget_whose_slots_stay(budget_level, update, k, tolerance):
    """Products are made for rows that are expected to need them: blocks of one row, without a guess, leave the bits."""
    whole, single = (settled(core.budget_learn, update, k, tolerance, size) for size in (400, 1))
    np.testing.assert_array_equal(whole[0], single[0])
    np.testing.assert_array_equal(whole[1].coef, single[1].coef)
    assert_same_states(whole, settled(reference.budget_learn, update, k, tolerance, 400))


@pytest.mark.parametrize("update", UPDATES_OF_ROWS)
@pytest.mark.parametrize(("k", "tolerance"), [(1, 0.05), (1, 0.9), (3, 0.9)])
@pytest.mark.parametrize("size", [400, 37, 1])
def test_windows_of_a_full_budget_with_a_triangle(budget_level, update, k, tolerance, size):
    """Windows of 64 rows have one product with the triangle; rows of all cuts end where the oracle's end."""
    expected = settled(reference.budget_learn, update, k, tolerance, 400)
    found = settled(core.budget_learn, update, k, tolerance, size, with_triangle)
    assert_same_states(found, expected)
    if size == 400:  # else nothing was tested: sums of windows round in another way
        assert (found[1].coef != settled(core.budget_learn, update, k, tolerance, 400)[1].coef).any()


@pytest.mark.parametrize("update", UPDATES_OF_ROWS)
def test_cuts_between_windows_leave_the_bits(budget_level, update):
    """Row 200 is in a window that ends before row 256."""
    results = []
    for cuts in ((200, 600), (200, 256, 320, 512, 600)):
        rule, state, block = problem(update, "project_newest", "hinge", 1, 21, 600)
        run(core.budget_learn, rule, state, block, 200, 200)
        state = with_triangle(state)
        for start, stop in pairwise(cuts):
            core.budget_learn(rule, block(state, start, stop), state, merge_places())
        results.append(state.coef)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("update", UPDATES_OF_ROWS)
@pytest.mark.parametrize(("k", "tolerance"), [(1, 0.05), (1, 0.9), (3, 0.9)])
@pytest.mark.parametrize("size", [400, 64, 37, 1])
def test_windows_in_float32(budget_level, update, k, tolerance, size):
    """Mistakes and coefficients are those of float64; reported scores of perceptrons have the error of float32."""
    expected = settled(reference.budget_learn, update, k, tolerance, 400)
    found = settled(core.budget_learn, update, k, tolerance, size, with_panels)
    assert_same_states((expected[0], found[1]), expected)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
    exact = settled(core.budget_learn, update, k, tolerance, size, with_triangle)
    if size == 400 and update == "perceptron" and k == 1:  # else nothing was tested
        assert (found[0] != exact[0]).any()
    if update not in ("perceptron", "margin_perceptron") or k > 1:  # their steps depend on the scores
        np.testing.assert_array_equal(found[1].coef, exact[1].coef)


def full_problem(update, tolerance):
    """Return a rule, a full state with a triangle in float32, its Gram matrix, and the numbers of the next 64 rows."""
    rule, state, block = problem(update, "project_newest", "hinge", 1, 21, 200, exponents=False, decay=1.0)
    run(core.budget_learn, rule, state, block, 192, 192)
    n = int(state.counts[0])
    assert n == 21
    state.column[:n] = np.arange(n)
    lower = np.tril(state.between[:n, :n])
    return rule._replace(tolerance=tolerance), with_panels(state), lower + np.tril(lower, -1).T, np.arange(192, 256)


def learned(rule, state, values, norms, numbers, y):
    """Return the rows after the compiled loop has learned rows with these kernel values."""
    m, ones = len(y), np.ones(len(y))
    cross = np.hstack([values, np.zeros((m, m))])
    rows = BudgetRows(cross, 0.0, norms, np.zeros((m, 3)), numbers, y, ones, ones, np.zeros(m), np.zeros((m, 1)))
    core.budget_learn(rule, rows, state, merge_places())
    return rows


def test_scores_that_float32_cannot_tell_from_0_are_made_in_float64(budget_level):
    """Every fourth row has a score of 1e-11 or -1e-11, far below the error of float32: no decision may be wrong."""
    rng = np.random.default_rng(3)
    rule, state, gram, numbers = full_problem("perceptron", 0.05)
    y = rng.choice([-1.0, 1.0], 64)
    values = np.exp(-0.7 * ((rng.standard_normal((64, 1, 3)) - state.rows[:21]) ** 2).sum(axis=2))
    coef, before = state.coef[:21, 0].copy(), state.totals[1]
    mistakes, wanted = 0, np.zeros(64)
    for t in range(64):
        if t % 4 == 3:
            target = rng.choice([-1e-11, 1e-11])
            values[t] += (target - values[t] @ coef) * coef / (coef @ coef)
        wanted[t] = values[t] @ coef
        if wanted[t] * y[t] <= 0:
            coef += y[t] * np.linalg.solve(gram, values[t])
            mistakes += 1
    rows = learned(rule, state, values, np.ones(64), numbers, y)
    assert 20 < mistakes < 64
    np.testing.assert_array_equal(np.sign(rows.scores[:, 0]), np.sign(wanted))
    assert state.totals[1] - before == mistakes
    np.testing.assert_allclose(state.coef[:21, 0], coef, rtol=1e-7, atol=1e-7 * np.abs(coef).max())
    assert (np.abs(rows.scores[:, 0] - wanted) > 1e-13).any()  # else no score was in float32


def test_steps_of_margin_errors_are_made_in_float64(budget_level):
    """Two rows lie in the span of the slots and have a margin between 0 and 1: Projectron++ takes a step on them."""
    rng = np.random.default_rng(4)
    rule, state, gram, numbers = full_problem("margin_perceptron", 1e-3)
    y = rng.choice([-1.0, 1.0], 64)
    values = np.exp(-0.7 * ((2 * rng.standard_normal((64, 1, 3)) - state.rows[:21]) ** 2).sum(axis=2))
    coef, norms = state.coef[:21, 0].copy(), np.ones(64)
    for t in range(64):
        if t in (30, 50):
            share = np.zeros(21)
            share[t % 21] = 1.0
            values[t], norms[t] = gram @ share, share @ gram @ share
            score = values[t] @ coef
            values[t] *= 0.5 / abs(score)
            norms[t] *= (0.5 / score) ** 2
            y[t] = np.sign(score)
        score = values[t] @ coef
        image = np.linalg.solve(gram, values[t])
        if score * y[t] <= 0:
            coef += y[t] * image
        elif t in (30, 50):
            coef += y[t] * min(0.5 / norms[t], 1.0) * image
    learned(rule, state, values, norms, numbers, y)
    np.testing.assert_allclose(state.coef[:21, 0], coef, rtol=1e-6, atol=1e-6 * np.abs(coef).max())


def test_merging_loses_what_the_formula_says_and_no_place_loses_less():
    """Norms in the kernel's space by Gram matrices of three points, places by a search over all of them."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        exponent, (a, b) = rng.exponential(1.0), np.sort(rng.random(2))
        table, value = merge_places(), np.array([np.exp(-exponent)])
        first = float(merging.first_places(table, value, a * a, np.array([b * b]))[0])
        h = merging.best_place(exponent, a * a, b * b, a * b, first)
        assert h == pytest.approx(merging.searched_place(exponent, a * a, b * b, a * b), abs=1e-6)

        def lost(h, exponent=exponent, a=a, b=b):
            # x_i, x_j, z on a line at 0, 1 and 1 - h; squared distances in units of the exponent
            points = np.array([0.0, 1.0, 1.0 - h])
            gram = np.exp(-exponent * (points[:, None] - points[None]) ** 2)
            z = gram[2, 0] * a + gram[2, 1] * b  # the best coefficient of z, as k(z, z) = 1
            c = np.array([a, b, -z])
            return c @ gram @ c

        formula = merging.lost(np.array([exponent]), a * a, np.array([b * b]), np.array([a * b]), np.array([h]))[0]
        assert formula == pytest.approx(lost(h), abs=1e-12)
        grid = min(lost(place) for place in np.linspace(0, 1, 400))
        best = minimize_scalar(lost, bounds=(0, 1), method="bounded", options={"xatol": 1e-10}).fun
        assert formula <= min(grid, best) + 1e-9


def test_a_pair_of_small_kernel_value_is_passed_over_safely():
    """The compiled search skips pairs by a lower bound of their loss: 2 a^2 (1 - sqrt(v))^2, if it is <= 0.75 a^2."""
    places = np.linspace(0, 0.5, 1001)[:, np.newaxis]
    others = np.concatenate([np.linspace(1, 3, 101), np.geomspace(3, 1e4, 60)])  # the greater coefficient over a
    for value in np.linspace(0.15, 0.9999, 120):
        bound = 2 * (1 - np.sqrt(value)) ** 2
        assert bound <= 0.76
        least = merging.lost(-np.log(value), 1.0, others**2, others, places).min()
        assert least >= bound * (1 - 1e-9) - 1e-12


def test_projection_is_the_best_approximation(budget_level):
    """The function after a projection is the nearest one in the span of the support vectors that stay."""
    rule, state, block = problem("perceptron", "project", "hinge", 1, 8, 200, decay=1.0)
    start = 0
    for start in range(200):
        rows = block(state, start, start + 1)
        before = (state.rows[: state.counts[0]].copy(), state.coef[: state.counts[0], 0].copy(), state.counts[0])
        core.budget_learn(rule, rows, state, merge_places())
        if before[2] == 8 and not np.array_equal(before[1], state.coef[:8, 0]):
            break
    x, y = rows.X[0], rows.y[0]
    old = np.vstack([before[0], x])
    coef = np.append(before[1], y)
    now = state.rows[:8]

    def gram(A, B):
        return np.exp(-0.7 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    nearest = np.linalg.solve(gram(now, now), gram(now, old) @ coef)
    np.testing.assert_allclose(state.coef[:8, 0], nearest, atol=1e-9)
    losses = []
    for left in range(9):
        kept = np.delete(old, left, axis=0)
        inside = gram(kept, old) @ coef
        losses.append(coef @ gram(old, old) @ coef - inside @ np.linalg.solve(gram(kept, kept), inside))
    c = state.coef[:8, 0]
    lost = coef @ gram(old, old) @ coef - c @ gram(now, now) @ c
    assert lost == pytest.approx(min(losses), abs=1e-9)


def test_shrinking_takes_the_largest_factor():
    rng = np.random.default_rng(0)
    for square, linear, constant in zip(rng.normal(size=200), rng.random(200), -rng.random(200), strict=True):
        factor = removal.largest_factor(square, linear, constant)
        assert 0 <= factor <= 1
        assert square * factor**2 + linear * factor + constant <= 1e-12
        more = min(1.0, factor + 1e-6)
        assert factor == 1 or square * more**2 + linear * more + constant > 0


def test_chances_to_stay_leave_one_out():
    for sizes in (np.ones(5), np.array([1.0, 1e6, 2.0]), np.random.default_rng(0).random(30), np.array([0.0, 3.0])):
        stays = removal.chances_to_stay(sizes)
        assert stays.sum() == pytest.approx(len(sizes) - 1)
        assert (stays <= 1).all()
        assert (np.diff(stays[np.argsort(sizes)]) >= -1e-12).all()


def test_the_margin_step_is_safe():
    rule = BudgetRule("margin_perceptron", "project_newest", 0, 5, 0.0, 1.0, 0.1)
    assert projection.margin_step(rule, np.array([0.5]), 1.0, 0.9, 0.0)[0] == pytest.approx(0.5 / 0.9)
    assert projection.margin_step(rule, np.array([0.5]), 1.0, 0.9, 0.1**2) is None  # a residual of 0.1 > 0.1 * 0.5
    assert projection.margin_step(rule, np.array([1.5]), 1.0, 0.9, 0.0) is None


def arguments(maintenance="merge"):
    rule, state, block = problem("gradient", maintenance, "hinge", 1, 3, 5)
    rows = block(state, 0, 5)
    names = [*BudgetRule._fields, *BudgetRows._fields, *(f"slot_{name}" for name in BudgetState._fields), "table"]
    numbers = (BUDGET_UPDATES.index(rule.update), BUDGET_MAINTENANCE.index(rule.maintenance), *rule[2:])
    return dict(zip(names, (*numbers, *rows, *state, merge_places()), strict=True))


OF_MERGING = ("gamma", "slot_rows", "table")
BAD = [
    ("update", 5, r"update must lie in \[0, 4\], got 5"),
    ("maintenance", -1, "maintenance must lie in"),
    ("loss", 7, "loss must lie in"),
    ("budget", 0, "budget must be at least 1"),
    ("ridge", 0.0, "ridge must be positive"),
    ("cross", np.zeros((5, 4)), r"cross.shape\[1\] must be slots in use and rows of the block together = 5"),
    ("gamma", 0.0, "gamma must be positive"),
    ("norms", np.ones(4), r"len\(norms\)"),
    ("X", np.zeros((5, 2)), r"X.shape\[1\] must be rows.shape\[1\] = 3, got 2"),
    ("y", np.ones(6), r"len\(y\)"),
    ("scores", np.zeros((5, 2)), r"coef.shape\[1\]|y must hold class numbers"),
    ("slot_coef", np.zeros((3, 1)), "coef must have at least 4 rows|number of slots"),
    ("slot_between", np.zeros((3, 3)), r"between.shape\[0\] must be the number of slots = 8, got 3"),
    ("slot_rows", np.zeros((0, 0)), "rows must have a row for each slot"),
    ("slot_rounded", np.zeros((8, 15), dtype=np.float32), r"rounded.shape\[1\] must be rows of a panel = 16, got 15"),
    ("slot_rounded", np.zeros((9, 16), dtype=np.float32), r"the number of panels times the number of slots = 8, got 9"),
    ("slot_sums", np.zeros(3), r"len\(sums\) must be one per slot with rounded, else 0 = 0, got 3"),
    ("slot_counts", np.array([4]), r"counts must lie in \[0, budget\]"),
    ("table", np.zeros((1, 9)), "table must have at least 2 rows"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD, ids=range(len(BAD)))
def test_bad_bounds(name, value, message):
    with pytest.raises(ValueError, match=message):
        _core.budget_learn(*(arguments("merge" if name in OF_MERGING else "shrink") | {name: value}).values())


def test_a_column_out_of_bounds_is_refused():
    good = arguments("remove")
    good["slot_counts"][0], good["slot_column"][0], good["cross"] = 1, 6, np.zeros((5, 6))
    with pytest.raises(ValueError, match="column must lie in"):
        _core.budget_learn(*good.values())
