"""ONNX graphs written as formulas: tensors with operators, and a graph that collects their nodes.

``X @ W + b`` of tensors and arrays adds the nodes of that formula to the graph. Arrays become constants of the model.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, ValueInfoProto

# Version of ONNX's set of operators: the first with the axes of all reductions as inputs.
OPSET = 18
# Version of the set with the operators of text, and of the file format that belongs to both.
ML_OPSET, IR_VERSION = 3, 8

Value: TypeAlias = Union["Tensor", ArrayLike]


class Graph:
    """The nodes, constants and inputs of a model that is being written.

    Parameters
    ----------
    dtype : float32 or float64
        The precision of the arithmetic.
    """

    def __init__(self, dtype: DTypeLike = np.float32):
        self.dtype = np.dtype(dtype)
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.inputs: list[ValueInfoProto] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def input(self, name: str, width: int, dtype: DTypeLike | None = None, meaning: str = "") -> "Tensor":
        """Add an input of rows (any number of them) of some columns; text where dtype is ``str``.

        What the numbers mean, where the name does not say it, is written into the file.
        """
        from onnx import TensorProto, helper  # noqa: PLC0415 - an optional package

        kind = self.dtype if dtype is None else np.dtype(dtype)
        code = TensorProto.STRING if kind.kind in "UO" else helper.np_dtype_to_tensor_dtype(kind)
        self.inputs.append(helper.make_tensor_value_info(name, code, ["rows", width], doc_string=meaning))
        return Tensor(self, name, kind)

    def date(self, name: str) -> "Tensor":
        """Add an input (rows, 1) of dates; float32 would lose the time of the day."""
        return self.input(name, 1, np.float64, meaning="days since 1970")

    def constant(self, values: ArrayLike, dtype: DTypeLike | None = None) -> "Tensor":
        """Return an array as a tensor; reals get the precision of the graph unless a dtype is given."""
        from onnx import numpy_helper  # noqa: PLC0415 - an optional package

        array = np.asarray(values)
        kind = self.dtype if array.dtype.kind == "f" else np.dtype(np.int64) if array.dtype.kind in "iu" else None
        kind = np.dtype(dtype) if dtype is not None else kind
        array = array.astype(object) if array.dtype.kind in "UO" else np.array(array, dtype=kind, order="C")
        text = array.dtype == object
        key = (array.dtype.str, array.shape, "\0".join(array.ravel()).encode() if text else array.tobytes())
        if key not in self._known:
            self._known[key] = f"constant_{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(array, self._known[key]))
        return Tensor(self, self._known[key], array.dtype)

    def add(self, operator: str, *inputs: Value, dtype: DTypeLike | None = None, **attributes: Any) -> "Tensor":
        """Add a node with one output, and return the output; its dtype is that of the first input by default."""
        from onnx import helper  # noqa: PLC0415 - an optional package

        tensors = self.tensors(inputs)
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, [tensor.name for tensor in tensors], [name], **attributes))
        return Tensor(self, name, tensors[0].dtype if dtype is None else np.dtype(dtype))

    def concatenate(self, parts: Sequence["Tensor"], axis: int = 1) -> "Tensor":
        """Return tensors next to each other."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=axis)

    def tensors(self, inputs: Sequence[Value]) -> list["Tensor"]:
        """Return tensors; arrays of reals become constants of the precision of the other tensors."""
        known = [one.dtype for one in inputs if isinstance(one, Tensor)]
        real = next((dtype for dtype in known if dtype.kind == "f"), self.dtype)
        return [one if isinstance(one, Tensor) else self._constant_next_to(one, real) for one in inputs]

    def _constant_next_to(self, values: ArrayLike, real: np.dtype[Any]) -> "Tensor":
        array = np.asarray(values)
        return self.constant(array, real if array.dtype.kind == "f" else None)


