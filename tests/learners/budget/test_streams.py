"""Budget learners on four streams: real rows, and rows that turn; no worse than the measurements they are held to."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mercer import Gaussian, core, reference
from mercer.learners import BudgetClassifier
from mercer.learners.budget import support_set
from mercer.learners.budget.plan import MAINTENANCE
from mercer.reference.budget import compiled_order

DATA = os.environ.get("MERCER_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="MERCER_DATA names no folder of data sets")

# Progressive error at B = 50 and 100 of prototypes (BSGD by merging; KRLS-T; KRLS-T forgetting 0.1 % per row), with a
# Gaussian of gamma = 4 / d on standardised rows. A bound is such a number plus 0.01.
PROTOTYPES = {
    "banana": {"merge": (0.111, 0.109), "newton": (0.119, 0.103)},
    "codrna": {"merge": (0.117, 0.106), "newton": (0.178, 0.151)},
    "ijcnn1": {"merge": (0.090, 0.079), "newton": (0.126, 0.099)},
    "turning": {"merge": (0.144, 0.137), "newton": (0.182, 0.249), "forgetting": (0.135, 0.125)},
}
N_ROWS = {"banana": 5000, "codrna": 6000, "ijcnn1": 6000, "turning": 8000}
SETTINGS = {"merge": {}, "newton": {"update": "newton"}, "forgetting": {"update": "newton", "decay": 0.999}}


def stream(name):
    """Return standardised rows in a random order; those of banana turn once around their mean for "turning"."""
    with np.load(Path(DATA) / f"{'banana' if name == 'turning' else name}.npz", allow_pickle=False) as file:
        X, y = (file[key] for key in (("X", "y") if "X" in file else ("X_train", "y_train")))
    rng, n = np.random.RandomState(0), N_ROWS[name]
    order = np.concatenate([rng.permutation(len(X)) for _ in range(2)])[:n]
    X, y = X[order].astype(np.float64), y[order]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    if name == "turning":
        turn = 2 * np.pi * np.arange(n) / n
        cosine, sine = np.cos(turn), np.sin(turn)
        X = np.column_stack([X[:, 0] * cosine - X[:, 1] * sine, X[:, 0] * sine + X[:, 1] * cosine])
    return X, y


@pytest.mark.parametrize(("name", "setting"), [(name, setting) for name, row in PROTOTYPES.items() for setting in row])
def test_mistakes_are_no_more_than_the_prototypes(name, setting):
    X, y = stream(name)
    for budget, known in zip((50, 100), PROTOTYPES[name][setting], strict=True):
        model = BudgetClassifier(Gaussian(gamma=4 / X.shape[1]), budget=budget, **SETTINGS[setting]).fit(X, y)
        assert model.n_mistakes_ / len(X) <= known + 0.01


# No matrix multiplies their rounding: at most that of each row's sum over the slots.
DIRECT = ("absorb", "absorb_nearest", "remove", "oldest", "random", "shrink")
ORACLE_ROWS, ORACLE_BUDGET = 600, 20
PAIRS = [(update, kind) for update, kinds in MAINTENANCE.items() for kind in kinds]


@cache
def first_rows(name):
    """Return the first rows of a stream, 54 columns wide for "covtype"."""
    if name != "covtype":
        return tuple(part[:ORACLE_ROWS] for part in stream(name))
    with np.load(Path(DATA) / "covtype.npz", allow_pickle=False) as file:
        X, y = (file[key][:ORACLE_ROWS] for key in (("X", "y") if "X" in file else ("X_train", "y_train")))
    X = X.astype(np.float64)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), y


def learned(name, update, maintenance):
    """Return the model after the first rows of a stream."""
    X, y = first_rows(name)
    kernel = Gaussian(gamma=1 / X.shape[1])
    rule = {"update": update, "maintenance": maintenance, "tolerance": 0.05}
    return BudgetClassifier(kernel, budget=ORACLE_BUDGET, random_state=0, **rule).fit(X, y)


def by_oracle(name, update, maintenance, monkeypatch):
    monkeypatch.setattr(core, "budget_learn", reference.budget_learn)
    monkeypatch.setattr(core, "gaussian_exponents", reference.gaussian_exponents)
    return learned(name, update, maintenance)


@pytest.mark.parametrize(("update", "maintenance"), PAIRS)
@pytest.mark.parametrize("name", ["ijcnn1", "codrna", "covtype"])
def test_real_streams_end_where_the_oracle_s_end(name, update, maintenance, monkeypatch):
    """The same support vectors, the same mistakes, and the same coefficients, to rounding: at the level in use."""
    fast, slow = learned(name, update, maintenance), by_oracle(name, update, maintenance, monkeypatch)
    assert fast.n_mistakes_ == slow.n_mistakes_
    np.testing.assert_array_equal(fast.state_.born, slow.state_.born)
    direct = maintenance in DIRECT and update != "newton"
    atol = ORACLE_ROWS * ORACLE_BUDGET * 2.0**-52 if direct else 1e-6
    np.testing.assert_allclose(fast.state_.coef, slow.state_.coef, rtol=atol, atol=atol)


@pytest.fixture
def bitwise_level():
    """The level whose arithmetic NumPy can follow: others fuse multiplications with additions."""
    _core = pytest.importorskip("mercer._core")
    if compiled_order.LEVEL not in _core.simd_levels():
        pytest.skip(f"no {compiled_order.LEVEL} here")
    before = _core.simd_level()
    _core.use_simd(compiled_order.LEVEL)
    yield
    _core.use_simd(before)


@pytest.mark.parametrize(("update", "maintenance"), PAIRS)
@pytest.mark.parametrize("name", ["ijcnn1", "codrna", "covtype"])
def test_real_streams_are_the_oracle_s_bit_for_bit(name, update, maintenance, monkeypatch, bitwise_level):
    """Of all pairs. Those that change matrices row by row have these bits in blocks of one row, the others in any."""
    if update == "newton" or maintenance in ("project", "project_newest"):
        monkeypatch.setattr(support_set, "_BLOCK_ROWS", 1)
    fast = learned(name, update, maintenance)
    with compiled_order.compiled_order():
        slow = by_oracle(name, update, maintenance, monkeypatch)
    assert (fast.n_mistakes_, fast.cumulative_loss_) == (slow.n_mistakes_, slow.cumulative_loss_)
    for part in ("born", "coef", "rows", "norms", "inverse", "reduction", "totals"):
        np.testing.assert_array_equal(getattr(fast.state_, part), getattr(slow.state_, part), err_msg=part)
