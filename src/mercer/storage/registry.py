"""The classes that a model file may name: no other class is ever imported for a file.

Every public estimator and kernel of mercer is registered because it is public. The decorator ``mercer.state.part``
registers the classes of objects inside fitted models. A class declares what it stores in its ``_stored``; ``foreign``
declares what the classes of scikit-learn store.
"""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from importlib import import_module
from inspect import isabstract

from sklearn.base import BaseEstimator

import mercer
from mercer import features, gram, kernels
from mercer.kernels import Kernel
from mercer.state import Kind, OneOf, Table, Text, check_fields, check_stored, fields_of, has_state, parts, require
from mercer.storage import foreign

# The modules of public classes, the top level first, whose names load their modules on first use.
_PUBLIC = (mercer, kernels, features, gram)
_NOT_IN_FILES = ("FunctionKernel", "Parts")  # they hold a user's function

_OTHER_ESTIMATORS: Mapping[str, Collection[str]] = {
    "mercer.data": ("TablePreparation",),
    "mercer.data.object_column": ("ObjectColumn",),
    "mercer.learners": ("BudgetClassifier", "BudgetRegressor", "TrackingClassifier"),
    "mercer.learners.local.preparation": ("ColumnPreparation",),
    "mercer.learners.table_model": ("TableModel",),
    **foreign.MODULES,
}

# What ``set_output`` sets, in estimators that are fitted or not.
_OUTPUT: Mapping[str, Kind] = {
    "output": Table(Text(), OneOf(("default", "pandas", "polars")), attribute="_sklearn_output_config", optional=True)
}


def estimator(name: str) -> type[BaseEstimator] | None:
    """Return the estimator of a name in a file, or None."""
    public = _public(name)
    if public is not None:
        return public if issubclass(public, BaseEstimator) else None
    module, _, own = name.rpartition(".")
    return getattr(import_module(module), own) if own in _OTHER_ESTIMATORS.get(module, ()) else None


def kernel(name: str) -> Callable[..., Kernel] | None:
    """Return the kernel of a name in a file, or None."""
    found = _public(name)
    return found if found is not None and issubclass(found, Kernel) else None


def part(name: str) -> type | None:
    """Return the class of an object inside models by its name in a file, or None.

    The module of the estimator that holds such an object has imported the module of its class.
    """
    return parts().get(name)


def name_of(cls: type) -> str | None:
    """Return the name of a class in a file, or None if the class itself (not only a base of it) is not registered."""
    own = cls.__name__
    if cls is _public(own):
        return own
    for module, names in _OTHER_ESTIMATORS.items():
        if own in names and getattr(import_module(module), own) is cls:
            return f"{module}.{own}"
    return next((name for name, known in parts().items() if known is cls), None)


def stored_by(cls: type) -> Mapping[str, Kind]:
    """Return the kinds of values that a class stores, by the names in a file."""
    if not issubclass(cls, BaseEstimator):
        return fields_of(cls)
    return {**_OUTPUT, **foreign.STORED.get(cls.__name__, {}), **fields_of(cls)}


def check(value: object, declared: Mapping[str, Kind]) -> None:
    """Refuse attributes that no ``fit`` sets; ``declared`` is ``stored_by`` of the class of the object."""
    name = type(value).__name__
    is_fitted = has_state(value, declared)
    if is_fitted or not isinstance(value, BaseEstimator):
        check_stored(value, declared)
    else:
        known = {kind.attribute or name for name, kind in declared.items() if name not in _OUTPUT}
        require(not known & set(vars(value)), f"{name}: it is fitted in parts only")
        check_fields(value, _OUTPUT)
    if name in foreign.STORED:
        foreign.check(value, is_fitted=is_fitted)


@lru_cache(maxsize=256)  # a file may name any number of classes that do not exist
def _public(name: str) -> type | None:
    """Return the concrete class of a public name, or None."""
    if name in _NOT_IN_FILES:
        return None
    home = next((module for module in _PUBLIC if name in module.__all__), None)
    value = getattr(home, name, None)
    return value if isinstance(value, type) and not isabstract(value) else None
