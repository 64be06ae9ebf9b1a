"""Forged model files: valid containers with a right checksum, whose contents were not made by a fit.

``forged(data, others, rng)`` changes numbers, arrays (values, shape, dtype, layout), strings, names and whole parts of
a model file: one of them, or all places where one size occurs, so that shapes still agree with each other.
"""

import copy
import io
import math
import random
from typing import Any

import numpy as np

from mercer.storage import container

_INTEGERS = [
    -1,
    0,
    1,
    2,
    3,
    7,
    64,
    101,
    2**16,
    2**20,
    2**31 - 1,
    2**31,
    2**32,
    2**62,
    2**63,
    10**30,
    -(2**31),
    -(2**63),
]
_FLOATS = [-1.0, 0.0, -0.0, 0.5, 1e-308, 5e-324, 1e-30, 1e30, 1e154, 1e308, -1e308, math.pi]
_SPECIAL = [{"kind": "float", "value": value} for value in ("nan", "inf", "-inf")]
_STRINGS = [
    "", "x", "é\u202e\x1b[2J\n", "__class__", "os.system", "scale", "median", "precomputed", "newton", "adagrad",
    "hinge", "logistic", "squared", "gcv", "cosine", "relu", "step", "classification", "pandas",
    "success", "passthrough", "Gaussian", "Linear", "TensorSketch", "Solution", "Strata", "coef_", "x" * 5000,
]  # fmt: skip
_NODES: list[Any] = [
    None, True, False, [], {}, [[]], {"kind": "pickle"}, {"kind": "array", "tensor": "t0"},
    {"kind": "list", "items": []}, {"kind": "tuple", "items": [1]}, {"kind": "dict", "items": [[1, 2]]},
    {"kind": "slice", "value": [0, 1, 2]}, {"kind": "dtype", "value": "F32"}, {"kind": "scalar type", "value": "I64"},
    {"kind": "kernel", "class": "Polynomial", "fields": {"degree": 65536}},
    {"kind": "kernel", "class": "Gaussian", "fields": {"gamma": "scale"}},
    {"kind": "kernel", "class": "Gaussian", "fields": {"gamma": 1e308}},
    {"kind": "kernel", "class": "ExpectedProduct", "fields": {"phi": "relu", "distribution": None}},
    {"kind": "estimator", "class": "TensorSketch", "params": {}, "state": {}},
    {"kind": "estimator", "class": "KernelRidge", "params": {}, "state": {"predict": 1}},
    {"kind": "objects", "shape": [2], "values": ["a", None]}, *_SPECIAL,
]  # fmt: skip
_DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]


