"""What a fitted object must hold: kinds of values, declared beside each class and checked when a model file is read.

A class declares ``_stored``, from the names in a model file to kinds; a subclass adds to what its bases declare. Sizes
have names: the dimensions, counts and bounds that one declaration calls by one name must be equal. What names cannot
say, ``_check_stored`` checks.

>>> import numpy as np
>>> from mercer.state import Count, Integers, Reals, Stored, check_stored
>>> class Sketch:
...     _stored = Stored(
...         n_buckets_=Count("D", least=1),
...         index_=Integers(("d",), least=0, below="D"),
...         weights_=Reals(("d",)),
...     )
>>> sketch = Sketch()
>>> sketch.n_buckets_, sketch.index_, sketch.weights_ = 4, np.array([0, 3, 4]), np.ones(3)
>>> check_stored(sketch)
Traceback (most recent call last):
...
mercer.state.UnsoundError: Sketch: index_ must hold integers below D = 4, got 4
"""

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

# Of kernels, and of whatever counts degrees: a higher one overflows on any data, and would only keep the reader busy.
LARGEST_DEGREE = 2**16
LARGEST_COUNT = 2**62
# A dimension: a number, a name that is the same size everywhere in one object, or None for any.
Dimension = int | str | None
_FLOATS = (np.float64, np.float32)


class UnsoundError(ValueError):
    """A fitted object that no ``fit`` makes."""


class Sizes(dict[str, int]):
    """The named sizes of one object, and the checks that wait until all of them are known."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[Callable[[], None]] = []

    def match(self, dimension: Dimension, size: int, what: str) -> None:
        """Take a size for a name that has none yet; refuse another one than it has."""
        wanted = self.setdefault(dimension, size) if isinstance(dimension, str) else dimension
        name = f"{dimension} = " if isinstance(dimension, str) else ""
        require(wanted is None or wanted == size, f"{what} must be {name}{wanted}, got {size}")

    def value(self, bound: Dimension | float) -> float:
        """Return a bound, by its name or itself."""
        return self[bound] if isinstance(bound, str) else math.inf if bound is None else bound


def require(condition: Any, sentence: str) -> None:
    """Refuse an object, in a sentence."""
    if not condition:
        raise UnsoundError(sentence)


@dataclass(frozen=True)
class Kind:
    """What a stored value must be.

    Parameters
    ----------
    attribute : str, optional
        Where the object holds it, if not under the name in the file.
    nullable : bool
        May be None.
    optional : bool
        May be missing: some fits do not set it.
    """

    _: KW_ONLY
    attribute: str | None = None
    nullable: bool = False
    optional: bool = False

    def check(self, value: Any, name: str, sizes: Sizes) -> None:
        """Refuse a value that is not of this kind."""
        if not (value is None and self.nullable):
            self._check(value, name, sizes)

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Count(Kind):
    """An integer, which may be the size of a name."""

    size: str | None = None
    least: int = 0
    most: int = LARGEST_COUNT

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        require(
            whole and self.least <= int(value) <= self.most,
            f"{name} must be an integer from {self.least} to {self.most}, got {_short(value)}",
        )
        sizes.match(self.size, int(value), name)


@dataclass(frozen=True)
class Real(Kind):
    """A number: finite unless ``finite`` is False, and above 0 where it is ``positive``."""

    least: float = -math.inf
    positive: bool = False
    finite: bool = True

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        number = float(value) if is_number and abs(value) < 1e309 else math.nan
        sound = is_number and (math.isfinite(number) or not self.finite)
        sound = sound and not number < self.least and not (self.positive and number <= 0)
        require(sound, f"{name} must be a {'finite ' * self.finite}number{self._rule()}, got {_short(value)}")

    def _rule(self) -> str:
        return " > 0" if self.positive else f" >= {self.least:g}" * (self.least > -math.inf)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        require(isinstance(value, bool | np.bool_), f"{name} must be True or False, got {_short(value)}")


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few values of plain types."""

    values: tuple[Any, ...]

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        known = any(type(value) is type(one) and value == one for one in self.values)
        require(known, f"{name} must be one of {list(self.values)}, got {_short(value)}")


@dataclass(frozen=True)
class Text(Kind):
    """A string."""

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        require(isinstance(value, str), f"{name} must be text, got {_short(value)}")


