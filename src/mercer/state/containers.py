"""Kinds of values that hold other values: objects, lists, dicts, and a choice between kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mercer.state.declared import fields_of, has_state
from mercer.state.kind import Dimension, Kind, Sizes, UnsoundError, short


@dataclass(frozen=True)
class Member(Kind):
    """An object of one of some classes; an estimator must be fitted. ``sizes`` names the sizes of its attributes."""

    types: type | tuple[type, ...]
    sizes: Mapping[str, Dimension] = field(default_factory=dict)

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        known = self.types if isinstance(self.types, tuple) else (self.types,)
        if not isinstance(value, known):
            wanted = " or ".join([cls.__name__ for cls in known])
            raise UnsoundError(f"{name} must be a {wanted}, got a {type(value).__name__}")
        cls: type = type(value)
        declared = fields_of(cls)
        if declared and not has_state(value, declared):
            raise UnsoundError(f"{name} must be fitted")
        for attribute, dimension in self.sizes.items():
            found = getattr(value, attribute, None)
            if not isinstance(found, int):
                raise UnsoundError(f"{name} has no {attribute}")
            sizes.match(dimension, found, f"{name}.{attribute}")


@dataclass(frozen=True)
class Many(Kind):
    """A list, or a tuple, of values of one kind."""

    kind: Kind
    length: Dimension = None
    of: type[list[object]] | type[tuple[object, ...]] = list

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, list | tuple) or type(value) is not self.of:
            raise UnsoundError(f"{name} must be a {self.of.__name__}, got {short(value)}")
        if self.length is not None:
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
    """A value of one of some kinds: the first kind that accepts the value is used."""

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
