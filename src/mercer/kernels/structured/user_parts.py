"""Kernels whose parts a user's function finds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mercer._typing import override
from mercer.kernels.structured.decompositions import numbers_of
from mercer.kernels.structured.parts import PartDraw, PartKernel, check_counts
from mercer.key_core import Keys
from mercer.structures import Objects, Ragged
from mercer.structures.domains import Domain
from mercer.structures.objects import refuse
from mercer.structures.ragged import ends_of, other_rows

_WAY_OUT = "Return a dict of keys and weights, or a list of keys, which may repeat."


@dataclass(frozen=True, repr=False)
class Parts(PartKernel):
    r"""The kernel of a user's decomposition: :math:`\sum_a \sum_b w_a w_b\, 1[\text{key}_a = \text{key}_b]`.

    A mapping kernel (Shin and Kuboyama) is of this form: it sums over a relation of parts, and is positive
    semi-definite exactly where the relation is an equivalence. The key names the class of a part. Where parts carry
    vectors, take ``Convolution(kernel, decompose=f)``.

    Parameters
    ----------
    f : callable
        Takes an object and returns a dict from keys to weights, or a list of keys. Keys are integers, text, bytes, or
        tuples of these. Compared by its identity; a model file does not hold it.
    counts : "product", "presence" or "intersection"
        How often a key counts; the last needs weights that are 1.

    References
    ----------
    K. Shin and T. Kuboyama, "A generalization of Haussler's convolution kernel: mapping kernel", ICML 2008.

    Examples
    --------
    >>> from collections import Counter
    >>> from mercer.kernels import Parts
    >>> Parts(Counter)(["abab", "bc"])
    array([[8., 2.],
           [2., 2.]])
    """

    f: Callable[[Any], Any]
    counts: str = field(default="product", kw_only=True)

    _domain: ClassVar[Domain] = "objects"

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ValueError(f"Parts: f must be a function from an object to its parts, got {self.f!r}.")
        check_counts("Parts", self.counts)

    @override
    def parts(self, X: Ragged, draw: PartDraw) -> Keys:
        if not isinstance(X, Objects):
            raise other_rows(self, Objects, X)
        numbers: dict[Any, int] = {}
        keys, weights = [np.empty(0, dtype=np.uint64)], [np.empty(0)]
        for i, item in enumerate(X):
            given = self.f(item)
            is_table = isinstance(given, Mapping)
            if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
                raise refuse("Parts", "X", i, "must decompose into keys and weights", given, _WAY_OUT)
            listed = list(given)
            keys.append(numbers_of("Parts", i, listed, numbers))
            weights.append(_weights(i, list(given.values())) if is_table else np.ones(len(listed)))
        found = np.concatenate(weights)
        one = bool(np.all(found == 1))
        if self.counts == "intersection" and not one:
            raise ValueError("Parts: counts='intersection' needs weights that are 1; return a list of keys.")
        pointers = ends_of([len(part) for part in keys[1:]])
        return Keys(pointers, np.concatenate(keys), None if one else found)


def _weights(i: int, given: list[Any]) -> Any:
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("Parts", "X", i, "must have numbers for weights", given, _WAY_OUT) from None
    if not np.isfinite(weights).all():
        raise refuse("Parts", "X", i, "must have finite weights", "a weight that is not", _WAY_OUT)
    return weights