class Forger:
    """Changes the contents of one file; ``forged`` makes one attempt."""

    def __init__(self, data: bytes, other: bytes, rng: random.Random):
        self.about, tensors = container.read(io.BytesIO(data))
        self.tensors = dict(sorted(tensors.items()))  # safetensors gives them in any order
        self._data, self._other, self._rng = data, other, rng

    def forged(self) -> bytes | None:
        """Return the bytes of the forged file; None if the result is not JSON or not a tensor, or nothing changed."""
        ways = [self._number, self._number, self._text, self._name, self._node, self._swap, self._sequence, self._graft]
        ways += [self._values] * 4 + [self._shape, self._dtype, self._layout, self._size, self._size, self._everywhere]
        for _ in range(self._rng.choice([1, 1, 1, 2, 3])):
            self._rng.choice(ways)()
        try:
            data = bytes(container.to_bytes(self.about, self.tensors))
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None
        return None if data == self._data else data

    def _places(self, wanted: Any) -> list[tuple[Any, Any]]:
        """Return each dict or list in the description of the model with the keys whose values are wanted."""
        found, stack = [], [(self.about, "model")] + [(self.about, key) for key in self.about if key != "model"]
        while stack:
            holder, key = stack.pop()
            value = holder[key]
            if wanted(value):
                found.append((holder, key))
            if isinstance(value, dict):
                stack += [(value, inner) for inner in value]
            elif isinstance(value, list):
                stack += [(value, i) for i in range(len(value))]
        return found

    def _number(self) -> None:
        places = self._places(lambda value: isinstance(value, int | float) and not isinstance(value, bool))
        if places:
            holder, key = self._rng.choice(places)
            holder[key] = self._strange(holder[key])

    def _strange(self, value: Any) -> Any:
        near = [value + 1, value - 1, 2 * value, -value, value / 2, int(value) if math.isfinite(value) else 0]
        pool = self._rng.choice([near, _INTEGERS, _FLOATS, _SPECIAL, [str(value), True, None]])
        return copy.deepcopy(self._rng.choice(pool))

    def _text(self) -> None:
        places = self._places(lambda value: isinstance(value, str))
        holder, key = self._rng.choice(places)
        others = [h[k] for h, k in places]
        holder[key] = self._rng.choice([self._rng.choice(_STRINGS), self._rng.choice(others)])

    def _name(self) -> None:
        """Rename, drop or copy an entry."""
        holder, _ = self._rng.choice([(h, k) for h, k in self._places(lambda value: True) if isinstance(h, dict)])
        key = self._rng.choice(list(holder))
        way = self._rng.randrange(3)
        if way == 0:
            del holder[key]
        elif way == 1:
            holder[self._rng.choice(["predict", "__dict__", "_fit", "coef_", "kernel_", "x", key + "_"])] = holder.pop(
                key
            )
        else:
            holder[self._rng.choice(list(holder))] = copy.deepcopy(holder[key])
        if not self.about.get("model"):
            self.about["model"] = None

    def _node(self) -> None:
        holder, key = self._rng.choice(self._places(lambda value: True))
        holder[key] = copy.deepcopy(self._rng.choice(_NODES))

    def _swap(self) -> None:
        """Replace one part of the model by another part of the same kind."""
        kind = self._rng.choice(["array", "kernel", "estimator", "part", "list", "tuple", "text"])
        places = self._places(lambda value: isinstance(value, dict) and value.get("kind") == kind)
        if len(places) > 1:
            (one, i), (other, j) = self._rng.sample(places, 2)
            one[i] = copy.deepcopy(other[j])

    def _sequence(self) -> None:
        places = self._places(lambda value: isinstance(value, list) and value)
        if places:
            holder, key = self._rng.choice(places)
            items = holder[key]
            holder[key] = self._rng.choice([items[:-1], items * 2, items[::-1], [items], [*items, items[0]]])

    def _graft(self) -> None:
        """Replace a part of this file by a part of another file, with its arrays."""
        other, tensors = container.read(io.BytesIO(self._other))
        theirs = Forger.__new__(Forger)
        theirs.about, theirs.tensors = other, tensors

        def wanted(value: Any) -> bool:
            return isinstance(value, dict) and value.get("kind") in (
                "estimator",
                "kernel",
                "part",
                "array",
                "csr",
                "list",
            )

        sources, places = theirs._places(wanted), self._places(wanted)
        if not sources or not places:
            return
        source = self._rng.choice(sources)
        kind = source[0][source[1]]["kind"]
        places = [place for place in places if place[0][place[1]]["kind"] == kind] or places
        holder, key = self._rng.choice(places)
        holder[key] = source[0][source[1]]
        holder_of = {"x": holder[key]}
        stack = [(holder_of, "x")]
        while stack:
            box, name = stack.pop()
            value = box[name]
            if name == "tensor" and isinstance(value, str):
                box[name] = f"g{value}"
                self.tensors[f"g{value}"] = tensors[value]
            elif isinstance(value, dict):
                stack += [(value, inner) for inner in list(value)]
            elif isinstance(value, list):
                stack += [(value, i) for i in range(len(value))]

    def _a_tensor(self) -> str | None:
        return self._rng.choice(list(self.tensors)) if self.tensors else None

    def _values(self) -> None:
        name = self._a_tensor()
        if name is None or not self.tensors[name].size:
            return
        values = self.tensors[name].copy()
        flat = values.reshape(-1)
        strange = self._entry(values.dtype)
        way = self._rng.randrange(6)
        if way == 0:
            flat[...] = strange
        elif way == 1:
            flat[self._rng.randrange(flat.size)] = strange
        elif way == 2:
            flat[[self._rng.randrange(flat.size) for _ in range(3)]] = strange
        elif way == 3:
            flat[...] = flat[::-1].copy()
        elif way == 4 and values.dtype.kind in "fiu":
            with np.errstate(all="ignore"):
                flat[...] = flat * values.dtype.type(3) + values.dtype.type(1)
        else:
            noisy = bytearray(values.tobytes())
            for _ in range(4):
                noisy[self._rng.randrange(len(noisy))] = self._rng.randrange(256)
            values = np.frombuffer(bytes(noisy), dtype=values.dtype).reshape(values.shape)
        self.tensors[name] = values

    def _entry(self, dtype: Any) -> Any:
        if dtype.kind == "f":
            info = np.finfo(dtype)
            pool = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 7.0, info.max, -info.max, info.tiny, 1e3, 1e18]
            return self._rng.choice(pool)
        if dtype.kind == "b":
            return self._rng.choice([True, False])
        info = np.iinfo(dtype)
        pool = [
            info.min,
            info.max,
            0,
            1,
            2,
            6,
            7,
            100,
            101,
            min(2**30, info.max),
            max(-(2**30), info.min),
            info.max - 1,
        ]
        return dtype.type(self._rng.choice(pool + ([-1] if info.min < 0 else [])))

    def _shape(self) -> None:
        name = self._a_tensor()
        if name is None:
            return
        values = self.tensors[name]
        ways = [values.ravel(), values[None], values.T, values[..., None], np.zeros((0,), values.dtype)]
        ways += [np.zeros(tuple(self._rng.randrange(4) for _ in range(values.ndim)), values.dtype)]
        if values.ndim:
            ways += [values[:-1], values[1:2], np.concatenate([values, values[:1]]), values[..., :-1], values[::-1]]
        self.tensors[name] = np.ascontiguousarray(self._rng.choice(ways)).copy()

    def _dtype(self) -> None:
        name = self._a_tensor()
        if name is None:
            return
        values, dtype = self.tensors[name], np.dtype(self._rng.choice(_DTYPES))
        with np.errstate(all="ignore"):
            self.tensors[name] = values.view(dtype) if values.itemsize == dtype.itemsize != 1 else values.astype(dtype)

    def _layout(self) -> None:
        places = self._places(lambda value: isinstance(value, dict) and value.get("kind") == "array")
        if places:
            holder, key = self._rng.choice(places)
            node = holder[key]
            n_axes = self.tensors[node["tensor"]].ndim if str(node.get("tensor")) in self.tensors else 2
            node["axes"] = self._rng.sample(range(n_axes), n_axes)

    def _size(self) -> None:
        """Change one size in all arrays and numbers where it occurs: shapes still agree, contents perhaps not."""
        sizes = sorted({size for values in self.tensors.values() for size in values.shape if size > 1})
        if not sizes:
            return
        old = self._rng.choice(sizes)
        new = max(1, self._rng.choice([old - 1, old + 1, 2 * old, old // 2, 1, 3]))
        for name, values in self.tensors.items():
            for axis, size in enumerate(values.shape):
                if size == old:
                    values = np.take(values, np.arange(new) % old, axis=axis)  # noqa: PLW2901
            self.tensors[name] = np.ascontiguousarray(values)
        if self._rng.random() < 0.8:
            self._replace_number(old, new)

    def _everywhere(self) -> None:
        """Change one number everywhere in the description."""
        places = self._places(lambda value: type(value) is int)
        if places:
            holder, key = self._rng.choice(places)
            self._replace_number(holder[key], self._rng.choice([*_INTEGERS, holder[key] + 1, max(0, holder[key] - 1)]))

    def _replace_number(self, old: int, new: int) -> None:
        for holder, key in self._places(lambda value: type(value) is int and value == old):
            holder[key] = new


def damaged(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a change at a random place: the checksum is then wrong."""
    changed = bytearray(data)
    where = rng.randrange(min(len(changed), 4000)) if rng.random() < 0.7 else rng.randrange(len(changed))
    way = rng.randrange(6)
    if way == 0:
        changed[where] ^= 1 << rng.randrange(8)
    elif way == 1:
        del changed[where:]
    elif way == 2:
        changed[where:where] = changed[where : where + rng.randrange(1, 100)] or b"\0"
    elif way == 3:
        size = rng.randrange(1, 50)
        changed[where : where + size] = rng.randbytes(size)
    elif way == 4:
        changed[where:] = other[where:]
    else:
        changed[:8] = rng.choice([0, 1, 2**31, 2**62, len(changed), rng.randrange(10_000)]).to_bytes(8, "little")
    return bytes(changed)
