"""The classes that a model file may name. A file chooses among these and nothing else is ever imported for it.

Every public estimator and kernel of mercer is in by being public. What a fitted model holds inside, beside numbers and
arrays, is a row of ``_PARTS``; an estimator that is not one of mercer's public names, a row of ``_OTHER_ESTIMATORS``.
"""

from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import isabstract
from typing import Any

from sklearn.base import BaseEstimator

import mercer
from mercer.kernels import Kernel

# Module -> classes. Dataclasses and named tuples know their fields; a plain class has its attributes listed.
_PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "mercer.features.expansions": {
        "ExponentialExpansion": (),
        "GaussianExpansion": (),
        "SeriesExpansion": (),
        "SplitExpansion": (),
    },
    "mercer.features.scalar": {
        "_Columns": ("feature_map", "order"),
        "_Products": ("members",),
        "_Reweighted": ("kernel", "member"),
        "_SignedSum": ("kernel", "members", "signs"),
        "_Transformed": ("kernel", "member"),
    },
    "mercer.features.strata": {
        "Allocation": (),
        "Strata": ("expansion", "allocation", "pieces"),
        "_Piece": (),
    },
    "mercer.gram.partition": {"Partition": ()},
    "mercer.solvers.solution": {"Solution": ()},
}

_KERNELS_INSIDE = ("ExpectedProduct", "PrecomputedKernel")  # made by maps, never written by a user

_OTHER_ESTIMATORS = {
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.impute": ("SimpleImputer",),
    "sklearn.preprocessing": (
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "RobustScaler",
        "StandardScaler",
    ),
}


@cache
def estimators() -> dict[str, type[Any]]:
    """Return the estimators by their names in a file."""
    found = {name: value for name, value in _public().items() if issubclass(value, BaseEstimator)}
    for module, names in _OTHER_ESTIMATORS.items():
        found |= {f"{module}.{name}": getattr(import_module(module), name) for name in names}
    return found


@cache
def kernels() -> dict[str, type[Kernel]]:
    """Return the kernels by their names in a file."""
    found = {name: value for name, value in _public().items() if issubclass(value, Kernel)}
    inside = import_module("mercer.kernels")
    return found | {name: getattr(inside, name) for name in _KERNELS_INSIDE}


@cache
def parts() -> dict[str, tuple[type[Any], tuple[str, ...]]]:
    """Return the classes held inside fitted models, with their attributes, by their names in a file."""
    found = {}
    for module, classes in _PARTS.items():
        for name, listed in classes.items():
            value = getattr(import_module(module), name)
            found[f"{module.removeprefix('mercer.')}.{name}"] = (value, listed or _field_names(value))
    return found


def name_of(cls: type[Any]) -> str | None:
    """Return a class's name in a file, or None where the class itself (a subclass is another) is not registered."""
    return _names().get(cls)


@cache
def _names() -> dict[type[Any], str]:
    known = {value: name for name, value in {**estimators(), **kernels()}.items()}
    return known | {value: name for name, (value, _) in parts().items()}


def _public() -> dict[str, type[Any]]:
    values = {name: getattr(mercer, name) for name in dir(mercer)}
    return {name: value for name, value in values.items() if isinstance(value, type) and not isabstract(value)}


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else tuple(cls._fields)