class Tensor:
    """A value of a graph, by its name; formulas of tensors add nodes."""

    # NumPy leaves ``array * tensor`` to ``Tensor.__rmul__``.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str, dtype: np.dtype[Any]):
        self.graph = graph
        self.name = name
        self.dtype = dtype
        self.is_flat = False  # whether it is known to be a vector (n,)

    def op(self, operator: str, *others: Value, dtype: DTypeLike | None = None, **attributes: Any) -> "Tensor":
        """Apply an operator of ONNX to this tensor and others."""
        return self.graph.add(operator, self, *others, dtype=dtype, **attributes)

    def __matmul__(self, other: Value) -> "Tensor":
        return self.op("MatMul", other)

    def __add__(self, other: Value) -> "Tensor":
        return self.op("Add", self._like(other))

    def __radd__(self, other: Value) -> "Tensor":
        return self + other

    def __sub__(self, other: Value) -> "Tensor":
        return self.op("Sub", self._like(other))

    def __rsub__(self, other: Value) -> "Tensor":
        return self.graph.add("Sub", self._like(other), self)

    def __mul__(self, other: Value) -> "Tensor":
        return self.op("Mul", self._like(other))

    def __rmul__(self, other: Value) -> "Tensor":
        return self * other

    def __truediv__(self, other: Value) -> "Tensor":
        return self.op("Div", self._like(other))

    def __rtruediv__(self, other: Value) -> "Tensor":
        return self.graph.add("Div", self._like(other), self)

    def __neg__(self) -> "Tensor":
        return self.op("Neg")

    def __gt__(self, other: Value) -> "Tensor":
        return self.op("Greater", self._like(other), dtype=bool)

    def __le__(self, other: Value) -> "Tensor":
        return self.op("LessOrEqual", self._like(other), dtype=bool)

    def equals(self, other: Value) -> "Tensor":
        """Compare entries."""
        return self.op("Equal", self._like(other), dtype=bool)

    def numbered(self, texts: Sequence[str]) -> "Tensor":
        """Return the place of each text in a list, and the length of the list for a text that is not there."""
        places = {"values_int64s": list(range(len(texts))), "default_int64": len(texts)}
        return self.op("LabelEncoder", dtype=np.int64, domain="ai.onnx.ml", keys_strings=list(texts), **places)

    def where(self, yes: Value, no: Value) -> "Tensor":
        """Return ``yes`` where this tensor of truth values is true, ``no`` elsewhere."""
        both = self.graph.tensors([yes, no])
        return self.op("Where", *both, dtype=both[0].dtype)

    def cast(self, dtype: DTypeLike) -> "Tensor":
        """Convert to another type of numbers."""
        from onnx import helper  # noqa: PLC0415 - an optional package

        kind = np.dtype(dtype)
        return self if kind == self.dtype else self.op("Cast", dtype=kind, to=helper.np_dtype_to_tensor_dtype(kind))

    def power(self, n: int) -> "Tensor":
        """Return the n-th power by repeated squaring."""
        if n == 1:
            return self
        root = self.power(n // 2)
        square = root * root
        return square * self if n % 2 else square

    def square(self) -> "Tensor":
        """Return the squares."""
        return self * self

    def at_least(self, low: Value) -> "Tensor":
        """Return the larger of two tensors."""
        return self.op("Max", self._like(low))

    def at_most(self, high: Value) -> "Tensor":
        """Return the smaller of two tensors."""
        return self.op("Min", self._like(high))

    def sum(self, axis: int, *, keep: bool = True) -> "Tensor":
        """Return sums along an axis."""
        return self.op("ReduceSum", np.array([axis]), keepdims=int(keep))

    def max(self, axis: int) -> "Tensor":
        """Return the largest entries along an axis, which is kept."""
        return self.op("ReduceMax", np.array([axis]), keepdims=1)

    def take(self, indices: Value, axis: int = 0) -> "Tensor":
        """Return entries by their numbers along an axis."""
        return self.op("Gather", indices, axis=axis)

    def columns(self, start: int, stop: int) -> "Tensor":
        """Return columns start to stop - 1."""
        return self.op("Slice", np.array([start]), np.array([stop]), np.array([1]))

    def insert_axis(self, axis: int) -> "Tensor":
        """Add an axis of length 1."""
        return self.op("Unsqueeze", np.array([axis]))

    def flat(self) -> "Tensor":
        """Return a column (n, 1) as a vector (n,)."""
        vector = self.op("Squeeze", np.array([1]))
        vector.is_flat = True
        return vector

    def _like(self, other: Value) -> Value:
        """Return numbers in the type of this tensor."""
        return other if isinstance(other, Tensor) else np.asarray(other, dtype=self.dtype)
