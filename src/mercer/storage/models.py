"""Save and load fitted models."""

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from sklearn.base import BaseEstimator

from mercer.kernels import Kernel
from mercer.state import Count, Many, Stored, Table, Text, check_stored
from mercer.storage import container
from mercer.storage.decoder import Decoder
from mercer.storage.encoder import Encoder, Node
from mercer.storage.errors import ModelFileError
from mercer.storage.files import atomic_file

_Path: TypeAlias = str | os.PathLike[str]
_Result = TypeVar("_Result")
_PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn", "safetensors")


def save(model: BaseEstimator | Kernel, path: _Path, *, overwrite: bool = True) -> None:
    """Write a model to a file that holds numbers and text, never code.

    The file appears whole or not at all: it is written under another name, synced to the disk and then renamed.

    Parameters
    ----------
    model : estimator or kernel
        Any estimator, map or kernel of mercer, fitted or not; or a ``Pipeline`` of these with the scalers,
        ``OneHotEncoder`` and ``SimpleImputer`` of scikit-learn. A model that holds a Python function is an error, which
        names the parameter.
    path : path, or binary file to write to
    overwrite : bool, default=True
        False: ``FileExistsError`` if the path exists.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.RandomState(0).rand(50, 3)
    >>> model = mercer.KernelRidge(mercer.Gaussian(gamma=1.0), random_state=0).fit(X, X.sum(axis=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(model, f"{folder}/model.mercer")
    ...     again = mercer.load(f"{folder}/model.mercer")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    data = dumps(model)
    if hasattr(path, "write"):
        path.write(data)
        return
    with atomic_file(path, overwrite=overwrite) as file:
        file.write(data)


def load(path: _Path | BinaryIO) -> Any:
    """Return the model of a file, with the same bits as saved, and so with the same predictions.

    A file that is cut short, changed, of another program or of another format raises ``ModelFileError``. A file never
    runs code: it holds numbers, text, and names from a fixed list of classes.

    Parameters
    ----------
    path : path, or binary file to read from
    """
    return _reading(path, _load)


def dumps(model: BaseEstimator | Kernel) -> bytes:
    """Return the bytes of a model file."""
    if not isinstance(model, BaseEstimator | Kernel):
        raise ModelFileError(f"mercer.save: model must be an estimator or a kernel, got a {type(model).__name__}.")
    encoder = Encoder()
    node = encoder.encode(model, type(model).__name__)
    encoder.share()
    about: dict[str, Node] = {
        "format": container.FORMAT,
        "versions": {**_versions()},
        **_description(model),
        "model": node,
    }
    return bytes(container.to_bytes(about, encoder.tensors))


def loads(data: bytes) -> Any:
    """Return the model of the bytes of a model file."""
    return load(io.BytesIO(data))


@dataclass(frozen=True)
class Description:
    """The description in a model file.

    Attributes
    ----------
    format : int
    versions : dict
        The versions of Python and of the packages that wrote the file.
    class_name : str
    parameters : dict
        The parameters, printed.
    kernel : str or None
        The kernel as an expression, with the values found in ``fit``.
    n_features_in, feature_names, classes
        The columns of the training rows, and the classes; None if the model has none.
    arrays : dict
        The types and shapes of the arrays, by name.
    n_bytes : int
    """

    _stored = Stored(
        format=Count(),
        versions=Table(Text(), Text()),
        class_name=Text(),
        parameters=Table(Text(), Text()),
        kernel=Text(nullable=True),
        n_features_in=Count(nullable=True),
        feature_names=Many(Text(), nullable=True),
        classes=Many(Text(), nullable=True),
    )

    format: int
    versions: dict[str, str]
    class_name: str
    parameters: dict[str, str]
    kernel: str | None
    n_features_in: int | None
    feature_names: list[str] | None
    classes: list[str] | None
    arrays: dict[str, str]
    n_bytes: int


def describe(path: _Path | BinaryIO) -> Description:
    """Return the description of a model file. The file is checked as by ``load``, but the model is not built."""

    def work(file: BinaryIO) -> Description:
        about, tensors = container.read(file)
        arrays = {name: f"{values.dtype}{list(values.shape)}" for name, values in tensors.items()}
        n_bytes = sum(values.nbytes for values in tensors.values())
        said: dict[str, Any] = {name: value for name, value in about.items() if name != "model"}
        description = Description(**said, arrays=arrays, n_bytes=n_bytes)
        check_stored(description)
        return description

    return _reading(path, work)


def _load(file: BinaryIO) -> Any:
    about, tensors = container.read(file)
    return Decoder(tensors).model(about["model"])


def _reading(path: _Path | BinaryIO, work: Callable[[BinaryIO], _Result]) -> _Result:
    """Run ``work`` on a file, given by its path or open."""
    if isinstance(path, str | os.PathLike):
        with Path(path).open("rb") as file:
            return _read(file, os.fspath(path), work)
    if not hasattr(path, "read"):
        raise TypeError(f"path must be a path or a binary file to read from, got {path!r}.")
    return _read(path, getattr(path, "name", "the model file"), work)


def _read(file: BinaryIO, name: str, work: Callable[[BinaryIO], _Result]) -> _Result:
    """Run ``work``; any error about the contents of the file becomes a ``ModelFileError`` with the file's name."""
    try:
        return work(file)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}.") from error.__cause__
    except (OSError, MemoryError):
        raise
    except Exception as error:  # the error of a constructor about a value that no fit sets
        raise ModelFileError(f"{name}: it does not hold a sound model: {error}") from error


@cache
def _versions() -> dict[str, str]:
    return {"python": sys.version.split()[0], **{name: version(name) for name in _PACKAGES}}


def _description(model: BaseEstimator | Kernel) -> dict[str, Node]:
    kernel = _kernel_of(model)
    parameters = {} if isinstance(model, Kernel) else model.get_params(deep=False)
    names, classes = getattr(model, "feature_names_in_", None), getattr(model, "classes_", None)
    width = getattr(model, "n_features_in_", None)
    return {
        "class_name": type(model).__name__,
        "parameters": {name: repr(value) for name, value in parameters.items()},
        "kernel": None if kernel is None else repr(kernel),
        "n_features_in": None if width is None else int(width),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": None if classes is None else [str(name) for name in classes],
    }


def _kernel_of(model: BaseEstimator | Kernel) -> Kernel | None:
    """Return the kernel of a model; the resolved kernel if the model is fitted."""
    if isinstance(model, Kernel):
        return model
    last = model.steps[-1][1] if getattr(model, "steps", None) else model
    found = [getattr(holder, "kernel_", None) for holder in (last, getattr(last, "feature_map_", None))]
    found.append(getattr(last, "kernel", None))
    return next((kernel for kernel in found if isinstance(kernel, Kernel)), None)