@dataclass(frozen=True)
class Plain(Kind):
    """Numbers, text, None, arrays of them, and lists and dicts of all these: what nothing is computed from."""

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        if isinstance(value, Mapping):
            self._check([*value, *value.values()], name, sizes)
        elif isinstance(value, list | tuple):
            for item in value:
                self._check(item, name, sizes)
        else:
            plain = value is None or isinstance(value, str | numbers.Number | np.generic | np.ndarray)
            require(plain, f"{name} must hold numbers and text, got {_short(value)}")


@dataclass(frozen=True)
class Reals(Kind):
    """An array of float64 or float32, finite unless ``finite`` is False."""

    shape: tuple[Dimension, ...]
    least: float = -math.inf
    positive: bool = False
    finite: bool = True
    dtypes: tuple[Any, ...] = _FLOATS

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        _check_array(value, name, self.shape, self.dtypes, sizes)
        require(not self.finite or np.isfinite(value).all(), f"{name} must hold finite numbers")
        lowest = value.min(initial=math.inf)
        require(not lowest < self.least, f"{name} must hold numbers >= {self.least:g}, got {lowest}")
        require(not (self.positive and lowest <= 0), f"{name} must hold numbers > 0, got {lowest}")


@dataclass(frozen=True)
class Integers(Kind):
    """An array of integers in [least, below), in C order: the compiled core reads it as it lies."""

    shape: tuple[Dimension, ...]
    dtypes: tuple[Any, ...] = (np.int64, np.int32)
    least: int = -LARGEST_COUNT
    below: Dimension = None

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        _check_array(value, name, self.shape, self.dtypes, sizes)
        require(value.flags.c_contiguous, f"{name} must be in C order")
        if value.size:
            lowest, highest = int(value.min()), int(value.max())
            require(lowest >= self.least, f"{name} must hold integers >= {self.least}, got {lowest}")
            sizes.later.append(lambda: self._check_below(highest, name, sizes))

    def _check_below(self, highest: int, name: str, sizes: Sizes) -> None:
        limit = sizes.value(self.below)
        of = f"{self.below} = " if isinstance(self.below, str) else ""
        require(highest < limit, f"{name} must hold integers below {of}{limit}, got {highest}")


@dataclass(frozen=True)
class Rows(Kind):
    """Rows of finite floats, an array or a CSR matrix."""

    shape: tuple[Dimension, Dimension]

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        if sparse.issparse(value):
            require(value.format == "csr", f"{name} must be a CSR matrix")
            _match_shape(value.shape, name, self.shape, sizes)
            Reals((None,)).check(value.data, name, sizes)
        else:
            Reals(self.shape).check(value, name, sizes)


@dataclass(frozen=True)
class Names(Kind):
    """Names or numbers in ascending order, no two alike; or in any order with ``ascending=False``."""

    shape: tuple[Dimension]
    ascending: bool = True
    text: bool = False

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        require(isinstance(value, np.ndarray) and value.dtype.kind in "OUSiufb", f"{name} must be an array of labels")
        _match_shape(value.shape, name, self.shape, sizes)
        require(value.dtype.kind != "f" or np.isfinite(value).all(), f"{name} must hold finite numbers")
        items = value.tolist()
        require(not self.text or all(isinstance(item, str) for item in items), f"{name} must hold text")
        kinds = {"text" if isinstance(item, str | bytes) else "number" for item in items if item is not None}
        require(len(kinds) <= 1 and (None not in items or not self.ascending), f"{name} must hold labels of one kind")
        in_order = not self.ascending or all(a < b for a, b in pairwise(items))
        require(in_order, f"{name} must be in ascending order")


@dataclass(frozen=True)
class Member(Kind):
    """An object of a class, fitted where it is an estimator; ``sizes`` are those of its attributes."""

    types: type[Any] | tuple[type[Any], ...]
    sizes: Mapping[str, Dimension] = field(default_factory=dict)

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        known = self.types if isinstance(self.types, tuple) else (self.types,)
        wanted = " or ".join(cls.__name__ for cls in known)
        require(isinstance(value, known), f"{name} must be a {wanted}, got a {type(value).__name__}")
        require(not fields_of(type(value)) or has_state(value), f"{name} must be fitted")
        for attribute, dimension in self.sizes.items():
            found = getattr(value, attribute, None)
            require(isinstance(found, int), f"{name} has no {attribute}")
            sizes.match(dimension, int(found or 0), f"{name}.{attribute}")


