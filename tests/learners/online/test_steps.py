"""Steps of online learning: the matrix of Newton steps, and the threads that share its products."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    FOGDClassifier,
    FOGDRegressor,
    Gaussian,
    config_context,
)

X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3


def test_newton_s_matrix_is_refused_before_it_is_tried():
    with config_context(memory=2**20), pytest.raises(MemoryError, match=r"n_components=400 needs .*update='newton'"):
        FOGDRegressor(n_components=400).fit(X, Y)


@pytest.mark.parametrize("n_components", [256, 500])
def test_newton_s_work_is_handed_to_the_pool_by_blocks_of_rows(monkeypatch, n_components):
    """Two hand-overs per thread and block of 4,096 rows, for features and steps, and the same bits without any."""
    rows = np.random.RandomState(0).standard_normal((6000, 3))
    model = FOGDClassifier(Gaussian(gamma=1.0), n_components=n_components, update="newton", random_state=0)
    hand_overs, submit = [], ThreadPoolExecutor.submit

    def counted(pool, *args, **kwargs):
        hand_overs.append(args)
        return submit(pool, *args, **kwargs)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    y = np.sin(3 * rows).prod(axis=1) > 0
    states = []
    for threads in (1, 2):
        with config_context(threads=threads):
            states.append(clone(model).fit(rows, y).state_)
    n_blocks = -(-len(rows) // 4096)
    assert len(hand_overs) <= (1 + 2 * n_blocks) * 2  # the map is fitted once besides
    np.testing.assert_array_equal(states[0].coef, states[1].coef)
    np.testing.assert_array_equal(states[0].inverse, states[1].inverse)
