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
from mercer.learners.online.steps import NEWTON_ROWS, Rule

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


def _rule(schedule="sqrt", decay=0.97):
    return Rule(loss=0, update="newton", alpha=0.1, step=2.0, schedule=schedule, decay=decay)


@pytest.mark.parametrize(("schedule", "power"), [("constant", 0.0), ("sqrt", -0.5), ("inverse", -1.0)])
@pytest.mark.parametrize("decay", [1.0, 0.97, 1 - 1e-12])
def test_schedules_count_the_rows_that_are_remembered(schedule, power, decay):
    """The sum of decay^s over the ages s = 0, ..., t - 1, which is t without decay."""
    counts = np.cumsum(decay ** np.arange(50.0))
    np.testing.assert_allclose(_rule(schedule, decay).lengths(20, 30), 2.0 * counts[20:] ** power, rtol=1e-9)


@pytest.mark.parametrize("decay", [1.0, 0.1, 0.97, 0.9999])
@pytest.mark.parametrize("n_seen", [0, 1, 22, 1000])
def test_blocks_of_newton_steps_end_where_a_half_life_ends(decay, n_seen):
    rule = _rule(decay=decay)
    cuts = rule.newton_cuts(n_seen, 700)
    np.testing.assert_array_equal(np.concatenate([np.arange(rows.start, rows.stop) for rows in cuts]), np.arange(700))
    assert max(rows.stop - rows.start for rows in cuts) <= NEWTON_ROWS
    if decay < 1:
        half_life = max(1, int(np.log(0.5) / np.log(decay)))
        assert rule.half_life == half_life
        ends = {n_seen + rows.stop for rows in cuts}
        assert {t for t in range(n_seen + 1, n_seen + 701) if t % half_life == 0} <= ends
        assert rule.lost_penalty(3 * half_life) == pytest.approx(0.1 * (1 - decay**half_life))
        assert half_life == 1 or rule.lost_penalty(3 * half_life + 1) == 0
        assert rule.row_weight(0, half_life).max() <= max(2.0, 1 / decay) * (1 + 1e-12)
