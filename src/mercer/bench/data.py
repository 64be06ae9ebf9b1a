"""The papers' data sets, prepared as each paper says."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import normalize

from mercer._typing import Array
from mercer.bench.errors import MissingDataError

_WHERE = {
    "gisette": "the LIBSVM data page, and OpenML as 'gisette'",
    "cifar10": "the CIFAR-10 page of the University of Toronto, and OpenML as 'CIFAR_10'",
}


class Data(NamedTuple):
    """Rows and labels to train on, and to test on where there are any (else None)."""

    X: Array
    y: Array
    X_test: Array | None
    y_test: Array | None


def load(name: str) -> Data:
    """Return a data set of the folder named by ``MERCER_DATA``, or say which is missing and where it can be had."""
    folder = os.environ.get("MERCER_DATA")
    path = Path(folder or ".") / f"{name}.npz"
    if not folder or not path.is_file():
        where = _WHERE.get(name, "the LIBSVM data page or OpenML")
        seen = f"in MERCER_DATA={folder}" if folder else "(MERCER_DATA is not set)"
        raise MissingDataError(f"data set {name!r} is not here {seen}; it can be had from {where}")
    with np.load(path, allow_pickle=False) as arrays:
        names = set(arrays)
        if "X_train" in names and "X" not in names:
            return Data(*(arrays[key] for key in ("X_train", "y_train", "X_test", "y_test")))
        return Data(arrays["X"], arrays["y"], None, None)


def unit_rows(X: Any) -> Array:
    """Return the rows in float32, each divided by its length."""
    return np.asarray(normalize(np.asarray(X, dtype=np.float32)))
