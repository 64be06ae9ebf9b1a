"""Kernels: what every kernel can do, and the algebra ``+``, ``*`` and positive scalar ``*``."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import reduce
from math import prod
from operator import iadd, imul
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array, Rows, RowsLike, override
from mercer.kernels.evaluation.bandwidth import RULES
from mercer.kernels.values import Value
from mercer.parallel import for_each_block, row_blocks
from mercer.structures import as_rows
from mercer.structures.domains import Domain
from mercer.validation import check_memory, check_real, check_same_width

# Entries of a Gram tile: 8 MiB of float64, so that temporaries are small compared with a result of several tiles.
_TILE_ENTRIES = 2**20


@dataclass(frozen=True, repr=False)
class Kernel(Value, ABC):
    """A function k(x, y) of two rows, as a frozen value.

    A subclass is a frozen dataclass whose fields are its parameters; it writes ``evaluate`` and ``evaluate_diag``.
    Values compare and hash by their fields, print as the expression that makes them, and never change:
    ``with_params`` makes another.
    """

    # How tightly the expression binds when printed: a sum 1, a product 2, anything else 3.
    binding: ClassVar[int] = 3
    # NumPy scalars on the left of * then leave the product to us.
    __array_ufunc__: ClassVar[None] = None

    def __call__(self, X: RowsLike, Y: RowsLike | None = None) -> Array:
        """Return the Gram matrix k(X, Y), or k(X, X) when Y is None.

        Tiles of rows are computed on the thread pool. The memory is that of the result and of a few tiles. The result
        is float32 when both arguments are, float64 otherwise and for objects.
        """
        name, domain = type(self).__name__, self.domain
        X = as_rows(name, domain, X)
        other = X if Y is None else as_rows(name, domain, Y, "Y")
        check_same_width(name, X, other)
        self.check_domain("X", X)
        if Y is not None:
            self.check_domain("Y", other)
        shape = (X.shape[0], other.shape[0])
        of_objects = domain != "rows"
        dtype = np.dtype(np.float64) if of_objects else np.result_type(X.dtype, other.dtype)
        check_memory(name, "the number of rows", shape, prod(shape) * dtype.itemsize, "the Gram matrix")
        out = np.empty(shape, dtype=dtype)
        # the parts of objects are found once, not once per tile
        of_tile = self.evaluator(other, dtype) if of_objects else None

        def work(rows: slice) -> None:
            out[rows] = self.evaluate(X[rows], other) if of_tile is None else of_tile(X[rows])
            self.check_finite(out[rows])

        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported below, with the way out
            for_each_block(work, row_blocks(shape[0], max(1, _TILE_ENTRIES // max(1, shape[1]))))
        if Y is None:
            np.fill_diagonal(out, self.evaluate_diag(X))
        return out

    def diag(self, X: RowsLike) -> Array:
        """Return k(x, x) for every row x of X, at the cost of reading X."""
        X = as_rows(type(self).__name__, self.domain, X)
        self.check_domain("X", X)
        with np.errstate(over="ignore", invalid="ignore"):
            values: Array = np.asarray(self.evaluate_diag(X), dtype=X.dtype if self.domain == "rows" else np.float64)
        self.check_finite(values)
        return values

    @abstractmethod
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        """Return k(X, Y) of checked arguments, X a tile of rows."""

    @abstractmethod
    def evaluate_diag(self, X: Rows) -> Array:
        """Return k(x, x) of a checked argument."""

    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        """Return the function X -> k(X, Y) in the given precision, with what depends on Y alone computed once.

        For callers that evaluate many tiles X with the same Y. Both are checked rows. Each call returns a new array.
        """
        Y = Y.astype(dtype, copy=False)
        return lambda X: np.asarray(self.evaluate(X.astype(dtype, copy=False), Y), dtype=dtype)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> "Kernel":
        """Return this kernel with parameters such as ``gamma="scale"`` replaced by their values on the rows of X.

        Estimators call it in ``fit``. A kernel whose parameters are numbers returns itself.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows: a row of weight 2 counts as two rows.
        """
        changes = {}
        for field in fields(self):
            value = getattr(self, field.name)
            new = _resolved(value, X, sample_weight)
            if new is not value:
                changes[field.name] = new
        return replace(self, **changes) if changes else self

    @property
    def is_resolved(self) -> bool:
        """Whether nothing is left to be found from data: no parameter is ``"scale"``, ``"median"`` or ``"auto"``."""
        values = (getattr(self, field.name) for field in fields(self))
        named = any(isinstance(value, str) and value in RULES for value in values)
        return not named and all(inner.is_resolved for inner in self._inner_kernels())

    @property
    def domain(self) -> Domain:
        """What the kernel compares: ``"rows"`` of numbers, or objects, such as ``"strings"`` or ``"graphs"``."""
        return "rows"

    def check_domain(self, name: str, X: Rows) -> None:
        """Refuse rows outside the kernel's domain, naming row and column; every inner kernel is asked."""
        for inner in self._inner_kernels():
            inner.check_domain(name, X)

    def _inner_kernels(self) -> "Iterator[Kernel]":
        return (value for _, value in self.inner_values() if isinstance(value, Kernel))

    def check_finite(self, values: Array) -> None:
        """Refuse kernel values that overflow."""
        if not np.isfinite(values).all():
            raise ValueError(
                f"{self!r} overflows {values.dtype} on these rows. Scale X down, lower gamma or the degree, "
                "or pass float64."
            )

    def __add__(self, other: "Kernel") -> "Kernel":
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum((*_parts(self, Sum), *_parts(other, Sum)))

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        if isinstance(other, Kernel):
            return _product(self, other)
        if isinstance(other, numbers.Real):
            return _scaled(other, self)
        return NotImplemented

    def __rmul__(self, other: "Kernel | float") -> "Kernel":
        return self.__mul__(other)


