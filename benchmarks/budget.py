"""Processor time of learning with a budget of support vectors; the peer is the loop over the rows in NumPy.

Times are the processor's, of one thread, per 1000 rows. At B = 100 and d = 22, 25 microseconds per
row are asked besides.
"""

import time
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from benchmarks.measure import Row
from mercer import Gaussian, core, reference
from mercer.learners import BudgetClassifier

MOST_SECONDS_PER_ROW = 25e-6
BLOCK = 1000
# The published algorithms: name, update, maintenance, and the ratio held. The oracle is a loop over rows whose steps
# are NumPy's own loops over B or B^2 numbers: the larger B, the less there is to gain, and least on matrices.
ALGORITHMS = (
    ("BSGD, merging", "gradient", "merge", 5.0),
    ("RBP", "perceptron", "random", 5.0),
    ("Forgetron", "perceptron", "shrink", 5.0),
    ("BOGD++", "gradient", "stochastic_weighted", 20.0),
    ("BPA-S", "passive_aggressive", "absorb", 5.0),
    ("BPA-NN", "passive_aggressive", "absorb_nearest", 20.0),
    ("Projectron++", "margin_perceptron", "project_newest", 2.0),
    ("BSGD, projection", "gradient", "project", 2.0),
    ("KRLS-T", "newton", "project", 2.0),
)


def _stream(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def _learn(model: BudgetClassifier, X: np.ndarray, y: np.ndarray) -> BudgetClassifier:
    for start in range(0, len(X), BLOCK):
        model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK], classes=[0, 1])
    return model


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _full(model: BudgetClassifier, X: np.ndarray, y: np.ndarray) -> BudgetClassifier:
    """Return a model whose budget is full."""
    model = clone(model)
    for start in range(0, len(X), BLOCK):
        model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK], classes=[0, 1])
        if len(model.support_vectors_) == model.budget:
            break
    return model


def _compared(name: str, full: BudgetClassifier, X: np.ndarray, y: np.ndarray, n_oracle: int) -> tuple[float, float]:
    """Return the seconds per 1000 rows of a model whose budget is full, ours and those of the loop in NumPy."""
    slow, fast = _copy(full), _copy(full)
    few, labels = X[:n_oracle], y[:n_oracle]
    with (
        patch.object(core, "budget_learn", reference.budget_learn),
        patch.object(core, "gaussian_exponents", reference.gaussian_exponents),
    ):
        peer = _seconds(lambda: slow.partial_fit(few, labels)) / n_oracle
    assert fast.partial_fit(few, labels).n_mistakes_ == slow.n_mistakes_, name
    n = len(X) // BLOCK * BLOCK
    ours = min(_seconds(lambda: _learn(_copy(full), X[:n], y[:n])) / n for _ in range(3))
    return 1000 * ours, 1000 * peer


def rows() -> Iterator[Row]:
    for budget, d, n_oracle in ((100, 22, 300), (500, 54, 120)):
        X, y = _stream(8000, d)
        for name, update, maintenance, at_least in ALGORITHMS:
            model = BudgetClassifier(
                Gaussian(gamma=1 / d), budget=budget, update=update, maintenance=maintenance, random_state=0
            )
            full = _full(model, X, y)
            later = slice(full.n_seen_, full.n_seen_ + 2000)
            ours, peer = _compared(name, full, X[later], y[later], n_oracle)
            work = f"{name} B={budget} d={d}: {1e3 * ours:.1f} us per row"
            yield Row(work, "the loop over rows in NumPy", ours, peer, at_least)
            if budget == 100:
                yield Row(f"{name} B=100 d=22", "25 us per row", ours, 1000 * MOST_SECONDS_PER_ROW, 1.0)


def _copy(model: BudgetClassifier) -> BudgetClassifier:
    """Return a fitted copy that learns apart from the model; its state is never changed in place."""
    other = clone(model)
    other.__dict__.update(model.__dict__)
    return other
