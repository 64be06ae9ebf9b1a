"""Convolution kernels: all pairs of the vectors of two bags, compared by a kernel."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.structures import Bags
from mercer.structures.domains import Domain
from mercer.structures.ragged import other_rows

# How a sum over a bag of m vectors is divided: by 1, by m, or by the root of m.
AVERAGES = ("sum", "mean", "root")


@dataclass(frozen=True, repr=False)
class Convolution(Kernel):
    r"""The convolution kernel of bags: :math:`\sum_{a \in x} \sum_{b \in y} \kappa(a, b)`, or its average.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`\kappa` of vectors.
    average : "sum", "mean" or "root"
        "mean" divides by the numbers of vectors: the kernel of mean embeddings. "root" divides by the roots of the
        numbers. An empty bag has k = 0 with every bag.

    References
    ----------
    D. Haussler, "Convolution kernels on discrete structures", 1999.

    Examples
    --------
    >>> from mercer import Linear
    >>> from mercer.kernels import Convolution
    >>> Convolution(Linear(), average="mean")([[[1.0], [3.0]], [[5.0]]])
    array([[ 4., 10.],
           [10., 25.]])
    """

    kernel: Kernel
    average: str = field(default="sum", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel) or self.kernel.domain != "rows":
            raise ValueError(f"Convolution: kernel must be a kernel of rows of numbers, got {self.kernel!r}.")
        if self.average not in AVERAGES:
            raise ValueError(f"Convolution: average must be one of {list(AVERAGES)}, got {self.average!r}.")

    @property
    @override
    def domain(self) -> Domain:
        return "bags"

    def factors(self, sizes: Array) -> Array:
        """Return what the sum over a bag of each size is multiplied by."""
        power = {"sum": 0.0, "mean": -1.0, "root": -0.5}[self.average]
        return np.maximum(sizes, 1).astype(np.float64) ** power

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Kernel:
        """Return the kernel with that of vectors resolved on the vectors of all bags."""
        if not isinstance(X, Bags):
            raise other_rows(self, Bags, X)
        weight = None if sample_weight is None else np.repeat(sample_weight, X.sizes)
        inner = self.kernel.resolve(X.values, weight)
        return self if inner is self.kernel else self.with_params(kernel=inner)

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        if isinstance(X, Bags) and len(X.values):
            self.kernel.check_domain(name, X.values)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.evaluator(Y, np.float64)(X)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        if not isinstance(Y, Bags):
            raise other_rows(self, Bags, Y)
        vectors, ends, factors = Y.astype(dtype).values, Y.pointers(), self.factors(Y.sizes)
        tile = self.kernel.evaluator(vectors, dtype) if len(vectors) else None

        def of_bags(X: Rows) -> Array:
            if not isinstance(X, Bags):
                raise other_rows(self, Bags, X)
            out = np.zeros((len(X), len(ends) - 1), dtype=dtype)
            if tile is not None:
                for i, bag in enumerate(X.astype(dtype)):
                    if len(bag):
                        sums = tile(bag).sum(axis=0, keepdims=True)
                        key_core.segment_sum(np.ascontiguousarray(sums.T), ends, out[i][:, None])
            out *= self.factors(X.sizes)[:, None]
            out *= factors
            return out

        return of_bags

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        if not isinstance(X, Bags):
            raise other_rows(self, Bags, X)
        bags = X.astype(np.float64)
        sums = [float(self.kernel.evaluate(bag, bag).sum()) if len(bag) else 0.0 for bag in bags]
        return np.asarray(np.array(sums) * self.factors(X.sizes) ** 2)
