"""Online learning with the kernel itself: ridge regression row by row, a budget, and the same function on features."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian
from mercer.learners.online.steps import Rule
from mercer.learners.online.support import Support

KERNEL = Gaussian(gamma=0.5)


def _rule(update="newton", loss="squared", decay=1.0):
    params = SimpleNamespace(loss=loss, update=update, alpha=0.2, step=0.5, schedule="sqrt", decay=decay)
    return Rule.of("Test", params, (loss,))


def _rows(rng, n_rows=150):
    X = rng.standard_normal((n_rows, 2))
    return X, np.sin(2 * X[:, 0])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_newton_steps_are_kernel_ridge_regression(rng, layout):
    X, y = _rows(rng)
    state, scores = Support.none(KERNEL, layout(X), 1).learn(_rule(), layout(X), y, 0, 1000)
    assert scores.shape == (150, 1)
    dual = np.linalg.solve(KERNEL(X) + 1 + 0.2 * np.eye(150), y)
    np.testing.assert_allclose(state.coef[:, 0], dual, atol=1e-8)
    np.testing.assert_allclose(state.columns(layout(X)), KERNEL(X), atol=1e-12)


@pytest.mark.parametrize("update", ["newton", "gradient"])
def test_it_ends_at_the_budget(rng, update):
    X, y = _rows(rng)
    state, scores = Support.none(KERNEL, X, 1).learn(_rule(update), X, y, 0, 20)
    assert len(state.coef) == 20
    assert len(scores) == 20  # every row has a loss
    same, none = state.learn(_rule(update), X, y, 20, 20)
    assert same is state
    assert len(none) == 0


@pytest.mark.parametrize("update", ["newton", "gradient"])
def test_the_function_stays_the_same_on_features(rng, update):
    X, y = _rows(rng)
    rule = _rule(update)
    state, _ = Support.none(KERNEL, X, 1).learn(rule, X, y, 0, 30)
    nystroem, weights = state.explicit("Test", rule, None, 30)
    other = rng.standard_normal((40, 2))
    before = (state.columns(other) + 1) @ state.coef
    after = nystroem.transform(other) @ weights.coef[:, :-1].T + weights.coef[:, -1]
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert weights.is_of(update)
    assert state.is_of(update)
