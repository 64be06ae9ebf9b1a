"""The papers' data sets, from ``mercer.datasets``: a missing set ends the cells that need it, not the run."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from sklearn.preprocessing import normalize

from mercer._typing import Array
from mercer.bench.errors import MissingDataError
from mercer.datasets import Dataset, DatasetError, catalogue, prepare
from mercer.datasets import load as load_dataset


def load(name: str) -> Dataset:
    """Return a data set of the registry; the error names a missing set and its source."""
    found = _loaded(name)
    if isinstance(found, str):
        raise MissingDataError(found)
    return found


def prepared(paper: str, name: str, seed: int = 0) -> Dataset:
    """Return a data set as ``mercer.datasets`` prepares it for a paper; ``seed`` draws samples and splits."""
    return prepare(paper, name, load(name), random_state=seed)


def unit_rows(X: ArrayLike) -> Array:
    """Return the rows in float32, each divided by its length."""
    return np.asarray(normalize(np.asarray(X, dtype=np.float32)))


@lru_cache(maxsize=3)
def _loaded(name: str) -> Dataset | str:
    """Return the set, or why it is missing; cached, because a download without a network fails slowly."""
    try:
        return load_dataset(name)
    except DatasetError as fault:
        return f"{fault} Its source: {catalogue()[name].source}."
