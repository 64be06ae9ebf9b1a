"""Rows per second of online learning, float32, d = 54, in blocks of 1000 rows; mistakes on real streams.

The peer of a rate is the plain loop over the rows in NumPy on the same features. In addition, gradient steps must reach
1e5 rows per second. Mistakes need ``MERCER_DATA``.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from benchmarks.measure import Row, best_of_both
from mercer import FOGDClassifier, Gaussian, NOGDClassifier, config_context, reference
from mercer.core import LOSSES
from mercer.reference.online import online_newton_by_rows

N_ROWS, N_COLUMNS, BLOCK = 20_000, 54, 1000
LEAST_RATE = 1e5
STEPS = {"sqrt": (1.0, 3.0, 10.0, 30.0, 100.0), "constant": (0.03, 0.1, 0.3, 1.0, 3.0)}


def _stream() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((N_ROWS, N_COLUMNS)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(N_ROWS) > 0).astype(int)


def _learn(model: FOGDClassifier, X: np.ndarray, y: np.ndarray) -> FOGDClassifier:
    for start in range(0, len(X), BLOCK):
        model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK], classes=[0, 1])
    return model


def _by_rows(model: FOGDClassifier, X: np.ndarray, y: np.ndarray) -> int:
    """Return the mistakes of the plain loop on the features of a fitted model."""
    Z = np.hstack([model.feature_map_.transform(X), np.ones((len(X), 1), dtype=X.dtype)])
    signs, loss = np.where(y == 1, 1.0, -1.0), LOSSES.index(model.loss)
    W, scores = np.zeros((1, Z.shape[1])), np.zeros((len(X), 1))
    if model.update == "newton":
        online_newton_by_rows(Z, signs, loss, W, np.eye(Z.shape[1]) / model.alpha, scores)
    else:
        squares = np.zeros((int(model.update == "adagrad"), Z.shape[1]))
        reference.online_gradient(Z, signs, loss, np.arange(1, len(X) + 1) ** -0.5, W, squares, scores)
    return int(np.count_nonzero((scores[:, 0] > 0) != (y == 1)))


def rates() -> Iterator[Row]:
    X, y = _stream()
    cases = (("gradient", 1000, N_ROWS, 2.0), ("adagrad", 1000, N_ROWS, 2.0), ("newton", 256, N_ROWS, 4.0))
    for update, width, n_rows, at_least in (*cases, ("newton", 1000, 2000, 10.0)):
        model = FOGDClassifier(Gaussian(gamma=1 / N_COLUMNS), n_components=width, update=update, random_state=0)
        few, labels = X[:n_rows], y[:n_rows]
        fitted = _learn(clone(model), few, labels)
        assert fitted.n_mistakes_ == _by_rows(fitted, few, labels)

        def ours(model: FOGDClassifier = model, few: np.ndarray = few, labels: np.ndarray = labels) -> object:
            return _learn(clone(model), few, labels)

        def peer(fitted: FOGDClassifier = fitted, few: np.ndarray = few, labels: np.ndarray = labels) -> object:
            return _by_rows(fitted, few, labels)

        seconds = best_of_both(ours, peer, repeats=3 if update != "newton" else 1)
        rate = n_rows / seconds[0]
        yield Row(f"FOGD {update} D={width} d=54: {rate:,.0f} rows/s", "the loop over rows", *seconds, at_least)
        if update != "newton":
            yield Row(f"FOGD {update} D={width} d=54", "1e5 rows per second", seconds[0], n_rows / LEAST_RATE, 1.0)


def hand_overs() -> Iterator[Row]:
    """Yield counts in the place of seconds: tasks given to the pool's threads per 100,000 rows of Newton steps.

    The peer is two tasks per thread and block of 4,096 rows, one for the features and one for the steps.
    """
    X, y = _stream()
    submit = ThreadPoolExecutor.submit
    for n_components in (256, 512):
        n_tasks = 0

        def counted(pool: ThreadPoolExecutor, *args: Any) -> Any:
            nonlocal n_tasks
            n_tasks += 1
            return submit(pool, *args)

        model = FOGDClassifier(Gaussian(gamma=1 / N_COLUMNS), n_components=n_components, random_state=0)
        with patch.object(ThreadPoolExecutor, "submit", counted), config_context(threads=2):
            model.fit(X, y)
        per_block = 2 * 2 * -(-len(X) // 4096) + 2  # and one pass to fit the map
        scale = 1e5 / len(X)
        work = f"FOGD newton D={n_components}: {n_tasks * scale:,.0f} tasks per 1e5 rows"
        yield Row(work, "two per thread and block", n_tasks * scale / 1e3, per_block * scale / 1e3, 1.0)


def mistakes() -> Iterator[Row]:
    """Yield mistakes in the place of seconds: gradient descent's at its best step over Newton's, same loss."""
    folder = Path(os.environ["MERCER_DATA"])
    for name in ("codrna", "ijcnn1", "covtype"):
        with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
            X, y = (file[key] for key in (("X", "y") if "X" in file else ("X_train", "y_train")))
        order = np.random.RandomState(0).permutation(len(X))[:30_000]
        X, y = X[order].astype(np.float32), y[order]
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        for kind in (FOGDClassifier, NOGDClassifier):
            model = kind(Gaussian(gamma=1 / X.shape[1]), n_components=100, random_state=0)
            newton = clone(model).fit(X, y).n_mistakes_
            descent = clone(model).set_params(update="gradient")
            best = min(
                clone(descent).set_params(schedule=schedule, step=step).fit(X, y).n_mistakes_
                for schedule, steps in STEPS.items()
                for step in steps
            )
            work = f"{kind.__name__} {name}: {newton} mistakes of {len(X)}"
            yield Row(work, f"gradient at its best step: {best}", newton / 1e3, best / 1e3, 1.0)


def rows() -> Iterator[Row]:
    yield from rates()
    yield from hand_overs()
    if os.environ.get("MERCER_DATA"):
        yield from mistakes()
