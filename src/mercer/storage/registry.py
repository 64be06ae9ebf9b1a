"""The classes that a model file may name. A file chooses among these and nothing else is ever imported for it.

Every public estimator and kernel of mercer is in by being public. What a fitted model holds inside, beside numbers and
arrays, is a row of ``_PARTS``; an estimator that is not one of mercer's public names, a row of ``_OTHER_ESTIMATORS``.
"""

import sys
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import isabstract
from typing import Any

from sklearn.base import BaseEstimator

import mercer
import mercer.kernels
from mercer.kernels import Kernel

# Module -> classes. Dataclasses and named tuples know their fields; a plain class has its attributes listed.
_PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
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
    "mercer.learners.online_steps": {"Weights": ()},
    "mercer.learners.online_support": {"Support": ()},
    "mercer.solvers.solution": {"Solution": ()},
}

_KERNELS_INSIDE = ("ExpectedProduct", "PrecomputedKernel")  # made by maps, never written by a user

_OTHER_ESTIMATORS: Mapping[str, Collection[str]] = {
    "mercer.data.tables": ("TablePreparation",),
    "mercer.learners.tables": ("TableModel",),
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


def part(name: str) -> tuple[type[Any], tuple[str, ...]] | None:
    """Return the class of a name in a file that stands for something inside models, with its attributes, or None."""
    module, _, own = name.rpartition(".")
    attributes = _PARTS.get(module, {}).get(own)
    if attributes is None:
        return None
    found = getattr(import_module(module), own)
    return found, attributes or _field_names(found)


def name_of(cls: type[Any]) -> str | None:
    """Return a class's name in a file, or None where the class itself (a subclass is another) is not registered."""
    own = cls.__name__
    if cls in (_public(own), kernel(own)):
        return own
    for table in (_OTHER_ESTIMATORS, _PARTS):
        for module, names in table.items():
            # The module of a class that is there has been imported: no other need be.
            if own in names and getattr(sys.modules.get(module), own, None) is cls:
                return f"{module}.{own}"
    return None


def _public(name: str) -> type[Any] | None:
    value = getattr(mercer, name) if name in dir(mercer) else None
    return value if isinstance(value, type) and not isabstract(value) else None


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else tuple(cls._fields)