def _resolved(value: object, X: Rows, sample_weight: Array | None) -> object:
    if isinstance(value, Kernel):
        return value.resolve(X, sample_weight)
    if isinstance(value, tuple) and any(isinstance(item, Kernel) for item in value):
        items = tuple(_resolved(item, X, sample_weight) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _parts(kernel: Kernel, algebra: "type[Sum] | type[Product]") -> tuple[Kernel, ...]:
    return kernel.terms if isinstance(kernel, algebra) else (kernel,)


def _scaled(scale: float, kernel: Kernel) -> Kernel:
    if isinstance(kernel, Scaled):
        scale, kernel = scale * kernel.scale, kernel.kernel
    scaled = Scaled(scale, kernel)
    return kernel if scaled.scale == 1.0 else scaled


def _product(left: Kernel, right: Kernel) -> Kernel:
    """Multiply, with all scalars brought to the front."""
    scale = 1.0
    factors: list[Kernel] = []
    for kernel in (left, right):
        if isinstance(kernel, Scaled):
            scale *= kernel.scale
        factors += _parts(kernel.kernel if isinstance(kernel, Scaled) else kernel, Product)
    return _scaled(scale, Product(tuple(factors)))


def _bracketed(kernel: Kernel, binding: int) -> str:
    return f"({kernel!r})" if kernel.binding < binding else repr(kernel)


@dataclass(frozen=True, repr=False)
class _Algebra(Kernel):
    """A kernel made of a tuple of kernels."""

    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        terms = tuple(self.terms) if isinstance(self.terms, Iterable) else ()
        if not terms or not all(isinstance(term, Kernel) for term in terms):
            raise ValueError(f"{type(self).__name__}: terms must be one or more kernels, got {self.terms!r}.")
        object.__setattr__(self, "terms", terms)
        other = next((term for term in terms if term.domain != terms[0].domain), None)
        if other is not None:
            raise ValueError(
                f"{type(self).__name__}: all terms must compare the same kind of objects, but {terms[0]!r} compares "
                f"{terms[0].domain} and {other!r} compares {other.domain}. Transform the columns of a table apart "
                "(sklearn.compose.ColumnTransformer), or take kernels of one kind."
            )

    @property
    @override
    def domain(self) -> Domain:
        return self.terms[0].domain


@dataclass(frozen=True, repr=False)
class Sum(_Algebra):
    """The sum of kernels, written ``k1 + k2``. Its feature map is the concatenation of its terms' maps.

    >>> from mercer import Linear, Polynomial
    >>> Linear() + 0.5 * Polynomial(2)
    Linear() + 0.5 * Polynomial(2)
    """

    binding: ClassVar[int] = 1

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        total = self.terms[0].evaluate(X, Y)
        for term in self.terms[1:]:
            total += term.evaluate(X, Y)
        return total

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        terms = [term.evaluator(Y, dtype) for term in self.terms]
        return lambda X: np.asarray(reduce(iadd, (term(X) for term in terms)))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.asarray(np.sum([term.evaluate_diag(X) for term in self.terms], axis=0))

    def __repr__(self) -> str:
        return " + ".join(_bracketed(term, 2) for term in self.terms)


@dataclass(frozen=True, repr=False)
class Product(_Algebra):
    """The product of kernels, written ``k1 * k2``. Its feature map is a sketch of the tensor product of their maps.

    >>> from mercer import Linear, Polynomial
    >>> Linear() * Polynomial(2)
    Linear() * Polynomial(2)
    """

    binding: ClassVar[int] = 2

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        total = self.terms[0].evaluate(X, Y)
        for term in self.terms[1:]:
            total *= term.evaluate(X, Y)
        return total

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        terms = [term.evaluator(Y, dtype) for term in self.terms]
        return lambda X: np.asarray(reduce(imul, (term(X) for term in terms)))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.asarray(np.prod([term.evaluate_diag(X) for term in self.terms], axis=0))

    def __repr__(self) -> str:
        return " * ".join(_bracketed(term, 2) for term in self.terms)


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """A positive multiple of a kernel, written ``c * k``. Its feature map is sqrt(c) times k's.

    >>> from mercer import Linear
    >>> 3 * Linear()
    3.0 * Linear()
    """

    scale: float
    kernel: Kernel

    binding: ClassVar[int] = 2

    def __post_init__(self) -> None:
        way_out = "A negative multiple of a kernel is not positive definite, so it has no feature map."
        scale = check_real("Scaled", "scale", self.scale, least=0, strict=True, way_out=way_out)
        object.__setattr__(self, "scale", scale)
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"Scaled: kernel must be a kernel, got {self.kernel!r}.")

    @property
    @override
    def domain(self) -> Domain:
        return self.kernel.domain

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        values = self.kernel.evaluate(X, Y)
        values *= values.dtype.type(self.scale)
        return values

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        tile, scale = self.kernel.evaluator(Y, dtype), np.asarray(self.scale, dtype=dtype)[()]

        def scaled(X: Rows) -> Array:
            values = tile(X)
            values *= scale
            return values

        return scaled

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.scale * self.kernel.evaluate_diag(X)

    def __repr__(self) -> str:
        return f"{self.scale!r} * {_bracketed(self.kernel, 2)}"
