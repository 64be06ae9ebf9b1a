"""Convolution kernels: all pairs of the parts of two objects, compared by a kernel of their vectors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.kernels.structured.decompositions import Decomposed, Decomposition, decomposed, domain_of
from mercer.structures.domains import Domain

# How a sum over an object of m parts is divided: by 1, by m, or by the root of m.
AVERAGES = ("sum", "mean", "root")


@dataclass(frozen=True, repr=False)
class Convolution(Kernel):
    r"""The convolution kernel: :math:`\sum_{a \in x} \sum_{b \in y} \kappa(a, b)` over the parts, or its average.

    Objects are bags of vectors, or anything that ``decompose`` cuts into parts with vectors. Where parts also have
    keys, only parts with the same key are compared, and where they have weights, each pair weighs their product:
    :math:`\sum_a \sum_b w_a w_b\, 1[\text{key}_a = \text{key}_b]\, \kappa(v_a, v_b)`. Every mapping kernel is of this
    form: the relation between the parts of all objects that it sums over must be an equivalence, or it is not positive
    semi-definite, and the key names the class.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`\kappa` of vectors.
    average : "sum", "mean" or "root"
        "mean" divides by the numbers of parts: the kernel of mean embeddings. "root" divides by the roots of the
        numbers. An object without parts has k = 0 with every object.
    decompose : callable, Windows, Neighbourhoods or None
        A function from an object to a matrix of vectors, to (keys, vectors), or to (keys, weights, vectors), with keys
        that are integers, text, or tuples of them. A model file does not hold a function. None: objects are bags.

    References
    ----------
    D. Haussler, "Convolution kernels on discrete structures", 1999.
    K. Shin and T. Kuboyama, "A generalization of Haussler's convolution kernel: mapping kernel", ICML 2008.

    Examples
    --------
    >>> from mercer import Linear
    >>> from mercer.kernels import Convolution
    >>> Convolution(Linear(), average="mean")([[[1.0], [3.0]], [[5.0]]])
    array([[ 4., 10.],
           [10., 25.]])

    A kernel of sentences, whose parts are words with their lengths:

    >>> words = lambda text: (text.split(), [[len(word)] for word in text.split()])
    >>> Convolution(Linear(), decompose=words)(["to be or not to be", "or not"])
    array([[45., 13.],
           [13., 13.]])
    """

    kernel: Kernel
    average: str = field(default="sum", kw_only=True)
    decompose: Decomposition | Callable[[Any], Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel) or self.kernel.domain != "rows":
            raise ValueError(f"Convolution: kernel must be a kernel of rows of numbers, got {self.kernel!r}.")
        if self.average not in AVERAGES:
            raise ValueError(f"Convolution: average must be one of {list(AVERAGES)}, got {self.average!r}.")
        check_decompose("Convolution", self.decompose)

    @property
    @override
    def domain(self) -> Domain:
        return domain_of(self.decompose)

    def parts(self, X: Rows) -> Decomposed:
        """Return the parts of packed objects."""
        return decomposed(self, self.decompose, X)

    def factors(self, sizes: Array) -> Array:
        """Return what the sum over an object of each number of parts is multiplied by."""
        power = {"sum": 0.0, "mean": -1.0, "root": -0.5}[self.average]
        return np.maximum(sizes, 1).astype(np.float64) ** power

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Kernel:
        """Return the kernel with that of vectors resolved on the vectors of all objects."""
        if self.kernel.is_resolved:
            return self
        parts = self.parts(X)
        weight = None if sample_weight is None else np.repeat(sample_weight, parts.sizes)
        return self.with_params(kernel=self.kernel.resolve(parts.vectors, weight))

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        parts = self.parts(X)
        if len(parts.vectors):
            self.kernel.check_domain(name, parts.vectors)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.evaluator(Y, np.float64)(X)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        right = self.parts(Y.astype(dtype))
        factors = self.factors(right.sizes)
        tile = self.kernel.evaluator(right.vectors, dtype) if len(right.vectors) else None

        def of_objects(X: Rows) -> Array:
            left = self.parts(X.astype(dtype))
            out = np.zeros((len(left.sizes), len(right.sizes)), dtype=dtype)
            if tile is not None:
                for i, (a, b) in enumerate(pairwise(left.pointers.tolist())):
                    if a < b:
                        values = _weighed(tile(left.vectors[a:b]), left, slice(a, b), right)
                        sums = values.sum(axis=0, keepdims=True)
                        key_core.segment_sum(np.ascontiguousarray(sums.T), right.pointers, out[i][:, None])
            out *= self.factors(left.sizes)[:, None]
            out *= factors
            return out

        return of_objects

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        parts = self.parts(X.astype(np.float64))
        sums = np.zeros(len(parts.sizes))
        for i, (a, b) in enumerate(pairwise(parts.pointers.tolist())):
            if a < b:
                own = slice(a, b)
                values = self.kernel.evaluate(parts.vectors[own], parts.vectors[own])
                sums[i] = _weighed(values, parts, own, _part(parts, own)).sum()
        return np.asarray(sums * self.factors(parts.sizes) ** 2)


def check_decompose(owner: str, decompose: object) -> None:
    """Refuse what does not decompose."""
    if decompose is not None and not callable(decompose) and not isinstance(decompose, Decomposition):
        raise ValueError(
            f"{owner}: decompose must be a function from an object to its parts, Windows(...), Neighbourhoods(...) or "
            f"None, got {decompose!r}."
        )


def _part(parts: Decomposed, rows: slice) -> Decomposed:
    keys = None if parts.keys is None else parts.keys[rows]
    return Decomposed(parts.pointers, parts.vectors, keys, None if parts.weights is None else parts.weights[rows])


def _weighed(values: Array, left: Decomposed, rows: slice, right: Decomposed) -> Array:
    """Return kernel values of parts, times their weights, and 0 for parts with different keys."""
    if left.weights is not None:
        values = values * left.weights[rows, None]
    if right.weights is not None:
        values = values * right.weights
    if left.keys is not None and right.keys is not None:
        values = np.where(left.keys[rows, None] == right.keys, values, 0.0)
    return values
