"""Data sets from OpenML, turned into the arrays that their files in ``MERCER_DATA`` hold."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from mercer._typing import Array
from mercer.datasets.catalogue import DatasetInfo
from mercer.datasets.errors import DatasetError

_NURSERY = {  # UCI's lists of values, in UCI's order
    "parents": ["usual", "pretentious", "great_pret"],
    "has_nurs": ["proper", "less_proper", "improper", "critical", "very_crit"],
    "form": ["complete", "completed", "incomplete", "foster"],
    "children": ["1", "2", "3", "more"],
    "housing": ["convenient", "less_conv", "critical"],
    "finance": ["convenient", "inconv"],
    "social": ["nonprob", "slightly_prob", "problematic"],
    "health": ["recommended", "priority", "not_recom"],
}
_NURSERY_CLASSES = ["not_recom", "recommend", "very_recom", "priority", "spec_prior"]


def fetch(info: DatasetInfo) -> dict[str, Array]:
    """Download a data set with scikit-learn's client and return its arrays."""
    if info.openml is None:
        raise DatasetError(
            f"data set {info.name!r} is not at OpenML. Get it from its source ({info.source}) and put {info.file}.npz "
            "in the folder named by MERCER_DATA."
        )
    try:
        bunch = fetch_openml(data_id=info.openml["id"], as_frame=False, parser="liac-arff")
    except OSError as error:
        raise DatasetError(
            f"data set {info.name!r} could not be downloaded from OpenML (number {info.openml['id']}): {error}. "
            f"Without a network put {info.file}.npz in the folder named by MERCER_DATA."
        ) from error
    found = str(bunch.details.get("name", ""))
    if found.lower() != info.openml["name"].lower():
        raise DatasetError(f"OpenML's number {info.openml['id']} is {found!r}, not {info.openml['name']!r}.")
    return arrays_of(info, bunch)


def arrays_of(info: DatasetInfo, bunch: Bunch) -> dict[str, Array]:
    """Return the arrays of a data set, cut into its parts, from what OpenML gave."""
    X = bunch.data.toarray() if sparse.issparse(bunch.data) else np.asarray(bunch.data)
    y = np.asarray(bunch.target)
    recipe = _RECIPES.get(info.name)
    arrays = recipe(X, y, bunch) if recipe else {"X": X, "y": y.astype(np.float64).astype(np.int8)}
    if not info.n_test:
        return arrays
    if len(arrays["X"]) < info.n_train + info.n_test:
        raise DatasetError(
            f"OpenML's {info.name} has {len(arrays['X'])} rows, fewer than the {info.shape[0]} expected."
        )
    parts = {"train": slice(0, info.n_train), "test": _test_rows(info, len(arrays["X"]))}
    return {f"{name}_{part}": arrays[name][rows] for part, rows in parts.items() for name in ("X", "y")}


def _test_rows(info: DatasetInfo, n_rows: int) -> slice:
    """Return where the test rows are: after the training rows, but last for IJCNN, which has some of them twice."""
    start = n_rows - info.n_test if info.name == "ijcnn1" else info.n_train
    return slice(start, start + info.n_test)


def _integers(
    dtype: DTypeLike, label_dtype: DTypeLike = np.uint8, shift: int = 0
) -> Callable[[Array, Array, Bunch], dict[str, Array]]:
    return lambda X, y, bunch: {"X": X.astype(dtype), "y": (y.astype(np.float64) - shift).astype(label_dtype)}


def _banana(X: Array, y: Array, bunch: Bunch) -> dict[str, Array]:
    return {"X": X.astype(np.float32), "y": np.where(y.astype(np.float64) == 1, -1, 1).astype(np.int8)}


def _letter(X: Array, y: Array, bunch: Bunch) -> dict[str, Array]:
    raise DatasetError(
        "data set 'letter' is at OpenML in UCI's order only, and the papers use LIBSVM's split, which shuffles it. Put "
        "letter.npz in the folder named by MERCER_DATA, or take sklearn.datasets.fetch_openml(data_id=6)."
    )


def _magic(X: Array, y: Array, bunch: Bunch) -> dict[str, Array]:
    return {"X": X.astype(np.float32), "y": np.isin(y, ["g", "gamma", "0"]).astype(np.uint8)}


def _nursery(X: Array, y: Array, bunch: Bunch) -> dict[str, Array]:
    codes = np.empty(X.shape, dtype=np.uint8)
    for j, (name, values) in enumerate(_NURSERY.items()):
        given = [str(value) for value in bunch.categories[name]]
        codes[:, j] = np.array([values.index(value) for value in given])[X[:, j].astype(int)]
    columns = [codes[:, j, None] == np.arange(len(values)) for j, values in enumerate(_NURSERY.values())]
    labels = np.array([_NURSERY_CLASSES.index(str(value)) for value in y], dtype=np.uint8)
    onehot = np.hstack(columns).astype(np.uint8)
    return {"X": codes, "X_onehot": onehot, "y": labels, "classes": np.array(_NURSERY_CLASSES)}


_RECIPES: dict[str, Callable[[Array, Array, Bunch], dict[str, Array]]] = {
    "a9a": _integers(np.uint8, np.int8),
    "banana": _banana,
    "cifar10": _integers(np.uint8),
    "codrna": _integers(np.float32, np.int8),
    "covtype": _integers(np.int16),
    "gisette": _integers(np.int16, np.int8),
    "ijcnn1": _integers(np.float32, np.int8),
    "letter": _letter,
    "magic04": _magic,
    "mnist": _integers(np.uint8),
    "nursery": _nursery,
    "pendigits": _integers(np.uint8),
    "usps": _integers(np.float32, np.uint8, 1),
}
