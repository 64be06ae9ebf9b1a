"""From JSON and arrays back to a model. Nothing in a file is trusted: names, shapes, types and depth are checked."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer._typing import Array, Csr
from mercer.kernels import Kernel
from mercer.state import LARGEST_DEGREE
from mercer.storage import registry
from mercer.storage.encoder import DEEPEST, DTYPES, OBJECT, Node
from mercer.storage.errors import ModelFileError
from mercer.storage.views import View, viewed
from mercer.validation import check_csr

_Fields: TypeAlias = dict[str, Node]
_Class = TypeVar("_Class")
_DTYPE_OF = {name: dtype for dtype, name in DTYPES.items()}
_FLOATS = {"nan", "inf", "-inf"}
_LAST_CODE_POINT = 0x10FFFF


def tensor(dtype: str, shape: list[int], data: bytes | bytearray) -> Array:
    """Return the array of a tensor of a safetensors file."""
    if dtype not in _DTYPE_OF:
        raise ModelFileError(f"an array has the type {dtype}, which model files do not hold")
    values: Array = np.frombuffer(bytearray(data), dtype=_DTYPE_OF[dtype]).reshape(shape)
    if dtype == "BOOL" and values.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError("an array of truth values holds something else")
    return values


class Decoder:
    """Builds the objects of nodes from the arrays of one file."""

    def __init__(self, tensors: dict[str, Array]):
        self._tensors = tensors
        self._unused = set(tensors)
        self._arrays: dict[tuple[str, tuple[int, ...]], Array] = {}
        self._views: dict[tuple[object, ...], Array] = {}
        self._readers: dict[str, Callable[[_Fields, int], object]] = {
            "array": self._array,
            "arrays": self._array_of_arrays,
            "csr": self._csr,
            "dict": self._dict,
            "dtype": lambda node, depth: np.dtype(object) if node["value"] == OBJECT else _dtype(node["value"]),
            "estimator": self._estimator,
            "float": _special_float,
            "kernel": self._kernel,
            "list": self._items,
            "objects": self._objects,
            "part": self._part,
            "random state": self._random_state,
            "scalar": self._scalar,
            "scalar type": lambda node, depth: _dtype(node["value"]).type,
            "slice": _slice,
            "text": self._text,
            "view": self._view,
            "tuple": lambda node, depth: tuple(self._items(node, depth)),
        }

    def model(self, node: Node) -> BaseEstimator | Kernel:
        """Return the estimator or kernel that a whole file holds."""
        value = self._decode(node, 0)
        if not isinstance(value, BaseEstimator | Kernel):
            raise ModelFileError("it holds no estimator or kernel")
        if self._unused:
            raise ModelFileError("it holds arrays that the model does not use")
        return value

    def _decode(self, node: Node, depth: int) -> object:
        if depth > DEEPEST:
            raise ModelFileError(f"it is nested deeper than {DEEPEST} levels")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        kind = node.get("kind") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(kind, str) or kind not in self._readers:
            raise ModelFileError("it holds a kind of value that is not known here")
        return self._readers[kind](node, depth + 1)

    def _tensor(self, name: Node) -> tuple[str, Array]:
        if not isinstance(name, str) or name not in self._tensors:
            raise ModelFileError("it refers to an array that is not there")
        self._unused.discard(name)
        return name, self._tensors[name]

    def _array(self, node: _Fields, depth: int) -> Array:
        name, stored = self._tensor(node["tensor"])
        axes = tuple(_integers(node["axes"]) if "axes" in node else range(stored.ndim))
        if sorted(axes) != list(range(stored.ndim)):
            raise ModelFileError("the axes of an array are no permutation")
        key = (name, axes)
        if key not in self._arrays:  # attributes that were one array are one array again
            self._arrays[key] = stored.transpose(np.argsort(axes)) if axes else stored
        return self._arrays[key]

    def _view(self, node: _Fields, depth: int) -> Array:
        name, stored = self._tensor(node["tensor"])
        place = [_integers(node[part] if part != "start" else [node[part]]) for part in ("start", "shape", "strides")]
        key = (name, *map(tuple, place))
        if key not in self._views:
            (start,), shape, strides = place
            if stored.ndim != 1:
                raise ModelFileError("the memory of a view is not a vector")
            self._views[key] = viewed(stored, View(start, tuple(shape), tuple(strides)))
        return self._views[key]

    def _array_of_arrays(self, node: _Fields, depth: int) -> Array:
        items = self._items(node, depth)
        if not items or not all(isinstance(item, np.ndarray) for item in items):
            raise ModelFileError("an array of arrays holds something else")
        values = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            values[i] = item
        return values

    def _scalar(self, node: _Fields, depth: int) -> object:
        value = self._decode(node["value"], depth)
        if not isinstance(value, np.ndarray) or value.ndim:
            raise ModelFileError("a scalar has a shape")
        return value[()]

    def _text(self, node: _Fields, depth: int) -> Array:
        codes = np.ascontiguousarray(self._tensor(node["tensor"])[1])
        kind = {"uint32": "U", "uint8": "S"}.get(codes.dtype.name)
        if kind is None or codes.ndim == 0 or codes.shape[-1] == 0 or codes.max(initial=0) > _LAST_CODE_POINT:
            raise ModelFileError("an array of text holds something else")
        values: Array = np.frombuffer(codes.tobytes(), dtype=np.dtype(f"{kind}{codes.shape[-1]}"))
        return values.reshape(codes.shape[:-1]).copy()

    def _objects(self, node: _Fields, depth: int) -> Array:
        items = _list(node["values"])
        values = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            values[i] = self._plain(item, depth)
        return values.reshape(_integers(node["shape"]))

    def _plain(self, node: Node, depth: int) -> object:
        value = self._decode(node, depth)
        if value is not None and not isinstance(value, bool | int | float | str | np.generic):
            raise ModelFileError("an array of objects holds more than text and numbers")
        return value

    def _csr(self, node: _Fields, depth: int) -> Csr:
        parts = [self._decode(node[name], depth) for name in ("data", "indices", "indptr")]
        data, indices, indptr = (part for part in parts if isinstance(part, np.ndarray))
        if any(part.dtype not in (np.int32, np.int64) or part.ndim != 1 for part in (indices, indptr)):
            raise ModelFileError("the indices of a sparse matrix are not integers")
        make = sparse.csr_matrix if node["flavour"] == "matrix" else sparse.csr_array
        values = make((data, indices, indptr), shape=tuple(_integers(node["shape"])))
        check_csr("a model file", "a sparse matrix", values)
        return values

    def _dict(self, node: _Fields, depth: int) -> dict[object, object]:
        pairs = [_list(pair) for pair in _list(node["items"])]
        return {self._plain(key, depth): self._decode(item, depth) for key, item in pairs}

    def _items(self, node: _Fields, depth: int) -> list[object]:
        return [self._decode(item, depth) for item in _list(node["items"])]

    def _fields(self, node: Node, depth: int) -> dict[str, object]:
        if not isinstance(node, dict):
            raise ModelFileError("the attributes of an object have no names")
        return {name: self._decode(item, depth) for name, item in node.items()}

    def _kernel(self, node: _Fields, depth: int) -> Kernel:
        values = self._fields(node["fields"], depth)
        if any(isinstance(value, int) and value > LARGEST_DEGREE for value in values.values()):
            raise ModelFileError(f"it holds a kernel of a degree above {LARGEST_DEGREE}")
        return _known(registry.kernel, node["class"])(**values)

    def _estimator(self, node: _Fields, depth: int) -> object:
        cls = _known(registry.estimator, node["class"])
        value = cls(**self._fields(node["params"], depth))  # constructors store and do nothing else
        return self._with_state(value, node, depth)

    def _part(self, node: _Fields, depth: int) -> object:
        return self._with_state(object.__new__(_known(registry.part, node["class"])), node, depth)

    def _with_state(self, value: object, node: _Fields, depth: int) -> object:
        """Set the attributes that the class declares, and check that ``fit`` could have set them."""
        declared = registry.stored_by(type(value))
        for name, item in self._fields(node["state"], depth).items():
            attribute = (declared[name].attribute or name) if name in declared else None
            if attribute is None or attribute in vars(value):
                raise ModelFileError(f"it sets the attribute {name!r} of {node['class']}, which fit does not")
            object.__setattr__(value, attribute, item)
        registry.check(value, declared)
        return value

    def _random_state(self, node: _Fields, depth: int) -> np.random.RandomState:
        key, *numbers = (self._decode(node[name], depth) for name in ("key", "pos", "has_gauss", "gauss"))
        pos, has_gauss, gauss = (number for number in numbers if isinstance(number, int | float | np.number))
        if not isinstance(key, np.ndarray) or key.dtype != np.uint32 or key.shape != (624,) or not 0 <= pos <= 624:
            raise ModelFileError("the state of a random generator is not one")
        value = np.random.RandomState()
        gauss_state = {"has_gauss": int(has_gauss), "gauss": float(gauss)}
        value.set_state({"bit_generator": "MT19937", "state": {"key": key, "pos": int(pos)}, **gauss_state})
        return value


def _known(look_up: Callable[[str], _Class | None], name: Node) -> _Class:
    found = look_up(name) if isinstance(name, str) else None
    if found is None:
        raise ModelFileError(f"it names the class {name!r}, which is not in the registry of this mercer")
    return found


def _list(node: Node) -> list[Node]:
    if not isinstance(node, list):
        raise ModelFileError("a list is not one")
    return node


def _integers(node: Node) -> list[int]:
    numbers = [number for number in _list(node) if type(number) is int]
    if numbers != node:
        raise ModelFileError("a shape or an order of axes does not hold integers")
    return numbers


def _dtype(name: Node) -> np.dtype[np.generic]:
    if not isinstance(name, str) or name not in _DTYPE_OF:
        raise ModelFileError(f"it names the type {name!r}, which model files do not hold")
    return _DTYPE_OF[name]


def _special_float(node: _Fields, depth: int) -> float:
    text = node["value"]
    if not isinstance(text, str) or text not in _FLOATS:
        raise ModelFileError("a number is not one")
    return float(text)


def _slice(node: _Fields, depth: int) -> slice:
    ends = _list(node["value"])
    if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
        raise ModelFileError("a slice is not one")
    return slice(*ends)
