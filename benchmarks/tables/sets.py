"""The tables: real ones from ``MERCER_DATA``, those that scikit-learn carries, and synthetic ones with a known truth.

Synthetic tables isolate one difficulty each. Their definitions were written before any learner saw them.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas
from sklearn import datasets as sklearn_datasets

from mercer.datasets import kernel_regression, load, rings

ROWS = 12_500  # tables are cut to this many rows, training and test part together
SYNTHETIC_ROWS = ROWS
_FLIGHTS = 200_000


@dataclass(frozen=True)
class Table:
    """A data frame, its target, and whether the target is a class."""

    name: str
    X: pandas.DataFrame
    y: np.ndarray
    classes: bool


def names() -> list[str]:
    """Return the tables that can be had here: the real ones need ``MERCER_DATA``."""
    return [*(REAL if "MERCER_DATA" in os.environ else ()), *BUILT_IN, *SYNTHETIC]


def table(name: str, rows: int = ROWS) -> Table:
    """Make one table. Rows are in random order, so that any prefix is a sample; another size is part of the name."""
    if name in REAL:
        X, y, classes = _real(name)
    else:
        X, y, classes = (BUILT_IN | SYNTHETIC)[name]()
    frame = X if isinstance(X, pandas.DataFrame) else pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    name = name if rows == ROWS else f"{name}, {len(order)} rows"
    return Table(name, frame.iloc[order].reset_index(drop=True), np.asarray(y)[order], classes)


Raw = tuple[np.ndarray | pandas.DataFrame, np.ndarray, bool]

REAL = {
    "california_housing": False,
    "uci_kin40k": False,
    "uci_protein": False,
    "letter": True,
    "ijcnn1": True,
    "covtype": True,
    "codrna": True,
    "a9a": True,
    "magic04": True,
    "usps": True,
    "pendigits": True,
    "nursery": True,
    "banana": True,
    "flights3m": False,
}


def _real(name: str) -> Raw:
    data = load(name, download=False).joined()
    if name == "nursery":  # its columns are names of categories, coded
        codes = np.asarray(data.X)
        return pandas.DataFrame({f"x{j}": [f"c{c}" for c in codes[:, j]] for j in range(codes.shape[1])}), data.y, True
    if name == "flights3m":
        return _flights(data.X, data.y)
    return np.asarray(data.X, dtype=np.float64), data.y, REAL[name]


def _flights(X: np.ndarray, y: np.ndarray) -> Raw:
    """Return a random part of the flights; the delay is cut at three hours."""
    rows = np.random.default_rng(1).permutation(len(y))[:_FLIGHTS]
    return np.asarray(X[rows], dtype=np.float64), np.clip(y[rows], -60, 180), False


def _from_sklearn(loader: Callable[..., tuple[pandas.DataFrame, pandas.Series]], classes: bool) -> Callable[[], Raw]:
    def made() -> Raw:
        X, y = loader(return_X_y=True, as_frame=True)
        return X, y.to_numpy(), classes

    return made


BUILT_IN: dict[str, Callable[[], Raw]] = {
    "diabetes": _from_sklearn(sklearn_datasets.load_diabetes, False),
    "digits": _from_sklearn(sklearn_datasets.load_digits, True),
    "breast_cancer": _from_sklearn(sklearn_datasets.load_breast_cancer, True),
}


def _smooth() -> Raw:
    data = kernel_regression(SYNTHETIC_ROWS, 6, noise=0.3, random_state=1)
    return data.X, data.y, False


def _additive() -> Raw:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (SYNTHETIC_ROWS, 10))
    parts = np.sin(np.pi * X * rng.uniform(0.5, 2, 10) + rng.uniform(0, 2 * np.pi, 10))
    return X, parts @ rng.standard_normal(10) + 0.5 * rng.standard_normal(len(X)), False


def _jumps() -> Raw:
    """Return a sum of thirty random boxes, each bounded in two columns: the home ground of trees."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 1, (SYNTHETIC_ROWS, 8))
    y = 0.3 * rng.standard_normal(len(X))
    for _ in range(30):
        one, other = rng.choice(8, 2, replace=False)
        inside = (X[:, one] > rng.uniform(0, 0.8)) & (X[:, other] < rng.uniform(0.2, 1))
        y += rng.standard_normal() * inside
    return X, y, False


def _irrelevant() -> Raw:
    data = kernel_regression(SYNTHETIC_ROWS, 5, noise=0.3, random_state=4)
    noise = np.random.default_rng(4).standard_normal((SYNTHETIC_ROWS, 45))
    return np.hstack([data.X, noise]), data.y, False


def _heavy_tails() -> Raw:
    data = kernel_regression(SYNTHETIC_ROWS, 6, noise=0, random_state=5)
    rng = np.random.default_rng(5)
    return np.sign(data.X) * np.expm1(2 * np.abs(data.X)), data.y + 0.3 * rng.standard_t(3, SYNTHETIC_ROWS), False


def _categories() -> tuple[pandas.DataFrame, np.ndarray]:
    """Return text of 1000, 100 and 10 levels with normal effects, three numbers, and one interaction."""
    rng = np.random.default_rng(6)
    levels = (1000, 100, 10)
    codes = [np.minimum(rng.geometric(3 / n, SYNTHETIC_ROWS) - 1, n - 1) for n in levels]
    numbers = rng.standard_normal((SYNTHETIC_ROWS, 3))
    y = sum(rng.standard_normal(n)[code] for n, code in zip(levels, codes, strict=True))
    y = y + np.sin(2 * numbers[:, 0]) + rng.standard_normal(10)[codes[2]] * numbers[:, 1]
    frame = pandas.DataFrame({f"text{n}": [f"level {c}" for c in code] for n, code in zip(levels, codes, strict=True)})
    return frame.join(pandas.DataFrame(numbers, columns=["a", "b", "c"])), y


def _many_levels() -> Raw:
    frame, y = _categories()
    return frame, y + np.random.default_rng(7).standard_normal(len(y)), False


def _many_levels_two_classes() -> Raw:
    frame, y = _categories()
    return frame, (y + np.random.default_rng(8).logistic(size=len(y)) > 0).astype(int), True


def _missing() -> Raw:
    """Return Friedman's first function; a cell is missing more often where its value is large."""
    X, y = sklearn_datasets.make_friedman1(SYNTHETIC_ROWS, noise=1.0, random_state=9)
    X[np.random.default_rng(9).uniform(size=X.shape) < 0.4 * X] = np.nan
    return X, y, False


def _noisy_rings() -> Raw:
    data = rings(SYNTHETIC_ROWS, 5, flip=0.2, random_state=10)
    return data.X, data.y, True


SYNTHETIC: dict[str, Callable[[], Raw]] = {
    "smooth": _smooth,
    "additive": _additive,
    "jumps": _jumps,
    "irrelevant columns": _irrelevant,
    "heavy tails": _heavy_tails,
    "many levels": _many_levels,
    "many levels, two classes": _many_levels_two_classes,
    "missing values": _missing,
    "noisy rings": _noisy_rings,
}
