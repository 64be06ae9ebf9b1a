"""Budget classification: mistake bounds, unbiased removal, new classes."""

import numpy as np
import pytest
from scipy.stats import norm

from mercer import Gaussian, Linear
from mercer.learners import BudgetClassifier


def separable_stream(n=3000, margin=0.25, seed=0):
    """Return unit rows in the plane that a direction u separates with a margin, and the norm of u with margin 1."""
    rng = np.random.RandomState(seed)
    angles = rng.uniform(0, 2 * np.pi, 4 * n)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    X = X[np.abs(X[:, 0]) > margin][:n]
    return X, np.where(X[:, 0] > 0, 1, 0), 1 / margin


def test_the_forgetron_keeps_its_bound():
    """At most 2 U^2 + 4 L(u) mistakes, for U below sqrt((B + 1) / log(B + 1)) / 4; here L(u) = 0."""
    budget = 4000
    X, y, size = separable_stream(margin=0.25)
    assert size <= np.sqrt((budget + 1) / np.log(budget + 1)) / 4
    model = BudgetClassifier(Linear(), budget=budget, update="perceptron", maintenance="shrink").fit(X, y)
    assert 0 < model.n_mistakes_ <= 2 * size**2


def noisy_stream(n, margin, flipped, seed=0):
    """Return unit rows of the plane with some labels turned, and for any norm U the hinge losses of U times e_1."""
    rng = np.random.RandomState(seed)
    angles = rng.uniform(0, 2 * np.pi, 20 * n)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    X = X[np.abs(X[:, 0]) > margin][:n]
    y = np.where((X[:, 0] > 0) ^ (rng.random_sample(n) < flipped), 1, -1)
    return X, y, lambda size: float(np.maximum(0.0, 1 - size * y * X[:, 0]).sum())


def test_the_forgetron_keeps_its_bound_where_it_forgets():
    """With labels that are turned there are more mistakes than the budget; guessing would break the bound."""
    budget, n = 100, 6000
    X, y, hinge = noisy_stream(n, 0.86, 0.03)
    size = np.sqrt((budget + 1) / np.log(budget + 1)) / 4
    model = BudgetClassifier(Linear(), budget=budget, update="perceptron", maintenance="shrink").fit(X, y)
    bound = 2 * size**2 + 4 * hinge(size)
    assert budget < model.state_.totals[1] <= bound < n / 2


def test_the_random_budget_perceptron_keeps_its_bound():
    """E M (1 - U / sqrt(B)) <= L(u) + U sqrt(2 E M): the mean of 40 seeds less 5 standard errors, alarm below 1e-6."""
    budget, size, n = 60, 1.6, 3000
    X, y, hinge = noisy_stream(n, 0.7, 0.05)
    mistakes = np.array(
        [
            BudgetClassifier(Linear(), budget=budget, update="perceptron", maintenance="random", random_state=seed)
            .fit(X, y)
            .state_.totals[1]
            for seed in range(40)
        ]
    )
    share = 1 - size / np.sqrt(budget)
    root = (size * np.sqrt(2) + np.sqrt(2 * size**2 + 4 * share * hinge(size))) / (2 * share)
    assert root**2 < 0.45 * n  # a learner that guesses would break it
    least = mistakes.mean() - 5 * mistakes.std(ddof=1) / np.sqrt(len(mistakes))
    assert budget < least <= root**2


@pytest.mark.parametrize("maintenance", ["merge", "project", "remove", "oldest", "stochastic"])
def test_the_regret_is_bounded_by_what_the_maintenance_loses(maintenance):
    """The inequality of the docstring, with every term measured: h is f before the maintenance, v what is taken."""
    rng = np.random.RandomState(0)
    n, alpha, kernel = 110, 0.02, Gaussian(gamma=0.5)
    X = rng.standard_normal((n, 2))
    y = np.where(np.hypot(*X.T) > 1.1, 1.0, -1.0)
    u = BudgetClassifier(kernel, budget=n, alpha=alpha).fit(X, y)
    model = BudgetClassifier(kernel, budget=12, alpha=alpha, maintenance=maintenance, random_state=0)
    best = (u.support_vectors_, u.coef_)

    def product(f, g):
        return float(f[1] @ kernel(f[0], g[0]) @ g[1]) if len(f[0]) and len(g[0]) else 0.0

    def minus(f, g):
        return np.vstack([f[0], g[0]]), np.append(f[1], -g[1])

    f, regret, bound, n_lost, moved = (np.zeros((0, 2)), np.zeros(0)), 0.0, product(best, best) / 2, 0, 0.0
    size_of_best = np.sqrt(product(best, best))
    for t in range(n):
        x, label = X[t : t + 1], y[t]
        score = [float(kernel(x, g[0])[0] @ g[1]) if len(g[0]) else 0.0 for g in (f, best)]
        losses = [max(0.0, 1 - label * s) for s in score]
        regret += losses[0] - losses[1] + alpha / 2 * (product(f, f) - product(best, best))
        slope = (np.vstack([f[0], x]), np.append(alpha * f[1], -label if losses[0] > 0 else 0.0))
        step = 1 / (alpha * (t + 1) + 1)
        h = minus(f, (slope[0], step * slope[1]))
        below = losses[0] == 0 or len(f[0]) < 12
        model.partial_fit(x, [label], classes=[-1, 1])
        f = (model.support_vectors_, model.coef_)
        lost = minus(h, f)
        size = product(lost, lost)
        assert size < 1e-9 or not below  # f moves by eta g alone where nothing is maintained
        n_lost += size > 1e-9
        bound += step / 2 * product(slope, slope) + (size / 2 - product(lost, minus(h, best))) / step
        assert regret <= bound + 1e-6
        if maintenance == "project":  # the same with every term bounded by a constant
            moved += np.sqrt(max(size, 0.0)) / step
            steps = 2 / alpha * np.log(1 + alpha * (t + 1))
            assert product(f, f) <= 1 / alpha**2
            assert abs(product(lost, f)) < 1e-8
            assert regret <= size_of_best**2 / 2 + steps + size_of_best * moved + 1e-6
    assert n_lost > 20
    assert bound < 3 * abs(regret) + 50  # the bound is no idle one


