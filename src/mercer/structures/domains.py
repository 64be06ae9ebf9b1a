"""Domains of kernels, and the checks of what a kernel or an estimator is given."""

from typing import Any, Literal, TypeAlias

from sklearn.base import BaseEstimator

from mercer.structures.anything import Objects
from mercer.structures.bags import Bags
from mercer.structures.graphs import Graphs
from mercer.structures.ragged import Ragged
from mercer.structures.sequences import Sequences
from mercer.structures.strings import Strings
from mercer.structures.trees import Trees
from mercer.validation import check_matrix, check_rows

# What a kernel compares: rows of numbers, or objects of one kind.
Domain: TypeAlias = Literal["rows", "strings", "sequences", "graphs", "trees", "bags", "objects"]

_PACKED: dict[Domain, type[Strings | Sequences | Graphs | Trees | Bags | Objects]] = {
    "strings": Strings,
    "sequences": Sequences,
    "graphs": Graphs,
    "trees": Trees,
    "bags": Bags,
    "objects": Objects,
}


def as_rows(owner: str, domain: Domain, X: object, name: str = "X") -> Any:
    """Return what a kernel of this domain was given: a matrix of numbers, or objects packed.

    >>> from mercer.structures import as_rows
    >>> as_rows("Spectrum", "strings", ["ab", "c"])
    Strings(<2 objects>)
    """
    if domain == "rows":
        if isinstance(X, Ragged):
            raise ValueError(
                f"{owner}: {name} is {X!r}, and the kernel here compares rows of numbers. Take a kernel of "
                f"{domain_of(X)}, or make features of the objects first (mercer.features.PartFeatures)."
            )
        return check_matrix(owner, name, X)
    packed = _PACKED[domain]
    if isinstance(X, packed):
        return X
    if isinstance(X, Ragged):
        raise ValueError(f"{owner}: {name} must be {packed.__name__}, got {X!r}. This kernel compares {domain}.")
    return packed.of(owner, name, X)


def check_objects(estimator: BaseEstimator, domain: Domain, X: object, *, reset: bool) -> Any:
    """Return X for an estimator's ``fit`` (``reset=True``) or ``transform``: rows of numbers, or objects packed.

    Objects are one column: ``n_features_in_`` is 1.
    """
    if domain == "rows" and not isinstance(X, Ragged):
        return check_rows(estimator, X, reset=reset)
    owner = type(estimator).__name__
    packed = as_rows(owner, domain, X)
    if not len(packed):
        raise ValueError(f"{owner}: X has 0 sample(s) while a minimum of 1 is required.")
    if reset:
        estimator.n_features_in_ = 1
    return packed


def domain_of(X: Ragged) -> Domain:
    """Return the domain of packed objects.

    >>> domain_of(Strings(["ab"]))
    'strings'
    """
    found: Domain = next(name for name, packed in _PACKED.items() if isinstance(X, packed))
    return found
