"""The declarations of classes: what each class stores, and the check of an object against its declaration."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

from mercer.state.kind import Kind, Sizes, UnsoundError


class Stored(dict[str, Kind]):
    """The declaration of a class: one keyword per name in a model file, with the kind of its value."""


_Part = TypeVar("_Part", bound=type)
_parts: dict[str, type] = {}


def part(name: str) -> Callable[[_Part], _Part]:
    """Register a class that is not an estimator for model files, under the given name."""

    def register(cls: _Part) -> _Part:
        _parts[name] = cls
        return cls

    return register


def parts() -> Mapping[str, type]:
    """Return the registered parts of all imported modules, by their names in model files."""
    return _parts


@lru_cache(maxsize=512)
def fields_of(cls: type) -> Mapping[str, Kind]:
    """Return what a class and its bases declare. The result is cached: do not change it."""
    declared: dict[str, Kind] = {}
    for ancestor in reversed(cls.__mro__):
        declared |= vars(ancestor).get("_stored", {})
    return declared


@lru_cache(maxsize=512)
def attributes_of(cls: type) -> frozenset[str]:
    """Return the attributes that a class and its bases declare."""
    return frozenset(kind.attribute or name for name, kind in fields_of(cls).items())


def has_state(value: object, declared: Mapping[str, Kind]) -> bool:
    """Return whether an object has an attribute that every ``fit`` sets: one declared and not optional."""
    always = {kind.attribute or name for name, kind in declared.items() if not kind.optional}
    return not always.isdisjoint(vars(value))


def check_fields(value: object, declared: Mapping[str, Kind]) -> Sizes:
    """Check every declared attribute, then what depends on several attributes; return the named sizes."""
    sizes, attributes = Sizes(), vars(value)
    for name, kind in declared.items():
        if (kind.attribute or name) in attributes:
            kind.check(attributes[kind.attribute or name], name, sizes)
        elif not kind.optional:
            raise UnsoundError(f"{name} is missing")
    for check in sizes.later:
        check()
    return sizes


def check_stored(value: object, declared: Mapping[str, Kind] | None = None) -> None:
    """Refuse an object whose attributes do not match the declaration of its class, or contradict each other."""
    cls: type = type(value)
    try:
        sizes = check_fields(value, fields_of(cls) if declared is None else declared)
        own = getattr(value, "_check_stored", None)
        if own is not None:
            own(sizes)
    except UnsoundError as error:
        raise UnsoundError(f"{cls.__name__}: {error}") from None