@dataclass(frozen=True)
class Many(Kind):
    """A list, or a tuple, of values of one kind."""

    kind: Kind
    length: Dimension = None
    of: type[Any] = list

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        require(type(value) is self.of, f"{name} must be a {self.of.__name__}, got {_short(value)}")
        sizes.match(self.length, len(value), f"len({name})")
        for i, item in enumerate(value):
            self.kind.check(item, f"{name}[{i}]", sizes)


@dataclass(frozen=True)
class Table(Kind):
    """A dict from values of one kind to values of another."""

    keys: Kind
    values: Kind

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        require(type(value) is dict, f"{name} must be a dict, got {_short(value)}")
        for key, item in value.items():
            self.keys.check(key, f"a key of {name}", sizes)
            self.values.check(item, f"{name}[{key!r}]", sizes)


@dataclass(frozen=True)
class Either(Kind):
    """A value of the first of some kinds that takes it."""

    kinds: tuple[Kind, ...]

    def _check(self, value: Any, name: str, sizes: Sizes) -> None:
        reasons = []
        for kind in self.kinds:
            trial = Sizes()
            trial.update(sizes)
            try:
                kind.check(value, name, trial)
            except UnsoundError as error:
                reasons.append(str(error))
            else:
                return kind.check(value, name, sizes)
        raise UnsoundError("; or ".join(reasons))


class Stored(dict[str, Kind]):
    """What a class declares: kinds by the names in a model file, as keywords."""


_Part = TypeVar("_Part", bound=type[Any])
_parts: dict[str, type[Any]] = {}


def part(name: str) -> Callable[[_Part], _Part]:
    """Let a class that is no estimator stand in model files, under a name of its own."""

    def register(cls: _Part) -> _Part:
        _parts[name] = cls
        return cls

    return register


def parts() -> Mapping[str, type[Any]]:
    """Return the parts by their names in model files: of the modules imported so far."""
    return _parts


def fields_of(cls: type[Any]) -> dict[str, Kind]:
    """Return all that a class declares, with its bases."""
    declared: dict[str, Kind] = {}
    for ancestor in reversed(cls.__mro__):
        declared |= vars(ancestor).get("_stored", {})
    return declared


def attributes_of(cls: type[Any]) -> set[str]:
    """Return the attributes that a class declares."""
    return {kind.attribute or name for name, kind in fields_of(cls).items()}


def has_state(value: Any, declared: Mapping[str, Kind] | None = None) -> bool:
    """Return whether an object holds any of what its class declares as always there."""
    declared = fields_of(type(value)) if declared is None else declared
    return any((kind.attribute or name) in vars(value) for name, kind in declared.items() if not kind.optional)


def check_fields(value: Any, declared: Mapping[str, Kind]) -> Sizes:
    """Refuse an object whose attributes are not of the kinds declared, each and together; return the sizes."""
    sizes, attributes = Sizes(), vars(value)
    for name, kind in declared.items():
        if (kind.attribute or name) in attributes:
            kind.check(attributes[kind.attribute or name], name, sizes)
        else:
            require(kind.optional, f"{name} is missing")
    for check in sizes.later:
        check()
    return sizes


def check_stored(value: Any, declared: Mapping[str, Kind] | None = None) -> None:
    """Refuse an object whose attributes are not what its class declares, or do not agree with each other."""
    try:
        sizes = check_fields(value, fields_of(type(value)) if declared is None else declared)
        own = getattr(value, "_check_stored", None)
        if own is not None:
            own(sizes)
    except UnsoundError as error:
        raise UnsoundError(f"{type(value).__name__}: {error}") from None


def _check_array(value: Any, name: str, shape: Sequence[Dimension], dtypes: Sequence[Any], sizes: Sizes) -> None:
    require(isinstance(value, np.ndarray), f"{name} must be an array, got {_short(value)}")
    names = " or ".join(np.dtype(dtype).name for dtype in dtypes)
    require(value.dtype in dtypes, f"{name} must hold {names}, got {value.dtype}")
    _match_shape(value.shape, name, shape, sizes)


def _match_shape(found: Sequence[int], name: str, shape: Sequence[Dimension], sizes: Sizes) -> None:
    require(len(found) == len(shape), f"{name} must have {len(shape)} dimensions, got {len(found)}")
    for axis, (dimension, size) in enumerate(zip(shape, found, strict=True)):
        sizes.match(dimension, int(size), f"{name}.shape[{axis}]")


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str | numbers.Number | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
