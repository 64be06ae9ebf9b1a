"""A table of five columns whose noise depends on one of them, and the tuned estimator of its first 600 rows."""

import numpy as np
import pytest

from mercer import TunedRegressor


@pytest.fixture(scope="session")
def table():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((900, 5)) * [1, 10, 1, 1, 1]
    noise = np.where(X[:, 2] > 0, 0.5, 0.05) * rng.standard_normal(900)  # its size depends on column 2
    return X, np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + noise


@pytest.fixture(scope="session")
def regressor(table):
    X, y = table
    return TunedRegressor(random_state=0).fit(X[:600], y[:600])
