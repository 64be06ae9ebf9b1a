"""What classes declare to be stored, and the checks of objects against it."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from mercer.state.kind import Kind, Sizes, UnsoundError, require


class Stored(dict[str, Kind]):
    """What a class declares: kinds by the names in a model file, as keywords."""


_Part = TypeVar("_Part", bound=type)
_parts: dict[str, type] = {}


def part(name: str) -> Callable[[_Part], _Part]:
    """Let a class that is no estimator stand in model files, under a name of its own."""

    def register(cls: _Part) -> _Part:
        _parts[name] = cls
        return cls

    return register


def parts() -> Mapping[str, type]:
    """Return the parts by their names in model files: of the modules imported so far."""
    return _parts


def fields_of(cls: type) -> dict[str, Kind]:
    """Return all that a class declares, with its bases."""
    declared: dict[str, Kind] = {}
    for ancestor in reversed(cls.__mro__):
        declared |= vars(ancestor).get("_stored", {})
    return declared


def attributes_of(cls: type) -> set[str]:
    """Return the attributes that a class declares."""
    return {kind.attribute or name for name, kind in fields_of(cls).items()}


def has_state(value: object, declared: Mapping[str, Kind] | None = None) -> bool:
    """Return whether an object holds any of what its class declares as always there."""
    declared = fields_of(type(value)) if declared is None else declared
    return any((kind.attribute or name) in vars(value) for name, kind in declared.items() if not kind.optional)


def check_fields(value: object, declared: Mapping[str, Kind]) -> Sizes:
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


def check_stored(value: object, declared: Mapping[str, Kind] | None = None) -> None:
    """Refuse an object whose attributes are not what its class declares, or do not agree with each other."""
    try:
        sizes = check_fields(value, fields_of(type(value)) if declared is None else declared)
        own = getattr(value, "_check_stored", None)
        if own is not None:
            own(sizes)
    except UnsoundError as error:
        raise UnsoundError(f"{type(value).__name__}: {error}") from None
