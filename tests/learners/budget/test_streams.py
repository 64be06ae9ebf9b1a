"""Budget learners on four streams: real rows, and rows that turn; no worse than the measurements they are held to."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mercer import Gaussian, core, reference
from mercer.learners import BudgetClassifier
from mercer.learners.budget.plan import MAINTENANCE

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


# The coefficients of these depend on the scores by their signs alone, or by which of them are below 1: they are the
# oracle's bit for bit. Those of all others are made of kernel values and sums, which the compiled loop rounds in
# another way: it fuses multiplications with additions, adds in lanes, and has an exponential of its own.
BITWISE = {
    *(("gradient", kind) for kind in ("remove", "oldest", "random", "stochastic", "stochastic_weighted")),
    *(("perceptron", kind) for kind in ("remove", "oldest", "random")),
}
# No matrix multiplies their rounding: at most that of each row's sum over the slots.
DIRECT = ("absorb", "absorb_nearest", "remove", "oldest", "random", "shrink")
ORACLE_ROWS, ORACLE_BUDGET = 600, 20


@cache
def first_rows(name):
    """Return the first rows of a stream, 54 columns wide for "covtype"."""
    if name != "covtype":
        return tuple(part[:ORACLE_ROWS] for part in stream(name))
    with np.load(Path(DATA) / "covtype.npz", allow_pickle=False) as file:
        X, y = (file[key][:ORACLE_ROWS] for key in (("X", "y") if "X" in file else ("X_train", "y_train")))
    X = X.astype(np.float64)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), y


@pytest.mark.parametrize(
    ("update", "maintenance"), [(update, kind) for update, kinds in MAINTENANCE.items() for kind in kinds]
)
@pytest.mark.parametrize("name", ["ijcnn1", "codrna", "covtype"])
def test_real_streams_end_where_the_oracle_s_end(name, update, maintenance, monkeypatch):
    """The same support vectors, the same mistakes, and the same coefficients: bit for bit, or to rounding."""
    X, y = first_rows(name)
    model = BudgetClassifier(
        Gaussian(gamma=1 / X.shape[1]),
        budget=ORACLE_BUDGET,
        update=update,
        maintenance=maintenance,
        random_state=0,
        tolerance=0.05,
    )
    fast = model.fit(X, y).state_, model.n_mistakes_
    monkeypatch.setattr(core, "budget_learn", reference.budget_learn)
    monkeypatch.setattr(core, "gaussian_exponents", reference.gaussian_exponents)
    slow = model.fit(X, y).state_, model.n_mistakes_
    assert fast[1] == slow[1]
    np.testing.assert_array_equal(fast[0].born, slow[0].born)
    if (update, maintenance) in BITWISE:
        np.testing.assert_array_equal(fast[0].coef, slow[0].coef)
        np.testing.assert_array_equal(fast[0].rows, slow[0].rows)
    direct = maintenance in DIRECT and update != "newton"
    atol = ORACLE_ROWS * ORACLE_BUDGET * 2.0**-52 if direct else 1e-6
    np.testing.assert_allclose(fast[0].coef, slow[0].coef, rtol=atol, atol=atol)
