"""Newton-CG over rows of features: the minimum of the loss, from zero or from a start."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from mercer import LinearFeatures
from mercer.data import as_blocks
from mercer.fitting import Classes, FeatureRows, Passes, Sample, WarmStart
from mercer.learners.by_newton import by_newton_cg
from mercer.solvers import Logistic


def _rows(rng, start=None):
    X = rng.standard_normal((200, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(200) > 0, "b", "a")
    targets = Classes("Test", classes=np.array(["a", "b"]))
    blocks = as_blocks(X, y, block_rows=64)
    return X, y, FeatureRows(LinearFeatures().fit(X), blocks, targets, Passes("Test"), Sample(X, np.ones(200)), start)


def test_it_is_logistic_regression(rng):
    X, y, rows = _rows(rng)
    solution = by_newton_cg(rows, Logistic(), (4, 1), penalty=0.5, tol=1e-10, max_iter=50)
    exact = LogisticRegression(C=2.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(solution.value.ravel(), [*exact.coef_[0], exact.intercept_[0]], atol=1e-5)
    assert rows.holds


def test_it_begins_at_a_start_of_the_same_shape():
    def solved(start):
        rows = _rows(np.random.RandomState(0), start)[2]
        return by_newton_cg(rows, Logistic(), (4, 1), penalty=0.5, tol=1e-8, max_iter=50)

    cold = solved(None)
    warm = solved(WarmStart(cold.value))
    assert warm.iterations < cold.iterations
    assert solved(WarmStart(np.ones((3, 1)))).iterations == cold.iterations  # of another shape: not used
