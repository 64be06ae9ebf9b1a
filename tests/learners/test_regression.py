"""What regressors share: predictions in the shape of y, and scores."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from mercer import FOGDRegressor, KernelRidge, KernelSVR, KitchenSinksRegressor, as_blocks


def _rows():
    X = np.random.RandomState(0).standard_normal((200, 2))
    return X, np.sin(X[:, 0])


@pytest.mark.parametrize("kind", [KernelRidge, KernelSVR])
@pytest.mark.parametrize("n_columns", [None, 1, 2])
def test_predictions_have_the_shape_of_y(kind, n_columns):
    X, y = _rows()
    y = y if n_columns is None else np.column_stack([y, 2 * y])[:, :n_columns]
    for source in ((X, y), (as_blocks(X, y),)):
        model = kind(random_state=0).fit(*source)
        assert model.predict(X).shape == y.shape
        assert np.ndim(model.intercept_) == y.ndim - 1


@pytest.mark.parametrize("kind", [FOGDRegressor, KitchenSinksRegressor])
def test_learners_of_one_number_refuse_two(kind):
    X, y = _rows()
    with pytest.raises(ValueError, match="1d array"):
        kind().fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("kind", [FOGDRegressor, KernelRidge, KernelSVR, KitchenSinksRegressor])
def test_the_score_is_r2(kind):
    X, y = _rows()
    model = kind(random_state=0).fit(X, y)
    weight = np.arange(200.0)
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
    assert model.score(X, y, weight) == pytest.approx(r2_score(y, model.predict(X), sample_weight=weight))
