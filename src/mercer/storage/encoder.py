"""From a model to JSON and arrays: a closed set of types, each written so that reading gives the same bits."""

import math
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer._typing import Array, Csr
from mercer.kernels import Kernel
from mercer.storage import foreign, registry
from mercer.storage.errors import ModelFileError
from mercer.storage.views import memory_of, root_of, view_of

# JSON: a value is None, a bool, an integer, a finite float, text, or an object with its "kind".
Node: TypeAlias = "bool | int | float | str | list[Node] | dict[str, Node] | None"

DEEPEST = 64
# The types of arrays in model files, by their names in safetensors; no others are written or read.
DTYPES = {
    np.dtype(dtype): name
    for dtype, name in {
        "f8": "F64",
        "f4": "F32",
        "f2": "F16",
        "i8": "I64",
        "i4": "I32",
        "i2": "I16",
        "i1": "I8",
        "u8": "U64",
        "u4": "U32",
        "u2": "U16",
        "u1": "U8",
        "?": "BOOL",
    }.items()
}

# The name of NumPy's type of objects, which no array of numbers in a file has.
OBJECT = "OBJECT"


class Encoder:
    """Collects the arrays of a model in ``tensors``, while ``encode`` returns the JSON that refers to them."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        # By identity. The array is kept, so that no other array gets its id.
        self._stored: dict[int, tuple[Array, Node]] = {}

    def encode(self, value: object, where: str, depth: int = 0) -> Node:  # noqa: PLR0911, PLR0912 - one line per type
        """Return the node of a value; ``where`` is the path to the value, for error messages."""
        if value is None or type(value) is bool or type(value) is int or type(value) is str:
            return value
        if depth > DEEPEST:
            raise ModelFileError(
                f"mercer.save: {where} is nested deeper than {DEEPEST} levels; no model file holds that."
            )
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        match value:
            case np.ndarray():
                return self._array(value, where)
            case np.generic():
                return {"kind": "scalar", "value": self._new_array(np.asarray(value), where)}
            case sparse.csr_matrix() | sparse.csr_array():
                return self._csr(value, where)
            case dict():
                return self._dict(value, where, depth)
            case list() | tuple() if type(value) in (list, tuple):  # a named tuple is a part
                items = [self.encode(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
                return {"kind": type(value).__name__, "items": items}
            case slice():
                return {"kind": "slice", "value": [value.start, value.stop, value.step]}
            case np.dtype():
                return {"kind": "dtype", "value": OBJECT if value.kind == "O" else _dtype(value, where)}
            case np.random.RandomState():
                return self._random_state(value, where)
            case Kernel():
                return self._kernel(value, where, depth)
            case BaseEstimator():
                return self._estimator(value, where, depth)
            case type() if issubclass(value, np.generic):
                return {"kind": "scalar type", "value": _dtype(np.dtype(value), where)}
        return self._part(value, where, depth)

    def _tensor(self, values: Array, where: str) -> str:
        dtype, name = values.dtype.newbyteorder("="), f"t{len(self.tensors)}"
        if dtype not in DTYPES:
            raise _refused_dtype(values.dtype, where)
        self.tensors[name] = values.astype(dtype, order="C", copy=False)
        return name

    def _array(self, value: Array, where: str) -> Node:
        if id(value) not in self._stored:
            self._stored[id(value)] = (value, self._new_array(value, where))
        return self._stored[id(value)][1]

    def share(self) -> None:
        """Write the memory of arrays that are views of one array once; call it after the last ``encode``."""
        views: dict[int, list[tuple[Array, Array, dict[str, Node]]]] = {}
        for value, node in self._stored.values():
            root = root_of(value) if isinstance(node, dict) and node["kind"] == "array" else None
            if root is not None and isinstance(node, dict):
                views.setdefault(id(root), []).append((root, value, node))
        for found in views.values():
            root = found[0][0]
            if len(found) > 1 and root.nbytes < sum(value.nbytes for _, value, _ in found):
                names = [str(node["tensor"]) for _, _, node in found]
                for name in names:
                    del self.tensors[name]
                self.tensors[names[0]] = memory_of(root)
                for _, value, node in found:
                    start, shape, strides = view_of(value, root)
                    node.clear()
                    node.update(kind="view", tensor=names[0], start=start, shape=list(shape), strides=list(strides))

    def _new_array(self, value: Array, where: str) -> Node:
        if value.dtype.kind == "O":
            if value.ndim == 1 and len(value) and all(isinstance(item, np.ndarray) for item in value):
                return {"kind": "arrays", "items": [self._array(item, where) for item in value]}
            values = [self._plain(item, where) for item in value.ravel().tolist()]
            return {"kind": "objects", "shape": list(value.shape), "values": values}
        if value.dtype.kind in "US":
            return self._text(value, where)
        # Axes from the widest stride to the narrowest: products of matrices round differently in another layout.
        axes = np.argsort(-np.abs(value.strides), kind="stable").tolist()
        tensor = self._tensor(np.asarray(value.transpose(axes), order="C"), where)
        if axes == sorted(axes):
            return {"kind": "array", "tensor": tensor}
        return {"kind": "array", "tensor": tensor, "axes": axes}

    def _plain(self, value: object, where: str) -> Node:
        if value is not None and not isinstance(value, bool | int | float | str | np.generic):
            raise ModelFileError(
                f"mercer.save: {where} is an array of objects that holds a {type(value).__name__}; a model file holds "
                "text, numbers and None there. Encode the labels first (sklearn.preprocessing.LabelEncoder)."
            )
        return self.encode(value, where)

    def _text(self, value: Array, where: str) -> Node:
        unit = np.dtype(np.uint32 if value.dtype.kind == "U" else np.uint8)
        length = max(1, value.dtype.itemsize // unit.itemsize)
        packed = np.ascontiguousarray(value, dtype=np.dtype(f"{value.dtype.kind}{length}"))
        codes = np.frombuffer(packed.tobytes(), dtype=unit).reshape(*value.shape, length)
        return {"kind": "text", "tensor": self._tensor(codes, where)}

    def _csr(self, value: Csr, where: str) -> Node:
        arrays = {name: self._array(getattr(value, name), where) for name in ("data", "indices", "indptr")}
        flavour = "matrix" if isinstance(value, sparse.csr_matrix) else "array"
        return {"kind": "csr", "flavour": flavour, "shape": [int(n) for n in value.shape], **arrays}

    def _dict(self, value: dict[object, object], where: str, depth: int) -> Node:
        items: list[Node] = [
            [self._plain(key, where), self.encode(item, f"{where}[{key!r}]", depth + 1)] for key, item in value.items()
        ]
        return {"kind": "dict", "items": items}

    def _random_state(self, value: np.random.RandomState, where: str) -> Node:
        state = value.get_state(legacy=False)
        if not isinstance(state, dict) or state["bit_generator"] != "MT19937":
            raise _refusal(value, where)
        inner = {"key": state["state"]["key"], "pos": state["state"]["pos"]}
        inner |= {"has_gauss": state["has_gauss"], "gauss": state["gauss"]}
        return {"kind": "random state", **{name: self.encode(item, where) for name, item in inner.items()}}

    def _kernel(self, value: Kernel, where: str, depth: int) -> Node:
        name, params = registry.name_of(type(value)), value.get_params(deep=False)
        if name is None:
            raise _refused_class(value, where)
        return {"kind": "kernel", "class": name, "fields": self._fields(params, where, depth)}

    def _estimator(self, value: BaseEstimator, where: str, depth: int) -> Node:
        value = foreign.with_named_columns(value)
        name, params = registry.name_of(type(value)), value.get_params(deep=False)
        if name is None:
            raise _refused_class(value, where)
        fields = self._fields(params, where, depth)
        own = {key: item for key, item in vars(value).items() if key not in params}
        return {"kind": "estimator", "class": name, "params": fields, "state": self._state(value, own, where, depth)}

    def _part(self, value: object, where: str, depth: int) -> Node:
        name = registry.name_of(type(value))
        if name is None or registry.part(name) is None:
            raise _refusal(value, where)
        # What a property has kept is made again after loading.
        own = {key: item for key, item in vars(value).items() if not _is_cached(value, key)}
        return {"kind": "part", "class": name, "state": self._state(value, own, where, depth)}

    def _state(self, value: object, own: dict[str, object], where: str, depth: int) -> Node:
        """Return the nodes of the attributes, by the names that the class declares for them."""
        declared = registry.stored_by(type(value))
        names = {kind.attribute or name: name for name, kind in declared.items()}
        for key in own:
            if key not in names:
                raise ModelFileError(
                    f"mercer.save: {where} has the attribute {key!r}, which is neither a parameter nor declared by its "
                    "class to be stored. Delete it."
                )
        nodes = self._fields({names[key]: item for key, item in own.items()}, where, depth)
        try:
            registry.check(value, declared)
        except ValueError as error:  # a file with this object could not be read
            raise ModelFileError(f"mercer.save: {where} is not as fit left it: {error}.") from error
        return nodes

    def _fields(self, values: dict[str, object], where: str, depth: int) -> Node:
        return {key: self.encode(item, f"{where}.{key}", depth + 1) for key, item in values.items()}


def _dtype(dtype: np.dtype[np.generic], where: str) -> str:
    if dtype.newbyteorder("=") not in DTYPES:
        raise _refused_dtype(dtype, where)
    return DTYPES[dtype.newbyteorder("=")]


def _is_cached(value: object, name: str) -> bool:
    return isinstance(getattr(type(value), name, None), cached_property)


def _refused_dtype(dtype: np.dtype[np.generic], where: str) -> ModelFileError:
    return ModelFileError(f"mercer.save: {where} has the dtype {dtype}, which a model file does not hold.")


def _refused_class(value: Kernel | BaseEstimator, where: str) -> ModelFileError:
    return ModelFileError(
        f"mercer.save: {where} is a {type(value).__name__}, a class that a model file cannot name: files hold "
        "mercer's estimators and kernels, and the transformers of scikit-learn that docs/howto/saving.md lists."
    )


def _refusal(value: object, where: str) -> ModelFileError:
    if callable(value):
        called = getattr(value, "__name__", type(value).__name__)
        return ModelFileError(
            f"mercer.save: {where} is a function ({called}), and a model file holds no code. Use one of mercer's "
            "kernels and functions by name, or keep the function and fit again where the model is used."
        )
    return ModelFileError(f"mercer.save: {where} is a {type(value).__name__}, which a model file does not hold.")
