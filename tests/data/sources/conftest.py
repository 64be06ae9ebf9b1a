"""The same few rows for every source: numbers, a column of text, labels and weights."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Given:
    """Rows of numbers X, labels y and a column of text; ``hole`` has a missing value in row 17, column 1."""

    X: np.ndarray
    y: np.ndarray
    text: np.ndarray
    hole: np.ndarray = field(repr=False)

    def table(self, X=None, dtype=np.float64):
        """The rows as named columns."""
        X = self.X if X is None else X
        columns = {name: pa.array(X[:, j].astype(dtype), from_pandas=True) for j, name in enumerate(NAMES)}
        return pa.table({**columns, "text": self.text, "target": self.y})


@pytest.fixture(scope="session")
def given():
    rng = np.random.RandomState(0)
    X = np.round(rng.standard_normal((23, 3)), 3)
    X[:, 2] = rng.randint(5, size=23)
    hole = X.copy()
    hole[17, 1] = np.nan
    return Given(
        X, rng.randint(2, size=23), np.array(["u", "v, w", 'x "y"'], dtype=object)[rng.randint(3, size=23)], hole
    )