def test_what_the_forgetron_spends_stays_below_its_share_of_the_mistakes(rng):
    """The invariant behind the bound, where removals do occur: rows without structure, a small budget."""
    X, y = rng.standard_normal((1500, 3)), rng.randint(2, size=1500)
    model = BudgetClassifier(Gaussian(gamma=1.0), budget=83, update="perceptron", maintenance="shrink")
    for start in range(0, 1500, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
        spent, mistakes = model.state_.totals
        assert mistakes >= model.n_mistakes_ - 1  # a score of 0 is a mistake of the perceptron, and of class 1 for us
        assert spent <= 15 / 32 * mistakes + 1e-9
    assert mistakes > 400
    assert spent > 0
    assert np.abs(model.coef_).max() <= 1


@pytest.mark.parametrize("update", ["perceptron", "margin_perceptron"])
@pytest.mark.parametrize("tolerance", [0.02, 0.1])
def test_projectrons_keep_their_bound(update, tolerance):
    """M <= (U / (1 - eta U))^2 on a separable stream, where the tolerance and not the budget decides who joins."""
    X, y, size = separable_stream(margin=0.25)
    model = BudgetClassifier(
        Linear(), budget=1000, update=update, maintenance="project_newest", tolerance=tolerance
    ).fit(X, y)
    assert 0 < model.n_mistakes_ <= (size / (1 - tolerance * size)) ** 2
    assert len(model.coef_) <= 2  # rows of the plane: a third one is in the span


def test_steps_on_margin_errors_save_mistakes_and_add_no_support_vectors(rng):
    X = rng.standard_normal((3000, 2))
    y = (np.hypot(*X.T) > 1).astype(int)
    models = {
        update: BudgetClassifier(
            Gaussian(gamma=1.0), budget=60, update=update, maintenance="project_newest", tolerance=0.1
        ).fit(X, y)
        for update in ("perceptron", "margin_perceptron")
    }
    assert models["margin_perceptron"].n_mistakes_ < models["perceptron"].n_mistakes_
    assert len(models["margin_perceptron"].coef_) <= 60


@pytest.mark.parametrize("maintenance", ["stochastic", "stochastic_weighted"])
def test_removal_by_chance_is_unbiased(maintenance):
    """The mean of f over seeds is f without removal: |z| < 5.5 at 40 points; false alarms below 40 * 4e-8 = 2e-6."""
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((9, 2)), np.arange(9) % 2
    points, runs = rng.standard_normal((40, 2)), 1200
    shared = {"loss": "hinge", "alpha": 3.0}  # coefficients of at most 1/4: none is clipped
    expected = BudgetClassifier(Gaussian(gamma=0.3), budget=9, **shared).fit(X, y).decision_function(points)
    found = np.array(
        [
            BudgetClassifier(Gaussian(gamma=0.3), budget=8, maintenance=maintenance, random_state=seed, **shared)
            .fit(X, y)
            .decision_function(points)
            for seed in range(runs)
        ]
    )
    spread = found.std(axis=0, ddof=1) / np.sqrt(runs)
    assert spread.min() > 0
    z = (found.mean(axis=0) - expected) / spread
    assert np.abs(z).max() < norm.isf(2e-6 / 80)
    biased = found.mean(axis=0) * (1 - 1 / 8)  # without the division by the chance to stay, the test would see it
    assert np.abs((biased - expected) / spread).max() > 6


def test_what_bogd_takes_away_is_0_in_the_mean_and_bounded(rng):
    """All outcomes of one removal: v = B / (B - 1) (c_q k_q - m), with m the mean of all but the newest."""
    budget, kernel = 8, Gaussian(gamma=0.3)
    X, y = rng.standard_normal((9, 2)), np.arange(9) % 2
    shared = {"loss": "hinge", "alpha": 3.0, "maintenance": "stochastic"}  # no coefficient is clipped
    h, K = BudgetClassifier(kernel, budget=9, **shared).fit(X, y).coef_, kernel(X)
    taken = {}
    for seed in range(100):  # an outcome is missed with a chance of 8 (7/8)^100 = 1e-5
        state = BudgetClassifier(kernel, budget=budget, random_state=seed, **shared).fit(X, y).state_
        left = np.zeros(9)
        left[state.born] = state.coef[:, 0]
        (gone,) = set(range(9)).difference(state.born.tolist())
        taken[gone] = h - left
    assert sorted(taken) == list(range(budget))
    for gone, v in taken.items():
        expected = -np.append(h[:budget], 0.0) / budget
        expected[gone] += h[gone]
        np.testing.assert_allclose(v, budget / (budget - 1) * expected, atol=1e-12)
    np.testing.assert_allclose(np.mean(list(taken.values()), axis=0), 0.0, atol=1e-12)
    mean_square = np.mean([v @ K @ v for v in taken.values()])
    bound = (np.abs(h).max() * budget / (budget - 1)) ** 2
    assert 0.1 * bound < mean_square <= bound


def test_gradient_steps_below_the_budget_keep_their_regret_bound(rng):
    """U^2 / 2 + (2 / alpha) log(1 + alpha n) without maintenance; steps ten times as long would break it here."""
    n, alpha, kernel = 400, 0.5, Gaussian(gamma=0.5)
    X = rng.standard_normal((n, 2))
    y = np.where(rng.random_sample(n) < 0.5, 1.0, -1.0)  # nothing to learn: u = 0 is as good as any
    K, c = kernel(X), np.zeros(n)
    model = BudgetClassifier(kernel, budget=n, alpha=alpha)
    regret = 0.0
    for t in range(n):
        score = K[t] @ c
        regret += max(0.0, 1 - y[t] * score) + alpha / 2 * c @ K @ c - 1.0
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        c[:] = 0.0
        c[model.state_.born] = model.coef_
        assert np.sqrt(c @ K @ c) <= 1 / alpha
        assert regret <= 2 / alpha * np.log(1 + alpha * (t + 1))
    assert regret > 0


def test_an_unseen_class_is_an_error_or_is_learned(rng):
    X = rng.standard_normal((600, 2))
    y = np.where(X[:, 0] > 0.5, "right", np.where(X[:, 1] > 0, "up", "down"))
    two = y != "right"
    model = BudgetClassifier(Gaussian(gamma=1.0), budget=40).partial_fit(X[two], y[two], classes=["up", "down"])
    with pytest.raises(ValueError, match=r"y holds 'right' at row \d+ of the stream.*new_classes='learn'"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        BudgetClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"new_classes must be one of \['error', 'learn'\], got 'maybe'"):
        BudgetClassifier(new_classes="maybe").fit(X, y)
    with pytest.raises(ValueError, match="the first rows hold one class, 'up'"):
        BudgetClassifier(new_classes="learn").partial_fit(X, ["up"] * 600)


@pytest.mark.parametrize("update", ["gradient", "newton", "passive_aggressive"])
@pytest.mark.parametrize("loss", [None, "squared", "logistic"])
def test_new_classes_are_learned_and_do_not_change_predictions(rng, update, loss):
    if (update, loss) in (("passive_aggressive", "logistic"), ("newton", "logistic")):
        pytest.skip("not a loss of this update")
    X = rng.standard_normal((900, 2))
    y = np.where(X[:, 0] > 0.5, "right", np.where(X[:, 1] > 0, "up", "down"))
    two = y != "right"
    model = BudgetClassifier(Gaussian(gamma=1.0), budget=40, update=update, loss=loss, new_classes="learn")
    model.partial_fit(X[two], y[two])
    assert model.classes_.tolist() == ["down", "up"]
    wide = BudgetClassifier(**model.get_params(deep=False))
    wide.__dict__.update(model.__dict__)
    wide._add_classes(np.array(["right"]))
    assert wide.classes_.tolist() == ["down", "right", "up"]
    scores = wide.decision_function(X)
    np.testing.assert_array_equal(scores[:, 1], 0.0)
    np.testing.assert_array_equal(wide.classes_[2 * (scores[:, 2] > scores[:, 0])], model.predict(X))
    model.partial_fit(X, y).partial_fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.coef_.shape[0] == 3


def test_a_forgetting_learner_follows_a_stream_that_turns(rng):
    """The boundary turns by half a circle: a decay makes fewer mistakes in Newton steps than none."""
    n = 4000
    X, turn = rng.standard_normal((n, 2)), np.pi * np.arange(n) / n
    y = (X[:, 0] * np.cos(turn) + X[:, 1] * np.sin(turn) > 0).astype(int)
    models = {
        decay: BudgetClassifier(Gaussian(gamma=0.5), budget=40, update="newton", decay=decay).fit(X, y)
        for decay in (1.0, 0.99)
    }
    assert models[0.99].n_mistakes_ < 0.6 * models[1.0].n_mistakes_
