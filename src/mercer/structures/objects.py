"""From what users have to a list of objects, and the words of errors that name one of them."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from mercer.validation import row_number


def as_list(owner: str, name: str, X: Any, what: str) -> Sequence[object]:
    """Return the objects of a list, an array, a column of a data frame or an Arrow array."""
    if isinstance(X, list | tuple):
        return X
    if isinstance(X, str | bytes):
        raise ValueError(f"{owner}: {name} is one string; it must be a list of {what}. Write [{name}] for one object.")
    if hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2 and X.shape[1] == 1:  # a frame of one column
        X = X[X.columns[0]]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, method):
            listed = getattr(X, method)()
            if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1:
                listed = [row[0] for row in listed]
            if isinstance(listed, list):
                return listed
    raise ValueError(f"{owner}: {name} must be a list of {what}, got {_kind(X)}.")


def refuse(owner: str, name: str, i: int, rule: str, found: object, way_out: str) -> ValueError:
    """Return the error of an object that breaks a rule."""
    shown = found if isinstance(found, str) else _kind(found)
    return ValueError(f"{owner}: {name}[{row_number(i)}] {rule}, got {shown}. {way_out}")


def label_number(label: object) -> int | None:
    """Return the number of a label: an integer itself, text by a hash that is the same everywhere; None for others.

    >>> label_number(7), label_number(0.5)
    (7, None)
    """
    if isinstance(label, bool | np.bool_):
        return int(label)
    if isinstance(label, int | np.integer):
        return int(label) if -(2**63) <= int(label) < 2**63 else None
    if isinstance(label, str | bytes):
        return text_number(label)
    return None


def text_number(text: str | bytes) -> int:
    """Return a number of 62 bits for a text: two texts of a million meet with probability 2^-23."""
    encoded = text.encode() if isinstance(text, str) else text
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little") >> 2


def _kind(value: object) -> str:
    text = repr(value)
    kind = type(value).__name__
    return f"{kind} {text}" if len(text) <= 40 else kind
