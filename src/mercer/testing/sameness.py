"""Whether two values of any kind are the same, bit by bit: the comparison behind laws about whole estimators."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer._typing import Array


def assert_same(one: Any, other: Any, path: str = "value") -> None:
    """Assert that two values and all values inside them are the same: types, and bits and memory order of arrays.

    Parameters
    ----------
    one, other : any
        Numbers, text, arrays, CSR matrices, lists, dicts, kernels, estimators, and objects that hold such values.
    path : str
        What to call the values in a message.
    """
    assert type(one) is type(other), f"{path}: {type(one).__name__} and {type(other).__name__}"
    if one is other:
        return
    if isinstance(one, np.ndarray):
        _assert_same_array(one, other, path)
    elif isinstance(one, float | np.floating):
        assert one == other or (np.isnan(one) and np.isnan(other)), f"{path}: {one!r} and {other!r}"
    elif isinstance(one, dict):
        assert set(one) == set(other), f"{path}: {sorted(map(str, set(one) ^ set(other)))} in one of them only"
        for key, value in one.items():
            assert_same(value, other[key], f"{path}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), f"{path}: {len(one)} and {len(other)} members"
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{path}[{i}]")
    elif (held := _held(one)) is not None:
        theirs = _held(other)
        assert theirs is not None
        assert set(held) == set(theirs), f"{path}: {sorted(set(held) ^ set(theirs))} in one of them only"
        for name, value in held.items():
            assert_same(value, theirs[name], f"{path}.{name}")
    else:
        assert one == other, f"{path}: {one!r} and {other!r}"


def _held(value: object) -> dict[str, object] | None:
    """Return the attributes of an object by name; None if it has none."""
    if isinstance(value, type) or callable(value):  # a class or a function is itself
        return None
    if isinstance(value, np.random.RandomState):
        return dict(value.get_state(legacy=False))
    if sparse.issparse(value):
        return {name: getattr(value, name) for name in ("data", "indices", "indptr", "shape")}
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value.__dict__) if hasattr(value, "__dict__") else None


def _assert_same_array(one: Array, other: Array, path: str) -> None:
    assert one.dtype == other.dtype, f"{path}: {one.dtype} and {other.dtype}"
    assert one.shape == other.shape, f"{path}: shapes {one.shape} and {other.shape}"
    order = [(flags.c_contiguous, flags.f_contiguous) for flags in (one.flags, other.flags)]
    assert order[0] == order[1], f"{path}: the orders in memory differ, and products round by order"
    if one.dtype == object:
        assert_same(one.tolist(), other.tolist(), path)
    else:
        assert one.tobytes() == other.tobytes(), f"{path}: the values differ"
