"""The classes that a model file may name. A file chooses among these and nothing else is ever imported for it.

Every public estimator and kernel of mercer is in by being public, and what stands inside fitted models by the decorator
``mercer.state.part``. What a class stores is declared beside it; what scikit-learn's classes store, in ``foreign``.
"""

from collections.abc import Collection, Mapping
from importlib import import_module
from inspect import isabstract
from typing import Any

from sklearn.base import BaseEstimator

import mercer
import mercer.kernels
from mercer.kernels import Kernel
from mercer.state import Kind, OneOf, Table, Text, check_fields, check_stored, fields_of, has_state, parts, require
from mercer.storage import foreign

_KERNELS_INSIDE = ("ExpectedProduct", "PrecomputedKernel")  # made by maps, never written by a user

_OTHER_ESTIMATORS: Mapping[str, Collection[str]] = {
    "mercer.data.tables": ("TablePreparation",),
    "mercer.learners.table_model": ("TableModel",),
    **foreign.MODULES,
}

# What ``set_output`` sets, of fitted estimators and others.
_OUTPUT: Mapping[str, Kind] = {
    "output": Table(Text(), OneOf(("default", "pandas", "polars")), attribute="_sklearn_output_config", optional=True)
}


def estimator(name: str) -> type[Any] | None:
    """Return the estimator of a name in a file, or None."""
    public = _public(name)
    if public is not None:
        return public if issubclass(public, BaseEstimator) else None
    module, _, own = name.rpartition(".")
    return getattr(import_module(module), own) if own in _OTHER_ESTIMATORS.get(module, ()) else None


def kernel(name: str) -> type[Kernel] | None:
    """Return the kernel of a name in a file, or None."""
    found = getattr(mercer.kernels, name) if name in _KERNELS_INSIDE else _public(name)
    return found if found is not None and issubclass(found, Kernel) else None


def part(name: str) -> type[Any] | None:
    """Return the class of a name in a file that stands for something inside models, or None.

    The module of a part has been imported by that of the estimator which holds it.
    """
    return parts().get(name)


def name_of(cls: type[Any]) -> str | None:
    """Return a class's name in a file, or None where the class itself (a subclass is another) is not registered."""
    own = cls.__name__
    if cls in (_public(own), kernel(own)):
        return own
    for module, names in _OTHER_ESTIMATORS.items():
        if own in names and getattr(import_module(module), own) is cls:
            return f"{module}.{own}"
    return next((name for name, known in parts().items() if known is cls), None)


def stored_by(cls: type[Any]) -> dict[str, Kind]:
    """Return what a class declares to be stored, by the names in a file."""
    if not issubclass(cls, BaseEstimator):
        return fields_of(cls)
    return {**_OUTPUT, **foreign.STORED.get(cls.__name__, {}), **fields_of(cls)}


def check(value: Any) -> None:
    """Refuse a fitted object that no ``fit`` makes; an estimator that is not fitted holds parameters alone."""
    name, declared = type(value).__name__, stored_by(type(value))
    is_fitted = has_state(value, declared)
    if is_fitted or not isinstance(value, BaseEstimator):
        check_stored(value, declared)
    else:
        known = {kind.attribute or name for name, kind in declared.items() if name not in _OUTPUT}
        require(not known & set(vars(value)), f"{name}: it is fitted in parts only")
        check_fields(value, _OUTPUT)
    if name in foreign.STORED:
        foreign.check(value, is_fitted=is_fitted)


def _public(name: str) -> type[Any] | None:
    value = getattr(mercer, name) if name in dir(mercer) else None
    return value if isinstance(value, type) and not isabstract(value) else None
