"""Find a data set: in the folder named by ``MERCER_DATA``, in the cache, or at OpenML."""

import hashlib
import os
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from mercer._typing import Array
from mercer.datasets import openml
from mercer.datasets.catalogue import DatasetInfo, catalogue
from mercer.datasets.dataset import Dataset, from_arrays
from mercer.datasets.errors import DatasetError
from mercer.storage import atomic_file


def load(name: str, *, download: bool = True, verify: bool = True) -> Dataset:
    """Return a data set by its name, or by an alias such as ``"adult"``.

    The file NAME.npz is read from the folder named by ``MERCER_DATA``, else from the cache (``cache_folder()``). Else
    the set is downloaded with scikit-learn's OpenML client and kept in the cache. Rows are as the ``recipe`` of the
    registry says, unscaled; ``prepare`` scales, samples and splits them as a paper does.

    Parameters
    ----------
    name : str
    download : bool, default=True
        False: never use the network.
    verify : bool, default=True
        Compare the SHA-256 of the file, and the numbers of rows, columns and rows per class, with the registry.

    Returns
    -------
    Dataset
    """
    try:
        info = catalogue()[name]
    except KeyError as error:
        raise DatasetError(f"mercer.datasets: {error.args[0]}") from None
    path = find(info)
    if path is None and not download:
        raise DatasetError(
            f"data set {info.name!r} is neither in the folder named by MERCER_DATA ({os.environ.get('MERCER_DATA')}) "
            f"nor in the cache ({cache_folder()}), and download=False."
        )
    arrays = _downloaded(info) if path is None else _read(info, path, verify)
    data = from_arrays(info, arrays)
    if verify:
        check(data)
    return data


def find(info: DatasetInfo) -> Path | None:
    """Return the file of a data set on this machine, or None."""
    given = os.environ.get("MERCER_DATA")
    folders = ([Path(given)] if given else []) + [cache_folder()]
    paths = (folder / f"{info.file}.npz" for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def cache_folder() -> Path:
    """Return the folder of downloaded data sets: ``MERCER_CACHE``, or ``mercer`` in the user's cache folder."""
    own = os.environ.get("MERCER_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mercer"


def check(data: Dataset) -> None:
    """Refuse a data set whose rows, columns or classes are not those of the registry."""
    info = data.info
    for part, X, y, n in (("train", data.X, data.y, info.n_train), ("test", data.X_test, data.y_test, info.n_test)):
        if y is None:
            continue
        width = getattr(X, "shape", (n, info.n_features))[1]
        if len(y) != n or (info.n_features and width != info.n_features):
            raise DatasetError(
                f"data set {info.name!r}: the {part} part has {len(y)} rows and {width} columns, and the registry says "
                f"{n} and {info.n_features}. Pass verify=False to take it as it is."
            )
        expected = info.counts.get(part)
        found = np.unique(y, return_counts=True)[1].tolist() if expected else None
        if found != expected:
            raise DatasetError(
                f"data set {info.name!r}: the classes of the {part} part have {found} rows, and the registry says "
                f"{expected}. Pass verify=False to take it as it is."
            )


def _read(info: DatasetInfo, path: Path, verify: bool) -> dict[str, Array]:
    known = info.sha256
    if path.parent == cache_folder():
        checksum = path.with_suffix(".sha256")
        known = checksum.read_text().strip() if checksum.is_file() else None
    if verify and known is not None and _digest(path) != known:
        raise DatasetError(
            f"data set {info.name!r}: {path} is not the file that the registry knows (its SHA-256 differs). Delete it, "
            "or pass verify=False to take it as it is."
        )
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays}
    except (ValueError, EOFError, BadZipFile) as error:
        raise DatasetError(f"data set {info.name!r}: {path} cannot be read: {error}.") from error


def _downloaded(info: DatasetInfo) -> dict[str, Array]:
    arrays = openml.fetch(info)
    check(from_arrays(info, arrays))
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{info.file}.npz"
    with atomic_file(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    with atomic_file(path.with_suffix(".sha256")) as file:
        file.write(_digest(path).encode())
    return arrays


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
