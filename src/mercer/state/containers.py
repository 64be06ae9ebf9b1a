"""Kinds of objects that hold others: members, lists, dicts, and alternatives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mercer.state.declared import fields_of, has_state
from mercer.state.kind import Dimension, Kind, Sizes, UnsoundError, require, short


@dataclass(frozen=True)
class Member(Kind):
    """An object of a class, fitted where it is an estimator; ``sizes`` are those of its attributes."""

    types: type | tuple[type, ...]
    sizes: Mapping[str, Dimension] = field(default_factory=dict)

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
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
    of: type[list[object]] | type[tuple[object, ...]] = list

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, list | tuple) or type(value) is not self.of:
            raise UnsoundError(f"{name} must be a {self.of.__name__}, got {short(value)}")
        sizes.match(self.length, len(value), f"len({name})")
        for i, item in enumerate(value):
            self.kind.check(item, f"{name}[{i}]", sizes)


@dataclass(frozen=True)
class Table(Kind):
    """A dict from values of one kind to values of another."""

    keys: Kind
    values: Kind

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise UnsoundError(f"{name} must be a dict, got {short(value)}")
        for key, item in value.items():
            self.keys.check(key, f"a key of {name}", sizes)
            self.values.check(item, f"{name}[{key!r}]", sizes)


@dataclass(frozen=True)
class Either(Kind):
    """A value of the first of some kinds that takes it."""

    kinds: tuple[Kind, ...]

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
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
