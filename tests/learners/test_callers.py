"""Where warnings point to: the first line outside of mercer and scikit-learn."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelKMeans, KernelLogisticRegression, KitchenSinksClassifier
from mercer.learners.callers import caller_level


def test_from_outside_it_is_the_caller_itself():
    assert caller_level() == 1


@pytest.mark.parametrize(
    "model",
    [KernelLogisticRegression(max_iter=1), KernelKMeans(max_iter=1, tol=0.0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_fit_warns_the_line_that_called_it(rng, model, inside):
    X = rng.standard_normal((300, 2))
    estimator = make_pipeline(StandardScaler(), model) if inside else model
    with pytest.warns(ConvergenceWarning) as caught:
        estimator.fit(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    assert [warning.filename for warning in caught] == [__file__]


def test_a_fit_that_converges_does_not_warn(rng):
    X = rng.standard_normal((200, 2))
    model = KitchenSinksClassifier(n_components=10, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert model.solution_.success
    assert np.isfinite(model.coef_).all()
