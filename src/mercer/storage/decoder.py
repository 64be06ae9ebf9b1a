"""From JSON and arrays back to a model. Nothing in a file is trusted: names, shapes, types and depth are checked."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer._typing import Array
from mercer.kernels import Kernel
from mercer.state import LARGEST_DEGREE
from mercer.storage import registry
from mercer.storage.encoder import DEEPEST, DTYPES, Node
from mercer.storage.errors import ModelFileError
from mercer.validation import check_csr

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
        self._readers: dict[str, Callable[[Node, int], Any]] = {
            "array": self._array,
            "csr": self._csr,
            "dict": self._dict,
            "dtype": lambda node, depth: _dtype(node["value"]),
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
            "tuple": lambda node, depth: tuple(self._items(node, depth)),
        }

    def model(self, node: Node) -> Any:
        """Return the estimator or kernel that a whole file holds."""
        value = self._decode(node, 0)
        if not isinstance(value, BaseEstimator | Kernel):
            raise ModelFileError("it holds no estimator or kernel")
        if self._unused:
            raise ModelFileError("it holds arrays that the model does not use")
        return value

    def _decode(self, node: Node, depth: int) -> Any:
        if depth > DEEPEST:
            raise ModelFileError(f"it is nested deeper than {DEEPEST} levels")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict) or node.get("kind") not in self._readers:
            raise ModelFileError("it holds a kind of value that is not known here")
        return self._readers[node["kind"]](node, depth + 1)

    def _tensor(self, name: Any) -> Array:
        if not isinstance(name, str) or name not in self._tensors:
            raise ModelFileError("it refers to an array that is not there")
        self._unused.discard(name)
        return self._tensors[name]

    def _array(self, node: Node, depth: int) -> Array:
        stored = self._tensor(node["tensor"])
        axes = tuple(node.get("axes", range(stored.ndim)))
        if sorted(axes) != list(range(stored.ndim)):
            raise ModelFileError("the axes of an array are no permutation")
        key = (node["tensor"], axes)
        if key not in self._arrays:  # attributes that were one array are one array again
            self._arrays[key] = stored.transpose(np.argsort(axes)) if axes else stored
        return self._arrays[key]

    def _scalar(self, node: Node, depth: int) -> Any:
        value = self._decode(node["value"], depth)
        if not isinstance(value, np.ndarray) or value.ndim:
            raise ModelFileError("a scalar has a shape")
        return value[()]

    def _text(self, node: Node, depth: int) -> Array:
        codes = np.ascontiguousarray(self._tensor(node["tensor"]))
        kind = {"uint32": "U", "uint8": "S"}.get(codes.dtype.name)
        if kind is None or codes.ndim == 0 or codes.shape[-1] == 0 or codes.max(initial=0) > _LAST_CODE_POINT:
            raise ModelFileError("an array of text holds something else")
        values: Array = np.frombuffer(codes.tobytes(), dtype=np.dtype(f"{kind}{codes.shape[-1]}"))
        return values.reshape(codes.shape[:-1]).copy()

    def _objects(self, node: Node, depth: int) -> Array:
        values = np.empty(len(node["values"]), dtype=object)
        for i, item in enumerate(node["values"]):
            values[i] = self._plain(item, depth)
        return values.reshape(node["shape"])

    def _plain(self, node: Node, depth: int) -> Any:
        value = self._decode(node, depth)
        if value is not None and not isinstance(value, bool | int | float | str | np.generic):
            raise ModelFileError("an array of objects holds more than text and numbers")
        return value

    def _csr(self, node: Node, depth: int) -> Any:
        data, indices, indptr = (self._decode(node[name], depth) for name in ("data", "indices", "indptr"))
        flavours = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}
        if any(part.dtype not in (np.int32, np.int64) or part.ndim != 1 for part in (indices, indptr)):
            raise ModelFileError("the indices of a sparse matrix are not integers")
        values = flavours[node["flavour"]]((data, indices, indptr), shape=tuple(node["shape"]))
        check_csr("a model file", "a sparse matrix", values)
        return values

    def _dict(self, node: Node, depth: int) -> dict[Any, Any]:
        return {self._plain(key, depth): self._decode(item, depth) for key, item in node["items"]}

    def _items(self, node: Node, depth: int) -> list[Any]:
        return [self._decode(item, depth) for item in node["items"]]

    def _fields(self, node: Node, depth: int) -> dict[str, Any]:
        return {name: self._decode(item, depth) for name, item in node.items()}

    def _kernel(self, node: Node, depth: int) -> Kernel:
        values = self._fields(node["fields"], depth)
        if any(isinstance(value, int) and value > LARGEST_DEGREE for value in values.values()):
            raise ModelFileError(f"it holds a kernel of a degree above {LARGEST_DEGREE}")
        kernel: Kernel = _known(registry.kernel, node["class"])(**values)
        return kernel

    def _estimator(self, node: Node, depth: int) -> Any:
        cls = _known(registry.estimator, node["class"])
        value = cls(**self._fields(node["params"], depth))  # constructors store and do nothing else
        return self._with_state(value, node, depth)

    def _part(self, node: Node, depth: int) -> Any:
        return self._with_state(object.__new__(_known(registry.part, node["class"])), node, depth)

    def _with_state(self, value: Any, node: Node, depth: int) -> Any:
        """Set the attributes that the class declares, and see that they are what its ``fit`` sets."""
        declared = registry.stored_by(type(value))
        for name, item in self._fields(node["state"], depth).items():
            kind = declared.get(name)
            attribute = name if kind is None or kind.attribute is None else kind.attribute
            if kind is None or attribute in vars(value):
                raise ModelFileError(f"it sets the attribute {name!r} of {node['class']}, which fit does not")
            object.__setattr__(value, attribute, item)
        registry.check(value)
        return value

    def _random_state(self, node: Node, depth: int) -> np.random.RandomState:
        value = np.random.RandomState()
        inner = {name: self._decode(node[name], depth) for name in ("key", "pos", "has_gauss", "gauss")}
        state = {"key": inner["key"], "pos": int(inner["pos"])}
        if state["key"].dtype != np.uint32 or state["key"].shape != (624,) or not 0 <= state["pos"] <= 624:
            raise ModelFileError("the state of a random generator is not one")
        gauss = {"has_gauss": int(inner["has_gauss"]), "gauss": float(inner["gauss"])}
        value.set_state({"bit_generator": "MT19937", "state": state, **gauss})
        return value


def _known(look_up: Callable[[str], Any], name: Any) -> Any:
    found = look_up(name) if isinstance(name, str) else None
    if found is None:
        raise ModelFileError(f"it names the class {name!r}, which is not in the registry of this mercer")
    return found


def _dtype(name: Any) -> Any:
    if name not in _DTYPE_OF:
        raise ModelFileError(f"it names the type {name!r}, which model files do not hold")
    return _DTYPE_OF[name]


def _special_float(node: Node, depth: int) -> float:
    if node["value"] not in _FLOATS:
        raise ModelFileError("a number is not one")
    return float(node["value"])


def _slice(node: Node, depth: int) -> slice:
    ends = node["value"]
    if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
        raise ModelFileError("a slice is not one")
    return slice(*ends)
